//! Checks, conformance runners and benchmarks.
fn main() {}
