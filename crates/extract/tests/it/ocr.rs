//! Images and scans through a program that stands where Tesseract would, and says what it was given.

use std::io::Cursor;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use heddle_extract::{Document, ExtractError, Limits, Ocr, PartKind, Request, Workers};

use crate::made::{pdf_of, stream};
use crate::{part, read};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

/// Children that find a program of that script as `tesseract`.
fn workers(folder: &Path, script: &str) -> Workers {
    let program = folder.join("tesseract");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("PATH={}:/usr/bin:/bin", folder.display());
    let worker = env!("CARGO_BIN_EXE_parse-worker");
    Workers::new(PathBuf::from("/usr/bin/env"), vec![path.into(), worker.into()], 1)
}

fn recognised(script: &str, name: &str, content: Vec<u8>, ocr: Ocr) -> Result<Document, ExtractError> {
    let folder = tempfile::tempdir().unwrap();
    let request = Request { name: name.to_owned(), media_type: None, ocr, limits: Limits::default() };
    let length = content.len() as u64;
    workers(folder.path(), script).extract(&request, Cursor::new(content), length, &AtomicBool::new(false))
}

/// A PDF of a page that is one JPEG of 200 by 100.
fn scan() -> Vec<u8> {
    let jpeg = b"\xFF\xD8\xFF\xE0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xFF\xC0\0\x0B\x08\0\x64\0\xC8\x01\x01\x11\0\xFF\xD9";
    let image = "/Type /XObject /Subtype /Image /Width 200 /Height 100 /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /DCTDecode";
    pdf_of(
        &[
            b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
            b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>".to_vec(),
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /XObject << /I 5 0 R >> >> >>".to_vec(),
            stream("", b"q 500 0 0 700 40 40 cm /I Do Q"),
            stream(image, jpeg),
        ],
        "",
    )
}

#[test]
fn an_image_becomes_its_pages_in_the_language_asked_for() {
    let script = "cat > /dev/null; printf 'Page one, %s %s\\fPage two\\f' \"$3\" \"$4\"";
    let ocr = Ocr { languages: vec!["deu".to_owned(), "eng".to_owned(), "-x".to_owned()], ..Ocr::default() };
    let document = recognised(script, "a.png", PNG.to_vec(), ocr).unwrap();
    assert_eq!(part(&document, 0), "Page one, -l deu+eng");
    assert_eq!((document.parts[1].kind, document.parts[1].number), (PartKind::Page, 2));
}

#[test]
fn a_scanned_page_is_read_where_ocr_is_on_and_told_where_it_is_not() {
    let script = "head -c 3 | od -An -tx1 | tr -d '\\n'; cat > /dev/null; echo ' Rechnung'";
    let document = recognised(script, "a.pdf", scan(), Ocr::default()).unwrap();
    assert_eq!((document.parts[0].kind, document.parts[0].number), (PartKind::Page, 1));
    assert_eq!(part(&document, 0), "ff d8 ff Rechnung");
    let error = recognised(script, "a.pdf", scan(), Ocr::off()).unwrap_err();
    let hint = "its pages are images, and OCR is off or not installed";
    assert_eq!(error, ExtractError::NoText { hint: Some(hint.to_owned()) });
}

#[test]
fn ocr_that_fails_or_finds_nothing_or_is_off_is_no_document() {
    let failed = recognised(
        "cat > /dev/null; echo 'no such language' >&2; exit 1",
        "a.png",
        PNG.to_vec(),
        Ocr::default(),
    );
    assert_eq!(failed, Err(ExtractError::ParseFailed { reason: "no such language".to_owned() }));
    let silent = recognised("cat > /dev/null", "a.png", PNG.to_vec(), Ocr::default());
    assert!(matches!(silent, Err(ExtractError::NoText { .. })), "{silent:?}");
    assert!(matches!(read("a.png", PNG.to_vec()), Err(ExtractError::UnsupportedType { .. })));
}
