//! Questions about rights: whether somebody may do something, and all that they may. Nothing is looked up but the rights:
//! the answer tells nothing of what there is.

use std::collections::HashMap;

use heddle_kernel::{Cursor, TenantId, UserId};
use heddle_policy::capability::AccessView;
use heddle_policy::licence::Entitlement;
use heddle_policy::resource::Authorization;
use heddle_policy::{
    AuthorizedKind, Capability, Decision, DeniedPlace, Explained, ListedAction, ListingPlace, Ownership,
    Permission, Question, Reason, RequestContext, ResourceType, RuleId, SessionKind, Snapshot, Target,
};
use heddle_usecase::{Problem, Problems};
use serde_json::json;

use crate::records::{User, UserKind};
use crate::{Identity, UseCaseError, access};

/// The word for users among subjects: people and service accounts.
const USER: &str = "user";
/// The word for service accounts alone.
const SERVICE: &str = "service-account";
/// The most places that an answer tells of.
const MOST_TOLD: usize = 100;
/// The word for all of a type.
const ALL: &str = "*";

/// Somebody whose rights are asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Subject {
    /// Kind of account, in the caller's word.
    pub kind: String,
    /// Id of the account, in the caller's words.
    pub id: String,
}

/// A thing within which others stand, in the caller's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedPlace {
    /// The type.
    pub kind: String,
    /// The id.
    pub id: String,
}

/// A thing, or all of a type, in the caller's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedThing {
    /// The type.
    pub kind: String,
    /// The id; all of the type when it is none or `*`.
    pub id: Option<String>,
    /// Things within which it stands.
    pub within: Vec<AskedPlace>,
}

/// A question about rights, in the caller's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessQuestion {
    /// Place of its members in the request: empty, or such as `evaluations[3].`.
    pub place: String,
    /// Somebody else than the caller.
    pub subject: Option<Subject>,
    /// Permissions of which one is needed; none are when it is empty.
    pub permissions: Vec<String>,
    /// The action.
    pub action: String,
    /// The thing.
    pub thing: AskedThing,
}

/// Order in which questions are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Semantic {
    /// All are.
    #[default]
    All,
    /// None behind the first denial.
    UntilDenied,
    /// None behind the first permission.
    UntilPermitted,
}

impl Semantic {
    const fn ends_with(self, allowed: bool) -> bool {
        match self {
            Self::All => false,
            Self::UntilDenied => !allowed,
            Self::UntilPermitted => allowed,
        }
    }
}

/// Questions about rights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessQuestions {
    /// The questions.
    pub all: Vec<AccessQuestion>,
    /// Order in which they are answered.
    pub semantic: Semantic,
    /// Whether every step of each decision is wanted.
    pub explain: bool,
}

/// Answer to a question about rights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessAnswer {
    /// The decision.
    pub decision: Decision,
    /// Things within which it is denied, where the question does not say within what the thing stands: about one thing the
    /// answer is a denial then, which holds nowhere else, and about all of a type it is allowed nevertheless.
    pub unless_within: Vec<DeniedPlace>,
    /// Ownership of the thing with which it would be allowed that is denied, for nobody looked whose it is.
    pub granted_if: Option<Ownership>,
    /// Every step, when they were asked for.
    pub steps: Option<Vec<Explained>>,
    /// State of the organisation's rights that was looked at.
    pub revision: i64,
}

/// A question about all rights, in the caller's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RightsQuestion {
    /// Somebody else than the caller.
    pub subject: Option<Subject>,
    /// Types of things; all when it is none.
    pub types: Option<Vec<String>>,
    /// One thing, instead of types.
    pub thing: Option<AskedThing>,
    /// The most ids of a page.
    pub most: usize,
    /// Cursor from which the page goes on.
    pub cursor: Option<Cursor>,
}

