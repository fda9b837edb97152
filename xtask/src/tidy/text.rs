//! Lengths of files, white space, and names that do not belong here.

const LINES: usize = 800;

const TEXT: &[&str] =
    &["rs", "toml", "md", "sql", "sh", "py", "json", "yml", "yaml", "xml", "bpmn", "txt", "tsv"];

/// Whether the file is one that people write.
pub(crate) fn is_text(place: &str) -> bool {
    let name = place.rsplit('/').next().unwrap_or(place);
    match name.rsplit_once('.') {
        Some((_, extension)) => TEXT.contains(&extension) && name != "Cargo.lock",
        None => place.starts_with(".ci/"),
    }
}

/// Adds what is wrong with one file's text.
pub(crate) fn check(place: &str, content: &str, found: &mut Vec<String>) {
    let lines = content.lines().count();
    if place.ends_with(".rs") && lines > LINES && !exempt(place) {
        found.push(format!("{place}: {lines} lines, at most {LINES}"));
    }
    let written = !is_data(place);
    for (index, line) in content.split('\n').enumerate() {
        let number = index + 1;
        if written && line.ends_with([' ', '\t']) {
            found.push(format!("{place}:{number}: white space at the end of the line"));
        }
        if written && line.ends_with('\r') {
            found.push(format!("{place}:{number}: carriage return"));
        }
        for forbidden in forbidden() {
            if names(line, &forbidden) {
                found.push(format!("{place}:{number}: `{forbidden}` names a machine, not the project"));
            }
        }
    }
    if written && !content.is_empty() && !content.ends_with('\n') {
        found.push(format!("{place}: no line end at the end of the file"));
    }
    if written && content.ends_with("\n\n") {
        found.push(format!("{place}: empty lines at the end of the file"));
    }
}

/// Tables are as long as what they list, and tests as what they check.
fn exempt(place: &str) -> bool {
    let name = place.rsplit('/').next().unwrap_or(place);
    is_test(place)
        || place.contains("/tables/")
        || place.contains("/operations/")
        || ["table.rs", "tables.rs", "schema.rs", "operations.rs"].contains(&name)
        || name.ends_with("_table.rs")
}

/// Whether the file holds tests alone.
pub(crate) fn is_test(place: &str) -> bool {
    place.contains("/tests/") || place.ends_with("/tests.rs") || place.ends_with("_tests.rs")
}

/// Models, snapshots and recorded documents keep the bytes they came with.
fn is_data(place: &str) -> bool {
    [".bpmn", ".xml", ".snap", ".json", ".tsv"].iter().any(|ending| place.ends_with(ending))
}

/// Absolute folders of one machine. Put together here so that this file does not find itself.
fn forbidden() -> [String; 4] {
    [("wor", "k"), ("roo", "t"), ("hom", "e"), ("User", "s")].map(|(one, two)| format!("/{one}{two}/"))
}

/// The text stands in the line as a path of its own, not as a part of an address or of a longer path.
fn names(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|mark| !(mark.is_alphanumeric() || "._-~}*)/".contains(mark)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(place: &str, content: &str) -> Vec<String> {
        let mut found = Vec::new();
        check(place, content, &mut found);
        found
    }

    #[test]
    fn text_files_are_told_from_others() {
        for (place, expected) in [
            ("crates/a/src/lib.rs", true),
            (".ci/run", true),
            ("README.md", true),
            ("Cargo.lock", false),
            ("docs/picture.png", false),
            ("LICENSE", false),
        ] {
            assert_eq!(is_text(place), expected, "{place}");
        }
    }

    #[test]
    fn long_files_are_found_but_tables_and_tests_are_exempt() {
        let long = "// a line\n".repeat(801);
        assert_eq!(of("crates/a/src/lib.rs", &long), ["crates/a/src/lib.rs: 801 lines, at most 800"]);
        assert!(of("crates/a/src/lib.rs", &"// a line\n".repeat(800)).is_empty());
        for place in
            ["crates/a/tests/it/main.rs", "crates/store/src/schema.rs", "crates/api/src/operations/runs.rs"]
        {
            assert!(of(place, &long).is_empty(), "{place}");
        }
    }

    #[test]
    fn white_space_and_line_ends_are_found() {
        assert_eq!(of("a.rs", "fn a() {} \n"), ["a.rs:1: white space at the end of the line"]);
        assert_eq!(of("a.md", "one\r\n"), ["a.md:1: carriage return"]);
        assert_eq!(of("a.md", "one"), ["a.md: no line end at the end of the file"]);
        assert_eq!(of("a.md", "one\n\n"), ["a.md: empty lines at the end of the file"]);
        assert!(of("model.bpmn", "<a> \n\n").is_empty());
    }

    #[test]
    fn machine_paths_are_found_but_not_parts_of_other_paths() {
        let [work, root, home, _] = forbidden();
        assert_eq!(of("a.md", &format!("see {work}main\n")).len(), 1);
        assert_eq!(of("a.sh", &format!("cd \"{root}x\"\n")).len(), 1);
        assert_eq!(of("a.sh", &format!("HOME={home}me\n")).len(), 1);
        assert!(of("a.md", &format!("GET https://example.org{home}page\n")).is_empty());
        assert!(of("a.md", &format!("the folder ./team{work}plan\n")).is_empty());
    }
}
