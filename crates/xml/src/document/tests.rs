//! Names, namespaces, text and limits of documents.

use super::*;

const LIMITS: Limits = Limits { depth: 5, elements: 20 };

#[test]
fn names_namespaces_and_text() {
    let source = "<?xml version='1.0'?><a xmlns='u' xmlns:p='v' id='1&amp;2'><!-- c --><p:b p:x='y'>1 &lt; <![CDATA[<2>]]></p:b><c/></a>";
    let document = Document::parse(source, LIMITS).unwrap();
    let root = document.root();
    assert_eq!((document.local(root), document.namespace(root)), ("a", "u"));
    assert_eq!(document.attribute(root, "id").as_deref(), Some("1&2"));
    let children: Vec<El> = document.children(root).collect();
    assert_eq!(children.len(), 2);
    assert_eq!((document.local(children[0]), document.namespace(children[0])), ("b", "v"));
    assert_eq!(document.text(children[0]), "1 < <2>");
    assert_eq!(document.attribute_of(children[0], "v", "x").as_deref(), Some("y"));
    assert_eq!(document.outer(children[1]), "<c/>");
}

#[test]
fn what_is_refused() {
    for (source, reason) in [
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "dtdForbidden"),
        ("<a>&b;</a>", "undefinedEntity"),
        ("<a b='&c;'/>", "undefinedEntity"),
        ("<a><b></a>", "malformed"),
        ("<a><b>", "unclosed"),
        ("<p:a/>", "unboundPrefix"),
        ("<a b='1' b='2'/>", "malformed"),
        ("<a/><b/>", "malformed"),
        ("<a/>text", "malformed"),
        ("<a><a><a><a><a><a/><a></a></a></a></a></a></a>", "tooDeep"),
        (
            "<a><b/><b/><b/><b/><b/><b/><b/><b/><b/><b/><b/><b/><b/><b/><b/><b/><b/><b/><b/><b/></a>",
            "tooManyElements",
        ),
    ] {
        assert_eq!(
            Document::parse(source, LIMITS).map_err(|error| error.reason).err(),
            Some(reason),
            "{source}"
        );
    }
}
