//! What stands within a run or a case: the rules on either reach its jobs and its dead letters, and those alone.

use heddle_kernel::{CaseId, CaseTypeId, EventId, RunId, WorkflowId};
use heddle_policy::capability::{DeadLetterDelete, DeadLetterList, JobActivate, JobComplete, JobList};
use heddle_policy::resource::{Case, CaseType, DeadLetter, EitherPlace, Job, Run, Workflow};
use heddle_policy::{
    Effect, Facts, GrantFacts, Key, Question, Reason, ResourceType, RuleId, Snapshot, Source, Target, Within,
};
use uuid::Uuid;

use crate::spec::{NOW, facts, grant};

const RUN: Uuid = Uuid::from_u128(0xa1);
const WORKFLOW: Uuid = Uuid::from_u128(0xa2);
const CASE: Uuid = Uuid::from_u128(0xb1);
const CASE_TYPE: Uuid = Uuid::from_u128(0xb2);

fn ship() -> RuleId {
    RuleId::read(ResourceType::Job, "ship").unwrap()
}

fn job_of_run() -> Key<Job> {
    let place = EitherPlace::One(Within::at(RunId(RUN), Within::of(WorkflowId(WORKFLOW))));
    Key::of_stored(facts().tenant, ship(), place)
}

fn job_of_case() -> Key<Job> {
    let place = EitherPlace::Other(Within::at(CaseId(CASE), Within::of(CaseTypeId(CASE_TYPE))));
    Key::of_stored(facts().tenant, ship(), place)
}

fn letter_of_run() -> Key<DeadLetter> {
    let place = EitherPlace::One(Within::at(RunId(RUN), Within::of(WorkflowId(WORKFLOW))));
    Key::of_stored(facts().tenant, EventId(Uuid::from_u128(1)), place)
}

/// A letter of a case, or, with the nil id, of a case type alone.
fn letter_of_case(case: Uuid) -> Key<DeadLetter> {
    let place = EitherPlace::Other(Within::at(CaseId(case), Within::of(CaseTypeId(CASE_TYPE))));
    Key::of_stored(facts().tenant, EventId(Uuid::from_u128(1)), place)
}

fn denying(resource: &str, selector: &str) -> GrantFacts {
    grant(Source::Everyone, (resource, "*", selector), Effect::Deny)
}

fn without(denies: &[GrantFacts]) -> Snapshot {
    let owner = facts().with_system_role("owner");
    Snapshot::new(&denies.iter().cloned().fold(owner, Facts::with_grant), NOW)
}

/// Whether the jobs of a run and of a case, and the letters of a run and of a case, are reached: by the decision
/// on each, which the filter of a list must agree with.
fn reached(snapshot: &Snapshot) -> [bool; 4] {
    let list = snapshot.authorize_list::<JobList>().ok();
    let some = snapshot.authorize_some::<JobActivate>().ok();
    let job = |key: Key<Job>| {
        let decided = snapshot.authorize_key::<JobComplete>(key.clone()).is_ok();
        let listed = list.as_ref().is_some_and(|list| list.filter().permits(&key));
        let taken = some.as_ref().is_some_and(|some| some.permits(&key));
        assert_eq!((decided, decided), (listed, taken), "{key:?}");
        decided
    };
    let letters = snapshot.authorize_list::<DeadLetterList>().ok();
    let letter = |key: Key<DeadLetter>| {
        let decided = snapshot.authorize_key::<DeadLetterDelete>(key.clone()).is_ok();
        let listed = letters.as_ref().is_some_and(|list| list.filter().permits(&key));
        assert_eq!(decided, listed, "{key:?}");
        decided
    };
    [job(job_of_run()), job(job_of_case()), letter(letter_of_run()), letter(letter_of_case(CASE))]
}

