//! The rows against the rules of the API that hold over all of them.

use std::collections::BTreeSet;

use heddle_api::contract::MediaType;
use heddle_api::operations::{
    Area, BodyMedia, COMPLETION_LIMIT, CREDENTIALS_LIMIT, DEFINITION_LIMIT, Document, INFERENCE_LIMIT,
    JSON_LIMIT, Method, OperationId, OutputKind, Security, TRANSPORT_STATUSES, source_digest,
};

use crate::support::{BODIES, body_schema};

fn ids(which: impl Fn(OperationId) -> bool) -> BTreeSet<OperationId> {
    OperationId::ALL.iter().copied().filter(|id| which(*id)).collect()
}

#[test]
fn a_row_is_found_by_its_operation_id_alone() {
    for id in OperationId::ALL {
        assert_eq!(OperationId::find(id.spec().operation_id), Some(*id));
        assert_eq!(id.spec().id, *id);
        assert!(id.spec().operation_id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id:?}");
    }
    for unknown in ["", "getapiworkflows", "GetWorkflow", "getapiWorkflows "] {
        assert_eq!(OperationId::find(unknown), None, "{unknown}");
    }
}

#[test]
fn no_two_paths_can_be_taken_for_each_other() {
    // With the names of parameters left out, a method and path stand once; and no literal part hides a parameter's.
    let shape = |path: &str| -> Vec<String> {
        path.split('/')
            .map(|part| if part.starts_with('{') { "{}".to_owned() } else { part.to_owned() })
            .collect()
    };
    let mut seen = BTreeSet::new();
    for id in OperationId::ALL {
        let spec = id.spec();
        assert!(
            spec.path.starts_with('/') && !spec.path.ends_with('/') && !spec.path.contains("//"),
            "{id:?}"
        );
        assert!(seen.insert((spec.method, shape(spec.path))), "{id:?}");
    }
}

#[test]
fn a_reading_row_changes_nothing_and_takes_no_body() {
    for id in ids(|id| id.spec().method == Method::Get) {
        let spec = id.spec();
        assert_eq!((spec.body, spec.if_match), (BodyMedia::None, false), "{id:?}");
        // A browser that a provider sends back can only read: that opens the session.
        let opens = id == OperationId::FinishOidcSignIn;
        assert_eq!((spec.audit_event.is_some(), spec.idempotent), (opens, !opens), "{id:?}");
        let leads_on = opens || id == OperationId::StartOidcSignIn;
        assert_eq!(spec.success, if leads_on { [302] } else { [200] }, "{id:?}");
        assert!(!spec.errors.contains(&409) || spec.path.contains("/export/"), "{id:?}");
    }
}

#[test]
fn a_changing_row_is_audited_unless_it_only_looks() {
    let silent = ids(|id| id.spec().method != Method::Get && id.spec().audit_event.is_none());
    let only_look = [
        OperationId::PreviewTransform,
        OperationId::ValidateWorkflow,
        OperationId::PreviewCaseTypeImport,
        OperationId::ValidateCaseType,
        OperationId::ValidateLicence,
        OperationId::EvaluateDecision,
        OperationId::AdvanceTestClock,
        OperationId::CheckAccess,
        OperationId::GetEffectiveAccess,
        OperationId::EvaluateAccess,
        OperationId::EvaluateAccesses,
        OperationId::QueryVectorDatabase,
        OperationId::CountMessageTokens,
    ];
    // What workers do is in the histories of the runs.
    let of_workers = ids(|id| {
        let path = id.spec().path;
        ["/api/jobs/", "/engine-rest/external-task/", "/v2/jobs/"].iter().any(|begin| path.starts_with(begin))
    });
    let expected: BTreeSet<_> = only_look.into_iter().chain(of_workers).collect();
    assert_eq!(silent, expected);
    let mut events = BTreeSet::new();
    for id in ids(|id| id.spec().audit_event.is_some()) {
        let event = id.spec().audit_event.unwrap();
        let (thing, done) = event.split_once('.').unwrap();
        let word = |text: &str| {
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        };
        assert!(word(thing) && word(done), "{event}");
        // Opening a session is one event, by whichever row, and so is ending one, and an event from outside.
        let twice = ["session.created", "session.ended", "case.event_received"].contains(&event)
            || id.spec().document == Document::Compatibility;
        assert!(events.insert(event) || twice, "{event} stands twice");
    }
}

