//! Hostile files and failing children: each ends with its error, in bounded time.

use std::io::{Cursor, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use heddle_extract::{ExtractError, Limit, Limits, Workers};

use crate::made::{archive, deflated, docx, paragraph, pdf, pdf_of, stream};
use crate::{read, read_within, request};

fn limit_of(error: &ExtractError) -> Option<Limit> {
    match error {
        ExtractError::LimitExceeded { limit, .. } => Some(*limit),
        _other => None,
    }
}

/// A document that unpacks to 40 MB of spaces.
fn bomb() -> Vec<u8> {
    let blank = " ".repeat(40 << 20);
    docx(&format!("{}{blank}", paragraph("x", None)))
}

#[test]
fn a_zip_bomb_is_refused_by_what_it_says_it_unpacks_to() {
    let error = read("a.docx", bomb()).unwrap_err();
    assert_eq!(limit_of(&error), Some(Limit::ArchiveRatio), "{error}");
}

#[test]
fn a_zip_bomb_that_lies_of_its_size_ends_too() {
    let mut file = bomb();
    let honest = (40_u32 << 20).to_le_bytes();
    // The size of the entry in its own head and in the directory is about the length of the blank.
    for at in 0..file.len() - 4 {
        let size = u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
        if (u32::from_le_bytes(honest)..u32::from_le_bytes(honest) + 4096).contains(&size) {
            file[at..at + 4].copy_from_slice(&1000_u32.to_le_bytes());
        }
    }
    let begun = Instant::now();
    let limits = Limits { memory_bytes: 400 << 20, ..Limits::default() };
    let result = read_within("a.docx", file, limits);
    assert!(
        matches!(result, Err(ExtractError::ParseFailed { .. } | ExtractError::LimitExceeded { .. })),
        "{result:?}"
    );
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[test]
fn an_archive_of_too_many_entries_or_of_another_kind_is_refused() {
    let names: Vec<String> = (0..300).map(|number| format!("word/{number}.xml")).collect();
    let mut entries: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), b"x".as_slice())).collect();
    let document = docx(&paragraph("x", None));
    assert!(read("a.docx", document.clone()).is_ok());
    let limits = Limits { archive_entries: 2, ..Limits::default() };
    assert_eq!(limit_of(&read_within("a.docx", document, limits).unwrap_err()), Some(Limit::ArchiveEntries));
    entries.truncate(1);
    for name in ["a.xlsx", "a.pptx"] {
        let error = read(name, archive(&entries)).unwrap_err();
        assert!(matches!(error, ExtractError::UnsupportedType { .. }), "{error}");
    }
    let error = read("a.docx", archive(&[("notes.txt", b"words")])).unwrap_err();
    assert!(matches!(error, ExtractError::UnsupportedType { .. }), "{error}");
}

/// Less than what the ratio of a whole archive is asked of.
#[test]
fn a_part_that_grows_more_than_markup_does_is_refused_by_its_limit() {
    let blank = " ".repeat(5 << 20);
    let error = read("a.docx", docx(&format!("{}{blank}", paragraph("x", None)))).unwrap_err();
    assert_eq!(limit_of(&error), Some(Limit::ArchiveRatio), "{error}");
}

#[test]
fn encrypted_files_are_told_from_damaged_ones() {
    let mut locked = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    for name in ["/EncryptionInfo", "/EncryptedPackage"] {
        locked.create_stream(name).unwrap().write_all(&[7; 5000]).unwrap();
    }
    locked.flush().unwrap();
    assert_eq!(read("a.docx", locked.into_inner().into_inner()), Err(ExtractError::Encrypted));
    let handler = format!(
        "/ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>] \
         /Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <{0}> /U <{0}> >>",
        "5a".repeat(32)
    );
    assert_eq!(read("a.pdf", pdf(&[&["secret words"]], &handler)), Err(ExtractError::Encrypted));
}

