/**
 * A three-dimensional view of the robot on a canvas, drawn with three.js.
 *
 * `robot` is the data of the page. Returns null where the browser has no WebGL. Lengths are in m; the z axis is up.
 */
function createViewer(canvas, robot) {
  let renderer;
  try {
    renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true, preserveDrawingBuffer: true });
  } catch {
    return null;
  }
  const scene = new THREE.Scene();
  const camera = new THREE.PerspectiveCamera(35, 1, 0.001, 1000);
  camera.up.set(0, 0, 1);
  const light = new THREE.DirectionalLight(0xffffff, 1.8);
  scene.add(new THREE.HemisphereLight(0xffffff, 0x777788, 1.6), camera);
  camera.add(light);
  light.position.set(0.4, 0.6, 1);
  const controls = new THREE.OrbitControls(camera, canvas);
  controls.enableZoom = false; // the page keeps the wheel unless the view has the focus
  controls.addEventListener("change", render);

  const layers = { shapes: [], skeleton: [], frames: [], canonical: [], centres: [], ellipsoids: [] };
  const bodies = robot.bodies.map(() => new THREE.Group());
  const base = new THREE.Group();
  scene.add(base, ...bodies);
  for (const group of bodies) group.matrixAutoUpdate = false;
  const view = { centre: new THREE.Vector3(), reach: 1 };

  function color(name) {
    const text = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    return new THREE.Color(text.slice(0, 7));
  }

  function material(tone, opacity = 1) {
    const clear = opacity < 1;
    return new THREE.MeshStandardMaterial({ color: tone, roughness: 0.55, metalness: 0.1, flatShading: false,
      side: THREE.DoubleSide, transparent: clear, opacity, depthWrite: !clear });
  }

  /** Place an object at rotation R (by rows) and position p. */
  function place(object, R, p) {
    object.matrixAutoUpdate = false;
    object.matrix.set(R[0], R[1], R[2], p[0], R[3], R[4], R[5], p[1], R[6], R[7], R[8], p[2], 0, 0, 0, 1);
    return object;
  }

  function add(layer, group, object) {
    layers[layer].push(object);
    group.add(object);
  }

  // -- geometry of the file -------------------------------------------------------------------------

  function bytes(text) {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0)).buffer;
  }

  function meshGeometry(shape) {
    const levels = new Uint16Array(bytes(shape.vertices));
    const positions = Float32Array.from(levels, (x, k) => shape.low[k % 3] + (x / shape.levels) * shape.span[k % 3]);
    const corners = bytes(shape.corners);
    const indexed = new THREE.BufferGeometry();
    indexed.setAttribute("position", new THREE.BufferAttribute(positions, 3));
    const index = shape.wide ? new Uint32Array(corners) : new Uint16Array(corners);
    indexed.setIndex(new THREE.BufferAttribute(index, 1));
    const flat = indexed.toNonIndexed();
    flat.computeVertexNormals();
    return flat;
  }

  /** Geometries of three.js have their axis along y; those of robots along z. */
  function alongZ(geometry) {
    return geometry.rotateX(Math.PI / 2);
  }

  const GEOMETRIES = {
    mesh: meshGeometry,
    box: ({ size }) => new THREE.BoxGeometry(...size),
    sphere: ({ size }) => new THREE.SphereGeometry(size[0], 32, 20),
    cylinder: ({ size }) => alongZ(new THREE.CylinderGeometry(size[0], size[0], size[1], 32)),
    capsule: ({ size }) => alongZ(new THREE.CapsuleGeometry(size[0], size[1], 10, 24)),
  };

  function addShapes(group, shapes, tone) {
    for (const shape of shapes) {
      const [r, g, b, opacity] = shape.color ?? [];
      const own = shape.color ? new THREE.Color().setRGB(r, g, b, THREE.SRGBColorSpace) : tone;
      const mesh = new THREE.Mesh(GEOMETRIES[shape.kind](shape), material(own, opacity ?? 1));
      add("shapes", group, place(mesh, shape.R, shape.p));
    }
  }

  // -- capsules along the links -----------------------------------------------------------------------

  function capsule(from, to, radius, tone) {
    const [a, b] = [new THREE.Vector3(...from), new THREE.Vector3(...to)];
    const geometry = new THREE.CapsuleGeometry(radius, a.distanceTo(b), 8, 24);
    const mesh = new THREE.Mesh(geometry, material(tone));
    mesh.position.copy(a).add(b).multiplyScalar(0.5);
    mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), b.sub(a).normalize());
    return mesh;
  }

  function addSkeleton(depths) {
    const radius = (depth) => view.reach * Math.max(0.022, 0.062 * 0.86 ** depth);
    for (const point of robot.base) {
      if (Math.hypot(...point) > 1e-9) add("skeleton", base, capsule([0, 0, 0], point, radius(0), color("base")));
    }
    robot.bodies.forEach((body, k) => {
      const tone = color(k % 2 ? "link-odd" : "link-even");
      const wide = radius(depths[k]);
      const ends = body.points.length ? body.points : body.com ? [body.com] : [];
      for (const end of ends) {
        if (Math.hypot(...end) > 1e-9) add("skeleton", bodies[k], capsule([0, 0, 0], end, wide, tone));
      }
      if (body.axis) {
        const half = body.axis.map((x) => x * wide * 1.5);
        add("skeleton", bodies[k], capsule(half.map((x) => -x), half, wide * 1.12, color("hub")));
      }
    });
  }

  // -- frames, centres of mass, ellipsoids ------------------------------------------------------------

  function addMarks() {
    const length = view.reach * 0.12;
    const heaviest = Math.max(...robot.bodies.map((body) => body.mass), 1e-9);
    base.add(new THREE.AxesHelper(length));
    robot.bodies.forEach((body, k) => {
      add("frames", bodies[k], new THREE.AxesHelper(length * 0.7));
      const canonical = place(new THREE.AxesHelper(length), body.canonical.R.flat(), body.canonical.p);
      add("canonical", bodies[k], canonical);
      if (body.com) {
        const size = view.reach * (0.008 + 0.018 * Math.cbrt(Math.max(body.mass, 0) / heaviest));
        const mark = new THREE.Mesh(new THREE.SphereGeometry(size, 24, 16), material(color("mass")));
        mark.material.depthTest = false;
        mark.renderOrder = 2;
        mark.position.set(...body.com);
        add("centres", bodies[k], mark);
      }
      if (body.ellipsoid) {
        const { R, p, size } = body.ellipsoid;
        const holder = place(new THREE.Group(), R, p);
        const mesh = new THREE.Mesh(new THREE.SphereGeometry(1, 32, 20), material(color("mass"), 0.35));
        mesh.scale.set(...size.map((x) => Math.max(x, 1e-4)));
        holder.add(mesh);
        add("ellipsoids", bodies[k], holder);
      }
    });
  }

  // -- camera -----------------------------------------------------------------------------------------

  function fit(postures) {
    const box = new THREE.Box3(new THREE.Vector3(0, 0, 0), new THREE.Vector3(0, 0, 0));
    for (const poses of postures) {
      poses.forEach(({ R, p }, k) => {
        const pose = place(new THREE.Group(), R, p).matrix;
        for (const point of [[0, 0, 0], ...robot.bodies[k].points]) {
          box.expandByPoint(new THREE.Vector3(...point).applyMatrix4(pose));
        }
      });
    }
    box.getCenter(view.centre);
    view.reach = Math.max(0.05, box.getSize(new THREE.Vector3()).length() / 2);
  }

  function addGround() {
    const cell = 10 ** Math.floor(Math.log10(view.reach));
    const cells = 2 * Math.min(12, Math.ceil(view.reach / cell) + 1);
    const grid = new THREE.GridHelper(cells * cell, cells, 0x888888, 0x888888);
    grid.material.transparent = true;
    grid.material.opacity = 0.3;
    grid.rotation.x = Math.PI / 2;
    grid.position.set(Math.round(view.centre.x / cell) * cell, Math.round(view.centre.y / cell) * cell, 0);
    scene.add(grid);
  }

  function reset() {
    // A sphere of this radius fills the field of view of 35 degrees at 3.3 radii; capsules are wider than the axes.
    const distance = view.reach * 3.9;
    const [azimuth, elevation] = [0.7, 0.35];
    camera.near = view.reach / 100;
    camera.far = view.reach * 100;
    controls.target.copy(view.centre);
    camera.position.set(Math.cos(elevation) * Math.cos(azimuth), Math.cos(elevation) * Math.sin(azimuth),
      Math.sin(elevation)).multiplyScalar(distance).add(view.centre);
    camera.updateProjectionMatrix();
    controls.update();
    render();
  }

  function turn(right, up) {
    const offset = camera.position.clone().sub(controls.target);
    const distance = offset.length();
    const azimuth = Math.atan2(offset.y, offset.x) - right;
    const elevation = Math.min(1.55, Math.max(-1.55, Math.asin(offset.z / distance) + up));
    offset.set(Math.cos(elevation) * Math.cos(azimuth), Math.cos(elevation) * Math.sin(azimuth), Math.sin(elevation));
    camera.position.copy(offset.multiplyScalar(distance)).add(controls.target);
    controls.update();
    render();
  }

  function zoom(factor) {
    const offset = camera.position.clone().sub(controls.target);
    const distance = Math.min(view.reach * 40, Math.max(view.reach * 0.2, offset.length() / factor));
    camera.position.copy(offset.setLength(distance)).add(controls.target);
    controls.update();
    render();
  }

  function render() {
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const ratio = window.devicePixelRatio || 1;
    if (canvas.width !== Math.floor(width * ratio) || canvas.height !== Math.floor(height * ratio)) {
      renderer.setPixelRatio(ratio);
      renderer.setSize(width, height, false);
      camera.aspect = width / Math.max(height, 1);
      camera.updateProjectionMatrix();
    }
    renderer.render(scene, camera);
  }

  // -- what the page calls ------------------------------------------------------------------------------

  function update(poses) {
    poses.forEach(({ R, p }, k) => place(bodies[k], R, p));
    render();
  }

  function show(layer, visible) {
    for (const object of layers[layer]) object.visible = visible;
    render();
  }

  /** Draw the robot at `poses`; the camera shows all `postures`, each a list of poses, completely. */
  function start(poses, postures) {
    const depths = [];
    for (const body of robot.bodies) depths.push(body.parent < 0 ? 0 : depths[body.parent] + 1);
    fit([poses, ...postures]);
    addGround();
    addShapes(base, robot.baseShapes, color("shape"));
    robot.bodies.forEach((body, k) => addShapes(bodies[k], body.shapes, color("shape")));
    addSkeleton(depths);
    addMarks();
    update(poses);
    reset();
  }

  return { start, update, show, turn, zoom, reset, render, hasShapes: () => layers.shapes.length > 0 };
}
