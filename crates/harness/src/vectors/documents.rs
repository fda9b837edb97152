//! Real documents: made by LibreOffice, pandoc and TeX, taken in, and asked for: text, headings, tables and page numbers must be
//! those that went in.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use heddle_harness_kit::client::Client;
use heddle_harness_kit::out;
use heddle_harness_kit::server::{self, Backend, Build, Mode, Server};
use serde_json::{Value, json};

/// Sections of a document, each on a page of its own where there are pages.
const SECTIONS: u32 = 4;
/// Longest wait for the documents of one type.
const PATIENCE: Duration = Duration::from_secs(300);

/// Options of `documents`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Documents of each type.
    #[arg(long, default_value_t = 10)]
    count: u32,
    /// Database of the started server.
    #[arg(long, value_enum, default_value_t = Backend::Sqlite)]
    backend: Backend,
    /// Fails where a program that makes documents is not installed.
    #[arg(long)]
    strict: bool,
}

/// A way to make documents of a type.
struct Maker {
    /// Name, for what is told.
    name: &'static str,
    /// Programs that it needs, with the packages of Debian that have them.
    needs: &'static [Program],
    /// Ending of the files.
    ending: &'static str,
    media: &'static str,
    keeps: Keeps,
    make: fn(&Folder, u32) -> Result<PathBuf>,
}

/// A program that makes documents.
struct Program {
    name: &'static str,
    package: &'static str,
}

/// Facts that the passages of a type must carry beside their text.
struct Keeps {
    /// The heading above.
    heading: bool,
    /// Place by number: `page` or `slide`.
    place: Option<&'static str>,
    /// Whether the number is that of the section; else it only rises.
    exact: bool,
    /// The name of the sheet.
    sheet: bool,
    /// Cells of a row beside each other.
    rows: bool,
}

const PANDOC: Program = Program { name: "pandoc", package: "pandoc" };
const OFFICE: Program = Program { name: "soffice", package: "libreoffice-nogui" };
const TEX: Program = Program { name: "pdflatex", package: "texlive-latex-recommended" };
const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
const PPTX: &str = "application/vnd.openxmlformats-officedocument.presentationml.presentation";

const MAKERS: &[Maker] = &[
    Maker {
        name: "docx-pandoc",
        needs: &[PANDOC],
        ending: "docx",
        media: DOCX,
        keeps: Keeps { heading: true, place: None, exact: false, sheet: false, rows: true },
        make: |folder, number| folder.pandoc(number, "docx", &[]),
    },
    Maker {
        name: "docx-libreoffice",
        needs: &[PANDOC, OFFICE],
        ending: "docx",
        media: DOCX,
        keeps: Keeps { heading: true, place: None, exact: false, sheet: false, rows: true },
        make: |folder, number| folder.office(&folder.pandoc(number, "odt", &[])?, "docx"),
    },
    Maker {
        name: "pdf-tex",
        needs: &[PANDOC, TEX],
        ending: "pdf",
        media: "application/pdf",
        keeps: Keeps { heading: true, place: Some("page"), exact: true, sheet: false, rows: true },
        make: |folder, number| folder.pandoc(number, "pdf", &["--pdf-engine=pdflatex"]),
    },
    Maker {
        name: "pdf-libreoffice",
        needs: &[PANDOC, OFFICE],
        ending: "pdf",
        media: "application/pdf",
        keeps: Keeps { heading: true, place: Some("page"), exact: true, sheet: false, rows: true },
        make: |folder, number| folder.office(&folder.pandoc(number, "docx", &[])?, "pdf"),
    },
    Maker {
        name: "pptx-pandoc",
        needs: &[PANDOC],
        ending: "pptx",
        media: PPTX,
        // A table begins a slide of its own.
        keeps: Keeps { heading: false, place: Some("slide"), exact: false, sheet: false, rows: false },
        make: |folder, number| folder.pandoc(number, "pptx", &["--slide-level=1"]),
    },
    Maker {
        name: "xlsx-libreoffice",
        needs: &[OFFICE],
        ending: "xlsx",
        media: XLSX,
        keeps: Keeps { heading: false, place: None, exact: false, sheet: true, rows: true },
        make: |folder, number| folder.office(&folder.csv(number)?, "xlsx"),
    },
    Maker {
        name: "html-pandoc",
        needs: &[PANDOC],
        ending: "html",
        media: "text/html",
        keeps: Keeps { heading: true, place: None, exact: false, sheet: false, rows: true },
        make: |folder, number| folder.pandoc(number, "html", &["--standalone", "--metadata=title:Looms"]),
    },
    Maker {
        name: "markdown",
        needs: &[],
        ending: "md",
        media: "text/markdown",
        keeps: Keeps { heading: true, place: None, exact: false, sheet: false, rows: true },
        make: |folder, number| folder.write(number, "md", &source(number, false)),
    },
    Maker {
        name: "csv",
        needs: &[],
        ending: "csv",
        media: "text/csv",
        keeps: Keeps { heading: false, place: None, exact: false, sheet: false, rows: true },
        make: |folder, number| folder.csv(number),
    },
];