#[test]
fn a_key_of_idempotency_is_read_where_a_repeat_would_do_it_again() {
    let expected = [
        OperationId::SubmitCaseEvent,
        OperationId::CreateWorkflow,
        OperationId::PublishWorkflow,
        OperationId::StartRun,
        OperationId::DecideRun,
        OperationId::CompleteHumanTask,
        OperationId::CompleteTaskById,
        OperationId::CreateOrganization,
        OperationId::CreateUser,
        OperationId::CreateGroup,
        OperationId::CreateRole,
        OperationId::CreateGrant,
        OperationId::RetryDeadLetter,
        OperationId::AssignHumanTask,
        OperationId::SendSignal,
        OperationId::CreateCaseType,
        OperationId::ImportCaseType,
        OperationId::PublishCaseType,
        OperationId::StartCase,
        OperationId::ChangePlanItem,
        OperationId::ChangeCase,
        OperationId::CreateHook,
        OperationId::CreateConnection,
        OperationId::TestConnection,
        OperationId::CreateVectorDatabase,
        OperationId::UploadVectorFiles,
        OperationId::CreateModelConnection,
        OperationId::TestModelConnection,
        OperationId::DiscoverModels,
        OperationId::ImportModels,
        OperationId::CreateDeployment,
        OperationId::SyncLocalDeployments,
        OperationId::RefreshDeploymentRevision,
        OperationId::Chat,
        OperationId::CreateEmbeddings,
        OperationId::CreateChatCompletion,
        OperationId::CreateOpenAiEmbeddings,
        OperationId::CreateMessage,
        OperationId::CreateWebhook,
        OperationId::TestWebhook,
        OperationId::CreateApiToken,
        OperationId::EnrolTotp,
        OperationId::StartTrial,
        OperationId::CreateProcessInstance,
        OperationId::PublishMessage,
        OperationId::CorrelateMessage,
    ];
    assert_eq!(ids(|id| id.spec().accepts_idempotency_key()), expected.into_iter().collect());
    for anybody in [OperationId::SignIn, OperationId::SetUpInstallation] {
        assert!(!anybody.spec().accepts_idempotency_key(), "a key belongs to its caller: {anybody:?}");
    }
    assert_eq!(
        ids(|id| id.spec().answers_with_secret()),
        [OperationId::CreateApiToken, OperationId::CreateHook, OperationId::EnrolTotp].into_iter().collect()
    );
}

#[test]
fn a_revision_can_be_told_in_the_header_wherever_the_body_takes_one() {
    for (id, _) in BODIES {
        let in_body = body_schema(id.spec())["properties"].get("revision").is_some();
        assert!(!in_body || id.spec().if_match, "{id:?} takes `revision` and not `If-Match`");
        assert!(!in_body || id.spec().errors.contains(&409), "{id:?}");
    }
    // The jobs of Camunda 8 have no revision.
    let revised = |id: OperationId| id.spec().method == Method::Patch && id != OperationId::UpdateCamundaJob;
    for id in ids(revised) {
        assert!(id.spec().if_match, "{id:?}");
    }
    // What has no revision: a star, a grant, a session, a token, a second factor, work that was set aside.
    let without = [
        OperationId::UnstarWorkflow,
        OperationId::EndSession,
        OperationId::DeleteApiToken,
        OperationId::RemoveTotp,
        OperationId::DeleteGrant,
        OperationId::DropDeadLetter,
        OperationId::CancelIngestionJob,
    ];
    let deletes = ids(|id| id.spec().method == Method::Delete && !id.spec().if_match);
    assert_eq!(deletes, without.into_iter().collect());
}

#[test]
fn bodies_with_a_definition_may_be_large_and_those_of_strangers_are_small() {
    assert_eq!((CREDENTIALS_LIMIT, JSON_LIMIT, DEFINITION_LIMIT), (8192, 1024 * 1024, 16 * 1024 * 1024));
    let large = [
        OperationId::CreateWorkflow,
        OperationId::SaveDraft,
        OperationId::SaveDecisionLogic,
        OperationId::ValidateWorkflow,
        OperationId::PreviewTransform,
        OperationId::CreateCaseType,
        OperationId::ImportCaseType,
        OperationId::PreviewCaseTypeImport,
        OperationId::SaveCaseTypeDraft,
        OperationId::ValidateCaseType,
        // Files as JSON; as parts they are bounded by the policy of uploads.
        OperationId::UploadVectorFiles,
    ];
    assert_eq!(ids(|id| id.spec().body_limit == DEFINITION_LIMIT), large.into_iter().collect());
    let small = ids(|id| id.spec().body_limit == CREDENTIALS_LIMIT);
    // What calls at a hook knows its address, and the hook has a limit of its own.
    let takes_one = |id: OperationId| id.spec().body != BodyMedia::None && id != OperationId::ReceiveHook;
    let of_strangers = ids(|id| id.spec().security == Security::Public && takes_one(id));
    assert!(of_strangers.is_subset(&small), "{of_strangers:?}");
    assert!(small.contains(&OperationId::ChangePassword));
    // Questions with images, and texts to embed.
    let of_models = ids(|id| id.spec().body_limit == INFERENCE_LIMIT);
    assert!(of_models.iter().all(|id| id.infers()) && of_models.len() == 6, "{of_models:?}");
    let limits = [CREDENTIALS_LIMIT, JSON_LIMIT, COMPLETION_LIMIT, DEFINITION_LIMIT, INFERENCE_LIMIT];
    assert!(OperationId::ALL.iter().all(|id| limits.contains(&id.spec().body_limit)));
}

