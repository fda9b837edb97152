//! The compiled form: the requirements graph by index, names as slots, logic as trees of compiled FEEL.

use std::sync::{Arc, LazyLock, OnceLock};

use heddle_feel::{ConstantTests, Expression, Type, Types, Value};

use super::plain::Deferred;
use super::table::Table;
use crate::model::At;
use heddle_xml::hash::{HashMap, HashSet};

/// Index of an element of the requirements graph.
pub(crate) type NodeId = u32;

/// Origin of a text of FEEL or of another part of logic.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    /// Id of the nearest element that has one.
    pub id: Option<Arc<str>>,
    /// Name of the decision or function around.
    pub owner: Option<Arc<str>>,
    /// Start of the text.
    pub at: At,
}

/// A type with its constraints.
#[derive(Debug)]
pub(crate) struct ItemType {
    /// Name of the type, for messages.
    pub name: Arc<str>,
    pub feel: Type,
    /// The types that it names because they lie within themselves.
    pub within: Within,
    pub check: Option<Check>,
}

/// The types of a model that lie within themselves, known once all are compiled.
#[derive(Debug, Clone, Default)]
pub(crate) struct Within(Arc<OnceLock<Types>>);

impl Within {
    /// The types by name.
    pub(crate) fn types(&self) -> &Types {
        static NONE: LazyLock<Types> = LazyLock::new(Types::default);
        self.0.get().unwrap_or(&NONE)
    }

    /// Makes them known, once.
    pub(crate) fn tell(&self, types: Types) {
        self.0.get_or_init(|| types);
    }
}

/// Constraints on a value and on what lies in it.
#[derive(Debug, Default, Clone)]
pub(crate) struct Check {
    /// Tests that the value passes.
    pub tests: Vec<Arc<AllowedValues>>,
    /// Constraints on each item, when the value is a list.
    pub items: Option<Arc<Check>>,
    /// Constraints on members, when the value is a context.
    pub members: Vec<(Arc<str>, Arc<Check>)>,
}

/// Tests of a type or of a clause of a table.
#[derive(Debug)]
pub(crate) struct AllowedValues {
    /// The tests as values, when nothing but the text decides them.
    pub constants: Option<ConstantTests>,
    pub program: Deferred,
    pub place: Place,
}

/// A name that an element's logic may use, and the element that it stands for.
#[derive(Debug, Clone)]
pub(crate) struct Requirement {
    pub name: Arc<str>,
    pub node: NodeId,
}

/// A model imported under a name, which is a context of what the element requires of it (DMN 1.5, clause 6.3.3).
#[derive(Debug, Clone)]
pub(crate) struct Import {
    pub name: Arc<str>,
    /// Names there, and the names by which the requirements have them here.
    pub members: Vec<(Arc<str>, Arc<str>)>,
}

/// Logic with the type of its result.
#[derive(Debug)]
pub(crate) struct Logic {
    pub kind: Kind,
    pub result: Option<Arc<ItemType>>,
    pub place: Place,
}

#[derive(Debug)]
pub(crate) enum Kind {
    /// Null for a reason known when compiled.
    Missing(Arc<str>),
    Constant(Value),
    Feel(Expression),
    Context(Vec<Entry>),
    List(Vec<Logic>),
    Relation {
        columns: Vec<Column>,
        rows: Vec<Vec<Logic>>,
    },
    Invocation {
        callee: Box<Logic>,
        arguments: Vec<(Arc<str>, Logic)>,
    },
    Function(Arc<FunctionLogic>),
    Table(Box<Table>),
    Conditional(Box<[Logic; 3]>),
    Filter {
        list: Box<Logic>,
        test: Box<Logic>,
    },
    For {
        name: Arc<str>,
        list: Box<Logic>,
        body: Box<Logic>,
    },
    Quantified {
        every: bool,
        name: Arc<str>,
        list: Box<Logic>,
        body: Box<Logic>,
    },
}

#[derive(Debug)]
pub(crate) struct Entry {
    /// `None`: the result of the whole context.
    pub name: Option<Arc<str>>,
    pub kind: Option<Arc<ItemType>>,
    pub value: Logic,
}

#[derive(Debug)]
pub(crate) struct Column {
    pub name: Arc<str>,
    pub kind: Option<Arc<ItemType>>,
}

#[derive(Debug)]
pub(crate) struct Parameter {
    pub name: Arc<str>,
    pub kind: Option<Arc<ItemType>>,
}

/// A function of a model.
#[derive(Debug)]
pub(crate) struct FunctionLogic {
    pub parameters: Vec<Parameter>,
    pub names: Vec<Arc<str>>,
    pub body: Logic,
    pub result: Option<Arc<ItemType>>,
    /// Names that the body takes from around the function.
    pub free: Vec<Arc<str>>,
}

/// An element of the requirements graph.
#[derive(Debug)]
pub(crate) struct Node {
    pub name: Arc<str>,
    pub id: Option<Arc<str>>,
    pub namespace: Arc<str>,
    /// Name by which the value of an imported input may be given, besides its own.
    pub keys: Vec<Arc<str>>,
    pub kind: Option<Arc<ItemType>>,
    pub place: Place,
    pub body: Body,
    /// Requirements, whose names its logic may use.
    pub requirements: Vec<Requirement>,
    /// Imports that its logic names as a whole.
    pub imports: Vec<Import>,
    /// Decisions and inputs among them, which are evaluated before.
    pub needs: Vec<NodeId>,
}

#[derive(Debug)]
pub(crate) enum Body {
    Input,
    Decision(Logic),
    /// A business knowledge model.
    Function(Arc<FunctionLogic>),
    Service(Service),
}

#[derive(Debug)]
pub(crate) struct Service {
    /// Decisions and inputs whose values are arguments.
    pub parameters: Vec<NodeId>,
    pub names: Vec<Arc<str>>,
    pub outputs: Vec<NodeId>,
}

/// A compiled model.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub nodes: Vec<Node>,
    /// Elements by name and by id; the first document's come first.
    pub by_name: HashMap<Arc<str>, Vec<NodeId>>,
    pub by_id: HashMap<Arc<str>, Vec<NodeId>>,
    /// Names of the elements: they are not taken from the context where they are not required.
    pub declared: HashSet<Arc<str>>,
}

impl Plan {
    pub(crate) fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id as usize)
    }
}