/// Makes, takes in and asks; `false` when something is not kept, or nothing could be made.
pub(crate) async fn run(options: Options) -> Result<bool> {
    let binary = server::binary(Build::Debug)?;
    let postgres = server::postgres_for(options.backend)?;
    let mode = Mode { demo: true, test_clock: false };
    let mut server = Server::start(&binary, mode, postgres.as_ref()).await?;
    let facts = server.facts().clone();
    let email = facts.email.context("the ready file names no administrator")?;
    let password = facts.password.context("the ready file names no password")?;
    let client = Client::sign_in(&facts.address, &email, &password).await?;
    let (mut holds, mut tried) = (true, 0);
    for maker in MAKERS {
        if let Some(absent) = maker.needs.iter().find(|program| !is_installed(program.name)) {
            out::line(format_args!(
                "{} skipped: {} is not installed (Debian: apt-get install {})",
                maker.name, absent.name, absent.package
            ));
            holds &= !options.strict;
            continue;
        }
        tried += 1;
        let lacking = kept(&client, maker, options.count).await.with_context(|| maker.name.to_owned())?;
        lacking.iter().take(10).for_each(|what| out::line(format_args!("  {}: {what}", maker.name)));
        let word = if lacking.is_empty() { "kept" } else { "LOST" };
        out::line(format_args!(
            "{word} {} documents={} lacking={}",
            maker.name,
            options.count,
            lacking.len()
        ));
        holds &= lacking.is_empty();
    }
    server.stop().await?;
    Ok(holds && tried > 0)
}

fn is_installed(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}

/// Sentences of what is not kept of documents of one type.
async fn kept(client: &Client, maker: &Maker, count: u32) -> Result<Vec<String>> {
    let folder = Folder(tempfile::tempdir().context("no temporary folder")?);
    super::create(client, maker.name).await?;
    let mut ids = Vec::new();
    for number in 1..=count {
        let made = (maker.make)(&folder, number)?;
        let content = std::fs::read(&made).with_context(|| format!("{} is not there", made.display()))?;
        let name = format!("document-{number}.{}", maker.ending);
        let uploaded = super::upload(client, maker.name, &super::bytes(&name, maker.media, &content)).await?;
        ids.extend(super::ids(&uploaded));
    }
    let files = super::settled(client, maker.name, PATIENCE).await?;
    let mut lacking = Vec::new();
    for file in files.iter().filter(|file| file["state"] != "ready") {
        lacking.push(format!("{} is {}: {}", file["name"], file["state"], file["error"]));
    }
    for (number, id) in (1..=count).zip(&ids) {
        let mut last = 0;
        for section in 1..=SECTIONS {
            let asked = Asked { client, maker, id, number, section };
            last = asked.section_kept(last, &mut lacking).await?;
        }
    }
    Ok(lacking)
}

/// A section of an uploaded document.
struct Asked<'a> {
    client: &'a Client,
    maker: &'a Maker,
    id: &'a str,
    number: u32,
    section: u32,
}

impl Asked<'_> {
    /// Notes what is not kept of the section; the number of its place.
    async fn section_kept(&self, last: u64, lacking: &mut Vec<String>) -> Result<u64> {
        let Self { number, section, .. } = *self;
        let keeps = &self.maker.keeps;
        let mut place = last;
        let body = word("body", number, section);
        // A sheet has its cells alone.
        if !keeps.sheet && self.maker.ending != "csv" {
            match self.passage(&body).await? {
                None => lacking.push(format!("nothing is found of {body}")),
                Some(passage) => {
                    place = self.place_kept(&passage, last, lacking);
                    let heading = word("heading", number, section);
                    let path = passage["locator"]["headingPath"].to_string();
                    if keeps.heading && !path.contains(&heading) {
                        lacking.push(format!("{body} stands under {path}, not under {heading}"));
                    }
                }
            }
            if self.passage(&word("heading", number, section)).await?.is_none() {
                lacking.push(format!("heading {section} of document {number} is not found"));
            }
        }
        let (cell, beside) = (word("cella", number, section), word("cellb", number, section));
        match self.passage(&cell).await? {
            None => lacking.push(format!("nothing is found of the cell {cell}")),
            Some(passage) => {
                let text = passage["text"].as_str().unwrap_or_default();
                if keeps.rows && !text.lines().any(|line| line.contains(&cell) && line.contains(&beside)) {
                    lacking.push(format!("{cell} and {beside} are not in one row: {text:?}"));
                }
                if keeps.sheet && passage["locator"]["sheet"].as_str().is_none_or(str::is_empty) {
                    lacking.push(format!("{cell} is in no sheet: {}", passage["locator"]));
                }
            }
        }
        Ok(place)
    }

    /// Notes a place that is not the section's; gives its number.
    fn place_kept(&self, passage: &Value, last: u64, lacking: &mut Vec<String>) -> u64 {
        let Some(kind) = self.maker.keeps.place else { return last };
        let found = passage["locator"][kind].as_u64().unwrap_or_default();
        let right = if self.maker.keeps.exact { found == u64::from(self.section) } else { found > last };
        if !right {
            lacking.push(format!("section {} is on {kind} {found}, behind {last}", self.section));
        }
        found
    }

    /// The best passage of the document for a word that it alone has.
    async fn passage(&self, word: &str) -> Result<Option<Value>> {
        let body = json!({"query": word, "mode": "keyword", "limit": 5,
            "filter": {"field": "fileId", "eq": self.id}});
        let found = super::passages(self.client, self.maker.name, &body).await?;
        let has = |one: &Value| {
            one["text"].as_str().is_some_and(|text| text.contains(word))
                || one["locator"]["headingPath"].to_string().contains(word)
        };
        Ok(found.into_iter().find(has))
    }
}