#[test]
fn a_deny_on_a_case_or_its_type_reaches_its_jobs_and_letters_and_no_others() {
    let of = |resource: &str, id: &str| reached(&without(&[denying(resource, id)]));
    assert_eq!(reached(&without(&[])), [true; 4]);
    assert_eq!(of("case", &CASE.to_string()), [true, false, true, false]);
    assert_eq!(of("case-type", &CASE_TYPE.to_string()), [true, false, true, false]);
    assert_eq!(of("run", &RUN.to_string()), [false, true, false, true]);
    assert_eq!(of("workflow", &WORKFLOW.to_string()), [false, true, false, true]);
    // The id of a thing of one kind says nothing about those of the other.
    assert_eq!(of("run", &CASE.to_string()), [true; 4]);
    assert_eq!(of("case-type", &WORKFLOW.to_string()), [true; 4]);
    // A start that was refused is of no case yet.
    let refused = |resource: &str, id: Uuid| {
        let snapshot = without(&[denying(resource, &id.to_string())]);
        snapshot.authorize_key::<DeadLetterDelete>(letter_of_case(Uuid::nil())).is_err()
    };
    assert!(!refused("case", CASE) && refused("case-type", CASE_TYPE));
}

#[test]
fn a_deny_on_all_of_one_kind_leaves_what_belongs_to_the_other() {
    let of = |resource: &str| reached(&without(&[denying(resource, "*")]));
    assert_eq!(of("case"), [true, false, true, false]);
    assert_eq!(of("case-type"), [true, false, true, false]);
    assert_eq!(of("run"), [false, true, false, true]);
    assert_eq!(of("workflow"), [false, true, false, true]);
    let both = without(&[denying("workflow", "*"), denying("case-type", "*")]);
    assert!(both.authorize_list::<JobList>().is_err() && both.authorize_list::<DeadLetterList>().is_err());
    assert!(both.authorize_some::<JobActivate>().is_err());
    assert_eq!(reached(&both), [false; 4]);
}

#[test]
fn a_filter_says_of_which_kind_all_is_denied() {
    let snapshot = without(&[denying("case", "*"), denying("workflow", &WORKFLOW.to_string())]);
    let list = snapshot.authorize_list::<JobList>().unwrap();
    let filter = list.filter();
    assert!(filter.denies_all_within::<Case>() && !filter.denies_all_within::<CaseType>());
    assert!(!filter.denies_all_within::<Run>() && !filter.denies_all_within::<Workflow>());
    assert_eq!(filter.denied_within::<Workflow>(), [WorkflowId(WORKFLOW)]);
    assert!(filter.denied_within::<Case>().is_empty() && !filter.is_everything());
}

#[test]
fn where_nobody_said_of_what_a_job_is_it_is_denied_and_told_as_that() {
    let snapshot = without(&[denying("case", "*")]);
    let ask = |target: &Target| {
        let question =
            Question { permissions: &[], resource: "job", action: "complete", lists: false, target };
        let unless = snapshot.granted_unless(&question);
        let unless: Vec<String> = unless.iter().map(|one| format!("{} {}", one.resource, one.id)).collect();
        (snapshot.verdict(&question), unless)
    };
    let any = vec!["case *".to_owned()];
    assert_eq!(ask(&Target::one(ship())), (Reason::ExplicitDeny, any.clone()));
    assert_eq!(ask(&Target::all()), (Reason::Granted, any));
    let within = |kind, id| Target::one(ship()).within(kind, RuleId::Uuid(id));
    assert_eq!(ask(&within(ResourceType::Run, RUN)), (Reason::Granted, vec![]));
    assert_eq!(ask(&within(ResourceType::CaseType, CASE_TYPE)), (Reason::ExplicitDeny, vec![]));
}

#[test]
fn an_allow_names_the_jobs_of_a_case_by_the_case_or_its_type() {
    for id in [CASE, CASE_TYPE] {
        let allow = grant(Source::User, ("job", "complete", &id.to_string()), Effect::Allow);
        let role = facts().with_system_role("integrator");
        let rules = Facts { roles: Vec::new(), ..role.clone() };
        let permissions = role.roles[0].rules.permissions.clone();
        let rules = rules.with_role(
            "r",
            "r",
            heddle_policy::RoleRules { permissions, ..heddle_policy::RoleRules::default() },
        );
        let snapshot = Snapshot::new(&rules.with_grant(allow), NOW);
        assert!(snapshot.authorize_key::<JobComplete>(job_of_case()).is_ok(), "{id}");
        assert!(snapshot.authorize_key::<JobComplete>(job_of_run()).is_err(), "{id}");
    }
}
