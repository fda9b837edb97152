//! Pages and files of the documentation, held against the command line.

use std::path::{Path, PathBuf};

use clap::Parser as _;

use super::Cli;

/// The root of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The README and all pages below `docs`.
fn pages() -> Vec<PathBuf> {
    let (mut found, mut folders) =
        (vec![Path::new(ROOT).join("README.md")], vec![Path::new(ROOT).join("docs")]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|kind| kind == "md") => found.push(path),
                false => {}
            }
        }
    }
    found
}

/// The lines of a page that are written for a shell, those that are continued as one.
fn lines_for_shells(page: &str) -> Vec<String> {
    let (mut lines, mut is_shell, mut before) = (Vec::new(), false, String::new());
    for line in page.lines().map(str::trim) {
        match line.strip_prefix("```") {
            Some(language) => is_shell = !is_shell && language == "sh",
            None if !is_shell => {}
            None => match line.strip_suffix('\\') {
                Some(part) => before.push_str(part),
                None => lines.push(std::mem::take(&mut before) + line),
            },
        }
    }
    lines
}

/// The words of a command that begins here, up to what ends it or leads elsewhere.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for sign in text.chars() {
        match (quote, sign) {
            (Some(open), _) if open == sign => quote = None,
            (None, '\'' | '"') => {
                quote = Some(sign);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (None, '#') if word.is_none() => break,
            (None, '|' | '>' | '<' | ';' | '&' | ')') => break,
            (_, sign) => word.get_or_insert_default().push(sign),
        }
    }
    words.extend(word);
    words
}

/// The commands of the program in a line: where it stands first, behind variables, within `$(`, or behind `--`.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices("heddle ") {
        let (before, from) = line.split_at(at);
        let before = before.strip_suffix("target/release/").unwrap_or(before).trim_end();
        let last = before.rsplit(' ').next().unwrap_or_default();
        let is_first = last.is_empty() || last == "--" || last.ends_with("$(") || last.contains('=');
        if is_first && (before.is_empty() || !last.is_empty()) {
            found.push(words(from));
        }
    }
    found
}

#[test]
fn every_command_of_the_pages_is_one() {
    let mut tried = 0;
    for path in pages() {
        let page = std::fs::read_to_string(&path).unwrap();
        for line in lines_for_shells(&page) {
            for command in commands(&line) {
                tried += 1;
                if let Err(error) = Cli::try_parse_from(&command) {
                    panic!("{}: {line}\n{error}", path.display());
                }
            }
        }
    }
    assert!(tried > 40, "{tried}");
}

#[test]
fn commands_are_found_where_a_shell_runs_them() {
    for (line, told) in [
        ("heddle doctor", Some("heddle doctor")),
        ("HEDDLE_LISTEN='127.0.0.1:1' heddle serve --demo", Some("heddle serve --demo")),
        ("RUN=$(heddle run start 'a b' | head -n 1)", Some("heddle run start a b")),
        ("runuser -u heddle -- heddle doctor > told", Some("heddle doctor")),
        ("target/release/heddle licence keys # of the vendor", Some("heddle licence keys")),
        ("useradd --system heddle", None),
        ("install target/release/heddle /usr/local/bin/heddle", None),
        ("docker build --tag heddle .", None),
    ] {
        let found = commands(line).into_iter().map(|words| words.join(" ")).collect::<Vec<_>>();
        assert_eq!(found, Vec::from_iter(told), "{line}");
    }
}

/// Values that a line of a unit or an image gives to variables.
fn variables(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split([' ', '=', '\n']).filter(|word| word.starts_with("HEDDLE_"));
    // Read when the program is built.
    words.filter(|word| *word != "HEDDLE_VENDOR_KEYS")
}

#[test]
fn the_unit_and_the_image_start_the_program_as_it_is() {
    let read =
        |name: &str| std::fs::read_to_string(Path::new(ROOT).join("docs/operations").join(name)).unwrap();
    let (unit, image) = (read("heddle.service"), read("Dockerfile"));
    let started = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/local/bin/")).unwrap();
    Cli::try_parse_from(started.split(' ')).unwrap();
    let listed = |name: &str| -> Vec<String> {
        let list = image.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        serde_json::from_str(list).unwrap()
    };
    Cli::try_parse_from([listed("ENTRYPOINT "), listed("CMD ")].concat()).unwrap();
    for (name, text, at_least) in [("heddle.service", &unit, 1), ("Dockerfile", &image, 3)] {
        let keys: Vec<String> =
            variables(text).map(|name| name.trim_start_matches("HEDDLE_").to_lowercase()).collect();
        assert!(keys.len() >= at_least, "{name}: {keys:?}");
        for key in keys {
            assert!(crate::config::keys().any(|known| known.name == key), "{name}: `{key}` is no key");
        }
    }
    // What the image copies is there.
    for name in ["LICENSE", "THIRD-PARTY.md"] {
        assert!(image.contains(&format!("/source/{name}")) && Path::new(ROOT).join(name).is_file(), "{name}");
    }
}
