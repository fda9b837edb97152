//! `heddle workflow`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::Place;

/// `heddle workflow`.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowCommand {
    /// List workflows.
    List(ListWorkflows),
    /// Show a workflow.
    Get(OneWorkflow),
    /// Tell everything that is wrong with a workflow's draft, or with files.
    Validate(ValidateWorkflows),
    /// Create workflows from BPMN and DMN files and folders, or bring them up to date. A file's name becomes the slug.
    Import(ImportWorkflows),
    /// Publish the draft of a workflow: runs start with it.
    Publish(PublishWorkflow),
    /// Write a workflow's BPMN, DMN, BPEL, definition or imported file to a file or standard output; whatever the
    /// licence says.
    Export(ExportWorkflow),
    /// Archive a workflow: nothing starts it any more.
    Archive(OneWorkflow),
    /// Delete a workflow that has no active runs, with its history.
    Delete(OneWorkflow),
}

/// `heddle workflow get`, `archive` and `delete`.
#[derive(Debug, Args)]
pub(crate) struct OneWorkflow {
    /// The workflow's slug or id.
    pub workflow: String,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle workflow list`.
#[derive(Debug, Args)]
pub(crate) struct ListWorkflows {
    /// Only those whose slug, name or description has this text.
    #[arg(long, value_name = "TEXT")]
    pub search: Option<String>,
    /// Only those in this state: draft, published or archived.
    #[arg(long, value_name = "STATE")]
    pub state: Option<String>,
    /// The most to list.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    pub limit: usize,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle workflow validate`.
#[derive(Debug, Args)]
pub(crate) struct ValidateWorkflows {
    /// Slug or id of a workflow, or files and folders that are not imported by it; `-` for standard input.
    #[arg(required = true, value_name = "WORKFLOW|FILE|FOLDER")]
    pub what: Vec<String>,
    /// Hold the draft of a workflow against a profile: structural, commonExecutable, full or bpel.
    #[arg(long, value_name = "PROFILE")]
    pub profile: Option<String>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle workflow import`.
#[derive(Debug, Args)]
pub(crate) struct ImportWorkflows {
    /// The files, and folders with them; `-` for standard input. A DMN file goes with the BPMN file that asks for its
    /// decisions, and becomes a workflow of its own where none does.
    #[arg(required = true, value_name = "FILE|FOLDER")]
    pub files: Vec<PathBuf>,
    /// Replace the draft of a workflow that has the slug already.
    #[arg(long)]
    pub update: bool,
    /// Publish them as well.
    #[arg(long)]
    pub publish: bool,
    /// The slug, for one file; needed with standard input.
    #[arg(long, value_name = "SLUG")]
    pub slug: Option<String>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle workflow publish`.
#[derive(Debug, Args)]
pub(crate) struct PublishWorkflow {
    /// The workflow's slug or id.
    pub workflow: String,
    /// A note on the change.
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// Form in which a workflow is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// BPMN 2.0.
    Bpmn,
    /// The decision model, DMN 1.5.
    Dmn,
    /// WS-BPEL 2.0.
    Bpel,
    /// The definition, as the API has it.
    Json,
    /// The file that the draft was imported from, byte for byte.
    Source,
}

/// `heddle workflow export`.
#[derive(Debug, Args)]
pub(crate) struct ExportWorkflow {
    /// The workflow's slug or id.
    pub workflow: String,
    /// The file; standard output without it.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// `draft`, `published` or a number.
    #[arg(long, value_name = "VERSION", default_value = "draft")]
    pub of: String,
    /// The form.
    #[arg(long, value_enum, default_value_t = ExportFormat::Bpmn)]
    pub format: ExportFormat,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}
