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
    let embedder = BuiltinEmbedder::open(&file).expect("the weights are good");
    let text = include_str!("../../../../tests/data/embedder_reference.json");
    let expected: Vec<Expected> = serde_json::from_str(text).expect("the reference can be read");
    let model = embedder.model().expect("the weights are read");
    for one in expected {
        let pieces = model.tokenizer.encode(&one.text);
        assert_eq!(pieces.len(), one.count, "{:?}", one.text);
        assert_eq!(pieces[..one.pieces.len()], one.pieces, "{:?}", one.text);
        let vector = model.network.forward(&pieces);
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
    let embedder = BuiltinEmbedder::open(&file).expect("the weights are good");
    let long = "海报 poster плакат ".repeat(2_000);
    let odd = ["", "\u{0}", "\u{301}\u{301}", "🎨🎨🎨", &long];
    for text in odd {
        let vector = embedder
            .embed_blocking(&[text.to_owned()])
            .expect("a vector")
            .remove(0);
        assert!(vector.iter().all(|x| x.is_finite()), "{text:?}");
    }
}

#[test]
fn another_file_is_refused() {
    let file = std::env::temp_dir().join(format!("weights-{}", uuid::Uuid::new_v4().simple()));
    std::fs::write(&file, b"no weights").expect("written");
    let refused = BuiltinEmbedder::open(&file).err();
    std::fs::remove_file(&file).expect("removed");
    assert!(matches!(refused, Some(Error::Weights(_))), "{refused:?}");
    let missing = BuiltinEmbedder::open(&file).err();
    assert!(matches!(missing, Some(Error::Weights(_))), "{missing:?}");
}

#[tokio::test]
async fn weights_are_in_memory_only_while_texts_come() {
    let Some(file) = weights() else { return };
    let mut embedder = BuiltinEmbedder::open(&file).expect("the weights are good");
    embedder.kept = Duration::from_millis(50);
    assert!(!embedder.is_held());
    for text in ["a poster", "a flow"] {
        let vectors = embedder.embed(vec![text.to_owned()]).await;
        assert_eq!(vectors.expect("a vector")[0].len(), 512);
        let gone = async {
            while embedder.is_held() {
                sleep(Duration::from_millis(5)).await;
            }
        };
        let gone = tokio::time::timeout(Duration::from_secs(30), gone).await;
        gone.expect("unused weights leave memory");
    }
}
