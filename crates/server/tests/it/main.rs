//! The service over HTTP, on SQLite and PostgreSQL.

mod access;
mod documents;
mod gate;
mod hostile;
mod main_job;
mod matrix;
mod models;
mod outage;
mod runs;
mod samples;
mod workflows;
