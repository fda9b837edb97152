//! FEEL of DMN 1.5: parse, compile, evaluate.
