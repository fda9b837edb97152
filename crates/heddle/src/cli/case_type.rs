//! `heddle case-type`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{ListWorkflows, Place};

/// `heddle case-type`.
#[derive(Debug, Subcommand)]
pub(crate) enum CaseTypeCommand {
    /// List case types.
    List(ListWorkflows),
    /// Show a case type.
    Get(OneCaseType),
    /// Tell everything that is wrong with a case type's draft, or with CMMN files.
    Validate(ValidateCaseTypes),
    /// Create case types from CMMN files, or bring them up to date.
    Import(ImportCaseTypes),
    /// Publish the draft of a case type: cases start with it.
    Publish(PublishCaseType),
    /// Write a case type's CMMN or definition to a file or standard output; whatever the licence says.
    Export(ExportCaseType),
    /// Archive a case type: nothing starts it any more.
    Archive(OneCaseType),
    /// Delete a case type that has no open cases, with its history.
    Delete(OneCaseType),
}

/// `heddle case-type get`, `archive` and `delete`.
#[derive(Debug, Args)]
pub(crate) struct OneCaseType {
    /// The case type's slug or id.
    pub case_type: String,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle case-type validate`.
#[derive(Debug, Args)]
pub(crate) struct ValidateCaseTypes {
    /// Slugs or ids of case types, or CMMN files that are not imported by it; `-` for standard input.
    #[arg(required = true, value_name = "CASE TYPE|FILE")]
    pub what: Vec<String>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle case-type import`.
#[derive(Debug, Args)]
pub(crate) struct ImportCaseTypes {
    /// The CMMN files; `-` for standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Replace the draft of a case type that has the slug already.
    #[arg(long)]
    pub update: bool,
    /// Publish them as well.
    #[arg(long)]
    pub publish: bool,
    /// The slug, for one file; made of the case's name without it.
    #[arg(long, value_name = "SLUG")]
    pub slug: Option<String>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle case-type publish`.
#[derive(Debug, Args)]
pub(crate) struct PublishCaseType {
    /// The case type's slug or id.
    pub case_type: String,
    /// A note on the change.
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// Form in which a case type is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CaseTypeFormat {
    /// CMMN.
    Cmmn,
    /// The definition, as the API has it.
    Json,
}

/// `heddle case-type export`.
#[derive(Debug, Args)]
pub(crate) struct ExportCaseType {
    /// The case type's slug or id.
    pub case_type: String,
    /// The file; standard output without it.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// `draft`, `published` or a number.
    #[arg(long, value_name = "VERSION", default_value = "draft")]
    pub of: String,
    /// The form.
    #[arg(long, value_enum, default_value_t = CaseTypeFormat::Cmmn)]
    pub format: CaseTypeFormat,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}
