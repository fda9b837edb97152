//! Errors that a use case answers with.

use heddle_kernel::shortened;
use serde_json::{Map, Value};

use crate::StoreError;

/// One thing that is wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The JSON path of the member, when it is about one.
    pub field: Option<String>,
    /// The machine word: `required`, `notUnique`, `revisionMismatch`, ...
    pub reason: &'static str,
    /// A sentence for people.
    pub message: String,
    /// More members for the machine: `currentRevision`, `usedBy`, ...
    pub extra: Map<String, Value>,
}

impl Problem {
    /// A problem of the whole request.
    #[must_use]
    pub fn new(reason: &'static str, message: impl Into<String>) -> Self {
        let message = shortened(&message.into()).into_owned();
        Self { field: None, reason, message, extra: Map::new() }
    }

    /// A problem of one member.
    #[must_use]
    pub fn at(field: impl Into<String>, reason: &'static str, message: impl Into<String>) -> Self {
        Self { field: Some(field.into()), ..Self::new(reason, message) }
    }

    /// The same with one more member for the machine.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.extra.insert(name.to_owned(), value.into());
        self
    }
}

/// Reason for which a use case did not do what was asked. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum UseCaseError {
    /// There is no such thing in this organisation.
    #[error("there is no such resource")]
    NotFound,
    /// The request is wrong in itself.
    #[error("the request is not valid")]
    Invalid(Vec<Problem>),
    /// The request does not fit the present state.
    #[error("the present state does not allow it")]
    Conflict(Vec<Problem>),
    /// The caller may not do this although the gate let the call through: not a candidate, for instance.
    #[error("not permitted")]
    Forbidden(Problem),
    /// E-mail address and password do not fit; nothing says which.
    #[error("the credentials do not fit")]
    Unauthenticated,
    /// The licence allows no more of it.
    #[error("the licence allows {licensed} {limit}, and there are {used}")]
    LimitReached {
        /// The limit's name in the licence: `users`, `organizations`.
        limit: &'static str,
        /// Highest number that the licence allows.
        licensed: u64,
        /// Present number.
        used: u64,
    },
    /// Too many failed attempts of one caller.
    #[error("too many failed attempts")]
    Throttled {
        /// Seconds after which the next may be tried.
        retry_after_seconds: u64,
    },
    /// An organisation had its share of what it may do in a second.
    #[error("{limit} of the organisation is {per_second}")]
    RateLimited {
        /// Name of the limit: its key of the configuration.
        limit: &'static str,
        /// The rate.
        per_second: u64,
        /// Seconds after which to come back.
        retry_after_seconds: u64,
    },
    /// Too many calls wait for the same bounded work.
    #[error("too many calls at once")]
    Busy,
    /// Too much of the organisation's work waits in a queue.
    #[error("the queue `{limit}` of the organisation is full")]
    QueueFull {
        /// Name of the queue.
        limit: &'static str,
    },
    /// A computation took longer than it may on this machine; it was given up, and nothing of it was kept.
    #[error("a step took longer than {seconds} s and was given up")]
    Abandoned {
        /// Seconds that it may take.
        seconds: u64,
    },
    /// A part that is needed is not there for the moment.
    #[error("a dependency is not available")]
    Unavailable(#[source] StoreError),
    /// A fault of ours.
    #[error("internal fault: {0}")]
    Internal(String),
}

impl UseCaseError {
    /// The error in words, with those of its problems: for operators, who see no answer with details.
    #[must_use]
    pub fn in_words(&self) -> String {
        let problems: &[Problem] = match self {
            Self::Invalid(problems) | Self::Conflict(problems) => problems,
            Self::Forbidden(problem) => std::slice::from_ref(problem),
            Self::NotFound
            | Self::Unauthenticated
            | Self::LimitReached { .. }
            | Self::Throttled { .. }
            | Self::RateLimited { .. }
            | Self::Busy
            | Self::QueueFull { .. }
            | Self::Abandoned { .. }
            | Self::Unavailable(_)
            | Self::Internal(_) => &[],
        };
        if problems.is_empty() {
            return self.to_string();
        }
        let texts = problems.iter().map(|problem| match &problem.field {
            Some(field) => format!("{field}: {}", problem.message),
            None => problem.message.clone(),
        });
        texts.collect::<Vec<_>>().join("; ")
    }

    /// One conflict.
    #[must_use]
    pub fn conflict(reason: &'static str, message: impl Into<String>) -> Self {
        Self::Conflict(vec![Problem::new(reason, message)])
    }

    /// The conflict that another thing has what a member gives.
    #[must_use]
    pub fn not_unique(field: &str, message: impl Into<String>) -> Self {
        Self::Conflict(vec![Problem::at(field, "notUnique", message)])
    }

