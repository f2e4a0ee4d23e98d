/** Files to upload that are made on the spot: a body in space as a GLB file. */

/** A column of rings with a colour each, as triangles. */
function column(rings, sides = 24) {
  const positions = [];
  const colours = [];
  const normals = [];
  const indices = [];
  for (let ring = 0; ring + 1 < rings.length; ring += 1) {
    const [low, high] = [rings[ring], rings[ring + 1]];
    const start = positions.length / 3;
    for (let side = 0; side <= sides; side += 1) {
      const turn = (side / sides) * Math.PI * 2;
      const [x, z] = [Math.cos(turn), Math.sin(turn)];
      for (const { radius, height } of [low, high]) {
        positions.push(x * radius, height, z * radius);
        normals.push(x, 0, z);
        colours.push(...low.colour);
      }
    }
    for (let side = 0; side < sides; side += 1) {
      const at = start + side * 2;
      indices.push(at, at + 1, at + 2, at + 1, at + 3, at + 2);
    }
  }
  return { positions, normals, colours, indices };
}

/** A lighthouse as a GLB file. */
export function lighthouse() {
  const [rock, white, red, lamp] = [[0.3, 0.28, 0.26], [0.93, 0.91, 0.86], [0.75, 0.2, 0.16], [1, 0.8, 0.35]];
  const rings = [
    { radius: 1.5, height: 0, colour: rock },
    { radius: 0.9, height: 0.5, colour: white },
    { radius: 0.8, height: 1.5, colour: red },
    { radius: 0.7, height: 2.5, colour: white },
    { radius: 0.6, height: 3.5, colour: red },
    { radius: 0.55, height: 4, colour: rock },
    { radius: 0.75, height: 4.1, colour: lamp },
    { radius: 0.45, height: 4.15, colour: lamp },
    { radius: 0.45, height: 4.8, colour: red },
    { radius: 0.65, height: 4.85, colour: red },
    { radius: 0.02, height: 5.5, colour: red },
  ];
  const { positions, normals, colours, indices } = column(rings);
  const parts = [positions, normals, colours].map((values) => Buffer.from(new Float32Array(values).buffer));
  parts.push(Buffer.from(new Uint16Array(indices).buffer));
  const bin = Buffer.concat(parts);
  let offset = 0;
  const views = parts.map(({ length }, index) => {
    const view = { buffer: 0, byteOffset: offset, byteLength: length, target: index < 3 ? 34_962 : 34_963 };
    offset += length;
    return view;
  });
  const count = positions.length / 3;
  const vector = (bufferView, extra = {}) => ({ bufferView, componentType: 5_126, count, type: 'VEC3', ...extra });
  const json = {
    asset: { version: '2.0' },
    scene: 0,
    scenes: [{ nodes: [0] }],
    nodes: [{ mesh: 0 }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0, NORMAL: 1, COLOR_0: 2 }, indices: 3, material: 0 }] }],
    materials: [{ doubleSided: true, pbrMetallicRoughness: { metallicFactor: 0, roughnessFactor: 0.8 } }],
    accessors: [
      vector(0, { min: [-1.5, 0, -1.5], max: [1.5, 5.5, 1.5] }),
      vector(1),
      vector(2),
      { bufferView: 3, componentType: 5_123, count: indices.length, type: 'SCALAR' },
    ],
    bufferViews: views,
    buffers: [{ byteLength: bin.length }],
  };
  const pad = (bytes, filler) => Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4, filler)]);
  const chunk = (type, bytes) => {
    const head = Buffer.alloc(8);
    head.writeUInt32LE(bytes.length, 0);
    head.writeUInt32LE(type, 4);
    return Buffer.concat([head, bytes]);
  };
  const chunks = [chunk(0x4e4f534a, pad(Buffer.from(JSON.stringify(json)), 0x20)), chunk(0x004e4942, pad(bin, 0))];
  const head = Buffer.alloc(12);
  head.write('glTF', 0);
  head.writeUInt32LE(2, 4);
  head.writeUInt32LE(12 + chunks.reduce((sum, { length }) => sum + length, 0), 8);
  return Buffer.concat([head, ...chunks]);
}
