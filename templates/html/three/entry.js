export { WebGLRenderer, Scene, PerspectiveCamera, Group, Mesh, BufferGeometry, BufferAttribute, MeshStandardMaterial, HemisphereLight, DirectionalLight, GridHelper, AxesHelper, CapsuleGeometry, SphereGeometry, BoxGeometry, CylinderGeometry, DoubleSide, Vector3, Box3, Color, SRGBColorSpace } from "three";
export { OrbitControls } from "three/addons/controls/OrbitControls.js";
