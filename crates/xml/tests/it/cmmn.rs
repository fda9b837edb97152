//! A part of CMMN as a vocabulary: cases, stages, plan items, sentries, shapes.

use heddle_xml::mapping::{
    Bindings, Child, Finding, Match, Origin, Reader, Row, Vocabulary, WriteError, Writer, collect,
    surroundings,
};
use heddle_xml::{Document, El, Kind, Limits, Names, Ns, UNKNOWN, XmlError};
use heddle_xml::{attr, expression, kept, leaf, many, one};
use std::collections::BTreeMap;

/// The names of CMMN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cmmn;

const MODEL: Ns = Ns::known(0);
const DI: Ns = Ns::known(1);
const DC: Ns = Ns::known(2);

/// What an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    Definition,
    Part,
}

const ELEMENTS: &[(&str, Ns, Group)] = &[
    ("definitions", MODEL, Group::Part),
    ("case", MODEL, Group::Part),
    ("casePlanModel", MODEL, Group::Part),
    ("planItem", MODEL, Group::Part),
    ("entryCriterion", MODEL, Group::Part),
    ("sentry", MODEL, Group::Part),
    ("planItemOnPart", MODEL, Group::Part),
    ("standardEvent", MODEL, Group::Part),
    ("ifPart", MODEL, Group::Part),
    ("condition", MODEL, Group::Part),
    ("humanTask", MODEL, Group::Definition),
    ("milestone", MODEL, Group::Definition),
    ("stage", MODEL, Group::Definition),
    ("documentation", MODEL, Group::Part),
    ("extensionElements", MODEL, Group::Part),
    ("CMMNShape", DI, Group::Part),
    ("Bounds", DC, Group::Part),
];

const fn kind(name: &str) -> Kind {
    let mut index = 0;
    while index < ELEMENTS.len() {
        if same(ELEMENTS[index].0.as_bytes(), name.as_bytes()) {
            return index as Kind;
        }
        index += 1;
    }
    panic!("no such element")
}

const fn same(left: &[u8], right: &[u8]) -> bool {
    let mut index = 0;
    while index < left.len() && index < right.len() && left[index] == right[index] {
        index += 1;
    }
    index == left.len() && index == right.len()
}

impl Names for Cmmn {
    const NAMESPACES: &'static [&'static str] = &[
        "http://www.omg.org/spec/CMMN/20151109/MODEL",
        "http://www.omg.org/spec/CMMN/20151109/CMMNDI",
        "http://www.omg.org/spec/CMMN/20151109/DC",
        "http://www.w3.org/2001/XMLSchema-instance",
        "urn:heddle:cmmn:1",
    ];

    fn kind(namespace: Ns, local: &str) -> Kind {
        let found = ELEMENTS.iter().position(|(name, ns, _)| *name == local && *ns == namespace);
        found.and_then(|index| Kind::try_from(index).ok()).unwrap_or(UNKNOWN)
    }
}

/// What is noted while a document is read.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Notes {
    pub findings: Vec<Finding>,
    pub preserved: Vec<String>,
}

impl Vocabulary for Cmmn {
    const PREFIXES: &'static [&'static str] = &["cmmn", "cmmndi", "dc", "xsi", "heddle"];
    const MODEL: Ns = MODEL;
    const XSI: Ns = Ns::known(3);
    const OWN: Ns = Ns::known(4);
    const ROOT: Kind = kind("definitions");
    const EXTENSION_ELEMENTS: Kind = kind("extensionElements");
    const EXPRESSION_TYPE: Option<&'static str> = None;
    const LIMITS: Limits = Limits { depth: 256, elements: 10_000 };
    const MAX_NESTING: usize = 30;
    const TOO_DEEP: &'static str = "Stages are nested too deep.";

    type Group = Group;
    type Choice = Group;
    type Reading<'s> = Notes;
    type Writing<'d> = ();

    fn element(kind: Kind) -> Option<(Ns, &'static str)> {
        ELEMENTS.get(usize::from(kind)).map(|(name, ns, _)| (*ns, *name))
    }

    fn group(kind: Kind) -> Group {
        ELEMENTS.get(usize::from(kind)).map_or(Group::Part, |(.., group)| *group)
    }

    fn takes(choice: Group, group: Group) -> bool {
        choice == group
    }

    fn order_word(matches: Match<Group>) -> Option<&'static str> {
        match matches {
            Match::Kind(kind) => Self::element(kind).map(|(_, name)| name),
            Match::Choice(_) => Some("definition"),
        }
    }

    fn found(reader: &mut Reader<'_, Self>, finding: Finding) {
        reader.state.findings.push(finding);
    }

    fn preserves_attribute(reader: &mut Reader<'_, Self>, name: &str) {
        reader.state.preserved.push(format!("@{name}"));
    }

    fn preserves_child(reader: &mut Reader<'_, Self>, child: El) {
        reader.state.preserved.push(reader.tree.part(child).name.to_owned());
    }
}

