//! Figures of a model: processor time of a passage, and passages in a second with all threads.
//!
//! `cargo run --release -p heddle-embedding --example bench-embedding -- DIRECTORY [PASSAGES] [THREADS]`

#![expect(clippy::print_stdout, reason = "the figures are what it is run for")]

use std::path::PathBuf;
use std::time::Instant;

use heddle_embedding::{Embedding, Model};

/// Words of which passages are made: most are one token each.
const WORDS: &[&str] = &[
    "the",
    "study",
    "of",
    "protein",
    "in",
    "cells",
    "shows",
    "that",
    "patients",
    "with",
    "early",
    "treatment",
    "have",
    "a",
    "lower",
    "risk",
    "and",
    "blood",
    "pressure",
    "was",
    "measured",
    "after",
    "six",
    "months",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let directory = arguments.next().map(PathBuf::from).ok_or("a model's directory is needed")?;
    let mut number = |other: usize| match arguments.next() {
        Some(text) => text.to_string_lossy().parse(),
        None => Ok(other),
    };
    let (passages, threads) = (number(64)?, number(2)?);
    let began = Instant::now();
    let model = Model::open(&directory)?;
    println!("{}: {} dimensions, opened in {:.0} ms", model.id(), model.dimensions(), ms(began));
    for tokens in [16, 64, 128, 254] {
        let texts: Vec<String> = (0..passages).map(|seed| text(seed, tokens)).collect();
        let all: usize = model.embed(texts.get(..1).unwrap_or_default())?.iter().map(|one| one.tokens).sum();
        let began = processor_ms()?;
        let found = model.embed(&texts)?;
        let each = (processor_ms()? - began) / passages as f64;
        println!("{all:>4} tokens: {each:.2} ms of processor time a passage ({} passages)", found.len());
    }
    let texts: Vec<String> = (0..passages).map(|seed| text(seed, 126)).collect();
    let began = Instant::now();
    std::thread::scope(|scope| {
        let run = |_| scope.spawn(|| model.embed(&texts));
        let running: Vec<_> = (0..threads.max(1)).map(run).collect();
        for thread in running {
            let embedded: Result<Vec<Embedding>, _> = thread.join().map_err(|_panic| "a thread broke off")?;
            embedded?;
        }
        Ok::<(), Box<dyn std::error::Error>>(())
    })?;
    let rate = (passages * threads.max(1)) as f64 * 1000.0 / ms(began);
    println!("{threads} threads: {rate:.1} passages of 128 tokens in a second");
    Ok(())
}

fn text(seed: usize, tokens: usize) -> String {
    let word = |at: usize| WORDS.get((at * 7 + seed * 13 + at / 5) % WORDS.len()).copied().unwrap_or("the");
    (0..tokens).map(word).collect::<Vec<_>>().join(" ")
}

fn ms(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1000.0
}

/// Processor time of this process in milliseconds, as Linux counts it (ticks of 10 ms).
fn processor_ms() -> Result<f64, Box<dyn std::error::Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or("no process")?;
    let mut fields = fields.split_whitespace().skip(11);
    let mut ticks = || fields.next().unwrap_or("0").parse::<f64>();
    Ok((ticks()? + ticks()?) * 10.0)
}
