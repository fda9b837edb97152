//! Rows: which attributes and children a model type has, in the order of the schema.
//!
//! A row is data for the reader and the writer alike: an attribute is a pair of functions over the model value, a
//! child a pair of functions over the reader and the writer. An element without a member of its own stands in
//! the row with neither, so that the writer knows its place among the others.

use super::XmlError;
use super::names::{Group, Kind};
use super::read::Reader;
use super::text::{number, parse_number};
use super::tree::El;
use super::write::Writer;
use std::borrow::Cow;

/// How the lexical form of an attribute relates to its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lexis {
    /// They are the same.
    Text,
    /// The value is an id; a prefix of the model's own namespace is dropped.
    Reference,
    /// Several lexical forms mean one value.
    Typed,
    /// A number of a diagram: whole ones are written with or without a fraction throughout a document.
    Number,
}

/// What the character data of an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaf {
    Text,
    Expression,
    Reference,
}

/// An attribute of a model type.
pub(super) struct Attr<T: 'static> {
    pub name: &'static str,
    pub lexis: Lexis,
    pub get: for<'t> fn(&'t T) -> Option<Cow<'t, str>>,
    /// Answers whether the text is a value of the attribute's type.
    pub set: fn(&mut T, Cow<'_, str>) -> bool,
}

/// Reads a child into the model value; answers whether it was taken.
pub(super) type ReadChild<T> = fn(&mut Reader<'_>, &mut T, El) -> Result<bool, XmlError>;
/// Writes the children of one name.
pub(super) type WriteChild<T> = fn(&mut Writer<'_>, &T);

/// Which elements a child stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    Kind(Kind),
    Group(Group),
    FlowNode,
}

/// A child of a model type.
pub(super) struct Child<T: 'static> {
    pub matches: Match,
    pub read: Option<ReadChild<T>>,
    pub write: Option<WriteChild<T>>,
}

/// A model type's attributes and children.
pub(super) struct Row<T: 'static> {
    pub attributes: &'static [&'static [Attr<T>]],
    pub children: &'static [&'static [Child<T>]],
}

impl<T> Row<T> {
    pub(super) fn attribute(&self, name: &str) -> Option<&'static Attr<T>> {
        self.attributes.iter().find_map(|part| part.iter().find(|attribute| attribute.name == name))
    }

    /// The child for an element and its rank.
    pub(super) fn child(&self, kind: Kind, group: Group) -> Option<(usize, &'static Child<T>)> {
        let mut all = self.children.iter().flat_map(|part| part.iter()).enumerate();
        all.find(|(_, child)| match child.matches {
            Match::Kind(own) => own == kind,
            Match::Group(own) => own == group,
            Match::FlowNode => group.is_flow_node(),
        })
    }

    /// The id of the model value, where the model value has one.
    pub(super) fn id<'t>(&self, model: &'t T) -> Option<Cow<'t, str>> {
        let first = self.attributes.first().and_then(|part| part.first())?;
        if first.name == "id" { (first.get)(model).filter(|id| !id.is_empty()) } else { None }
    }
}

/// A value with a lexical form.
pub(super) trait Lexical: Sized {
    fn parse(text: Cow<'_, str>) -> Option<Self>;
    fn print(&self) -> Cow<'_, str>;
}

impl Lexical for String {
    fn parse(text: Cow<'_, str>) -> Option<Self> {
        Some(text.into_owned())
    }
    fn print(&self) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }
}

impl Lexical for bool {
    fn parse(text: Cow<'_, str>) -> Option<Self> {
        match text.trim() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        }
    }
    fn print(&self) -> Cow<'_, str> {
        Cow::Borrowed(if *self { "true" } else { "false" })
    }
}

impl Lexical for i64 {
    fn parse(text: Cow<'_, str>) -> Option<Self> {
        text.trim().parse().ok()
    }
    fn print(&self) -> Cow<'_, str> {
        Cow::Owned(self.to_string())
    }
}

impl Lexical for f64 {
    fn parse(text: Cow<'_, str>) -> Option<Self> {
        parse_number(&text)
    }
    fn print(&self) -> Cow<'_, str> {
        Cow::Owned(number(*self))
    }
}

/// The member at a path.
macro_rules! at {
    ($model:expr; $member:ident) => { $model.$member.as_ref() };
    ($model:expr; $member:ident . $($rest:ident).+) => {
        $model.$member.as_ref().and_then(|inner| at!(inner; $($rest).+))
    };
}

/// The place of the member at a path; what is on the way is made.
macro_rules! at_mut {
    ($model:expr; $member:ident) => { &mut $model.$member };
    ($model:expr; $member:ident . $($rest:ident).+) => {
        at_mut!($model.$member.get_or_insert_default(); $($rest).+)
    };
}