type Rows<T> = Row<Cmmn, T>;

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Definitions {
    pub id: Option<String>,
    pub target_namespace: Option<String>,
    pub cases: Option<Vec<Case>>,
    pub shapes: Option<Vec<Shape>>,
    pub namespaces: BTreeMap<String, String>,
    /// Preserved content.
    pub fragments: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Case {
    pub id: Option<String>,
    pub name: Option<String>,
    pub plan: Option<Stage>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Stage {
    pub id: Option<String>,
    pub name: Option<String>,
    pub auto_complete: Option<bool>,
    pub items: Option<Vec<PlanItem>>,
    pub sentries: Option<Vec<Sentry>>,
    pub definitions: Option<Vec<Definition>>,
}

/// A human task, a milestone or a stage.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Definition {
    pub element: String,
    pub stage: Stage,
    pub performer: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PlanItem {
    pub id: Option<String>,
    pub definition: Option<String>,
    pub entry: Option<Vec<Criterion>>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Criterion {
    pub id: Option<String>,
    pub sentry: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Sentry {
    pub id: Option<String>,
    pub on: Option<Vec<OnPart>>,
    pub condition: Option<IfPart>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct OnPart {
    pub source: Option<String>,
    pub event: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct IfPart {
    pub text: Option<String>,
    pub language: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Shape {
    pub id: Option<String>,
    pub element: Option<String>,
    pub bounds: Option<Bounds>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Bounds {
    pub x: Option<f64>,
    pub width: Option<f64>,
}

static DEFINITIONS: Rows<Definitions> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Text "targetNamespace" target_namespace)]],
    children: &[&[many!(Definitions: "case" CASE cases), many!(Definitions: "CMMNShape" SHAPE shapes)]],
};

static CASE: Rows<Case> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Text "name" name)]],
    children: &[&[kept!("documentation"), one!(Case: "casePlanModel" STAGE plan)]],
};

static STAGE: Rows<Stage> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Text "name" name), attr!(Typed "autoComplete" auto_complete)]],
    children: &[STAGE_PARTS],
};

const STAGE_PARTS: &[Child<Cmmn, Stage>] = &[
    kept!("documentation"),
    kept!("extensionElements"),
    many!(Stage: "planItem" ITEM items),
    many!(Stage: "sentry" SENTRY sentries),
    Child {
        matches: Match::Choice(Group::Definition),
        read: Some(|reader, stage, el| {
            let mut definition =
                Definition { element: reader.tree.local(el).to_owned(), ..Definition::default() };
            reader.deepen(el, 4)?;
            if definition.element == "humanTask" {
                reader.read(&TASK, &mut definition, el)?;
            } else {
                reader.read(&STAGE, &mut definition.stage, el)?;
            }
            reader.undeepen(4);
            stage.definitions.get_or_insert_default().push(definition);
            Ok(true)
        }),
        write: Some(|writer, stage| {
            for definition in stage.definitions.iter().flatten() {
                match definition.element.as_str() {
                    "humanTask" => writer.element(kind("humanTask"), &TASK, definition),
                    "milestone" => writer.element(kind("milestone"), &STAGE, &definition.stage),
                    _ => writer.element(kind("stage"), &STAGE, &definition.stage),
                }
            }
        }),
    },
];

static TASK: Rows<Definition> = Row {
    attributes: &[&[
        heddle_xml::mapping::Attr {
            name: "id",
            lexis: heddle_xml::mapping::Lexis::Text,
            get: |task| task.stage.id.as_deref().map(Into::into),
            set: |task, text| {
                task.stage.id = Some(text.into_owned());
                true
            },
        },
        attr!(Reference "performerRef" performer),
    ]],
    children: &[],
};

static ITEM: Rows<PlanItem> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Reference "definitionRef" definition)]],
    children: &[&[many!(PlanItem: "entryCriterion" CRITERION entry)]],
};

static CRITERION: Rows<Criterion> =
    Row { attributes: &[&[attr!(Text "id" id), attr!(Reference "sentryRef" sentry)]], children: &[] };

static SENTRY: Rows<Sentry> = Row {
    attributes: &[&[attr!(Text "id" id)]],
    children: &[&[many!(Sentry: "planItemOnPart" ON_PART on), one!(Sentry: "ifPart" IF_PART condition)]],
};

static ON_PART: Rows<OnPart> = Row {
    attributes: &[&[attr!(Reference "sourceRef" source)]],
    children: &[&[leaf!(OnPart: Text "standardEvent" event)]],
};

static IF_PART: Rows<IfPart> =
    Row { attributes: &[], children: &[&[expression!(IfPart: "condition" text, language)]] };

static SHAPE: Rows<Shape> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Reference "cmmnElementRef" element)]],
    children: &[&[one!(Shape: "Bounds" BOUNDS bounds)]],
};

static BOUNDS: Rows<Bounds> =
    Row { attributes: &[&[attr!(Number "x" x), attr!(Number "width" width)]], children: &[] };

/// Reads a document.
pub(crate) fn read(source: &str) -> Result<(Definitions, Notes), XmlError> {
    let tree = Document::<Cmmn>::parse_within(source, &[], Cmmn::LIMITS)?;
    let bindings = Bindings::of(&tree);
    let mut reader = Reader::new(&tree, &bindings, Notes::default());
    let mut model = Definitions::default();
    reader.root(&DEFINITIONS, &mut model, |_| {})?;
    let (fragments, notes) = reader.finish();
    model.fragments = fragments;
    model.namespaces.clone_from(&bindings.namespaces);
    Ok((model, notes))
}

/// Writes a document; answers the addresses that have lost their elements besides.
pub(crate) fn write(model: &Definitions) -> Result<(String, Vec<String>), WriteError> {
    let around = surroundings::<Cmmn>(&model.namespaces);
    let (preserved, _) = collect::<Cmmn>(&model.fragments, &around)
        .map_err(|source| WriteError::Fragment { path: "fragments".to_owned(), source })?;
    let target_namespace = model.target_namespace.as_deref().unwrap_or_default();
    let namespaces = &model.namespaces;
    let origin = Origin { namespaces, around, preserved, target_namespace, id: model.id.as_deref() };
    let written = Writer::<Cmmn>::document(origin, (), &DEFINITIONS, model, |_| {})?;
    Ok((written.xml, written.orphaned))
}