#[test]
fn a_truncated_pdf_is_never_an_empty_document() {
    let whole = pdf(&[&["some words"], &["other words"]], "");
    for length in [20, whole.len() / 4, whole.len() / 2] {
        let result = read("a.pdf", whole[..length].to_vec());
        match result {
            Ok(document) => {
                assert!(document.text.contains("words"), "{length}: {document:?}");
                assert!(document.warnings.iter().any(|told| told.contains("cut off")), "{document:?}");
            }
            Err(ExtractError::NoText { .. } | ExtractError::ParseFailed { .. }) => {}
            Err(error) => panic!("{length}: {error}"),
        }
    }
    assert!(matches!(read("a.pdf", pdf(&[&[], &[]], "")), Err(ExtractError::NoText { .. })));
}

#[test]
fn a_pdf_whose_pages_are_its_own_children_ends() {
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Count 9 /Kids [2 0 R 2 0 R] >>".to_vec(),
    ];
    let begun = Instant::now();
    let result = read("a.pdf", pdf_of(&objects, ""));
    assert!(
        matches!(result, Err(ExtractError::NoText { .. } | ExtractError::ParseFailed { .. })),
        "{result:?}"
    );
    assert!(begun.elapsed() < Duration::from_secs(30));
}

/// A page that paints a form that paints a form ten times, and so on: 10^12 words in 3 kB.
fn laughing_pdf() -> Vec<u8> {
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /XObject << /X 6 0 R >> >> >>".to_vec(),
        stream("", b"/X Do"),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_vec(),
    ];
    for level in 0..12 {
        let next = objects.len() + 2;
        let (resources, content) = if level == 11 {
            ("<< /Font << /F1 5 0 R >> >>".to_owned(), "BT /F1 9 Tf 9 9 Td (word ) Tj ET".to_owned())
        } else {
            (format!("<< /XObject << /X {next} 0 R >> >>"), "/X Do ".repeat(10))
        };
        let entries = format!("/Type /XObject /Subtype /Form /BBox [0 0 99 99] /Resources {resources}");
        objects.push(stream(&entries, content.as_bytes()));
    }
    pdf_of(&objects, "")
}

#[test]
fn a_pdf_that_never_ends_is_ended() {
    let begun = Instant::now();
    let limits = Limits { cpu_seconds: 3, wall_seconds: 40, ..Limits::default() };
    // A parser with a bound of its own may end it before the limit does.
    if let Err(error) = read_within("a.pdf", laughing_pdf(), limits) {
        assert!(!matches!(error, ExtractError::Unavailable { .. } | ExtractError::Cancelled), "{error}");
    }
    assert!(begun.elapsed() < Duration::from_secs(50));
}

#[test]
fn a_pdf_that_unpacks_to_more_than_the_memory_ends() {
    let content = deflated(&vec![b' '; 64 << 20]);
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R >>".to_vec(),
        stream("/Filter /FlateDecode", &content),
    ];
    let limits = Limits { memory_bytes: 160 << 20, ..Limits::default() };
    let error = read_within("a.pdf", pdf_of(&objects, ""), limits).unwrap_err();
    assert!(
        matches!(&error, ExtractError::NoText { .. } | ExtractError::ParseFailed { .. })
            || limit_of(&error) == Some(Limit::MemoryBytes),
        "{error}"
    );
}

#[test]
fn memory_and_processor_time_are_the_operating_systems_to_count() {
    let limits = Limits { memory_bytes: 160 << 20, ..Limits::default() };
    let error = read_within("a.txt", vec![b'x'; 100 << 20], limits).unwrap_err();
    assert_eq!(limit_of(&error), Some(Limit::MemoryBytes), "{error}");
    let limits = Limits { cpu_seconds: 1, characters: 100_000_000, ..Limits::default() };
    let error = read_within("a.md", "a *b* [c](d) | ".repeat(4 << 20).into_bytes(), limits).unwrap_err();
    assert_eq!(limit_of(&error), Some(Limit::CpuSeconds), "{error}");
}