/// An attribute: lexis, name, path of the member.
macro_rules! attr {
    ($lexis:ident $name:literal $($path:ident).+) => {
        $crate::xml::row::Attr {
            name: $name,
            lexis: $crate::xml::row::Lexis::$lexis,
            get: |model| at!(model; $($path).+).map($crate::xml::row::Lexical::print),
            set: |model, text| {
                let Some(value) = $crate::xml::row::Lexical::parse(text) else { return false };
                *at_mut!(model; $($path).+) = Some(value);
                true
            },
        }
    };
}

macro_rules! child {
    ($name:literal, $read:expr, $write:expr) => {
        $crate::xml::row::Child {
            matches: $crate::xml::row::Match::Kind(const { $crate::xml::names::kind($name) }),
            read: Some($read),
            write: Some($write),
        }
    };
}

/// A child without a member: preserved, put back at this place.
macro_rules! kept {
    ($name:literal) => {
        $crate::xml::row::Child {
            matches: $crate::xml::row::Match::Kind(const { $crate::xml::names::kind($name) }),
            read: None,
            write: None,
        }
    };
}

/// A child whose character data is a member.
macro_rules! leaf {
    ($model:ty: $style:ident $name:literal $($path:ident).+) => {
        child!(
            $name,
            |reader, model: &mut $model, el| {
                let place = at_mut!(model; $($path).+);
                if place.is_some() {
                    return Ok(false);
                }
                *place = Some(reader.leaf(el, $crate::xml::row::Leaf::$style));
                Ok(true)
            },
            |writer, model: &$model| {
                let value = at!(model; $($path).+);
                if let Some(value) = value {
                    writer.leaf(const { $crate::xml::names::kind($name) }, $crate::xml::row::Leaf::$style, value, None);
                }
            }
        )
    };
}

/// A child whose character data is an expression, with its language.
macro_rules! expression {
    ($model:ty: $name:literal $($path:ident).+ , $($language:ident).+) => {
        child!(
            $name,
            |reader, model: &mut $model, el| {
                if at_mut!(model; $($path).+).is_some() {
                    return Ok(false);
                }
                let (text, language) = reader.expression(el);
                *at_mut!(model; $($path).+) = Some(text);
                if language.is_some() {
                    *at_mut!(model; $($language).+) = language;
                }
                Ok(true)
            },
            |writer, model: &$model| {
                let value = at!(model; $($path).+);
                if let Some(value) = value {
                    let language = at!(model; $($language).+);
                    writer.leaf(const { $crate::xml::names::kind($name) }, $crate::xml::row::Leaf::Expression, value, language.map(String::as_str));
                }
            }
        )
    };
}

/// Children whose character data are members of a list.
macro_rules! leaves {
    ($model:ty: $style:ident $name:literal $($path:ident).+) => {
        child!(
            $name,
            |reader, model: &mut $model, el| {
                let text = reader.leaf(el, $crate::xml::row::Leaf::$style);
                at_mut!(model; $($path).+).get_or_insert_default().push(text);
                Ok(true)
            },
            |writer, model: &$model| {
                let values = at!(model; $($path).+);
                for value in values.into_iter().flatten() {
                    writer.leaf(const { $crate::xml::names::kind($name) }, $crate::xml::row::Leaf::$style, value, None);
                }
            }
        )
    };
}

/// A child that is a model type.
macro_rules! one {
    ($model:ty: $name:literal $row:ident $($path:ident).+) => {
        child!(
            $name,
            |reader, model: &mut $model, el| {
                let place = at_mut!(model; $($path).+);
                if place.is_some() {
                    return Ok(false);
                }
                reader.read(&$row, place.get_or_insert_default(), el)?;
                Ok(true)
            },
            |writer, model: &$model| {
                let value = at!(model; $($path).+);
                if let Some(value) = value {
                    writer.element(const { $crate::xml::names::kind($name) }, &$row, value);
                }
            }
        )
    };
}

/// Children that are the model types of a list.
macro_rules! many {
    ($model:ty: $name:literal $row:ident $($path:ident).+) => {
        child!(
            $name,
            |reader, model: &mut $model, el| {
                let mut item = Default::default();
                reader.read(&$row, &mut item, el)?;
                at_mut!(model; $($path).+).get_or_insert_default().push(item);
                Ok(true)
            },
            |writer, model: &$model| {
                let values = at!(model; $($path).+);
                for value in values.into_iter().flatten() {
                    writer.element(const { $crate::xml::names::kind($name) }, &$row, value);
                }
            }
        )
    };
}

