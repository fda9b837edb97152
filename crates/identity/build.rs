//! Puts the public keys of whoever distributes the program into it. `HEDDLE_VENDOR_KEYS` holds them, or the path of a
//! file with them; a wrong key ends the build, so that no program goes out that takes no licence.

use std::path::Path;

const VARIABLE: &str = "HEDDLE_VENDOR_KEYS";
/// Characters of base64url, in the order of their values.
const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// Characters of 32 bytes in base64url.
const KEY_CHARACTERS: usize = 43;
/// Names that mean something else.
const TAKEN: [&str; 2] = ["installation", "test"];

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    println!("cargo::rerun-if-changed=build.rs");
    let given = std::env::var(VARIABLE).unwrap_or_default();
    let text = match is_path(&given) {
        true => read(given.trim())?,
        false => given,
    };
    println!("cargo::rustc-env={VARIABLE}_COMPILED={}", checked(&text)?);
    Ok(())
}

/// Whether the variable names a file: keys have a `=` in them.
fn is_path(given: &str) -> bool {
    !given.trim().is_empty() && !given.contains('=')
}

fn read(path: &str) -> Result<String, String> {
    if Path::new(path).is_relative() {
        return Err(format!("{VARIABLE}: `{path}`: the path of a file of keys begins with `/`"));
    }
    println!("cargo::rerun-if-changed={path}");
    let text = std::fs::read_to_string(path).map_err(|error| format!("{VARIABLE}: `{path}`: {error}"))?;
    if text.contains('=') { Ok(text) } else { Err(format!("{VARIABLE}: `{path}` has no key in it")) }
}

/// The keys on one line, each looked at.
fn checked(text: &str) -> Result<String, String> {
    let mut names: Vec<&str> = Vec::new();
    let mut keys: Vec<&str> = Vec::new();
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    for entry in lines.flat_map(str::split_ascii_whitespace) {
        let Some((name, key)) = entry.split_once('=') else {
            return Err(format!("{VARIABLE}: a key is written `name=key`"));
        };
        if name.starts_with("secret:") {
            return Err(format!("{VARIABLE}: a secret key was given; the public ones belong there"));
        }
        let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c));
        if name.is_empty() || name.len() > 40 || !letters || TAKEN.contains(&name) {
            return Err(format!("{VARIABLE}: `{name}` is no name for a key"));
        }
        if names.contains(&name) {
            return Err(format!("{VARIABLE}: two keys have the name `{name}`"));
        }
        if !is_key(key.trim_end_matches('=')) {
            return Err(format!("{VARIABLE}: the key `{name}` is not 32 bytes in base64url"));
        }
        names.push(name);
        keys.push(entry);
    }
    Ok(keys.join(" "))
}

/// Whether a text is 32 bytes in base64url: the last of its characters stands for four bits alone.
fn is_key(text: &str) -> bool {
    let values: Option<Vec<usize>> = text.chars().map(|c| ALPHABET.find(c)).collect();
    values.is_some_and(|values| {
        values.len() == KEY_CHARACTERS && values.last().is_some_and(|last| last.is_multiple_of(4))
    })
}
