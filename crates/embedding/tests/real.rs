//! The real model against the vectors of sentence-transformers. `HEDDLE_TEST_MODEL` names its directory, `HEDDLE_SUITES` the
//! directory of the suites; where either is not at hand, the test says so and ends.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test"
)]

use std::path::PathBuf;

use heddle_embedding::Model;

fn model() -> Option<Model> {
    let Some(directory) = std::env::var_os("HEDDLE_TEST_MODEL").map(PathBuf::from) else {
        println!("skipped: HEDDLE_TEST_MODEL names no directory of a model");
        return None;
    };
    Some(Model::open(&directory).expect("the model opens"))
}

/// Rows of a file of NumPy with numbers of 16 or 32 bits, in C's order.
fn rows(bytes: &[u8], width: usize) -> Vec<Vec<f32>> {
    let header = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let text = std::str::from_utf8(&bytes[10..10 + header]).unwrap();
    assert!(text.contains("'fortran_order': False"), "{text}");
    let data = &bytes[10 + header..];
    let numbers: Vec<f32> = if text.contains("<f4") {
        data.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect()
    } else {
        assert!(text.contains("<f2"), "{text}");
        data.chunks_exact(2).map(|two| half(u16::from_le_bytes([two[0], two[1]]))).collect()
    };
    numbers.chunks_exact(width).map(<[f32]>::to_vec).collect()
}

fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023) / 1024.0);
    match exponent {
        0 => sign * fraction * 2.0_f32.powi(-14),
        _ => sign * (1.0 + fraction) * 2.0_f32.powi(exponent - 15),
    }
}

#[test]
fn documents_and_queries_have_the_vectors_of_sentence_transformers() {
    let Some(model) = model() else { return };
    let Some(suites) = std::env::var_os("HEDDLE_SUITES").map(PathBuf::from) else {
        println!("skipped: HEDDLE_SUITES names no directory");
        return;
    };
    let folder = suites.join("retrieval/scifact");
    let corpus = std::fs::read_to_string(folder.join("corpus.jsonl")).unwrap();
    let reference = rows(&std::fs::read(folder.join("minilm_docs.npy")).unwrap(), model.dimensions());
    let texts: Vec<String> = corpus.lines().step_by(130).map(document).collect();
    let found = model.embed(&texts).unwrap();
    assert!(found.len() > 30 && found.iter().any(|one| one.is_truncated));
    for (at, embedding) in found.iter().enumerate() {
        close(&embedding.vector, &reference[at * 130], &texts[at]);
    }
}

fn document(line: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(line).unwrap();
    let part = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    format!("{} {}", part("title"), part("text"))
}

fn close(found: &[f32], expected: &[f32], text: &str) {
    let dot: f32 = found.iter().zip(expected).map(|(a, b)| a * b).sum();
    let length = expected.iter().map(|x| x * x).sum::<f32>().sqrt();
    let worst = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    println!("cosine {:.6}, greatest difference {worst:.6}", dot / length);
    assert!(dot / length > 0.999, "{}: {}", dot / length, text.get(..80).unwrap_or(text));
}