/// A child that has nothing but a name, which is the member.
macro_rules! named {
    ($model:ty: $name:literal $($path:ident).+) => {
        child!(
            $name,
            |reader, model: &mut $model, el| {
                let place = at_mut!(model; $($path).+);
                let Some(name) = reader.tree.attribute(el, "name").filter(|_| place.is_none()) else {
                    return Ok(false);
                };
                *place = Some(name.into_owned());
                reader.read(&$crate::xml::rows::NAMED, &mut $crate::xml::rows::Named::default(), el)?;
                Ok(true)
            },
            |writer, model: &$model| {
                let value = at!(model; $($path).+);
                if let Some(value) = value {
                    let named = $crate::xml::rows::Named { name: Some(value.clone()) };
                    writer.element(const { $crate::xml::names::kind($name) }, &$crate::xml::rows::NAMED, &named);
                }
            }
        )
    };
}

/// The content of a process or sub-process: lanes, flow elements, artifacts.
macro_rules! content {
    ($model:ty; $($path:ident .)*) => {
        &[
            child!(
                "laneSet",
                |reader, model: &mut $model, el| {
                    let mut lanes = Default::default();
                    reader.read_deeper(&LANE_SET, &mut lanes, el, 4)?;
                    at_mut!(model; $($path .)* lane_sets).get_or_insert_default().push(lanes);
                    Ok(true)
                },
                |writer, model: &$model| {
                    let sets = at!(model; $($path .)* lane_sets);
                    sets.into_iter().flatten().for_each(|set| writer.element(const { $crate::xml::names::kind("laneSet") }, &LANE_SET, set));
                }
            ),
            $crate::xml::row::Child {
                matches: $crate::xml::row::Match::FlowNode,
                read: Some(|reader, model: &mut $model, el| {
                    $crate::xml::rows::node::read_node(reader, at_mut!(model; $($path .)* nodes), el)
                }),
                write: Some(|writer, model: &$model| {
                    let nodes = at!(model; $($path .)* nodes);
                    $crate::xml::rows::node::write_nodes(writer, nodes.map_or(&[], Vec::as_slice));
                }),
            },
            $crate::xml::row::Child {
                matches: $crate::xml::row::Match::Group($crate::xml::Group::SequenceFlow),
                read: Some(|reader, model: &mut $model, el| {
                    $crate::xml::rows::node::read_edge(reader, at_mut!(model; $($path .)* edges), el)
                }),
                write: Some(|writer, model: &$model| {
                    let edges = at!(model; $($path .)* edges);
                    $crate::xml::rows::node::write_edges(writer, edges.map_or(&[], Vec::as_slice));
                }),
            },
            $crate::xml::row::Child {
                matches: $crate::xml::row::Match::Group($crate::xml::Group::DataObject),
                read: Some(|reader, model: &mut $model, el| {
                    $crate::xml::rows::process::read_data(reader, at_mut!(model; $($path .)* data_objects), el)
                }),
                write: Some(|writer, model: &$model| {
                    let items = at!(model; $($path .)* data_objects);
                    $crate::xml::rows::process::write_data(writer, items.map_or(&[], Vec::as_slice));
                }),
            },
            $crate::xml::row::Child {
                matches: $crate::xml::row::Match::Group($crate::xml::Group::DataStoreReference),
                read: Some(|reader, model: &mut $model, el| {
                    $crate::xml::rows::process::read_data(reader, at_mut!(model; $($path .)* data_stores), el)
                }),
                write: Some(|writer, model: &$model| {
                    let items = at!(model; $($path .)* data_stores);
                    $crate::xml::rows::process::write_data(writer, items.map_or(&[], Vec::as_slice));
                }),
            },
            $crate::xml::row::Child {
                matches: $crate::xml::row::Match::Group($crate::xml::Group::Artifact),
                read: Some(|reader, model: &mut $model, el| {
                    $crate::xml::rows::process::read_artifact(reader, at_mut!(model; $($path .)* artifacts), el)
                }),
                write: Some(|writer, model: &$model| {
                    let artifacts = at!(model; $($path .)* artifacts);
                    $crate::xml::rows::process::write_artifacts(writer, artifacts.map_or(&[], Vec::as_slice));
                }),
            },
        ]
    };
}

/// A child whose whole XML text is a member.
macro_rules! xml_text {
    ($model:ty: $name:literal $member:ident) => {
        child!(
            $name,
            |reader, model: &mut $model, el| {
                if model.$member.is_some() {
                    return Ok(false);
                }
                model.$member = Some(reader.tree.fragment(el).into_owned());
                Ok(true)
            },
            |writer, model: &$model| {
                if let Some(xml) = &model.$member {
                    writer.fragment(const { $crate::xml::names::kind($name) }, xml);
                }
            }
        )
    };
}
