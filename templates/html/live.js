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

  /** Times of a motion at which the whole robot is in view. */
  const VIEWED_TIMES = 32;

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
  const viewer = createViewer(canvas, robot);

  /** Poses of the bodies in the root's axes: rotation R by rows, position p (m). */
  function poses() {
    const found = Object.values(compute.places());
    return robot.bodies.map((_, k) => ({ R: found[2 * k], p: found[2 * k + 1] }));
  }

  function draw() {
    viewer?.update(poses());
  }

  /** Show the layers whose boxes are checked. */
  function showLayers() {
    for (const box of document.querySelectorAll("[data-layer]")) viewer?.show(box.dataset.layer, box.checked);
  }

  function startViewer() {
    if (!viewer) {
      canvas.replaceWith(Object.assign(document.createElement("p"), {
        className: "note",
        textContent: "This browser has no WebGL, so the robot is not drawn. The numbers follow the sliders.",
      }));
      return;
    }
    viewer.start(poses(), posesOfMotion());
    find("shapes").checked = viewer.hasShapes();
    find("shapes").disabled = !viewer.hasShapes();
    find("skeleton").checked = !viewer.hasShapes();
    showLayers();
  }

  function savePicture() {
    viewer?.render();
    canvas.toBlob((picture) => {
      const link = Object.assign(document.createElement("a"), {
        href: URL.createObjectURL(picture),
        download: `${robot.name}.png`,
      });
      link.click();
      URL.revokeObjectURL(link.href);
    });
  }

  // -- motion -----------------------------------------------------------------------------------

  const player = { time: 0, last: 0, playing: false };

  /** Positions of the motion at a time (s), linearly interpolated. */
  function positionsAt(time) {
    const { times, positions } = robot.motion;
    let k = times.findIndex((t) => t > time);
    if (k < 0) k = times.length - 1;
    k = Math.max(1, k);
    const part = Math.min(1, Math.max(0, (time - times[k - 1]) / (times[k] - times[k - 1] || 1)));
    return positions[k].map((x, i) => positions[k - 1][i] + part * (x - positions[k - 1][i]));
  }

  /** Move the sliders to the positions of the motion at a time (s). */
  function moveTo(time) {
    const at = positionsAt(time);
    for (const { coordinate, inputs } of sliders) {
      if (!coordinate.quaternion) inputs[0].value = at[coordinate.place];
    }
    read();
  }

  /** Poses at times of the motion, which the camera shows completely. */
  function posesOfMotion() {
    if (!robot.motion) return [];
    const { times } = robot.motion;
    const part = (times.at(-1) - times[0]) / VIEWED_TIMES;
    return Array.from({ length: VIEWED_TIMES }, (_, k) => {
      moveTo(times[0] + k * part);
      return poses();
    });
  }

  function showTime() {
    moveTo(player.time);
    find("time").value = player.time;
    find("seconds").textContent = `${player.time.toFixed(2)} s`;
    draw();
    numbers();
  }

  function step(now) {
    if (!player.playing) return;
    const end = robot.motion.times.at(-1);
    player.time = (player.time + (now - player.last) / 1000) % end;
    player.last = now;
    showTime();
    requestAnimationFrame(step);
  }

  function startPlayer() {
    if (!robot.motion) return;
    Object.assign(find("time"), { min: robot.motion.times[0], max: robot.motion.times.at(-1), step: "any" });
    find("time").addEventListener("input", () => {
      player.time = Number(find("time").value);
      showTime();
    });
    find("play").addEventListener("click", () => {
      player.playing = !player.playing;
      find("play").textContent = player.playing ? "Pause" : "Play";
      player.last = performance.now();
      requestAnimationFrame(step);
    });
    player.time = robot.motion.times[0];
    showTime();
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

  const KEYS = {
    ArrowLeft: () => viewer?.turn(-0.1, 0),
    ArrowRight: () => viewer?.turn(0.1, 0),
    ArrowUp: () => viewer?.turn(0, 0.1),
    ArrowDown: () => viewer?.turn(0, -0.1),
    "+": () => viewer?.zoom(1.15),
    "-": () => viewer?.zoom(1 / 1.15),
  };

  canvas.addEventListener("keydown", (event) => {
    const action = KEYS[event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  });
  canvas.addEventListener("pointerdown", () => canvas.focus());
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== canvas) return; // the page scrolls
    event.preventDefault();
    viewer?.zoom(Math.exp(-event.deltaY / 600));
  }, { passive: false });
  for (const box of document.querySelectorAll("[data-layer]")) box.addEventListener("change", showLayers);
  find("picture").addEventListener("click", savePicture);
  find("reset").addEventListener("click", () => {
    put();
    viewer?.reset();
    changed(true);
  });
  window.addEventListener("hashchange", () => {
    fromAddress();
    changed(false);
  });
  window.addEventListener("resize", draw);

  robot.coordinates.forEach(addSlider);
  if (compute.gravity) robot.joints.forEach(addTorque);
  addMatrix(robot.joints.length);
  fromAddress();
  read();
  startViewer();
  draw();
  numbers();
  startPlayer();
  document.body.dataset.ready = "yes";
}