    /// One wrong member.
    #[must_use]
    pub fn invalid(field: &str, reason: &'static str, message: impl Into<String>) -> Self {
        Self::Invalid(vec![Problem::at(field, reason, message)])
    }

    /// One refusal.
    #[must_use]
    pub fn forbidden(reason: &'static str, message: impl Into<String>) -> Self {
        Self::Forbidden(Problem::new(reason, message))
    }
}

impl From<StoreError> for UseCaseError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound => Self::NotFound,
            StoreError::Stale => {
                Self::conflict("revisionMismatch", "The resource was changed in the meantime.")
            }
            StoreError::LockOut => Self::conflict(
                "lockOut",
                "Nobody could undo it: an organisation keeps an owner who may change its members, roles, grants \
                 and licence, and whom no deny holds back that is not to everyone.",
            ),
            StoreError::Duplicate(what) => Self::Conflict(vec![match member_of(&what) {
                Some(field) => {
                    let message = format!("Another one has the same `{field}` already.");
                    Problem::at(field, "notUnique", message)
                }
                None => Problem::new("notUnique", "The same exists already."),
            }]),
            StoreError::InvalidCursor => {
                Self::invalid("cursor", "notAllowed", "The cursor is not one of this list.")
            }
            StoreError::QuotaExceeded { limit, most, used } => Self::Conflict(vec![
                Problem::new(
                    "quotaExceeded",
                    format!("The organisation may have {most} by the quota `{limit}`, and has {used}."),
                )
                .with("limit", limit)
                .with("most", most)
                .with("used", used),
            ]),
            StoreError::Unavailable(_) => Self::Unavailable(error),
        }
    }
}

/// The member of a request that must be unique: the last of the columns that a store names, in the words of the API. The
/// database's own names stay within.
fn member_of(columns: &str) -> Option<String> {
    let last = columns.rsplit(", ").next()?;
    let column = last.rsplit('.').next().filter(|name| !name.is_empty())?;
    if last == "idempotency_keys.key" {
        return Some("Idempotency-Key".to_owned());
    }
    let plain = column.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    // The name of a constraint or a table is the name of no member.
    if !plain
        || !(last.contains('.') || column.bytes().any(|byte| byte.is_ascii_uppercase()) || column == "slug")
    {
        return None;
    }
    let mut words = column.split('_');
    let first = words.next()?.to_owned();
    Some(words.fold(first, |name, word| {
        let mut letters = word.chars();
        let capital = letters.next().map(|letter| letter.to_ascii_uppercase());
        name + &capital.into_iter().chain(letters).collect::<String>()
    }))
}

/// Collected problems of one request, so that the caller is told of all at once.
#[derive(Debug, Default)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Adds a problem of a member.
    pub fn add(&mut self, field: &str, reason: &'static str, message: impl Into<String>) {
        self.push(Problem::at(field, reason, message));
    }

    /// Adds a problem.
    pub fn push(&mut self, problem: Problem) {
        self.0.push(problem);
    }

    /// Ends the collection.
    ///
    /// # Errors
    /// `Invalid` with all of them, when there is one.
    pub fn finish(self) -> Result<(), UseCaseError> {
        if self.0.is_empty() { Ok(()) } else { Err(UseCaseError::Invalid(self.0)) }
    }
}

impl Extend<Problem> for Problems {
    fn extend<I: IntoIterator<Item = Problem>>(&mut self, problems: I) {
        self.0.extend(problems);
    }
}

impl IntoIterator for Problems {
    type Item = Problem;
    type IntoIter = std::vec::IntoIter<Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_named_as_the_caller_knows_it() {
        let cases = [
            ("users.email", Some("email")),
            ("api_tokens.user_id, api_tokens.name", Some("name")),
            ("members.user_id", Some("userId")),
            ("idempotency_keys.key", Some("Idempotency-Key")),
            ("slug", Some("slug")),
            ("idempotencyKey", Some("idempotencyKey")),
            ("users", None),
            ("users_by_search_key", None),
            ("", None),
        ];
        for (columns, field) in cases {
            let UseCaseError::Conflict(problems) = StoreError::Duplicate(columns.to_owned()).into() else {
                panic!("{columns} is no conflict");
            };
            let [problem] = &problems[..] else { panic!("{problems:?}") };
            assert_eq!(problem.field.as_deref(), field, "{columns}");
            let told = field.is_none_or(|field| problem.message.contains(&format!("`{field}`")));
            assert!(told && problem.extra.is_empty(), "{problem:?}");
        }
    }
}
