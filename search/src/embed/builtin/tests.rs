//! The embedder beside the reference implementation of its model.

use std::path::PathBuf;

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Expected {
    text: String,
    pieces: Vec<u32>,
    count: usize,
    vector: Vec<f32>,
}

/// The file with the weights, where it was fetched.
fn weights() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    let file = cache.or_else(home)?.join("atelier").join(WEIGHTS_FILE);
    if !file.exists() {
        eprintln!("skipped: `cargo xtask test` fetches {}", file.display());
        return None;
    }
    Some(file)
}

#[test]
fn pieces_and_vectors_are_those_of_the_reference() {
    let Some(file) = weights() else { return };
    let embedder = BuiltinEmbedder::load(&file).expect("the weights are good");
    let text = include_str!("../../../../tests/data/embedder_reference.json");
    let expected: Vec<Expected> = serde_json::from_str(text).expect("the reference can be read");
    for one in expected {
        let pieces = embedder.model.tokenizer.encode(&one.text);
        assert_eq!(pieces.len(), one.count, "{:?}", one.text);
        assert_eq!(pieces[..one.pieces.len()], one.pieces, "{:?}", one.text);
        let vector = embedder.model.network.forward(&pieces);
        for (found, expected) in vector.iter().zip(&one.vector) {
            assert!(
                (found - expected).abs() < 2e-4,
                "{:?}: {found} for {expected}",
                one.text
            );
        }
        let length: f32 = vector.iter().map(|x| x * x).sum();
        assert!((length - 1.0).abs() < 1e-4);
    }
}

#[test]
fn a_text_of_any_length_and_form_has_a_vector() {
    let Some(file) = weights() else { return };
    let embedder = BuiltinEmbedder::load(&file).expect("the weights are good");
    let long = "海报 poster плакат ".repeat(2_000);
    let odd = ["", "\u{0}", "\u{301}\u{301}", "🎨🎨🎨", &long];
    for text in odd {
        let vector = embedder.embed_blocking(&[text.to_owned()]).remove(0);
        assert!(vector.iter().all(|x| x.is_finite()), "{text:?}");
    }
}

#[test]
fn another_file_is_refused() {
    let file = std::env::temp_dir().join(format!("weights-{}", uuid::Uuid::new_v4().simple()));
    std::fs::write(&file, b"no weights").expect("written");
    let refused = BuiltinEmbedder::load(&file).err();
    std::fs::remove_file(&file).expect("removed");
    assert!(matches!(refused, Some(Error::Weights(_))), "{refused:?}");
    let missing = BuiltinEmbedder::load(&file).err();
    assert!(matches!(missing, Some(Error::Weights(_))), "{missing:?}");
}
