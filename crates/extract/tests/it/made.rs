//! Files made by hand.

use std::fmt::Write as _;
use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// An archive of names and contents.
pub(crate) fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

fn types(overrides: &[(&str, &str)]) -> String {
    let mut xml = String::from(
        r#"<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>"#,
    );
    for (part, kind) in overrides {
        write!(xml, r#"<Override PartName="/{part}" ContentType="application/vnd.openxmlformats-officedocument.{kind}+xml"/>"#)
            .unwrap();
    }
    xml + "</Types>"
}

fn relations(of: &[(&str, &str)]) -> String {
    let mut xml = String::from(
        r#"<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">"#,
    );
    for (number, (kind, target)) in (1..).zip(of) {
        write!(xml, r#"<Relationship Id="rId{number}" Type="{OFFICE}/{kind}" Target="{target}"/>"#).unwrap();
    }
    xml + "</Relationships>"
}

/// A Word document of a body in XML.
pub(crate) fn docx(body: &str) -> Vec<u8> {
    let document = format!(
        r#"<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>{body}</w:body></w:document>"#
    );
    let mut styles = String::from(
        r#"<?xml version="1.0"?><w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">"#,
    );
    for level in 1..=3 {
        write!(
            styles,
            r#"<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/><w:pPr><w:outlineLvl w:val="{}"/></w:pPr></w:style>"#,
            level - 1
        )
        .unwrap();
    }
    styles.push_str("</w:styles>");
    let types = types(&[
        ("word/document.xml", "wordprocessingml.document.main"),
        ("word/styles.xml", "wordprocessingml.styles"),
    ]);
    let root = relations(&[("officeDocument", "word/document.xml")]);
    let links = relations(&[("styles", "styles.xml")]);
    archive(&[
        ("[Content_Types].xml", types.as_bytes()),
        ("_rels/.rels", root.as_bytes()),
        ("word/document.xml", document.as_bytes()),
        ("word/_rels/document.xml.rels", links.as_bytes()),
        ("word/styles.xml", styles.as_bytes()),
    ])
}

/// A paragraph of a Word document; a level makes it a heading.
pub(crate) fn paragraph(text: &str, level: Option<u8>) -> String {
    let style = level.map_or_else(String::new, |level| {
        format!(r#"<w:pPr><w:pStyle w:val="Heading{level}"/><w:outlineLvl w:val="{}"/></w:pPr>"#, level - 1)
    });
    format!("<w:p>{style}<w:r><w:t>{text}</w:t></w:r></w:p>")
}

/// A table of a Word document.
pub(crate) fn table(rows: &[&[&str]]) -> String {
    let mut xml = String::from("<w:tbl>");
    for row in rows {
        xml.push_str("<w:tr>");
        for cell in *row {
            write!(xml, "<w:tc>{}</w:tc>", paragraph(cell, None)).unwrap();
        }
        xml.push_str("</w:tr>");
    }
    xml + "</w:tbl>"
}

/// A workbook of named sheets of text.
pub(crate) fn xlsx(sheets: &[(&str, &[&[&str]])]) -> Vec<u8> {
    let spreadsheet = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let mut book =
        format!(r#"<?xml version="1.0"?><workbook xmlns="{spreadsheet}" xmlns:r="{OFFICE}"><sheets>"#);
    let mut files = Vec::new();
    for (number, (name, rows)) in (1..).zip(sheets) {
        write!(book, r#"<sheet name="{name}" sheetId="{number}" r:id="rId{number}"/>"#).unwrap();
        let mut xml = format!(r#"<?xml version="1.0"?><worksheet xmlns="{spreadsheet}"><sheetData>"#);
        for (line, row) in (1..).zip(*rows) {
            write!(xml, r#"<row r="{line}">"#).unwrap();
            for (column, cell) in ('A'..).zip(*row) {
                write!(xml, r#"<c r="{column}{line}" t="inlineStr"><is><t>{cell}</t></is></c>"#).unwrap();
            }
            xml.push_str("</row>");
        }
        files.push((format!("xl/worksheets/sheet{number}.xml"), xml + "</sheetData></worksheet>"));
    }
    book.push_str("</sheets></workbook>");
    let targets: Vec<_> = (1..=sheets.len()).map(|number| format!("worksheets/sheet{number}.xml")).collect();
    let links: Vec<_> = targets.iter().map(|target| ("worksheet", target.as_str())).collect();
    let mut kinds = vec![("xl/workbook.xml", "spreadsheetml.sheet.main")];
    kinds.extend(files.iter().map(|(name, _)| (name.as_str(), "spreadsheetml.worksheet")));
    office(&types(&kinds), "xl/workbook.xml", &book, "xl/_rels/workbook.xml.rels", &relations(&links), &files)
}

/// A presentation of slides with a line of text each.
pub(crate) fn pptx(slides: &[&str]) -> Vec<u8> {
    let spaces = format!(
        r#"xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="{OFFICE}" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main""#
    );
    let mut show = format!(r#"<?xml version="1.0"?><p:presentation {spaces}><p:sldIdLst>"#);
    let mut files = Vec::new();
    for (number, text) in (1..).zip(slides) {
        write!(show, r#"<p:sldId id="{}" r:id="rId{number}"/>"#, 255 + number).unwrap();
        let xml = format!(
            r#"<?xml version="1.0"?><p:sld {spaces}><p:cSld><p:spTree><p:sp><p:nvSpPr><p:cNvPr id="2" name="x"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:txBody><a:bodyPr/><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>"#
        );
        files.push((format!("ppt/slides/slide{number}.xml"), xml));
    }
    show.push_str("</p:sldIdLst></p:presentation>");
    let targets: Vec<_> = (1..=slides.len()).map(|number| format!("slides/slide{number}.xml")).collect();
    let links: Vec<_> = targets.iter().map(|target| ("slide", target.as_str())).collect();
    let mut kinds = vec![("ppt/presentation.xml", "presentationml.presentation.main")];
    kinds.extend(files.iter().map(|(name, _)| (name.as_str(), "presentationml.slide")));
    office(
        &types(&kinds),
        "ppt/presentation.xml",
        &show,
        "ppt/_rels/presentation.xml.rels",
        &relations(&links),
        &files,
    )
}

fn office(
    types: &str,
    main: &str,
    content: &str,
    links: &str,
    linked: &str,
    files: &[(String, String)],
) -> Vec<u8> {
    let root = relations(&[("officeDocument", main)]);
    let mut entries: Vec<(&str, &[u8])> = vec![
        ("[Content_Types].xml", types.as_bytes()),
        ("_rels/.rels", root.as_bytes()),
        (main, content.as_bytes()),
        (links, linked.as_bytes()),
    ];
    entries.extend(files.iter().map(|(name, content)| (name.as_str(), content.as_bytes())));
    archive(&entries)
}

/// A PDF of objects, the first of which is the catalogue; `trailer` stands in its trailer.
pub(crate) fn pdf_of(objects: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    let mut file = b"%PDF-1.7\n%\xE2\xE3\xCF\xD3\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in (1..).zip(objects) {
        places.push(file.len());
        file.extend(format!("{number} 0 obj\n").into_bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let start = file.len();
    let count = objects.len() + 1;
    let mut end = format!("xref\n0 {count}\n0000000000 65535 f \n");
    for place in places {
        writeln!(end, "{place:010} 00000 n ").unwrap();
    }
    write!(end, "trailer\n<< /Size {count} /Root 1 0 R {trailer} >>\nstartxref\n{start}\n%%EOF\n").unwrap();
    file.extend(end.into_bytes());
    file
}

/// A stream object.
pub(crate) fn stream(entries: &str, content: &[u8]) -> Vec<u8> {
    let head = format!("<< /Length {} {entries} >>\nstream\n", content.len());
    [head.as_bytes(), content, b"\nendstream"].concat()
}

/// A PDF of pages, each with lines of text.
pub(crate) fn pdf(pages: &[&[&str]], trailer: &str) -> Vec<u8> {
    let mut kids = String::new();
    let mut objects = vec![b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(), Vec::new()];
    objects
        .push(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_vec());
    for lines in pages {
        let page = objects.len() + 1;
        write!(kids, "{page} 0 R ").unwrap();
        objects.push(
            format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {} 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
                page + 1
            )
            .into_bytes(),
        );
        let mut content = String::from("BT /F1 12 Tf 72 770 Td 16 TL\n");
        for line in *lines {
            writeln!(content, "({line}) Tj T*").unwrap();
        }
        objects.push(stream("", (content + "ET").as_bytes()));
    }
    objects[1] = format!("<< /Type /Pages /Count {} /Kids [{kids}] >>", pages.len()).into_bytes();
    pdf_of(&objects, trailer)
}

/// Some bytes, compressed.
pub(crate) fn deflated(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}