/// A page of all rights.
#[derive(Debug, Clone)]
pub struct Rights {
    /// Somebody whose rights they are.
    pub subject: Subject,
    /// All that they have.
    pub snapshot: Snapshot,
    /// State of the organisation's rights that was looked at.
    pub revision: i64,
    /// Actions on things.
    pub actions: Vec<ListedAction>,
    /// Cursor of the next page; none at the end.
    pub next: Option<Cursor>,
    /// Parts of the service, and whether the licence includes them.
    pub entitlements: Vec<Included>,
}

/// A part of the service, and whether the licence includes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Included {
    /// The part.
    pub entitlement: Entitlement,
    /// Whether it is included.
    pub included: bool,
}

impl Identity {
    /// Answers to questions about rights, in their order. About themselves every member may ask who came past the gate;
    /// about others whoever has `authorization.inspect`, and who is nobody in the organisation has no rights there.
    ///
    /// # Errors
    /// `Invalid` with every word that can be none; `Forbidden` for a question about somebody else; `Unavailable`.
    pub async fn check_access<C: Capability<On = Authorization>>(
        &self,
        _: &AuthorizedKind<C>,
        context: &RequestContext,
        questions: &AccessQuestions,
    ) -> Result<Vec<AccessAnswer>, UseCaseError> {
        for question in &questions.all {
            may_ask(context, question.subject.as_ref(), &question.place)?;
        }
        let mut problems = Problems::default();
        let read: Vec<ReadQuestion<'_>> =
            questions.all.iter().map(|question| ReadQuestion::of(question, &mut problems)).collect();
        problems.finish()?;
        let (mut known, mut answers) = (HashMap::new(), Vec::with_capacity(read.len()));
        for one in read {
            let snapshot = self.rights_of_subject(context, one.asked.subject.as_ref(), &mut known).await?;
            let answer = one.answer(&snapshot, questions.explain);
            let allowed = answer.decision.allowed();
            answers.push(answer);
            if questions.semantic.ends_with(allowed) {
                break;
            }
        }
        Ok(answers)
    }

    /// A page of all rights of somebody. For every type, action and thing it says the same as a question without
    /// permissions does.
    ///
    /// # Errors
    /// As [`Self::check_access`].
    pub async fn effective_access(
        &self,
        _: &AuthorizedKind<AccessView>,
        context: &RequestContext,
        question: &RightsQuestion,
    ) -> Result<Rights, UseCaseError> {
        may_ask(context, question.subject.as_ref(), "")?;
        let reach = ReadReach::of(question)?;
        let subject = question.subject.clone();
        let own_kind = if is_service(context) { SERVICE } else { USER };
        let subject = subject
            .unwrap_or_else(|| Subject { kind: own_kind.to_owned(), id: context.user_id().to_string() });
        let snapshot =
            self.rights_of_subject(context, question.subject.as_ref(), &mut HashMap::new()).await?;
        let (actions, next) = match reach {
            ReadReach::One { kind, target } => (snapshot.listing_of_one(kind, &target), None),
            ReadReach::Kinds { kinds, from } => {
                let listing = snapshot.listing(&kinds, question.most, from.as_ref());
                let listing = listing.or(Err(no_cursor()))?;
                (listing.actions, listing.next.as_ref().map(Cursor::after))
            }
        };
        let licence = self.licence_state();
        let included = |entitlement: &Entitlement| Included {
            entitlement: *entitlement,
            included: licence.allows(entitlement.as_str()),
        };
        let entitlements = Entitlement::ALL.iter().map(included).collect();
        let revision = snapshot.revision();
        Ok(Rights { subject, snapshot, revision, actions, next, entitlements })
    }

