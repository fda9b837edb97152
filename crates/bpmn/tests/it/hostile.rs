//! Documents that must be refused, or read in spite of their encoding.

use heddle_bpmn::xml::{self, MAX_BYTES, MODEL_NS};

/// Reason, line and column.
type Refusal = (&'static str, u32, u32);

fn document(body: &str) -> String {
    format!("<definitions xmlns=\"{MODEL_NS}\" targetNamespace=\"urn:x\">{body}</definitions>")
}

fn reason(bytes: &[u8]) -> Refusal {
    let error = xml::read(bytes).expect_err("the document must be refused");
    assert!(!error.message.is_empty());
    (error.reason, error.line, error.column)
}

#[test]
fn what_is_no_bpmn_is_refused_with_a_reason() {
    let xxe = format!(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE d [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>\n{}",
        document("<process id=\"p\" name=\"&x;\"/>")
    );
    let laughs =
        "<?xml version=\"1.0\"?><!DOCTYPE l [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;\">]><l>&b;</l>";
    let truncated =
        "<definitions xmlns=\"http://www.omg.org/spec/BPMN/20100524/MODEL\">\n  <process id=\"p\">";
    let second = format!("{}<x/>", document(""));
    let rows: Vec<(&str, Vec<u8>, Refusal)> = vec![
        ("an external entity", xxe.into_bytes(), ("dtdForbidden", 2, 1)),
        ("billion laughs", laughs.as_bytes().to_vec(), ("dtdForbidden", 1, 22)),
        ("nothing", Vec::new(), ("empty", 1, 1)),
        ("white space", b" \r\n\t ".to_vec(), ("empty", 1, 1)),
        ("a zip", b"PK\x03\x04\x14\x00".to_vec(), ("zipArchive", 1, 1)),
        ("a truncated file", truncated.as_bytes().to_vec(), ("unclosed", 2, 3)),
        ("a tag cut off", document("<process id=\"p\" ").into_bytes()[..100].to_vec(), ("malformed", 1, 90)),
        ("text", b"not xml".to_vec(), ("malformed", 1, 1)),
        ("other XML", b"<html/>".to_vec(), ("notBpmn", 1, 1)),
        (
            "another entity",
            document("<documentation>&nbsp;</documentation>").into_bytes(),
            ("undefinedEntity", 1, 105),
        ),
        ("another prefix", document("\n<x:y/>").into_bytes(), ("unboundPrefix", 2, 1)),
        ("two roots", second.into_bytes(), ("malformed", 1, 104)),
        (
            "an attribute twice",
            document("\n <process id=\"a\" id=\"b\"/>").into_bytes(),
            ("malformed", 2, 18),
        ),
        ("a wrong end tag", document("<process>\n</proces>").into_bytes(), ("malformed", 2, 1)),
        ("a control character", document("a\u{1}").into_bytes(), ("malformed", 1, 91)),
        (
            "bytes that are not UTF-8",
            [document("\n").as_bytes(), b"\xff"].concat(),
            ("invalidEncoding", 2, 15),
        ),
        (
            "an encoding nobody knows",
            b"<?xml version='1.0' encoding='klingon'?><a/>".to_vec(),
            ("unknownEncoding", 1, 1),
        ),
        ("too much", vec![b' '; MAX_BYTES + 1], ("tooLarge", 1, 1)),
    ];
    for (what, bytes, expected) in rows {
        assert_eq!(reason(&bytes), expected, "{what}");
    }
}

#[test]
fn nesting_and_counts_are_limited() {
    let nested = |levels: usize| {
        let open: String = (0..levels).map(|level| format!("<subProcess id=\"s{level}\">")).collect();
        document(&format!("<process id=\"p\">{open}{}</process>", "</subProcess>".repeat(levels)))
    };
    assert_eq!(reason(nested(10_000).as_bytes()).0, "tooDeep");
    assert_eq!(reason(nested(13).as_bytes()).0, "nestingTooDeep");
    let deepest = xml::read(nested(12).as_bytes()).unwrap();
    let text = serde_json::to_string(&deepest.definition).unwrap();
    assert!(depth(&text) <= 62, "JSON nests {} levels", depth(&text));

    let attributes: String = (0..300).map(|number| format!(" a{number}=\"\"")).collect();
    assert_eq!(reason(document(&format!("<process{attributes}/>")).as_bytes()).0, "tooManyAttributes");
    let declarations: String = (0..300).map(|number| format!(" xmlns:a{number}=\"urn:{number}\"")).collect();
    assert_eq!(reason(document(&format!("<process{declarations}/>")).as_bytes()).0, "tooManyNamespaces");
    assert_eq!(reason(document(&"<a/>".repeat(1_000_001)).as_bytes()).0, "tooManyElements");
}

fn depth(json: &str) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    for letter in json.chars() {
        match letter {
            '{' | '[' => now += 1,
            '}' | ']' => now -= 1,
            _ => {}
        }
        most = most.max(now);
    }
    most
}

#[test]
fn many_siblings_cost_linear_time() {
    // Every sibling without an id keeps a residue that is addressed by its place: counting places anew for
    // each would take 10^10 steps here.
    let tasks = "<task x:a=\"1\"/>".repeat(100_000);
    let body = format!("<process id=\"p\" xmlns:x=\"urn:v\">{tasks}</process>");
    let imported = xml::read(document(&body).as_bytes()).unwrap();
    let again = xml::write(&imported.definition).unwrap();
    assert_eq!(xml::read(again.xml.as_bytes()).unwrap().definition, imported.definition);
    assert_eq!(imported.items.len(), 10_000, "import items are capped");
    assert_eq!(imported.diagnostics.last().unwrap().code, "moreFindings");
}

#[test]
fn encodings_are_read_as_declared() {
    let source = |encoding: &str| {
        let head = format!("<?xml version=\"1.0\" encoding=\"{encoding}\"?>\n");
        head + &document("<process id=\"p\" name=\"Prüfung – Ende\"/>")
    };
    let latin: Vec<u8> = source("WINDOWS-1252")
        .chars()
        .map(|letter| if letter == '–' { 0x96 } else { letter as u8 })
        .collect();
    let little: Vec<u8> = source("UTF-16").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = source("UTF-16").encode_utf16().flat_map(u16::to_be_bytes).collect();
    let rows: Vec<(&str, Vec<u8>)> = vec![
        ("UTF-8", source("UTF-8").into_bytes()),
        ("UTF-8 with mark", [b"\xef\xbb\xbf".as_slice(), source("UTF-8").as_bytes()].concat()),
        ("WINDOWS-1252", latin),
        ("UTF-16 little", [b"\xff\xfe".as_slice(), &little].concat()),
        ("UTF-16 big", [b"\xfe\xff".as_slice(), &big].concat()),
        ("UTF-16 without mark", little),
        (
            "UTF-32 little",
            source("UTF-32").chars().flat_map(|letter| u32::from(letter).to_le_bytes()).collect(),
        ),
        (
            "UTF-32 big with mark",
            format!("\u{feff}{}", source("UTF-32"))
                .chars()
                .flat_map(|letter| u32::from(letter).to_be_bytes())
                .collect(),
        ),
        ("UTF-8 that says UTF-16", source("UTF-16").into_bytes()),
    ];
    for (what, bytes) in rows {
        let imported = xml::read(&bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
        let processes = imported.definition.bpmn.unwrap().processes.unwrap();
        assert_eq!(processes[0].name.as_deref(), Some("Prüfung – Ende"), "{what}");
    }
    let latin = format!(
        "<?xml version='1.0' encoding='ISO-8859-1'?>{}",
        document("<process id=\"p\" name=\"\u{e9}\"/>")
    );
    let bytes: Vec<u8> = latin.chars().map(|letter| letter as u8).collect();
    let processes = xml::read(&bytes).unwrap().definition.bpmn.unwrap().processes.unwrap();
    assert_eq!(processes[0].name.as_deref(), Some("é"));
}
