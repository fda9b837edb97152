//! The ports of this area: that of definitions stands here, those of what runs in the crate of execution. Each method is
//! one atomic unit; every query is held to the tenant that it is given.

mod workflows;

pub use heddle_execution::ports::*;
pub use workflows::*;
