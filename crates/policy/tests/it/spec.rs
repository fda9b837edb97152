//! The specification: sets of rules, and what follows from them, by plain quantification.

use heddle_kernel::{TenantId, Timestamp, UserId};
use heddle_policy::{Effect, Facts, GrantFacts, OWN, Ownership, Question, Reason, RuleId, Source, Target};
use uuid::Uuid;

pub(crate) const NOW: Timestamp = Timestamp::from_micros(1_000_000);

pub(crate) const R1: &str = "00000000-0000-7000-8000-0000000000a1";
pub(crate) const W1: &str = "00000000-0000-7000-8000-0000000000b1";
pub(crate) const W2: &str = "00000000-0000-7000-8000-0000000000b2";
/// An id that no rule names.
pub(crate) const NOBODY: &str = "00000000-0000-7000-8000-0000000000ff";
/// An id in another spelling than its own: no rule is about it, and a deny of it denies all of its kind.
pub(crate) const MISSPELT: &str = "00000000-0000-7000-8000-0000000000A1";

/// An id as rules name it.
pub(crate) fn rule_id(text: &str) -> RuleId {
    RuleId::read_any(text).unwrap()
}

pub(crate) fn facts() -> Facts {
    Facts::member(UserId(Uuid::from_u128(1)), TenantId(Uuid::from_u128(2)))
}

pub(crate) fn grant(
    source: Source,
    (resource, action, selector): (&str, &str, &str),
    effect: Effect,
) -> GrantFacts {
    GrantFacts {
        id: format!("{resource}/{action}/{selector}"),
        source,
        resource: resource.to_owned(),
        action: action.to_owned(),
        selector: selector.to_owned(),
        effect,
        expires_at: None,
    }
}

struct Rule {
    resource: String,
    action: String,
    selector: String,
    effect: Effect,
}

fn rules(facts: &Facts) -> Vec<Rule> {
    let of_roles = facts.roles.iter().flat_map(|role| &role.rules.resources).flat_map(|rule| {
        rule.actions.iter().map(|action| Rule {
            resource: rule.resource.clone(),
            action: action.clone(),
            selector: rule.selector.clone(),
            effect: rule.effect,
        })
    });
    let living = facts.grants.iter().filter(|grant| grant.expires_at.is_none_or(|end| end > NOW));
    let of_grants = living.map(|grant| Rule {
        resource: grant.resource.clone(),
        action: grant.action.clone(),
        selector: grant.selector.clone(),
        effect: grant.effect,
    });
    of_roles.chain(of_grants).collect()
}

/// Types within whose things one of a type stands: in those of one line or, where there are two, in those of the other.
fn lines(resource: &str) -> &'static [&'static [&'static str]] {
    match resource {
        "run" => &[&["workflow"]],
        "dead-letter" | "job" => &[&["run", "workflow"], &["case", "case-type"]],
        "case" => &[&["case-type"]],
        "document" | "ingestion-job" => &[&["vector-database"]],
        _ => &[],
    }
}

fn is_named(target: &Target, kind: &str) -> bool {
    target.parents.iter().flatten().any(|(known, _)| known.as_str() == kind)
}

/// Lines in which a thing may stand: where some of one are named, those alone.
fn lines_of(resource: &str, target: &Target) -> Vec<&'static [&'static str]> {
    let is_of = |line: &&&'static [&'static str]| line.iter().any(|kind| is_named(target, kind));
    let named: Vec<_> = lines(resource).iter().filter(is_of).copied().collect();
    if named.is_empty() { lines(resource).to_vec() } else { named }
}

/// Whether the rule's selector is no id of its kind; only vector databases have names, and only runs are one's own.
fn is_unreadable(rule: &Rule) -> bool {
    (rule.selector == MISSPELT && rule.resource != "vector-database")
        || (rule.selector == OWN && rule.resource != "run")
}

fn is_of_own(rule: &Rule) -> bool {
    rule.selector == OWN && rule.resource == "run"
}

fn is_about(rule: &Rule, effect: Effect, resource: &str, actions: &[&str]) -> bool {
    rule.effect == effect
        && (rule.resource == "*" || rule.resource == resource)
        && (rule.action == "*" || actions.contains(&rule.action.as_str()))
}

fn holds(facts: &Facts, permission: &str) -> bool {
    let given = facts.roles.iter().any(|role| role.rules.permissions.contains(permission));
    let narrowed = facts.narrow_to.as_ref().is_none_or(|kept| kept.iter().any(|name| name == permission));
    given && narrowed && !is_denied(facts, permission)
}

fn is_denied(facts: &Facts, permission: &str) -> bool {
    facts.roles.iter().any(|role| role.rules.denied_permissions.iter().any(|name| name == permission))
}

