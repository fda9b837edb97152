//! `heddle audit`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Place;

/// `heddle audit`.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Verify the audit trail: that no record was changed, removed, added or moved since it was sealed.
    Verify(VerifyAudit),
}

/// `heddle audit verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyAudit {
    /// Verify an exported trail instead: the JSON lines of `GET /api/audit-events`.
    #[arg(long, value_name = "FILE", conflicts_with = "database")]
    pub file: Option<PathBuf>,
    /// Verify every trail of a SQLite database that was copied by `heddle backup` instead.
    #[arg(long, value_name = "FILE")]
    pub database: Option<PathBuf>,
    /// The key that signs checkpoints, in hexadecimal, for a file or a copy; that of the data directory without it.
    #[arg(long, value_name = "KEY")]
    pub public_key: Option<String>,
    /// Hold a file or a copy against checkpoints that were kept elsewhere: a copy of `audit-anchors.jsonl`.
    #[arg(long, value_name = "FILE")]
    pub anchors: Option<PathBuf>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}
