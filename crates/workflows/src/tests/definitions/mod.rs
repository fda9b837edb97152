//! Workflows: creating, changing, publishing, reading, importing and exporting them.

mod change;
mod create;
mod decision_logic;
mod drafts;
mod exports;
mod preview;
mod publish;
mod reading;
mod validate;