#[test]
fn a_file_whose_type_lies_is_told_why() {
    let error = read("a.pdf", docx(&paragraph("x", None))).unwrap_err();
    let said = "the file is said to be `application/pdf` and is a ZIP archive";
    assert_eq!(error, ExtractError::UnsupportedType { reason: said.to_owned() });
}

fn shell(script: &str) -> Workers {
    Workers::new(PathBuf::from("/bin/sh"), vec!["-c".into(), script.into()], 1)
}

#[test]
fn children_that_hang_die_or_babble_are_told_apart() {
    let limits = Limits { wall_seconds: 1, output_bytes: 1000, ..Limits::default() };
    let run = |script: &str| {
        let begun = Instant::now();
        let file = Cursor::new(b"x".to_vec());
        let result =
            shell(script).extract(&request("a.txt", limits.clone()), file, 1, &AtomicBool::new(false));
        assert!(begun.elapsed() < Duration::from_secs(10), "{script}");
        result.unwrap_err()
    };
    assert_eq!(run("sleep 600"), ExtractError::Timeout { seconds: 1 });
    // What it started goes with it: nobody holds the pipe open for ten minutes.
    assert_eq!(run("sleep 600 & sleep 600"), ExtractError::Timeout { seconds: 1 });
    assert_eq!(run("cat > /dev/null; kill -9 $$"), ExtractError::Killed { reason: "signal 9".to_owned() });
    assert!(matches!(run("cat > /dev/null; exit 3"), ExtractError::Killed { .. }));
    assert!(matches!(run("cat > /dev/null; kill -11 $$"), ExtractError::ParseFailed { .. }));
    assert_eq!(limit_of(&run("cat > /dev/null; kill -XCPU $$")), Some(Limit::CpuSeconds));
    assert_eq!(limit_of(&run("yes")), Some(Limit::OutputBytes));
}

#[test]
fn a_place_among_the_children_is_waited_for_and_can_be_given_up() {
    let workers = Arc::new(shell("sleep 600"));
    let cancelled = Arc::new(AtomicBool::new(false));
    let limits = Limits { wall_seconds: 30, ..Limits::default() };
    let begun = Instant::now();
    let waiting: Vec<_> = (0..3)
        .map(|_| {
            let (workers, cancelled, limits) = (Arc::clone(&workers), Arc::clone(&cancelled), limits.clone());
            std::thread::spawn(move || {
                workers.extract(&request("a.txt", limits), Cursor::new(b"x".to_vec()), 1, &cancelled)
            })
        })
        .collect();
    std::thread::sleep(Duration::from_millis(300));
    cancelled.store(true, Ordering::Relaxed);
    for thread in waiting {
        assert_eq!(thread.join().unwrap(), Err(ExtractError::Cancelled));
    }
    assert!(begun.elapsed() < Duration::from_secs(10));
}

/// A file that never comes.
struct Stalled;

impl std::io::Read for Stalled {
    fn read(&mut self, _to: &mut [u8]) -> std::io::Result<usize> {
        std::thread::sleep(Duration::from_secs(60));
        Ok(0)
    }
}

#[test]
fn a_file_that_ends_early_is_not_the_files_fault() {
    let file = Cursor::new(b"12345".to_vec());
    let result =
        crate::workers().extract(&request("a.txt", Limits::default()), file, 10, &AtomicBool::new(false));
    assert_eq!(result, Err(ExtractError::Unavailable { reason: "the file ended after 5 bytes".to_owned() }));
    let stalled = Instant::now();
    let limits = Limits { wall_seconds: 1, ..Limits::default() };
    let result = crate::workers().extract(&request("a.txt", limits), Stalled, 10, &AtomicBool::new(false));
    assert_eq!(result, Err(ExtractError::Timeout { seconds: 1 }));
    assert!(stalled.elapsed() < Duration::from_secs(20));
    let absent = Workers::new(PathBuf::from("/nonexistent/worker"), Vec::new(), 1);
    let result =
        absent.extract(&request("a.txt", Limits::default()), Cursor::new(vec![]), 0, &AtomicBool::new(false));
    assert!(result.is_err_and(|error| error.retryable()));
}
