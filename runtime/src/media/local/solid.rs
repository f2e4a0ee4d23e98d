//! A small body: a box whose proportions and colour follow from the words, as one GLB file.

use serde_json::json;

use super::script::Script;

/// Corners of a face, as signs of the half sides, with the direction that it looks to.
type Face = ([[f32; 3]; 4], [f32; 3]);

const FACES: [Face; 6] = [
    (
        [
            [-1.0, -1.0, 1.0],
            [1.0, -1.0, 1.0],
            [1.0, 1.0, 1.0],
            [-1.0, 1.0, 1.0],
        ],
        [0.0, 0.0, 1.0],
    ),
    (
        [
            [1.0, -1.0, -1.0],
            [-1.0, -1.0, -1.0],
            [-1.0, 1.0, -1.0],
            [1.0, 1.0, -1.0],
        ],
        [0.0, 0.0, -1.0],
    ),
    (
        [
            [1.0, -1.0, 1.0],
            [1.0, -1.0, -1.0],
            [1.0, 1.0, -1.0],
            [1.0, 1.0, 1.0],
        ],
        [1.0, 0.0, 0.0],
    ),
    (
        [
            [-1.0, -1.0, -1.0],
            [-1.0, -1.0, 1.0],
            [-1.0, 1.0, 1.0],
            [-1.0, 1.0, -1.0],
        ],
        [-1.0, 0.0, 0.0],
    ),
    (
        [
            [-1.0, 1.0, 1.0],
            [1.0, 1.0, 1.0],
            [1.0, 1.0, -1.0],
            [-1.0, 1.0, -1.0],
        ],
        [0.0, 1.0, 0.0],
    ),
    (
        [
            [-1.0, -1.0, -1.0],
            [1.0, -1.0, -1.0],
            [1.0, -1.0, 1.0],
            [-1.0, -1.0, 1.0],
        ],
        [0.0, -1.0, 0.0],
    ),
];

/// A GLB file.
pub(super) fn body(script: &Script) -> Vec<u8> {
    let mut numbers = script.numbers();
    let half = [
        numbers.between(0.3, 1.0),
        numbers.between(0.3, 1.4),
        numbers.between(0.3, 1.0),
    ];
    let (mut positions, mut normals, mut indices) = (Vec::new(), Vec::new(), Vec::new());
    for (number, (corners, normal)) in (0_u16..).zip(FACES) {
        for corner in corners {
            positions.extend((0..3).flat_map(|axis| (corner[axis] * half[axis]).to_le_bytes()));
            normals.extend(normal.into_iter().flat_map(f32::to_le_bytes));
        }
        let first = number * 4;
        indices.extend(
            [0, 1, 2, 0, 2, 3]
                .into_iter()
                .flat_map(|step| (first + step).to_le_bytes()),
        );
    }
    let (vectors, count) = (positions.len(), indices.len());
    let binary = [positions, normals, indices].concat();
    glb(&scene(script, half, (vectors, count)), &binary)
}

fn scene(script: &Script, half: [f32; 3], (vectors, indices): (usize, usize)) -> serde_json::Value {
    let [red, green, blue] = script.palette[4].map(|part| f32::from(part) / 255.0);
    json!({
        "asset": {"version": "2.0", "generator": "Atelier"},
        "scene": 0,
        "scenes": [{"nodes": [0], "name": script.title}],
        "nodes": [{"mesh": 0, "name": script.title}],
        "materials": [{"pbrMetallicRoughness": {"baseColorFactor": [red, green, blue, 1.0], "metallicFactor": 0.1, "roughnessFactor": 0.7}}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "NORMAL": 1}, "indices": 2, "material": 0}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 24, "type": "VEC3", "min": half.map(|side| -side), "max": half},
            {"bufferView": 1, "componentType": 5126, "count": 24, "type": "VEC3"},
            {"bufferView": 2, "componentType": 5123, "count": 36, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": vectors},
            {"buffer": 0, "byteOffset": vectors, "byteLength": vectors},
            {"buffer": 0, "byteOffset": 2 * vectors, "byteLength": indices},
        ],
        "buffers": [{"byteLength": 2 * vectors + indices}],
    })
}

fn glb(scene: &serde_json::Value, binary: &[u8]) -> Vec<u8> {
    let mut text = scene.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let length = 12 + 8 + text.len() + 8 + binary.len();
    let mut file = Vec::with_capacity(length);
    file.extend_from_slice(b"glTF");
    file.extend_from_slice(&2_u32.to_le_bytes());
    file.extend_from_slice(&(length as u32).to_le_bytes());
    file.extend_from_slice(&(text.len() as u32).to_le_bytes());
    file.extend_from_slice(b"JSON");
    file.extend_from_slice(&text);
    file.extend_from_slice(&(binary.len() as u32).to_le_bytes());
    file.extend_from_slice(b"BIN\0");
    file.extend_from_slice(binary);
    file
}
