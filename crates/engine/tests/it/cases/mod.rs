//! Cases: life cycles, sentries, rules, stages, planning, listeners, the case file and work.

mod elsewhere;
mod file;
mod kept;
mod life;
mod listeners;
mod planning;
mod random;
mod reactivation;
mod rules;
mod sentries;
mod stages;
mod support;
mod work;
