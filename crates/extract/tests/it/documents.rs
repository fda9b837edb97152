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
fn a_sheet_has_the_name_that_people_see() {
    let document = read("a.xlsx", xlsx(&[("R&amp;D &lt;2024&gt;", &[&["a"], &["b"]])])).unwrap();
    assert_eq!(document.parts[0].name.as_deref(), Some("R&D <2024>"), "{}", document.text);
}

#[test]
fn words_on_either_side_of_a_break_stay_apart() {
    let run = |inner: &str| format!("<w:r>{inner}</w:r>");
    let lines = format!(
        "<w:p>{}</w:p>",
        run(
            "<w:t>first</w:t><w:br/><w:t>second</w:t><w:cr/><w:t>third</w:t><w:br w:type=\"page\"/><w:t>fourth</w:t><w:tab/><w:t>fifth</w:t>"
        )
    );
    let heading = paragraph("Upper</w:t><w:br/><w:t>lower", Some(1));
    let cell = "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>left</w:t><w:br/><w:t>right</w:t></w:r></w:p></w:tc></w:tr></w:tbl>";
    let text = read("a.docx", docx(&[heading, lines, cell.to_owned()].concat())).unwrap().text;
    let words: Vec<&str> = text.split(|letter: char| !letter.is_alphanumeric()).collect();
    for word in ["Upper", "lower", "first", "second", "third", "fourth", "fifth", "left", "right"] {
        assert!(words.contains(&word), "{word}: {text}");
    }
    assert!(text.contains("Upper lower"), "a heading is one line: {text}");
    let slide = "first</a:t></a:r><a:br/><a:r><a:t>second\u{B}third";
    let text = read("a.pptx", pptx(&[slide])).unwrap().text;
    for word in ["first", "second", "third"] {
        assert!(text.split_whitespace().any(|one| one == word), "{word}: {text}");
    }
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
