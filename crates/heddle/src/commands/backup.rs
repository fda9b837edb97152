//! `heddle backup` and `heddle restore`.

use anyhow::Result;
use heddle_server::Config;
use heddle_server::operator::{self, Copied, KeyFiles};
use serde_json::to_value;

use crate::cli::{BackUp, Restore};
use crate::output;

pub(crate) async fn back_up(config: Config, options: BackUp, as_json: bool) -> Result<()> {
    let bar = output::progress("copying and checking the database", 1);
    let keys = KeyFiles { key: options.key_file.as_deref(), keyring: options.keyring_file.as_deref() };
    let done = operator::back_up(&config, &options.to, keys).await;
    bar.finish_and_clear();
    let done = done?;
    if as_json {
        output::json(&to_value(&done)?);
        return Ok(());
    }
    output::line(&told("Copied", &done));
    match &done.key {
        Some(key) => output::line(&format!(
            "The key was copied to {}. Keep the two apart: whoever has both has everything.",
            key.display()
        )),
        None => output::line(
            "The key (heddle.key) was not copied: a database without its key does not start. Keep a copy of it elsewhere.",
        ),
    }
    match &done.keyring {
        Some(ring) => output::line(&format!("The keyring was copied to {}.", ring.display())),
        None => output::line(
            "The keyring (heddle.keyring) was not copied: secrets of connections open with it alone. --keyring-file FILE copies it.",
        ),
    }
    Ok(())
}

pub(crate) async fn restore(config: Config, options: Restore, as_json: bool) -> Result<()> {
    let bar = output::progress("copying and checking the database", 1);
    let keys = KeyFiles { key: options.key_file.as_deref(), keyring: options.keyring_file.as_deref() };
    let done = operator::restore(&config, &options.from, keys).await;
    bar.finish_and_clear();
    let done = done?;
    if as_json {
        output::json(&to_value(&done)?);
        return Ok(());
    }
    output::line(&told("Restored", &done));
    match &done.key {
        Some(key) => output::line(&format!("The key is in {}. Start with `heddle serve`.", key.display())),
        None => output::line(&format!(
            "Put the key file into {} (heddle.key, mode 0600) before you start: without it the server refuses to.",
            config.data_dir.display()
        )),
    }
    Ok(())
}

fn told(done_what: &str, done: &Copied) -> String {
    let installation =
        done.installation_id.as_ref().map_or_else(String::new, |id| format!(", installation {id}"));
    format!(
        "{done_what} the database: {}, {} bytes, {} migrations{installation}; every page was checked.",
        done.database.display(),
        done.bytes,
        done.migrations
    )
}
