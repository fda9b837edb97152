//! Tests of the methodologies.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::builder::Builder;
use crate::document::Markup;
use crate::kind::FileKind;
use crate::limits::Limits;

fn document(text: &str) -> Document {
    let limits = Limits::default();
    let mut builder = Builder::new(&limits);
    builder.push(text).unwrap();
    builder.finish(FileKind::Markdown, Markup::Markdown).unwrap()
}

fn cut_by(document: &Document, id: &str, options: Value) -> Vec<Chunk> {
    chunk(document, &Methodology::read(id, &options).unwrap(), &EstimatedTokens)
}

fn slice(text: &str, start: u64, end: u64) -> String {
    text.chars().skip(usize::try_from(start).unwrap()).take(usize::try_from(end - start).unwrap()).collect()
}

const MANUAL: &str = "# Pumps\n\n## Safety\n\n### Power\n\nSwitch it off first. Wait for a minute. Then open the lid.\n\n\
    ## Parts\n\n| part | number |\n|---|---|\n| seal | 17 |\n| valve | 18 |\n| spring | 19 |\n\nOrder by number.\n";

#[test]
fn sections_are_passages_under_their_headings() {
    let chunks = cut_by(&document(MANUAL), "markdown", Value::Null);
    let paths: Vec<_> = chunks.iter().map(|chunk| chunk.locator.heading_path.join(" / ")).collect();
    assert_eq!(paths, ["Pumps", "Pumps / Parts"]);
    assert!(chunks[0].text.starts_with("# Pumps") && chunks[0].text.ends_with("lid."), "{}", chunks[0].text);
    assert_eq!(chunks[1].prefix, "Pumps");
}

#[test]
fn rows_carry_the_head_of_their_table() {
    let chunks = cut_by(&document(MANUAL), "table-rows", json!({ "rows": 2 }));
    let rows: Vec<_> = chunks.iter().filter(|chunk| chunk.text.starts_with('|')).collect();
    assert_eq!(
        rows.iter().map(|chunk| chunk.text.as_str()).collect::<Vec<_>>(),
        ["| seal | 17 |\n| valve | 18 |", "| spring | 19 |"]
    );
    assert_eq!(rows[0].prefix, "Pumps > Parts\n| part | number |");
    assert_eq!(chunks.last().unwrap().text, "Order by number.");
}

#[test]
fn sentences_come_with_their_neighbours() {
    let chunks = cut_by(&document(MANUAL), "sentence-window", json!({ "windowSentences": 1 }));
    let wait = chunks.iter().find(|chunk| chunk.text == "Wait for a minute.").unwrap();
    let context = wait.context.as_ref().unwrap();
    assert!(
        context.text.ends_with("Switch it off first. Wait for a minute. Then open the lid."),
        "{}",
        context.text
    );
    assert_eq!(wait.locator.heading_path, ["Pumps", "Safety", "Power"]);
}

#[test]
fn children_share_the_text_of_their_parent() {
    let text = (0..60).map(|n| format!("Sentence number {n} says a little.")).collect::<Vec<_>>().join(" ");
    let options = json!({ "parentTokens": 100, "childTokens": 30, "overlapTokens": 0 });
    let chunks = cut_by(&document(&text), "parent-child", options);
    let parents: std::collections::BTreeSet<_> =
        chunks.iter().map(|chunk| chunk.context.as_ref().unwrap().ordinal).collect();
    assert!(parents.len() > 3 && chunks.len() > parents.len() * 2, "{} of {}", chunks.len(), parents.len());
    for pair in chunks.windows(2) {
        let (a, b) = (pair[0].context.as_ref().unwrap(), pair[1].context.as_ref().unwrap());
        assert_eq!(a.ordinal == b.ordinal, Arc::ptr_eq(&a.text, &b.text));
        assert!(a.text.contains(&pair[0].text));
    }
}

#[test]
fn a_whole_document_is_one_passage_and_a_recursive_one_fills_each() {
    let text = (0..200).map(|n| format!("Paragraph {n} has five words.")).collect::<Vec<_>>().join("\n\n");
    let document = document(&text);
    assert_eq!(cut_by(&document, "whole-document", Value::Null).len(), 1);
    let chunks = cut_by(&document, "recursive", json!({ "maxTokens": 100, "overlapTokens": 10 }));
    let total = EstimatedTokens.count(&text);
    assert!(chunks.len() <= total / 80 + 1, "{} passages of {total} tokens", chunks.len());
    for pair in chunks.windows(2) {
        assert!(pair[1].locator.start_char < pair[0].locator.end_char, "no overlap");
        assert!(pair[1].locator.start_char > pair[0].locator.start_char);
    }
}