    /// Present rights of a user in an organisation, for work in the background in their name; none for who is nobody there.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn present_rights(
        &self,
        tenant: TenantId,
        user: UserId,
    ) -> Result<Option<Snapshot>, UseCaseError> {
        let found = self.ports.access.standing(tenant, user).await?;
        let now = self.tools.clock.now();
        Ok(found.map(|(user, standing)| access::rights_of(&user, tenant, &standing, now)))
    }

    /// Rights of the caller, or of somebody else in the caller's organisation; those of who is nobody there are none. What
    /// was read for one question counts for the others of the same call.
    async fn rights_of_subject(
        &self,
        context: &RequestContext,
        subject: Option<&Subject>,
        known: &mut HashMap<Subject, Snapshot>,
    ) -> Result<Snapshot, UseCaseError> {
        let Some(subject) = subject.filter(|subject| !is_caller(context, subject)) else {
            return Ok(context.snapshot().clone());
        };
        let nobody = |id: UserId| access::rights_of_nobody(context, id);
        let Ok(id) = subject.id.parse::<UserId>() else { return Ok(nobody(context.user_id())) };
        // The same id is somebody as one kind of account and nobody as another.
        if let Some(known) = known.get(subject) {
            return Ok(known.clone());
        }
        let found = self.ports.access.standing(context.tenant(), id).await?;
        let snapshot = match found.filter(|(user, _)| is_of_kind(user, &subject.kind)) {
            Some((user, standing)) => access::rights_of(&user, context.tenant(), &standing, context.now()),
            None => nobody(id),
        };
        known.insert(subject.clone(), snapshot.clone());
        Ok(snapshot)
    }
}

/// Whether a subject is the caller.
fn is_caller(context: &RequestContext, subject: &Subject) -> bool {
    let is_meant = subject.kind == USER || (subject.kind == SERVICE && is_service(context));
    is_meant && subject.id.parse::<UserId>().is_ok_and(|id| id == context.user_id())
}

/// Whether the caller is known to be a service account; on the command line of the machine nobody is.
const fn is_service(context: &RequestContext) -> bool {
    match context.principal().session {
        SessionKind::ServiceToken(_) => true,
        SessionKind::Session(_) | SessionKind::ApiToken(_) | SessionKind::CommandLine(_) => false,
    }
}

/// Whether an account is of a kind of subject: every account is a user's, and grants name it so.
fn is_of_kind(user: &User, kind: &str) -> bool {
    kind == USER || (kind == SERVICE && user.kind == UserKind::Service)
}

/// Checks that the caller may ask about a subject.
fn may_ask(context: &RequestContext, subject: Option<&Subject>, place: &str) -> Result<(), UseCaseError> {
    let own = subject.is_none_or(|subject| is_caller(context, subject));
    if own || context.holds(Permission::AuthorizationInspect) {
        return Ok(());
    }
    let message = "Who asks about the rights of somebody else needs the permission `authorization.inspect`.";
    let problem = Problem::at(format!("{place}subject"), "denied", message);
    Err(UseCaseError::Forbidden(
        problem.with("permissions", json!([Permission::AuthorizationInspect.as_str()])),
    ))
}

fn no_cursor() -> UseCaseError {
    UseCaseError::invalid("cursor", "notAllowed", "The cursor is not one of this list.")
}

/// A question with its words read.
struct ReadQuestion<'a> {
    asked: &'a AccessQuestion,
    permissions: Vec<Permission>,
    target: Target,
}

impl<'a> ReadQuestion<'a> {
    fn of(asked: &'a AccessQuestion, problems: &mut Problems) -> Self {
        let mut permissions = Vec::with_capacity(asked.permissions.len());
        for (at, name) in asked.permissions.iter().enumerate() {
            match Permission::parse(name) {
                Some(permission) => permissions.push(permission),
                None => {
                    let field = format!("{}permissions[{at}]", asked.place);
                    problems.add(&field, "notAllowed", "There is no such permission.");
                }
            }
        }
        let target = target(&asked.thing, &format!("{}resource", asked.place), problems);
        Self { asked, permissions, target }
    }

    /// The answer of these rights; its revision is theirs.
    fn answer(&self, snapshot: &Snapshot, explain: bool) -> AccessAnswer {
        let question = Question {
            permissions: &self.permissions,
            resource: &self.asked.thing.kind,
            action: &self.asked.action,
            lists: false,
            target: &self.target,
        };
        let decision = snapshot.decide(&question);
        let mut unless_within = snapshot.granted_unless(&question);
        unless_within.truncate(MOST_TOLD);
        let granted_if = snapshot.granted_if(&question);
        let steps = explain.then(|| snapshot.explain(&question));
        AccessAnswer { decision, unless_within, granted_if, steps, revision: snapshot.revision() }
    }
}

