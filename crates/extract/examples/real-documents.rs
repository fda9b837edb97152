//! Ten real documents of each type, made by the programs people make them with, and what survives of them.
//!
//! `cargo run -p heddle-extract --example real-documents` writes documents by pandoc, LibreOffice and TeX, reads each,
//! and checks headings, words, cells of tables and page numbers. It prints one line for each type; a type whose program
//! is not installed is told as skipped. It fails if a document lost something.

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use heddle_extract::{Document, Limits, Ocr, PartKind, Request, extract};

/// Documents of each type.
const MANY: usize = 10;

/// A document that was made, or why it was not.
type Made = Result<PathBuf, Box<dyn Error>>;

/// Chain of programs that makes a type: the extension of the source, then the programs' extensions.
struct Way {
    extension: &'static str,
    program: &'static str,
    make: fn(&Path, usize) -> Made,
    has: Has,
}

/// Structure that a type keeps beside words and cells.
#[derive(Clone, Copy, PartialEq)]
enum Has {
    Headings,
    Pages,
    Sheets,
    Slides,
}

const WAYS: &[Way] = &[
    Way { extension: "html", program: "pandoc", make: |at, n| pandoc(at, n, "html"), has: Has::Headings },
    Way { extension: "docx", program: "pandoc", make: |at, n| pandoc(at, n, "docx"), has: Has::Headings },
    Way { extension: "pptx", program: "pandoc", make: |at, n| pandoc(at, n, "pptx"), has: Has::Slides },
    Way {
        extension: "doc",
        program: "soffice",
        make: |at, n| office(&page(at, n)?, "doc"),
        has: Has::Headings,
    },
    Way {
        extension: "xlsx",
        program: "soffice",
        make: |at, n| office(&sheet(at, n)?, "xlsx"),
        has: Has::Sheets,
    },
    Way {
        extension: "xls",
        program: "soffice",
        make: |at, n| office(&sheet(at, n)?, "xls"),
        has: Has::Sheets,
    },
    Way { extension: "pdf", program: "soffice", make: |at, n| office(&page(at, n)?, "pdf"), has: Has::Pages },
    Way { extension: "pdf", program: "pdflatex", make: tex, has: Has::Pages },
];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("real-documents-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let mut lost = 0;
    for way in WAYS {
        let what = format!("{} by {}", way.extension, way.program);
        if !installed(way.program) {
            line(&format!("skipped: {what}: the program is not installed"))?;
            continue;
        }
        let mut problems = Vec::new();
        for number in 0..MANY {
            let file = (way.make)(&folder, number)?;
            let document = read(&file)?;
            problems
                .extend(missing(&document, number, way.has).map(|lost| format!("document {number}: {lost}")));
        }
        lost += problems.len();
        line(&format!("{what}: {} of {MANY} whole", MANY - problems.len()))?;
        for problem in problems {
            line(&format!("  {problem}"))?;
        }
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(if lost == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn line(text: &str) -> std::io::Result<()> {
    writeln!(std::io::stdout(), "{text}")
}

fn read(file: &Path) -> Result<Document, Box<dyn Error>> {
    let name = file.file_name().ok_or("a file without a name")?.to_string_lossy().into_owned();
    let request = Request { name, media_type: None, ocr: Ocr::off(), limits: Limits::default() };
    Ok(extract(&request, &std::fs::read(file)?)?)
}

/// The first thing a document lost.
fn missing(document: &Document, number: usize, has: Has) -> Option<String> {
    let text = &document.text;
    let absent = |wanted: &str| (!text.contains(wanted)).then(|| format!("`{wanted}` is not in {text:?}"));
    for wanted in [cell(number, 0), cell(number, 1)] {
        if let Some(lost) = absent(&wanted) {
            return Some(lost);
        }
    }
    match has {
        Has::Headings => {
            let headings: Vec<_> = document.headings.iter().map(|heading| heading.text.as_str()).collect();
            let wanted = [title(number), "Table".to_owned()];
            (!wanted.iter().all(|wanted| headings.contains(&wanted.as_str())))
                .then(|| format!("headings {headings:?}"))
        }
        Has::Pages => (1..=2).find_map(|page| {
            let at = part_of(document, PartKind::Page, &sentinel(number, page));
            (at != Some(page)).then(|| format!("the words of page {page} stand on {at:?} of {text:?}"))
        }),
        Has::Slides => {
            let at = part_of(document, PartKind::Slide, &cell(number, 1));
            (at.is_none()).then(|| format!("no slide holds the table: {:?}", document.parts))
        }
        Has::Sheets => {
            let at = part_of(document, PartKind::Sheet, &cell(number, 1));
            (at != Some(1)).then(|| format!("the cells stand in {:?}", document.parts))
        }
    }
}

/// Number of the part of a kind that holds some words.
fn part_of(document: &Document, kind: PartKind, words: &str) -> Option<u32> {
    let letters: Vec<char> = document.text.chars().collect();
    let holds = |start: u32, end: u32| {
        let range = usize::try_from(start).ok()?..usize::try_from(end).ok()?;
        Some(letters.get(range)?.iter().collect::<String>().contains(words))
    };
    document
        .parts
        .iter()
        .find(|part| part.kind == kind && holds(part.start_char, part.end_char) == Some(true))
        .map(|part| part.number)
}

fn title(number: usize) -> String {
    format!("Report {number} on wheat")
}

fn cell(number: usize, row: usize) -> String {
    format!("value{number}x{row}")
}

fn sentinel(number: usize, page: u32) -> String {
    format!("sentinel{number}p{page}")
}

fn markdown(number: usize) -> String {
    let mut text = format!("# {}\n\nIt grew well in the north, {}.\n\n", title(number), sentinel(number, 1));
    text.push_str("- first point\n- second point\n\n# Table\n\n| name | value |\n|------|-------|\n");
    for row in 0..number + 2 {
        let _infallible = writeln!(text, "| row{row} | {} |", cell(number, row));
    }
    text
}

fn pandoc(folder: &Path, number: usize, to: &str) -> Result<PathBuf, Box<dyn Error>> {
    let source = folder.join(format!("pandoc-{number}.md"));
    let target = source.with_extension(to);
    std::fs::write(&source, markdown(number))?;
    let mut command = Command::new("pandoc");
    let meta = format!("title={}", title(number));
    command.args(["--standalone", "--metadata", &meta, "--output"]).arg(&target).arg(&source);
    run(command)?;
    Ok(target)
}

/// Page of HTML with a break, which the office program turns into its own types.
fn page(folder: &Path, number: usize) -> Result<PathBuf, Box<dyn Error>> {
    let file = folder.join(format!("page-{number}.html"));
    let mut html = format!(
        "<html><head><meta charset=utf-8><title>{0}</title></head><body><h1>{0}</h1><p>{1}</p><h2>Table</h2><table border=1>",
        title(number),
        sentinel(number, 1)
    );
    for row in 0..number + 2 {
        write!(html, "<tr><td>row{row}</td><td>{}</td></tr>", cell(number, row))?;
    }
    write!(html, "</table><p style=\"page-break-before: always\">{}</p></body></html>", sentinel(number, 2))?;
    std::fs::write(&file, html)?;
    Ok(file)
}

fn sheet(folder: &Path, number: usize) -> Result<PathBuf, Box<dyn Error>> {
    let file = folder.join(format!("sheet-{number}.csv"));
    let mut csv = "name,value\n".to_owned();
    for row in 0..number + 2 {
        writeln!(csv, "row{row},{}", cell(number, row))?;
    }
    std::fs::write(&file, csv)?;
    Ok(file)
}

fn office(source: &Path, to: &str) -> Result<PathBuf, Box<dyn Error>> {
    let folder = source.parent().ok_or("a file without a folder")?;
    let mut command = Command::new("soffice");
    let profile = format!("-env:UserInstallation=file://{}", folder.join("profile").display());
    command.args([&profile, "--headless"]);
    if source.extension().is_some_and(|extension| extension == "html") {
        command.arg("--writer");
    }
    command.args(["--convert-to", to, "--outdir"]).arg(folder).arg(source);
    run(command)?;
    Ok(source.with_extension(to))
}

fn tex(folder: &Path, number: usize) -> Result<PathBuf, Box<dyn Error>> {
    let source = folder.join(format!("tex-{number}.tex"));
    let mut text = format!(
        "\\documentclass{{article}}\\begin{{document}}\\section{{{}}}{}\n\n\\begin{{tabular}}{{ll}}\n",
        title(number),
        sentinel(number, 1)
    );
    for row in 0..number + 2 {
        writeln!(text, "row{row} & {} \\\\", cell(number, row))?;
    }
    write!(text, "\\end{{tabular}}\n\\newpage\n{}\\end{{document}}\n", sentinel(number, 2))?;
    std::fs::write(&source, text)?;
    let mut command = Command::new("pdflatex");
    command.args(["-interaction=batchmode", "-output-directory"]).arg(folder).arg(&source);
    run(command)?;
    Ok(source.with_extension("pdf"))
}

fn run(mut command: Command) -> Result<(), Box<dyn Error>> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}").into()) }
}

fn installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
