//! The activities of WS-BPEL that a process becomes, before they are written.

use super::expression::{Expr, Timer};

/// An activity with what every activity may carry.
#[derive(Debug, Clone, Default)]
pub(super) struct Activity {
    /// NCName, unique within the process; empty for none.
    pub name: String,
    /// Id of the BPMN element that it stands for.
    pub element: Option<String>,
    /// Links that end here.
    pub targets: Option<Targets>,
    /// Links that start here.
    pub sources: Vec<Source>,
    /// The activity itself.
    pub what: What,
    /// Levels of activities in it.
    pub depth: usize,
}

/// The links that end at an activity.
#[derive(Debug, Clone)]
pub(super) struct Targets {
    /// Their names.
    pub links: Vec<String>,
    /// The join condition, in XPath; absent is "any of them".
    pub join: Option<String>,
}

/// A link that starts at an activity.
#[derive(Debug, Clone)]
pub(super) struct Source {
    /// Name of the link.
    pub link: String,
    /// Transition condition of the link; none is always true.
    pub condition: Option<Expr>,
}

/// The kinds of activities.
#[derive(Debug, Clone, Default)]
pub(super) enum What {
    #[default]
    Empty,
    Exit,
    Compensate,
    CompensateScope(String),
    /// A fault of the process's own namespace, or of the generated code.
    Throw(Fault),
    Wait(Timer),
    Assign(Vec<Copy>),
    Invoke(Call),
    Receive(Call, bool),
    Reply(Call),
    /// Something that WS-BPEL has no activity for.
    Extension(Extension),
    Sequence(Vec<Activity>),
    If(Vec<(Expr, Activity)>, Option<Box<Activity>>),
    While(Expr, Box<Activity>),
    RepeatUntil(Box<Activity>, Expr),
    Flow(Vec<String>, Vec<Activity>),
    Pick(bool, Vec<(Trigger, Activity)>),
    ForEach(Box<ForEach>),
    Scope(Box<Scope>),
}

/// A fault's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// A BPMN error, in the process's target namespace.
    Error(String),
    /// One that the mapping itself uses, in Heddle's namespace.
    Own(String),
}

/// One copy of an assignment.
#[derive(Debug, Clone)]
pub(super) struct Copy {
    /// The value.
    pub from: From,
    /// The place.
    pub to: To,
}

/// The value of a copy.
#[derive(Debug, Clone)]
pub(super) enum From {
    Expr(Expr),
    /// An empty payload.
    Payload,
    /// An empty text.
    Nothing,
}

/// The place of a copy.
#[derive(Debug, Clone)]
pub(super) enum To {
    Variable(String),
    /// The payload of a variable's message.
    Payload(String),
    Expr(Expr),
}

/// An exchange of a message with a partner.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub partner_link: String,
    pub port_type: String,
    pub operation: String,
    /// Variable that is sent.
    pub input: Option<String>,
    /// Variable that receives.
    pub output: Option<String>,
    /// Message type of the receiving variable, for the event handlers that declare it themselves.
    pub message_type: String,
    /// Correlation sets with whether the exchange may start an instance.
    pub correlations: Vec<(String, &'static str)>,
}

/// An event with the element that stands for it.
#[derive(Debug, Clone)]
pub(super) struct Trigger {
    /// Id of the BPMN element.
    pub element: Option<String>,
    pub on: On,
}

/// Event that ends the wait of a pick or starts an event handler.
#[derive(Debug, Clone)]
pub(super) enum On {
    Message(Call),
    Alarm(Timer),
    /// Every time this duration has passed.
    Every(Timer),
}

/// A script or a call of a decision.
#[derive(Debug, Clone)]
pub(super) struct Extension {
    pub element: &'static str,
    pub attributes: Vec<(&'static str, String)>,
    pub text: String,
}

/// Several instances of an activity.
#[derive(Debug, Clone)]
pub(super) struct ForEach {
    pub parallel: bool,
    pub counter: String,
    pub last: Expr,
    pub branches: Option<Expr>,
    pub scope: Activity,
}

/// A declared variable.
#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub name: String,
    /// Attribute and value: `messageType`, `type` or `element`.
    pub of: (&'static str, String),
}

/// A scope with its handlers.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    pub variables: Vec<Variable>,
    /// Catches; a fault of none catches all.
    pub faults: Vec<(Option<Fault>, Activity)>,
    pub events: Vec<(Trigger, Activity)>,
    pub compensation: Option<Activity>,
    pub body: Activity,
}

impl Activity {
    pub(crate) fn new(what: What) -> Self {
        let depth = 1 + what.depth();
        Self { what, depth, ..Self::default() }
    }

    pub(crate) fn named(mut self, name: String) -> Self {
        self.name = name;
        self
    }

    pub(crate) fn of(mut self, element: &str) -> Self {
        self.element = Some(element.to_owned());
        self
    }

    /// The list as one activity.
    pub(crate) fn sequence(list: impl IntoIterator<Item = Self>) -> Self {
        let mut flat: Vec<Self> = Vec::new();
        for one in list.into_iter().filter(|one| !one.is_nothing()) {
            let plain = one.name.is_empty() && one.targets.is_none() && one.sources.is_empty();
            match one.what {
                What::Sequence(inner) if plain => flat.extend(inner),
                what => flat.push(Self { what, ..one }),
            }
        }
        let mut list = flat;
        match (list.pop(), list.is_empty()) {
            (None, _) => Self::new(What::Empty),
            (Some(only), true) => only,
            (Some(last), false) => {
                list.push(last);
                Self::new(What::Sequence(list))
            }
        }
    }

    /// Whether it is an `empty` that stands for nothing.
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self.what, What::Empty)
            && self.element.is_none()
            && self.sources.is_empty()
            && self.targets.is_none()
    }

    /// A scope around it, without handlers.
    pub(crate) fn in_scope(self) -> Self {
        if matches!(self.what, What::Scope(_)) && self.sources.is_empty() && self.targets.is_none() {
            return self;
        }
        Self::new(What::Scope(Box::new(Scope { body: self, ..Scope::default() })))
    }
}

impl What {
    fn depth(&self) -> usize {
        let most = |list: &[Activity]| list.iter().map(|one| one.depth).max().unwrap_or(0);
        match self {
            Self::Sequence(list) | Self::Flow(_, list) => most(list),
            Self::If(branches, otherwise) => {
                let last = otherwise.as_ref().map_or(0, |one| one.depth);
                branches.iter().map(|(_, one)| one.depth).max().unwrap_or(0).max(last)
            }
            Self::While(_, one) | Self::RepeatUntil(one, _) => one.depth,
            Self::Pick(_, branches) => branches.iter().map(|(_, one)| one.depth).max().unwrap_or(0),
            Self::ForEach(each) => each.scope.depth,
            Self::Scope(scope) => {
                let faults = scope.faults.iter().map(|(_, one)| one.depth);
                let events = scope.events.iter().map(|(_, one)| one.depth);
                let rest = scope.compensation.iter().map(|one| one.depth);
                faults.chain(events).chain(rest).max().unwrap_or(0).max(scope.body.depth)
            }
            _ => 0,
        }
    }
}