/// What the answer to a question is.
pub(crate) fn answer(facts: &Facts, question: &Question<'_>) -> Reason {
    if !facts.active {
        return Reason::PrincipalInactive;
    }
    if !facts.member || facts.member_until.is_some_and(|end| end <= NOW) {
        return Reason::NotAMember;
    }
    let action = if question.lists { "list" } else { question.action };
    if denied(facts, question.resource, action, question.target) {
        return Reason::ExplicitDeny;
    }
    if !question.permissions.is_empty()
        && !question.permissions.iter().any(|name| holds(facts, name.as_str()))
    {
        let taken = question.permissions.iter().any(|name| is_denied(facts, name.as_str()));
        return if taken { Reason::ExplicitDeny } else { Reason::PermissionMissing };
    }
    if allowed(facts, question.resource, action, question.target) {
        Reason::Granted
    } else {
        Reason::ResourceActionNotGranted
    }
}

fn deny_actions(action: &str) -> Vec<&str> {
    if action == "list" { vec!["list", "read"] } else { vec![action] }
}

fn allow_actions<'a>(resource: &str, action: &'a str) -> Vec<&'a str> {
    let without_read =
        ["audit-event", "dead-letter", "document", "member", "model", "model-provider", "vector-database"];
    match action {
        "list" if without_read.contains(&resource) => vec!["list", "read"],
        "list" => vec!["read"],
        other => vec![other],
    }
}

fn denied(facts: &Facts, resource: &str, action: &str, target: &Target) -> bool {
    let actions = deny_actions(action);
    let hits = |rule: &Rule, kind: &str, id: Option<&RuleId>| {
        is_about(rule, Effect::Deny, kind, &actions)
            && (rule.selector == "*"
                || is_unreadable(rule)
                || id.is_some_and(|id| id.to_string() == rule.selector))
    };
    let rules = rules(facts);
    let lines = lines_of(resource, target);
    // Where nobody said within which thing of a kind a thing stands, a deny of any of them may be about it.
    let is_open = |kind: &str| target.id.is_some() && !is_named(target, kind);
    // Of all that stands within things of a kind it does not count whose those are.
    let is_whole = |line: &[&str]| {
        rules.iter().any(|rule| {
            let of_own = is_of_own(rule) && is_about(rule, Effect::Deny, "run", &actions);
            line.iter().any(|kind| hits(rule, kind, None) || (*kind == "run" && of_own))
        })
    };
    let is_somewhere = target.id.is_some() || target.parents.iter().any(Option::is_some);
    let by_place = match is_somewhere {
        true => lines.iter().any(|line| is_whole(line)),
        false => !lines.is_empty() && lines.iter().all(|line| is_whole(line)),
    };
    by_place
        || rules.iter().any(|rule| {
            hits(rule, resource, target.id.as_ref())
                || (lines.iter().copied().flatten())
                    .any(|kind| is_open(kind) && is_about(rule, Effect::Deny, kind, &actions))
                || (is_of_own(rule)
                    && is_about(rule, Effect::Deny, resource, &actions)
                    && target.id.is_some()
                    && target.ownership != Ownership::Other)
                || target.parents.iter().flatten().any(|(kind, id)| hits(rule, kind.as_str(), Some(id)))
        })
}

fn allowed(facts: &Facts, resource: &str, action: &str, target: &Target) -> bool {
    let actions = allow_actions(resource, action);
    let rules = rules(facts);
    let given = |id: Option<&RuleId>, ownership: Ownership| {
        rules.iter().any(|rule| {
            is_about(rule, Effect::Allow, resource, &actions)
                && !is_unreadable(rule)
                && (rule.selector == "*"
                    || (is_of_own(rule) && ownership == Ownership::Own)
                    || (!is_of_own(rule) && id.is_some_and(|id| id.to_string() == rule.selector)))
        })
    };
    match &target.id {
        Some(id) => given(Some(id), target.ownership),
        // Of a list something must be left: any id that a rule names, or one that none names.
        None if action == "list" => {
            let nowhere: &[&[&str]] = &[&[]];
            let somewhere = if lines(resource).is_empty() { nowhere } else { lines(resource) };
            let elsewhere = |line: &[&str], id: &RuleId| {
                line.iter().fold(Target::one(id.clone()), |target, kind| {
                    target.within(heddle_policy::ResourceType::parse(kind).unwrap(), rule_id(NOBODY))
                })
            };
            let readable = rules.iter().filter(|rule| !is_unreadable(rule));
            let named = readable.map(|rule| rule.selector.as_str()).chain([NOBODY]);
            named
                .filter(|id| *id != "*" && *id != OWN)
                .filter_map(|id| RuleId::read(heddle_policy::ResourceType::VectorDatabase, id))
                .flat_map(|id| [Ownership::Own, Ownership::Other].map(|whose| (id.clone(), whose)))
                .any(|(id, whose)| {
                    let is_left =
                        |line: &&[&str]| !denied(facts, resource, action, &elsewhere(line, &id).owned(whose));
                    given(Some(&id), whose) && somewhere.iter().any(is_left)
                })
        }
        None => given(None, Ownership::Unknown),
    }
}
