//! An invented vocabulary: a library with its shelves and books, and rules with a type of their own.

use heddle_xml::mapping::{
    Bindings, Extensions, Finding, Match, Origin, Reader, Row, Vocabulary, WriteError, Writer, collect,
    surroundings,
};
use heddle_xml::{Attribute, Document, Kind, Limits, Names, Ns, UNKNOWN};
use heddle_xml::{attr, child, leaf, leaves, many, xml_text};
use std::collections::BTreeMap;

/// The names of libraries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Library;

const ELEMENTS: &[&str] = &["library", "shelf", "book", "rule", "note", "extra", "cover"];

const fn kind(name: &str) -> Kind {
    // The first and the last letter tell the elements apart.
    let (name, mut index) = (name.as_bytes(), 0);
    while index < ELEMENTS.len() {
        let own = ELEMENTS[index].as_bytes();
        if own.len() == name.len() && own[0] == name[0] && own[own.len() - 1] == name[name.len() - 1] {
            return index as Kind;
        }
        index += 1;
    }
    panic!("no such element")
}

impl Names for Library {
    const NAMESPACES: &'static [&'static str] =
        &["urn:library", "http://www.w3.org/2001/XMLSchema-instance", "urn:own"];

    fn kind(namespace: Ns, local: &str) -> Kind {
        let found = ELEMENTS.iter().position(|name| *name == local && namespace == Self::MODEL);
        found.and_then(|index| Kind::try_from(index).ok()).unwrap_or(UNKNOWN)
    }
}

impl Vocabulary for Library {
    const PREFIXES: &'static [&'static str] = &["lib", "xsi", "own"];
    const MODEL: Ns = Ns::known(0);
    const XSI: Ns = Ns::known(1);
    const OWN: Ns = Ns::known(2);
    const ROOT: Kind = kind("library");
    const EXTENSION_ELEMENTS: Kind = kind("extra");
    const EXPRESSION_TYPE: Option<&'static str> = Some("tRule");
    const LIMITS: Limits = Limits { depth: 20, elements: 1_000 };
    const MAX_NESTING: usize = 60;
    const TOO_DEEP: &'static str = "Too deep.";

    type Group = ();
    type Choice = ();
    type Reading<'s> = (Vec<Finding>, Option<String>);
    type Writing<'d> = ();

    fn element(kind: Kind) -> Option<(Ns, &'static str)> {
        ELEMENTS.get(usize::from(kind)).map(|name| (Self::MODEL, *name))
    }

    fn group(_: Kind) {}

    fn takes((): (), (): ()) -> bool {
        false
    }

    fn order_word(matches: Match<()>) -> Option<&'static str> {
        match matches {
            Match::Kind(own) if own == kind("book") => Some("b"),
            Match::Kind(own) => Self::element(own).map(|(_, name)| name),
            Match::Choice(()) => None,
        }
    }

    fn own_attribute(reader: &mut Reader<'_, Self>, attribute: &Attribute<'_>) -> bool {
        reader.state.1 = Some(attribute.value().into_owned());
        true
    }

    fn found(reader: &mut Reader<'_, Self>, finding: Finding) {
        reader.state.0.push(finding);
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Shelves {
    pub id: Option<String>,
    pub shelves: Option<Vec<Shelf>>,
    pub namespaces: BTreeMap<String, String>,
    pub fragments: Vec<String>,
    /// The library's stamp, in an attribute of the product's own.
    pub stamp: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Shelf {
    pub id: Option<String>,
    pub height: Option<i64>,
    pub rule: Option<String>,
    pub books: Option<Vec<Book>>,
    pub notes: Option<Vec<String>>,
    /// Data of the product's own.
    pub data: Option<BTreeMap<String, i64>>,
    pub extra: Option<Vec<String>>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Book {
    pub title: Option<String>,
    pub cover: Option<String>,
}

static LIBRARY: Row<Library, Shelves> =
    Row { attributes: &[&[attr!(Text "id" id)]], children: &[&[many!(Shelves: "shelf" SHELF shelves)]] };

static SHELF: Row<Library, Shelf> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Typed "height" height)]],
    children: &[&[
        child!(
            "extra",
            |reader, shelf: &mut Shelf, el| {
                let Some(Extensions { data, fragments, .. }) = reader.extensions(el) else {
                    return Ok(false);
                };
                reader.keep_attributes(el);
                (shelf.data, shelf.extra) = (data, Some(fragments));
                Ok(true)
            },
            |writer, shelf: &Shelf| {
                let data = shelf.data.as_ref().and_then(|data| serde_json::to_string(data).ok());
                writer.extensions(data, shelf.extra.as_deref());
            }
        ),
        leaf!(Shelf: Expression "rule" rule),
        many!(Shelf: "book" BOOK books),
        leaves!(Shelf: Text "note" notes),
    ]],
};

static BOOK: Row<Library, Book> =
    Row { attributes: &[&[attr!(Text "title" title)]], children: &[&[xml_text!(Book: "cover" cover)]] };

/// Reads a library.
pub(crate) fn read(source: &str) -> (Shelves, Vec<Finding>) {
    let tree = Document::<Library>::parse_within(source, &[], Library::LIMITS).unwrap();
    let bindings = Bindings::of(&tree);
    let mut reader = Reader::new(&tree, &bindings, (Vec::new(), None));
    let mut model = Shelves::default();
    reader.root(&LIBRARY, &mut model, |_| {}).unwrap();
    let (fragments, (findings, stamp)) = reader.finish();
    (Shelves { namespaces: bindings.namespaces.clone(), fragments, stamp, ..model }, findings)
}

/// Writes a library.
pub(crate) fn write(model: &Shelves) -> Result<String, WriteError> {
    let around = surroundings::<Library>(&model.namespaces);
    let (preserved, _) = collect::<Library>(&model.fragments, &around).unwrap();
    let id = model.id.as_deref();
    let origin = Origin { namespaces: &model.namespaces, around, preserved, target_namespace: "", id };
    let written = Writer::<Library>::document(origin, (), &LIBRARY, model, |writer| {
        if let Some(stamp) = &model.stamp {
            writer.own_attribute("stamp", stamp);
        }
    })?;
    Ok(written.xml)
}
