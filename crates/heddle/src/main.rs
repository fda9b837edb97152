//! The heddle program.
fn main() {}
