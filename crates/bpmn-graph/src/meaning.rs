//! Meaning of members that have not always had the same: what a member does in a published version stays.

/// Meaning of a lane for the user tasks in it that name neither assignee nor candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lanes {
    /// Nothing: the tasks are for everybody who may complete tasks, and one takes its lane's group by `laneCandidates` alone.
    Drawn,
    /// Candidate group: the tasks are offered to the group named like their innermost lane. The rule holds for versions
    /// that were published under it.
    Groups,
}

/// Rules under which a version was published, as far as they say what a member of a definition does. What a member does in a
/// version stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edition {
    /// Branches of flows, follow-up dates and bindings of resources' parameters have no effect; a data store lives as long as
    /// the run, the input and output sets of a process hold nothing back, and nothing is protected.
    First,
    /// The branch of a flow is the outcome, or the value, for which it is taken; a task has its follow-up date; who fits a
    /// resource is named by the value of its parameter; a data store with a name is the organisation's, and a process needs one of its
    /// input sets and gives one of its output sets. Protection protects.
    Second,
}

impl Edition {
    /// The rules of now.
    pub const NOW: Self = Self::Second;

    /// Number of the rules, as it is kept with a version.
    #[must_use]
    pub const fn number(self) -> i32 {
        match self {
            Self::First => 1,
            Self::Second => 2,
        }
    }

    /// The rules of a number; those of now for one that only a later program knows.
    #[must_use]
    pub const fn of(number: i32) -> Self {
        if number <= 1 { Self::First } else { Self::Second }
    }
}

/// Meaning of what has not always had the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meaning {
    /// Meaning of lanes.
    pub lanes: Lanes,
    /// Rules of members.
    pub edition: Edition,
}

impl Meaning {
    /// The meaning of what is published now.
    pub const NOW: Self = Self { lanes: Lanes::Drawn, edition: Edition::NOW };
}
