// The page of a robot: sliders, a drawing, numbers that follow. What it computes with stands before this in the same
// script: the functions that symgen has generated for this robot.
{
  const robot = JSON.parse(document.getElementById("robot").textContent);
  const find = (id) => document.getElementById(id);
  const size = robot.coordinates.reduce((n, c) => Math.max(n, c.place + (c.quaternion ? 4 : 1)), 0);
  const q = new Float64Array(size);
  const compute = {};
  const generated = symgenFunctions();
  for (const [name, inputs] of Object.entries(robot.inputs)) {
    compute[name] = () => generated[name](...inputs.map((input) => (input === "g" ? robot.free_fall : q)));
  }

  // -- state ------------------------------------------------------------------------------------

  const sliders = [];

  /** The quaternion x, y, z, w of a rotation vector. */
  function turned([x, y, z]) {
    const angle = Math.hypot(x, y, z);
    const k = angle > 1e-9 ? Math.sin(angle / 2) / angle : 0.5;
    return [k * x, k * y, k * z, Math.cos(angle / 2)];
  }

  function read() {
    for (const row of sliders) {
      const values = row.inputs.map((input) => Number(input.value));
      q.set(row.coordinate.quaternion ? turned(values) : values, row.coordinate.place);
      row.inputs.forEach((input, k) => {
        input.nextElementSibling.textContent = values[k].toFixed(3);
      });
    }
  }

  function begin(coordinate) {
    const inside = Math.min(Math.max(0, coordinate.lower), coordinate.upper);
    return coordinate.quaternion ? 0 : inside;
  }

  function addSlider(coordinate) {
    const parts = coordinate.quaternion ? ["x", "y", "z"] : [""];
    const inputs = parts.map((part) => {
      const label = document.createElement("label");
      const name = document.createElement("span");
      name.textContent = part ? `${coordinate.name} about ${part}` : coordinate.name;
      name.title = name.textContent;
      const input = document.createElement("input");
      const [low, high] = part ? [-Math.PI, Math.PI] : [coordinate.lower, coordinate.upper];
      Object.assign(input, { type: "range", min: low, max: high, step: "any", value: begin(coordinate) });
      input.addEventListener("input", () => changed(true));
      const value = document.createElement("output");
      const unit = document.createElement("small");
      unit.textContent = part ? "rad" : coordinate.unit;
      label.append(name, input, value, unit);
      find("sliders").append(label);
      return input;
    });
    sliders.push({ coordinate, inputs });
  }

  /** All sliders to numbers, in order; to where they begin without. */
  function put(numbers) {
    let k = 0;
    for (const row of sliders) {
      for (const input of row.inputs) {
        const given = numbers?.[k++];
        input.value = Number.isFinite(given) ? given : begin(row.coordinate);
      }
    }
  }

  function fromAddress() {
    const given = new URLSearchParams(location.hash.slice(1)).get("q");
    put(given?.split(",").map(Number));
  }

  // -- drawing ----------------------------------------------------------------------------------

  const canvas = find("view");
  const view = { azimuth: 0.7, elevation: 0.35, zoom: 1, centre: [0, 0, 0], reach: 1 };
  const apply = (R, p, v) => [0, 1, 2].map((i) => R[3 * i] * v[0] + R[3 * i + 1] * v[1] + R[3 * i + 2] * v[2] + p[i]);
  const base = { R: [1, 0, 0, 0, 1, 0, 0, 0, 1], p: [0, 0, 0] };

  /** Poses of the bodies, R by rows and p, as the generated function has them. */
  function poses() {
    const found = Object.values(compute.places());
    return robot.bodies.map((_, k) => ({ R: found[2 * k], p: found[2 * k + 1] }));
  }

  function fit() {
    const points = poses().flatMap(({ R, p }, k) => [[...p], ...robot.bodies[k].points.map((v) => apply(R, p, v))]);
    points.push([0, 0, 0]);
    const low = [0, 1, 2].map((i) => Math.min(...points.map((v) => v[i])));
    const high = [0, 1, 2].map((i) => Math.max(...points.map((v) => v[i])));
    view.centre = low.map((x, i) => (x + high[i]) / 2);
    view.reach = Math.max(0.05, Math.hypot(...low.map((x, i) => high[i] - x)) / 2) * 1.1;
  }

  function projector(width, height) {
    const [ca, sa] = [Math.cos(view.azimuth), Math.sin(view.azimuth)];
    const [ce, se] = [Math.cos(view.elevation), Math.sin(view.elevation)];
    const scale = (Math.min(width, height) / 2 / view.reach) * view.zoom;
    return (v) => {
      const [x, y, z] = v.map((c, i) => c - view.centre[i]);
      const [right, depth] = [ca * y - sa * x, ca * x + sa * y];
      return [width / 2 + scale * right, height / 2 - scale * (ce * z - se * depth)];
    };
  }

  function draw() {
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const dots = window.devicePixelRatio || 1;
    Object.assign(canvas, { width: width * dots, height: height * dots });
    const pen = canvas.getContext("2d");
    pen.scale(dots, dots);
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const place = projector(width, height);
    const line = (from, to, stroke, thick) => {
      Object.assign(pen, { strokeStyle: stroke, lineWidth: thick, lineCap: "round" });
      pen.beginPath();
      pen.moveTo(...place(from));
      pen.lineTo(...place(to));
      pen.stroke();
    };
    const dot = (at, radius, fill) => {
      pen.fillStyle = fill;
      pen.beginPath();
      pen.arc(...place(at), radius, 0, 2 * Math.PI);
      pen.fill();
    };
    const frame = (R, p, long) => {
      ["x", "y", "z"].forEach((name, k) => {
        line(p, [0, 1, 2].map((i) => p[i] + long * R[3 * i + k]), colour(`axis-${name}`), 1.5);
      });
    };
    ground(line, colour("grid"));
    const found = poses();
    const long = view.reach * 0.12;
    for (const point of robot.base) line([0, 0, 0], point, colour("base"), 6);
    found.forEach(({ R, p }, k) => {
      const body = robot.bodies[k];
      const shade = colour(k % 2 ? "link-odd" : "link-even");
      const ends = body.points.length ? body.points : body.com ? [body.com] : [];
      for (const end of ends) line(p, apply(R, p, end), shade, 5);
    });
    const heaviest = Math.max(...robot.bodies.map((body) => body.mass), 1e-9);
    found.forEach(({ R, p }, k) => {
      const body = robot.bodies[k];
      if (body.axis) {
        const ends = [-0.5, 0.5].map((t) => apply(R, p, body.axis.map((x) => t * long * x)));
        line(...ends, colour("joint"), 3);
      }
      dot(p, 4, colour("joint"));
      if (find("centres").checked && body.com) {
        dot(apply(R, p, body.com), 2 + 8 * Math.sqrt(body.mass / heaviest), colour("mass"));
      }
      if (find("canonical").checked) {
        const { R: turn, p: origin } = body.canonical;
        const columns = [0, 1, 2].map((c) => apply(R, [0, 0, 0], turn.map((row) => row[c])));
        frame([0, 1, 2].flatMap((i) => columns.map((column) => column[i])), apply(R, p, origin), long);
      }
      if (find("frames").checked) frame(R, p, long * 0.7);
    });
    frame(base.R, base.p, long);
  }

  function ground(line, stroke) {
    const step = 10 ** Math.floor(Math.log10(view.reach));
    const [x0, y0] = view.centre.slice(0, 2).map((c) => Math.round(c / step) * step);
    const n = Math.min(12, Math.ceil(view.reach / step));
    for (let k = -n; k <= n; k++) {
      line([x0 + k * step, y0 - n * step, 0], [x0 + k * step, y0 + n * step, 0], stroke, 1);
      line([x0 - n * step, y0 + k * step, 0], [x0 + n * step, y0 + k * step, 0], stroke, 1);
    }
  }

  // -- numbers ----------------------------------------------------------------------------------

  function show(cell, value, digits = 4) {
    cell.textContent = Number.isFinite(value) ? shortened(value, digits) : "-";
    cell.dataset.value = String(value);
  }

  function shortened(value, digits) {
    const small = Math.abs(value);
    if (small < 1e-12) return "0";
    return small >= 1e5 || small < 1e-3 ? value.toExponential(digits - 2) : value.toPrecision(digits);
  }

  const torques = [];
  const entries = [];

  function addTorque(name) {
    const row = find("torques").insertRow();
    row.insertCell().textContent = name;
    const number = row.insertCell();
    number.className = "n";
    const bar = document.createElement("i");
    const cell = row.insertCell();
    cell.className = "bar";
    cell.append(bar);
    torques.push({ number, bar });
  }

  function addMatrix(n) {
    for (let i = 0; i < n; i++) {
      const row = find("matrix").insertRow();
      const name = document.createElement("th");
      name.textContent = robot.joints[i];
      row.append(name);
      for (let j = 0; j < n; j++) {
        const cell = row.insertCell();
        const told = () => `${robot.joints[i]}, ${robot.joints[j]}: ${cell.textContent}`;
        cell.addEventListener("pointerenter", () => Object.assign(cell, { title: told() }));
        entries.push(cell);
      }
    }
    if (n > 12) find("matrix").className = "dense";
  }

  /** Singular values of the linear part of a Jacobian, 3 rows of n: how fast the tip goes for unit rates. */
  function singular(J, n) {
    const A = [0, 1, 2].map((i) => [0, 1, 2].map((j) => sum(n, (k) => J[i * n + k] * J[j * n + k])));
    const mean = (A[0][0] + A[1][1] + A[2][2]) / 3;
    const B = A.map((row, i) => row.map((x, j) => x - (i === j ? mean : 0)));
    const spread = Math.sqrt(sum(9, (k) => B[Math.floor(k / 3)][k % 3] ** 2) / 6);
    if (spread < 1e-14 * Math.max(mean, 1e-300)) return [mean, mean, mean].map(Math.sqrt);
    const [[a, b, c], [, d, e], [, , f]] = B;
    const r = (a * (d * f - e * e) - b * (b * f - e * c) + c * (b * e - d * c)) / spread ** 3 / 2;
    const angle = Math.acos(Math.min(1, Math.max(-1, r))) / 3;
    const values = [0, 4, 2].map((k) => mean + 2 * spread * Math.cos(angle + (k * Math.PI) / 3));
    return values.map((x) => Math.sqrt(Math.max(0, x < 1e-13 * mean ? 0 : x))).sort((x, y) => y - x);
  }

  const sum = (n, f) => Array.from({ length: n }, (_, k) => f(k)).reduce((x, y) => x + y, 0);

  function numbers() {
    const n = robot.joints.length;
    if (compute.gravity) {
      const tau = compute.gravity();
      const largest = Math.max(...tau.map(Math.abs), 1e-12);
      torques.forEach(({ number, bar }, k) => {
        const most = robot.effort[k] ?? largest;
        const part = Math.min(1, Math.abs(tau[k]) / (most || largest));
        show(number, tau[k]);
        bar.style.width = `${100 * part}%`;
        bar.className = part > 0.999 && robot.effort[k] ? "over" : "";
        bar.title = robot.effort[k] ? `${(100 * part).toFixed(0)} % of ${robot.effort[k]}` : "of the largest";
      });
      show(find("potential"), Number(compute.potential_energy()[0]));
      compute.com().forEach((x, k) => show(find(`com-${k}`), x));
    }
    const M = compute.mass_matrix();
    const own = robot.joints.map((_, i) => Math.sqrt(Math.max(M[i * n + i], 1e-300)));
    entries.forEach((cell, k) => {
      show(cell, M[k], 3);
      const part = Math.sqrt(Math.min(1, Math.abs(M[k]) / own[Math.floor(k / n)] / own[k % n]));
      cell.style.setProperty("--part", `${(70 * part).toFixed(1)}%`);
      cell.style.setProperty("--shade", M[k] < 0 ? "var(--minus)" : "var(--plus)");
    });
    robot.tips.forEach((_, k) => {
      const values = singular(compute[`tip_${k}`](), n);
      values.forEach((x, i) => show(find(`tip-${k}-${i}`), x, 3));
    });
  }

  // -- all together -----------------------------------------------------------------------------

  let waiting = false;

  function changed(remember) {
    read();
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
      numbers();
      if (!remember) return;
      const values = sliders.flatMap((row) => row.inputs.map((input) => Number(input.value).toFixed(5)));
      history.replaceState(null, "", `#q=${values.map(Number).join(",")}`);
    });
  }

  function turn(right, up) {
    view.azimuth -= right;
    view.elevation = Math.min(1.57, Math.max(-1.57, view.elevation + up));
    draw();
  }

  function zoom(factor) {
    view.zoom = Math.min(20, Math.max(0.2, view.zoom * factor));
    draw();
  }

  const KEYS = {
    ArrowLeft: () => turn(-0.1, 0),
    ArrowRight: () => turn(0.1, 0),
    ArrowUp: () => turn(0, 0.1),
    ArrowDown: () => turn(0, -0.1),
    "+": () => zoom(1.15),
    "-": () => zoom(1 / 1.15),
  };

  canvas.addEventListener("keydown", (event) => {
    const action = KEYS[event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  });
  canvas.addEventListener("pointerdown", (event) => canvas.setPointerCapture(event.pointerId));
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons) turn(event.movementX / 150, event.movementY / 150);
  });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== canvas) return; // a page that scrolls goes on scrolling
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 600));
  }, { passive: false });
  for (const id of ["frames", "canonical", "centres"]) find(id).addEventListener("change", draw);
  find("reset").addEventListener("click", () => {
    put();
    Object.assign(view, { azimuth: 0.7, elevation: 0.35, zoom: 1 });
    changed(true);
  });
  window.addEventListener("hashchange", () => {
    fromAddress();
    changed(false);
  });
  window.addEventListener("resize", draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

  robot.coordinates.forEach(addSlider);
  if (compute.gravity) robot.joints.forEach(addTorque);
  addMatrix(robot.joints.length);
  put();
  read();
  fit();
  fromAddress();
  read();
  draw();
  numbers();
  document.body.dataset.ready = "yes";
}
