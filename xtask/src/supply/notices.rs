//! The notices that go with the program: every package of others, the licence under which it is taken, and the texts of
//! these licences.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::expression::Expression;
use super::packages::{Package, Shipped};

/// Text of the licence that most packages are taken under; it is the same in all of them.
const APACHE: &str = include_str!("../../licences/Apache-2.0.txt");

/// Part of a package that is not its author's.
struct Bundled {
    package: &'static str,
    name: &'static str,
    licence: &'static str,
    /// File of its licence within the package, if it has one.
    file: Option<&'static str>,
    home: &'static str,
}

const BUNDLED: &[Bundled] = &[
    Bundled {
        package: "libsqlite3-sys",
        name: "SQLite",
        licence: "public domain",
        file: None,
        home: "https://sqlite.org/copyright.html",
    },
    Bundled {
        package: "utoipa-swagger-ui-vendored",
        name: "Swagger UI",
        licence: "Apache-2.0",
        file: None,
        home: "https://github.com/swagger-api/swagger-ui",
    },
    Bundled {
        package: "zstd-sys",
        name: "Zstandard",
        licence: "BSD-3-Clause",
        file: Some("zstd/LICENSE"),
        home: "https://github.com/facebook/zstd",
    },
];

const HEAD: &str = "# Third-party notices

Heddle contains the packages below. Where a package may be taken under one of several licences, it is taken under the \
one that is named here. Written by `cargo xtask notices` from what the program is built of.
";

/// The notices as a page.
pub(crate) fn render(shipped: &Shipped) -> Result<String> {
    let rules = super::read("deny.toml")?.parse().context("deny.toml does not parse")?;
    page(shipped, &super::deny::allowed(&rules)?, BUNDLED)
}

fn page(shipped: &Shipped, preferred: &[String], bundled: &[Bundled]) -> Result<String> {
    let mut rows = String::from("\n| package | version | licence | source |\n| --- | --- | --- | --- |\n");
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in shipped.0.values().filter(|package| !package.own) {
        let licence = Expression::read(&package.licence)?;
        let chosen = licence.choose(preferred);
        let chosen = chosen.with_context(|| format!("`{}`: `{}`", package.id.name, package.licence))?;
        let chosen: BTreeSet<&str> = chosen.into_iter().collect();
        let names = chosen.iter().copied().collect::<Vec<_>>().join(" AND ");
        let source = package.repository.as_deref().unwrap_or("crates.io");
        writeln!(rows, "| {} | {} | {names} | {source} |", package.id.name, package.id.version)?;
        for text in texts_of(package, &chosen)? {
            texts.entry(text).or_default().insert(package.id.name.clone());
        }
    }
    let mut page = format!("{HEAD}{rows}\n## Brought along by packages\n\n");
    page.push_str("| what | in the package | licence | source |\n| --- | --- | --- | --- |\n");
    for Bundled { package, name, licence, file, home } in bundled {
        let Some(there) = shipped.0.values().find(|one| one.id.name == *package) else {
            bail!("xtask/src/supply/notices.rs: the program has no `{package}` any more");
        };
        writeln!(page, "| {name} | {package} | {licence} | {home} |")?;
        if let Some(file) = file {
            let text = tidied(&std::fs::read_to_string(there.folder.join(file))?);
            texts.entry(text).or_default().insert((*name).to_owned());
        }
    }
    page.push_str("\n## Texts of the licences\n");
    let mut ordered: Vec<(&BTreeSet<String>, &String)> = texts.iter().map(|(text, of)| (of, text)).collect();
    ordered.sort();
    for (of, text) in ordered {
        let of = of.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        write!(page, "\n### {of}\n\n````text\n{text}\n````\n")?;
    }
    write!(page, "\n### All that is taken under Apache-2.0\n\n````text\n{}\n````\n", tidied(APACHE))?;
    Ok(page)
}

/// The texts that a package asks to be passed on: of every licence but Apache-2.0, of which one copy serves all, and its
/// notice, if it has one.
fn texts_of(package: &Package, chosen: &BTreeSet<&str>) -> Result<Vec<String>> {
    let mut files: Vec<String> = Vec::new();
    for entry in
        std::fs::read_dir(&package.folder).with_context(|| format!("no sources of `{}`", package.id.name))?
    {
        files.push(entry?.file_name().to_string_lossy().into_owned());
    }
    files.sort();
    let upper = |file: &String| file.to_uppercase();
    let notices = files.iter().filter(|file| upper(file).starts_with("NOTICE"));
    let licences: Vec<&String> = files
        .iter()
        .filter(|file| {
            ["LICENSE", "LICENCE", "COPYING", "UNLICENSE"].iter().any(|name| upper(file).starts_with(name))
        })
        .collect();
    let mut wanted: Vec<&String> = notices.collect();
    for licence in chosen.iter().filter(|licence| **licence != "Apache-2.0") {
        // `LICENSE-MIT`, else what is not of another licence: `LICENSE`, `COPYING`.
        let word = licence.split('-').next().unwrap_or(licence).to_uppercase();
        let named: Vec<&String> =
            licences.iter().copied().filter(|file| upper(file).contains(&word)).collect();
        let plain = licences.iter().copied().filter(|file| !upper(file).contains("APACHE"));
        wanted.extend(if named.is_empty() { plain.collect() } else { named });
    }
    wanted.sort();
    wanted.dedup();
    wanted.into_iter().filter_map(|file| text(&package.folder.join(file)).transpose()).collect()
}

/// The text of a file; none of a folder.
fn text(path: &Path) -> Result<Option<String>> {
    if !path.is_file() {
        return Ok(None);
    }
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(Some(tidied(&String::from_utf8_lossy(&bytes))))
}

/// Text without white space at the ends of lines and around the text.
fn tidied(text: &str) -> String {
    let text = text.replace('\u{c}', "").replace('\t', "    ");
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::packages::tests::sample;
    use super::*;

    #[test]
    fn a_package_stands_with_the_chosen_licence_and_the_text_that_it_asks_for() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        put("LICENSE-MIT", "Copyright Somebody  \r\n");
        put("LICENSE-APACHE", "of no use here");
        put("NOTICE", "This was made by Somebody\n\n");
        let shipped = sample(folder.path().to_str().unwrap());
        let bundled = || Bundled { package: "needed", name: "Lib", licence: "Zlib", file: None, home: "h" };
        let of = |preferred: &[&str]| {
            let preferred: Vec<String> = preferred.iter().map(|one| (*one).to_owned()).collect();
            page(&shipped, &preferred, &[bundled()])
        };
        let mit = of(&["MIT", "Apache-2.0"]).unwrap();
        assert!(mit.contains("| needed | 1.2.3+c | MIT | https://example.org/code |"), "{mit}");
        assert!(mit.contains("### needed\n\n````text\nCopyright Somebody\n````"), "{mit}");
        assert!(
            mit.contains("````text\nThis was made by Somebody\n````")
                && mit.contains("| Lib | needed | Zlib | h |")
        );
        assert!(!mit.contains("of no use here") && !mit.contains("tests-only"));
        let apache = of(&["Apache-2.0"]).unwrap();
        assert!(
            apache.contains("| needed | 1.2.3+c | Apache-2.0 |") && !apache.contains("Copyright Somebody")
        );
        assert!(of(&["Zlib"]).is_err(), "no licence can be chosen");
        let gone = Bundled { package: "gone", ..bundled() };
        assert!(page(&shipped, &["MIT".to_owned()], &[gone]).is_err());
    }
}
