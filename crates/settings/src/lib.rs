//! Settings of elements that are executed: what BPMN and CMMN ask for alike.
//!
//! [`Setting`] is a value or the FEEL that gives it; the tasks read themselves from an element's `configuration`;
//! [`timer`] has the timers, [`juel`] and [`xpath`] translate other languages of expressions to FEEL.

pub mod calculation;
mod calls;
mod cron;
mod ending;
pub mod expression;
mod human;
pub mod inside;
mod job;
pub mod juel;
mod kinds;
mod script;
pub mod service;
mod setting;
pub mod timer;
pub mod xpath;

pub use calculation::{DataMapping, DecisionTask, ResultMapping, ScriptError, ScriptTask, Target, Wrong};
pub use calls::{CallTask, CallVersion, ReadCall, version_number};
pub use ending::{JobEnd, ProtectionViolated};
pub use human::UserTask;
pub use job::{JobTask, Mappings, number, setting};
pub use script::{Script, script};
pub use setting::Setting;
pub use timer::{Period, Recurrence, Schedule, ScheduleFault, TimerDefinition, TimerError, TimerKind};