#[test]
fn what_a_long_paragraph_leaves_stands_with_the_next_and_nothing_is_a_repetition_alone() {
    let words = |from: usize, count: usize| {
        (from..from + count).map(|number| format!("word{number}")).collect::<Vec<_>>().join(" ")
    };
    let text = format!("{}\n\n{}\n\n{}\n", words(1000, 110), words(2000, 10), words(3000, 110));
    let chunks = cut_by(&document(&text), "recursive", json!({ "maxTokens": 100, "overlapTokens": 10 }));
    for pair in chunks.windows(2) {
        assert!(pair[1].locator.end_char > pair[0].locator.end_char, "{:?} repeats alone", pair[1].text);
    }
    let short = chunks.iter().find(|chunk| chunk.text.contains("word2005")).unwrap();
    // Of the words in front of it, more than are repeated.
    assert!(short.text.contains("word1095 "), "{}", short.text);
}

#[test]
fn the_indentation_of_a_word_that_is_too_long_is_no_passage() {
    let text = format!("key: a few words that come first\n    {}\n", "x".repeat(3_000));
    let chunks = cut_by(&document(&text), "recursive", json!({ "maxTokens": 100, "overlapTokens": 10 }));
    assert!(chunks.len() > 2);
    for pair in chunks.windows(2) {
        assert!(pair[1].locator.end_char > pair[0].locator.end_char, "{:?} repeats alone", pair[1].text);
    }
}

#[test]
fn no_passage_reaches_over_the_end_of_a_sheet_and_pages_are_told() {
    let limits = Limits::default();
    let mut sheets = Builder::new(&limits);
    let mut pages = Builder::new(&limits);
    for number in 1..=3 {
        sheets.part(PartKind::Sheet, number, Some(format!("S{number}")), "ä few wörds").unwrap();
        pages.part(PartKind::Page, number, None, &format!("Page {number}. ").repeat(20)).unwrap();
    }
    let chunks = cut_by(&sheets.finish(FileKind::Xlsx, Markup::Markdown).unwrap(), "recursive", Value::Null);
    let names: Vec<_> = chunks.iter().map(|chunk| chunk.locator.sheet.clone().unwrap()).collect();
    assert_eq!(names, ["S1", "S2", "S3"]);
    let options = json!({ "maxTokens": 70, "overlapTokens": 0 });
    let chunks = cut_by(&pages.finish(FileKind::Pdf, Markup::Markdown).unwrap(), "recursive", options);
    let numbers: Vec<_> = chunks.iter().map(|chunk| chunk.locator.page.unwrap()).collect();
    assert_eq!(numbers, [1, 2, 3]);
}

#[test]
fn a_text_that_nothing_divides_is_still_cut() {
    let document = document(&"x".repeat(20_000));
    for id in ["recursive", "markdown", "fixed", "sentence-window", "parent-child", "table-rows"] {
        let chunks = cut_by(&document, id, Value::Null);
        assert!(chunks.len() >= 10, "{id}: {}", chunks.len());
        assert!(chunks.iter().all(|chunk| chunk.text.len() <= 200 * 6), "{id}");
    }
}

fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zäöü漢🦀]{1,9}",
        Just("\n\n# Head ing\n\n".to_owned()),
        Just("\n\n### Deep\n\n".to_owned()),
        Just("\n- item ".to_owned()),
        Just("\n\n| a | b |\n|---|---|\n| 1 | ü |\n| 2 |  |\n\n".to_owned()),
        Just("\n\n```\ncode  \n```\n".to_owned()),
        Just(". ".to_owned()),
        Just(" ".to_owned()),
        Just("\n\n".to_owned()),
        Just("> ".to_owned()),
    ];
    proptest::collection::vec(piece, 1..120).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Of any text, by any methodology: offsets name the text, the order is the text's, sizes hold, and no word is lost.
    #[test]
    fn passages_are_the_text(text in texts(), most in 16_u32..60, methodology in 0..METHODOLOGIES.len()) {
        let limits = Limits::default();
        let mut builder = Builder::new(&limits);
        builder.push(&text).unwrap();
        let Ok(document) = builder.finish(FileKind::Markdown, Markup::Markdown) else { return Ok(()) };
        let info = &METHODOLOGIES[methodology];
        let mut options = info.defaults();
        for name in ["maxTokens", "tokens", "childTokens"] {
            if options.get(name).is_some() && info.id != "whole-document" {
                options[name] = json!(most);
            }
        }
        if options.get("overlapTokens").is_some() {
            options["overlapTokens"] = json!(most / 4);
        }
        let chunks = cut_by(&document, info.id, options);
        let mut covered: BTreeMap<u64, u64> = BTreeMap::new();
        let (mut last, mut end_before) = (0, 0);
        for (ordinal, chunk) in chunks.iter().enumerate() {
            let at = &chunk.locator;
            prop_assert_eq!(&slice(&document.text, at.start_char, at.end_char), &chunk.text);
            prop_assert_eq!(chunk.ordinal as usize, ordinal);
            prop_assert!(!chunk.text.trim().is_empty());
            prop_assert!(at.start_char >= last, "order");
            last = at.start_char;
            prop_assert!(at.end_char > end_before, "{:?} is a repetition", chunk.text);
            end_before = at.end_char;
            let own = EstimatedTokens.count(&chunk.text);
            prop_assert!(info.id == "whole-document" || own <= most as usize + 1, "{} tokens of {}", own, most);
            if let Some(context) = &chunk.context {
                prop_assert_eq!(&slice(&document.text, context.start_char, context.end_char), context.text.as_ref());
                prop_assert!(context.start_char <= at.start_char && context.end_char >= at.end_char);
            }
            let end = covered.entry(at.start_char).or_default();
            *end = (*end).max(at.end_char);
        }
        // By table rows the heads of tables and bare headings stand in prefixes.
        if info.id != "table-rows" {
            let mut reached = 0;
            for (start, end) in covered {
                if start > reached {
                    let gap = slice(&document.text, reached, start);
                    prop_assert!(gap.trim().is_empty(), "lost {:?}", gap);
                }
                reached = reached.max(end);
            }
            prop_assert!(slice(&document.text, reached, document.characters).trim().is_empty(), "lost the end");
        }
    }
}

/// A word without end is one token of a model that does not know it: it is cut like any other text.
#[test]
fn a_word_without_end_makes_passages_of_a_size() {
    struct Unknown;
    impl TokenCounter for Unknown {
        fn token_starts(&self, text: &str) -> Vec<u32> {
            if text.is_empty() { Vec::new() } else { vec![0] }
        }
    }
    for long in ["x".repeat(200_000), "漢".repeat(60_000), format!("a{}b", " ".repeat(100_000))] {
        let document = document(&long);
        for info in METHODOLOGIES {
            let methodology = Methodology::read(info.id, &Value::Null).unwrap();
            let most = usize::try_from(methodology.max_tokens()).unwrap() * 64;
            let chunks = chunk(&document, &methodology, &Unknown);
            assert!(chunks.iter().all(|chunk| chunk.text.len() <= most), "{}", info.id);
            let whole: usize = chunks.iter().map(|chunk| chunk.text.len()).sum();
            assert!(
                whole >= document.text.trim().len() - 100_000 * usize::from(long.contains(' ')),
                "{}",
                info.id
            );
        }
    }
}

#[test]
fn what_makes_too_much_is_told_by_its_number() {
    let document = document(&"One sentence of some words. ".repeat(2_000));
    let cut = |id: &str, options: Value, most: u64, bytes: u64| {
        let methodology = Methodology::read(id, &options).unwrap();
        chunk_within(&document, &methodology, &EstimatedTokens, most, bytes).map(|chunks| chunks.len() as u64)
    };
    let many = cut("sentence-window", Value::Null, u64::MAX, u64::MAX).unwrap();
    assert_eq!(many, 2_000);
    assert_eq!(cut("sentence-window", Value::Null, many, u64::MAX), Ok(many));
    assert_eq!(cut("sentence-window", Value::Null, many - 1, u64::MAX), Err(TooMuch::Passages(many)));
    let wide = json!({ "parentTokens": 8192, "childTokens": 16, "overlapTokens": 0 });
    let Err(TooMuch::Bytes(bytes)) = cut("parent-child", wide.clone(), u64::MAX, 1_000_000) else {
        panic!("each child has a copy of its parent")
    };
    assert!(bytes > 20_000_000, "{bytes}");
    assert!(cut("parent-child", wide, u64::MAX, bytes).is_ok());
}
