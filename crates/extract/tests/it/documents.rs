//! Documents of the types whose parsers are others' work, and what must survive in them.

use heddle_extract::{FileKind, PartKind};

use crate::made::{docx, paragraph, pdf, pptx, table, xlsx};
use crate::{part, read};

#[test]
fn a_word_document_keeps_headings_and_tables() {
    let body = [
        paragraph("Größe", Some(1)),
        paragraph("Some words about it.", None),
        paragraph("Numbers", Some(2)),
        table(&[&["name", "size"], &["Ärmel", "17"]]),
    ];
    let document = read("a.docx", docx(&body.concat())).unwrap();
    let headings: Vec<_> = document.headings.iter().map(|found| (found.level, found.text.as_str())).collect();
    assert_eq!(headings, [(1, "Größe"), (2, "Numbers")], "{}", document.text);
    assert_eq!(document.kind, FileKind::Docx);
    assert!(document.text.contains("Some words about it."), "{}", document.text);
    assert!(document.text.contains("| Ärmel | 17 |"), "{}", document.text);
}

#[test]
fn a_workbook_keeps_its_sheets_apart_under_their_names() {
    let file =
        xlsx(&[("Häuser", &[&["street", "number"], &["Weg", "7"]]), ("Two", &[&["x", "y"], &["1", "2"]])]);
    let document = read("a.xlsx", file).unwrap();
    let names: Vec<_> =
        document.parts.iter().map(|part| (part.kind, part.name.as_deref().unwrap(), part.number)).collect();
    assert_eq!(names, [(PartKind::Sheet, "Häuser", 1), (PartKind::Sheet, "Two", 2)]);
    assert!(part(&document, 0).starts_with("## Häuser\n\n"), "{}", document.text);
    assert!(part(&document, 0).contains("| Weg | 7 |"), "{}", document.text);
    assert!(
        part(&document, 1).contains("| 1 | 2 |") && !part(&document, 1).contains("Weg"),
        "{}",
        document.text
    );
}

#[test]
fn a_presentation_keeps_its_slides_apart() {
    let document = read("a.pptx", pptx(&["First thöught", "Second thought"])).unwrap();
    let kinds: Vec<_> = document.parts.iter().map(|part| (part.kind, part.number)).collect();
    assert_eq!(kinds, [(PartKind::Slide, 1), (PartKind::Slide, 2)]);
    assert!(part(&document, 0).contains("First thöught"), "{}", document.text);
    assert!(part(&document, 1).contains("Second thought"), "{}", document.text);
}

#[test]
fn a_pdf_keeps_its_page_numbers() {
    let pages: [&[&str]; 3] =
        [&["The first page tells of apples.", "And more."], &[], &["The third tells of pears."]];
    let document = read("a.pdf", pdf(&pages, "")).unwrap();
    let numbers: Vec<_> = document.parts.iter().map(|part| (part.kind, part.number)).collect();
    assert_eq!(numbers, [(PartKind::Page, 1), (PartKind::Page, 3)], "{}", document.text);
    assert!(part(&document, 0).contains("apples") && !part(&document, 0).contains("pears"));
    assert!(part(&document, 1).contains("The third tells of pears."));
    assert_eq!(document.metadata["pages"], "3");
}
