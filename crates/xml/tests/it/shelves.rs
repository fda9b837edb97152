//! Libraries in and out: types of expressions, data of the product's own, shared ids, stored fragments.

use super::library::{Book, Shelf, Shelves, read, write};
use heddle_xml::mapping::WriteError;

const LIBRARY: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<l:library xmlns:l="urn:library" xmlns:o="urn:other" xmlns:own="urn:own" own:stamp="7">
  <l:shelf id="a" height="03" o:wood="oak">
    <l:rule xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="l:tRule">by &lt;name&gt;</l:rule>
  </l:shelf>
</l:library>
"#;

fn shelf(source: &str) -> Shelf {
    read(source).0.shelves.unwrap_or_default().remove(0)
}

/// A library around the content of one shelf, as the writer indents it.
fn around(content: &str) -> String {
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<l:library xmlns:l=\"urn:library\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">";
    format!("{head}\n  <l:shelf id=\"a\">{content}\n  </l:shelf>\n</l:library>\n")
}

#[test]
fn every_form_of_a_shelf_is_written_as_it_was() {
    for content in [
        "\n    <l:rule xsi:type=\"l:tRule\">x</l:rule>",
        "\n    <l:rule>without a type</l:rule>",
        "\n    <l:rule xsi:type=\"l:tOther\">of another type</l:rule>",
        "\n    <l:rule xsi:type=\"l:tRule\"><![CDATA[a < b]]><!-- c --></l:rule>",
        "\n    <l:note>n</l:note>\n    <l:book title=\"b\"/>\n    <l:note/>\n    <l:book title=\"c\"/>",
        "\n    <l:book title=\"b\" pages=\"3\">\n      <l:cover><i>any</i></l:cover>\n      <l:cover>two</l:cover>\n    </l:book>",
        "\n    <l:pamphlet/>\n    <l:book title=\"b\"/>",
    ] {
        let source = around(content);
        assert_eq!(write(&read(&source).0).unwrap(), source);
    }
}

#[test]
fn a_stamp_of_the_root_and_a_value_of_several_forms() {
    let (model, findings) = read(LIBRARY);
    assert_eq!((model.stamp.as_deref(), findings), (Some("7"), Vec::new()));
    assert_eq!(shelf(LIBRARY).height, Some(3));
    let written = write(&model).unwrap();
    assert!(
        written.contains("own:stamp=\"7\"") && written.contains("height=\"03\" o:wood=\"oak\""),
        "{written}"
    );
    assert_eq!(read(&written).0, model);
}

#[test]
fn a_value_that_is_none_is_reported_and_kept() {
    let source = around("").replace("id=\"a\"", "id=\"a\" height=\"tall\"");
    let (model, findings) = read(&source);
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].reason, findings[0].element_id.as_deref()), ("invalidValue", Some("a")));
    assert_eq!(findings[0].message, "\"tall\" is no value of the attribute height of shelf.");
    assert!(write(&model).unwrap().contains("height=\"tall\""));
}

#[test]
fn data_of_the_products_own_stands_before_other_extensions() {
    let content = "\n    <l:extra>\n      <own:data>{\"n\":1}</own:data>\n      <o:x xmlns:o=\"urn:o\"/>\n    </l:extra>";
    let source = around(content).replace("xmlns:xsi", "xmlns:own=\"urn:own\" xmlns:xsi");
    let (model, findings) = read(&source);
    assert_eq!(findings, []);
    let own = &model.shelves.as_deref().unwrap()[0];
    assert_eq!(own.data.as_ref().and_then(|data| data.get("n")), Some(&1));
    assert_eq!(own.extra.as_deref(), Some(&["<o:x xmlns:o=\"urn:o\"/>".to_owned()][..]));
    assert_eq!(read(&write(&model).unwrap()).0, model);
    let (_, findings) = read(&source.replace("{\"n\":1}", "{"));
    assert_eq!(findings[0].reason, "invalidData");
}

#[test]
fn an_id_of_several_elements_is_no_address() {
    let source = around("\n    <l:book title=\"b\"/>")
        .replace("</l:library>", "  <l:shelf id=\"a\" lamp=\"on\"/>\n</l:library>");
    let (model, _) = read(&source);
    assert!(
        model.fragments.iter().any(|own| own.contains("for=\"library/shelf[1]\"")),
        "{:?}",
        model.fragments
    );
    assert_eq!(write(&model).unwrap(), source);
}

#[test]
fn stored_fragments_are_put_back_by_their_spelling() {
    let book = |title: &str| Book { title: Some(title.to_owned()), cover: None };
    let shelf = Shelf {
        id: Some("a".to_owned()),
        books: Some(vec![book("b"), book("c")]),
        rule: Some("r".to_owned()),
        ..Shelf::default()
    };
    let fragments = vec![
        r#"<own:residue for="a" own:order="b rule b" xmlns:v="urn:v" v:kind="tall" for.for="all"/>"#
            .to_owned(),
        r#"<own:residue for="a/rule[0]" own:plain="true"/>"#.to_owned(),
        r#"<own:residue for="gone" x="1"/>"#.to_owned(),
    ];
    let model = Shelves { shelves: Some(vec![shelf]), fragments, ..Shelves::default() };
    let written = write(&model).unwrap();
    let expected = "  <lib:shelf id=\"a\" xmlns:v=\"urn:v\" v:kind=\"tall\" for=\"all\">\n    <lib:book title=\"b\"/>\n    <lib:rule>r</lib:rule>\n    <lib:book title=\"c\"/>\n  </lib:shelf>";
    assert!(written.contains(expected), "{written}");
}

#[test]
fn what_xml_cannot_express_is_refused() {
    let shelf = |rule: &str, cover: Option<&str>| Shelves {
        shelves: Some(vec![Shelf {
            rule: Some(rule.to_owned()),
            books: Some(vec![Book { title: None, cover: cover.map(str::to_owned) }]),
            ..Shelf::default()
        }]),
        ..Shelves::default()
    };
    assert!(matches!(write(&shelf("a\u{1}", None)), Err(WriteError::Character { .. })));
    assert!(matches!(write(&shelf("a\u{fffe}", None)), Err(WriteError::Character { .. })));
    let error = write(&shelf("a", Some("<cover>"))).unwrap_err();
    assert!(matches!(&error, WriteError::Fragment { path, .. } if path == "book"), "{error}");
}