/// A word that stands in one place of one document alone.
fn word(kind: &str, number: u32, section: u32) -> String {
    format!("{kind}{number}x{section}")
}

/// A document as Markdown of pandoc's: with breaks of pages where it is asked for.
fn source(number: u32, breaks: bool) -> String {
    let mut text = String::new();
    for section in 1..=SECTIONS {
        if breaks && section > 1 {
            text.push_str("```{=openxml}\n<w:p><w:r><w:br w:type=\"page\"/></w:r></w:p>\n```\n\n");
            text.push_str("```{=latex}\n\\newpage\n```\n\n");
        }
        text.push_str(&format!("# The {} of looms\n\n", word("heading", number, section)));
        text.push_str(&format!(
            "The {} is a paragraph about the heddle, which lifts every second thread of the warp so that the shuttle \
             passes below it.\n\n",
            word("body", number, section)
        ));
        text.push_str("| Part | Number |\n|------|--------|\n");
        text.push_str(&format!(
            "| {} | {} |\n| reed | 12 |\n\n",
            word("cella", number, section),
            word("cellb", number, section)
        ));
    }
    text
}

/// A folder in which documents are made.
struct Folder(tempfile::TempDir);

impl Folder {
    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, number: u32, ending: &str, text: &str) -> Result<PathBuf> {
        let path = self.path().join(format!("document-{number}.{ending}"));
        std::fs::write(&path, text).context("a source cannot be written")?;
        Ok(path)
    }

    /// A table with a row for each section.
    fn csv(&self, number: u32) -> Result<PathBuf> {
        let rows = (1..=SECTIONS).map(|section| {
            format!("{},{},{section}\n", word("cella", number, section), word("cellb", number, section))
        });
        self.write(number, "csv", &format!("part,number,section\n{}", rows.collect::<String>()))
    }

    fn pandoc(&self, number: u32, ending: &str, options: &[&str]) -> Result<PathBuf> {
        let paged = !matches!(ending, "html" | "pptx");
        let source = self.write(number, "pandoc.md", &source(number, paged))?;
        let made = self.path().join(format!("document-{number}.{ending}"));
        let mut pandoc = Command::new("pandoc");
        pandoc.args(["--from=markdown", "-o"]).arg(&made).args(options).arg(source);
        quietly(pandoc.current_dir(self.path()))?;
        Ok(made)
    }

    /// A document in another format, by LibreOffice with a profile of its own.
    fn office(&self, source: &Path, ending: &str) -> Result<PathBuf> {
        let folder = self.path().join("converted");
        let profile = format!("-env:UserInstallation=file://{}", self.path().join("profile").display());
        let mut office = Command::new("soffice");
        office.args(["--headless", "--norestore", profile.as_str(), "--convert-to", ending, "--outdir"]);
        quietly(office.arg(&folder).arg(source))?;
        let name = source.file_stem().context("a source without a name")?;
        Ok(folder.join(name).with_extension(ending))
    }
}

fn quietly(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("{command:?} cannot be started"))?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_stands_in_a_source_once() {
        let text = source(3, true);
        for section in 1..=SECTIONS {
            for kind in ["heading", "body", "cella", "cellb"] {
                assert_eq!(text.matches(&word(kind, 3, section)).count(), 1, "{kind} {section}");
            }
        }
        assert_eq!(text.matches("newpage").count(), 3);
        assert!(!source(3, false).contains("newpage"));
    }

    #[test]
    fn names_of_makers_are_names_of_databases_and_differ() {
        let names: std::collections::BTreeSet<_> = MAKERS.iter().map(|maker| maker.name).collect();
        assert_eq!(names.len(), MAKERS.len());
        let right = |letter: char| letter.is_ascii_lowercase() || letter == '-';
        assert!(names.iter().all(|name| name.chars().all(right)));
    }
}
