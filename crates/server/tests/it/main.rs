//! The service over HTTP, on SQLite and PostgreSQL.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test's helpers fail as the test does"
)]

mod abandoned;
mod access;
mod all_runs;
mod asvs_failure;
mod asvs_identity;
mod asvs_input;
mod asvs_outside;
mod asvs_rights;
mod audit_chain;
mod audit_trail;
mod calls;
mod camunda7;
mod camunda8;
mod case_types;
mod cases;
mod check_access;
mod choreography;
mod connections;
mod contract;
mod dead_letters;
mod deciding;
mod decisions;
mod documents;
mod earlier;
mod edge;
mod effects;
mod evaluate;
mod fail_closed;
mod files;
mod fresh;
mod gate;
mod gate_conditions;
mod groups;
mod hostile;
mod jobs;
mod kept_data;
mod licence;
mod main_job;
mod matrix;
mod models;
mod models_of_providers;
mod on_time;
mod options;
mod outage;
mod own;
mod protection;
mod quotas;
mod raw;
mod rights;
mod runs;
mod samples;
mod second_factor;
mod sign_ins;
mod single_rules;
mod streams;
mod tls;
mod transforms;
mod vectors;
mod work;
mod workflows;
