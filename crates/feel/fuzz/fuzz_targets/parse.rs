//! Any text is an expression or unary tests, or is refused at a place within it, in both dialects.
//!
//! `cargo +nightly fuzz run parse corpus/parse seeds/parse -- -dict=feel.dict`

#![no_main]

use heddle_feel::{Dialect, Expression, Options, SyntaxError, UnaryTests};
use libfuzzer_sys::fuzz_target;

fn check(text: &str, error: Option<SyntaxError>) {
    if let Some(error) = error {
        assert!(error.offset <= text.len() && text.is_char_boundary(error.offset));
        assert!(error.line >= 1 && error.column >= 1 && !error.message.is_empty());
    }
}

fuzz_target!(|text: &str| {
    let names = ["loan amount", "a-b", "rate and fee", "x"].map(str::to_owned).to_vec();
    for dialect in [Dialect::Standard, Dialect::Heddle] {
        for names in [Vec::new(), names.clone()] {
            let options = Options { dialect, names, ..Options::default() };
            check(text, Expression::compile_with(text, &options).err());
            check(text, UnaryTests::compile_with(text, &options).err());
        }
    }
});