/// Things about which all rights are asked for.
enum ReadReach {
    One { kind: ResourceType, target: Target },
    Kinds { kinds: Vec<ResourceType>, from: Option<ListingPlace> },
}

impl ReadReach {
    fn of(question: &RightsQuestion) -> Result<Self, UseCaseError> {
        let mut problems = Problems::default();
        if let Some(thing) = &question.thing {
            let alone = "It is told on one page, and instead of types.";
            if question.types.is_some() {
                problems.add("resourceTypes", "contradiction", alone);
            }
            if question.cursor.is_some() {
                problems.add("cursor", "contradiction", alone);
            }
            let target = target(thing, "resource", &mut problems);
            if target.id.is_none() && ResourceType::parse(&thing.kind).is_some() {
                let message = "The id of one thing is needed; for all of a type name it in `resourceTypes`.";
                problems.add("resource.id", "required", message);
            }
            let kind = read_type(&thing.kind, "resource.type", &mut problems);
            problems.finish()?;
            return match kind {
                Some(kind) => Ok(Self::One { kind, target }),
                None => Err(UseCaseError::Internal("a type was neither read nor refused".to_owned())),
            };
        }
        let kinds = match &question.types {
            None => ResourceType::ALL.to_vec(),
            Some(names) => {
                let read = names.iter().enumerate();
                read.filter_map(|(at, name)| read_type(name, &format!("resourceTypes[{at}]"), &mut problems))
                    .collect()
            }
        };
        problems.finish()?;
        let from = question.cursor.as_ref().map(Cursor::key::<ListingPlace>).transpose();
        Ok(Self::Kinds { kinds, from: from.or(Err(no_cursor()))? })
    }
}

fn read_type(name: &str, field: &str, problems: &mut Problems) -> Option<ResourceType> {
    let kind = ResourceType::parse(name);
    if kind.is_none() {
        let problem = Problem::at(field, "unknownResourceType", "There is no such type.");
        problems.push(problem.with("decision", Reason::UnknownResourceType.code()));
    }
    kind
}

/// Target that a caller's words name. Of a type that nobody registered nothing can be named, which the decision says.
fn target(thing: &AskedThing, field: &str, problems: &mut Problems) -> Target {
    let Some(kind) = ResourceType::parse(&thing.kind) else { return Target::all() };
    let mut target = Target::all();
    if let Some(text) = thing.id.as_deref().filter(|id| *id != ALL) {
        target.id = RuleId::read(kind, text);
        if target.id.is_none() {
            let message = "This is no id of the type, in its own spelling, nor `*`.";
            problems.add(&format!("{field}.id"), "wrongType", message);
        }
    }
    for (at, place) in thing.within.iter().enumerate() {
        let field = format!("{field}.within[{at}]");
        let above = ResourceType::parse(&place.kind).filter(|above| kind.places().any(|one| one == *above));
        let Some(above) = above else {
            let message = format!("Nothing of the type `{kind}` stands within things of this type.");
            problems.add(&format!("{field}.type"), "notAllowed", message);
            continue;
        };
        if target.parents.iter().flatten().any(|(known, _)| *known == above) {
            problems.add(&format!("{field}.type"), "notUnique", "One thing stands within one of a type.");
            continue;
        }
        let is_of_it = |known: ResourceType| known.definition_kind() == above.definition_kind();
        if !target.parents.iter().flatten().all(|(known, _)| is_of_it(*known)) {
            let message = "What belongs to a run belongs to no case, and the other way round.";
            problems.add(&format!("{field}.type"), "notAllowed", message);
            continue;
        }
        match RuleId::read(above, &place.id) {
            Some(id) => target = target.within(above, id),
            None => {
                let message = "This is no id of the type, in its own spelling.";
                problems.add(&format!("{field}.id"), "wrongType", message);
            }
        }
    }
    target
}
