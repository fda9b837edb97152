//! Judgement of a definition.