#[test]
fn statuses_follow_from_what_a_row_does() {
    for id in OperationId::ALL {
        let spec = id.spec();
        assert_eq!(spec.success_status(), spec.success[0], "{id:?}");
        assert!(spec.success.iter().all(|status| [200, 201, 202, 204, 302].contains(status)), "{id:?}");
        assert!(spec.errors.is_sorted() && spec.errors.contains(&500), "{id:?}");
        assert!(spec.errors.iter().all(|status| !TRANSPORT_STATUSES[..2].contains(status)), "{id:?}");
        assert!(spec.method != Method::Delete || spec.success == [204], "{id:?}");
        assert!(
            spec.body == BodyMedia::None || spec.errors.contains(&400),
            "{id:?} takes a body and tells no 400"
        );
        let permissions = matches!(spec.security, Security::Permissions(_));
        assert_eq!(permissions, !spec.permissions().is_empty(), "{id:?}");
        assert!(!permissions || (spec.errors.contains(&401) && spec.errors.contains(&403)), "{id:?}");
        assert!(!permissions || spec.resource_action.is_some(), "{id:?} has a permission and no resource");
        assert!(
            spec.path.contains("/openapi")
                || spec.path == "/docs"
                || spec.path.contains("/test/")
                || spec.errors.contains(&503),
            "{id:?}"
        );
    }
}

#[test]
fn what_is_open_to_anybody_is_little_and_known() {
    let public = ids(|id| id.spec().security == Security::Public);
    let expected = [
        OperationId::GetHealth,
        OperationId::GetLiveness,
        OperationId::GetReadiness,
        OperationId::SetUpInstallation,
        OperationId::SignIn,
        OperationId::StartOidcSignIn,
        OperationId::FinishOidcSignIn,
        OperationId::GetContractDocument,
        OperationId::GetPlatformDocument,
        OperationId::GetDocs,
        OperationId::ReceiveHook,
        OperationId::GetAuthzenConfiguration,
    ];
    assert_eq!(public, expected.into_iter().collect());
    // A hook knows its organisation only once it is read: it is answered 503 then, so that its callers come again.
    for id in ids(|id| id.spec().remediation && id != OperationId::ReceiveHook) {
        let area = id.spec().area;
        let open = [Area::Health, Area::Authentication, Area::Licence, Area::Platform, Area::Authorization];
        assert!(open.contains(&area), "{id:?} is open while the licence is to be put right");
    }
}

#[test]
fn each_kind_of_body_takes_its_media_types() {
    let cases = [
        (BodyMedia::Json, "application/json", Some(MediaType::Json)),
        (BodyMedia::Json, "application/problem+json", Some(MediaType::Json)),
        (BodyMedia::Json, "application/jsonp", None),
        (BodyMedia::Json, "multipart/form-data", None),
        (BodyMedia::OptionalJson, "application/json;charset=UTF-8", Some(MediaType::Json)),
        (BodyMedia::OptionalJson, "text/xml", None),
        (BodyMedia::JsonOrXml, "APPLICATION/XML", Some(MediaType::Xml)),
        (BodyMedia::JsonOrXml, "application/json", Some(MediaType::Json)),
        (BodyMedia::JsonOrXml, "text/plain", None),
        (BodyMedia::JsonOrText, "text/plain; charset=utf-8", Some(MediaType::Text)),
        (BodyMedia::JsonOrText, "application/xml", None),
        (BodyMedia::JsonOrFiles, "multipart/form-data; boundary=b", Some(MediaType::Files)),
        (BodyMedia::JsonOrFiles, "text/plain", None),
    ];
    for (media, sent, expected) in cases {
        assert_eq!(media.accepts(Some(sent)), expected, "{media:?} {sent}");
    }
    let all = [
        BodyMedia::Json,
        BodyMedia::OptionalJson,
        BodyMedia::JsonOrXml,
        BodyMedia::JsonOrText,
        BodyMedia::JsonOrFiles,
    ];
    for media in all {
        for told in media.media_types() {
            assert!(media.accepts(Some(told)).is_some(), "{media:?} says that it takes {told}");
        }
    }
    assert!(BodyMedia::None.media_types().is_empty() && BodyMedia::OptionalJson.is_optional());
}

#[test]
fn the_digest_is_of_the_table_and_all_documents_say_it() {
    let digest = source_digest();
    assert_eq!((digest.len(), source_digest()), (64, digest.clone()));
    let documents = [
        heddle_api::openapi::contract_json(),
        heddle_api::openapi::platform_json(),
        heddle_api::openapi::compatibility_json(),
    ];
    for document in documents {
        assert_eq!(document["x-source-digest"], digest);
    }
    let of = |document: Document| ids(|id| id.spec().document == document).len();
    let all = of(Document::Contract) + of(Document::Platform) + of(Document::Compatibility);
    assert_eq!(all, OperationId::ALL.len());
    let lists = ids(|id| matches!(id.spec().output, OutputKind::List | OutputKind::ListOrLines));
    // A worker takes what it is given a list of.
    let takes = |id: &OperationId| *id == OperationId::ActivateJobs;
    assert!(lists.iter().all(|id| id.spec().method == Method::Get || takes(id)));
}
