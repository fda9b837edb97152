//! Runs: their start and end, decisions, human tasks, messages, signals, timers and history.

mod assignment;
mod budgets;
mod calls;
mod completion;
mod decisions;
mod delivery;
mod endings;
mod history;
mod jobs;
mod messages;
mod own;
mod setbacks;
mod signals;
mod start;
mod timers;
mod work_list;
