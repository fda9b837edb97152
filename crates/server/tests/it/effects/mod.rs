//! Never accepted and ignored: for each parameter and each member of a body that the documents name there is a call in
//! which it changes the outcome. `pairs.txt` has the calls.
//!
//! A block begins with `@` and an operation's id (`@world` is carried out once, first). Its lines:
//! - `def NAME text`: `$NAME` stands for the text from here on;
//! - `let name pointer METHOD path body`: sends it until the answer has something there, for which `{name}` stands then;
//!   `let name =other` and `let name ="text"` give a name to what is known;
//! - `do METHOD path body`: sends it;
//! - `base body`: the body of the call that each line below differs from, or the query of one that reads;
//! - `query name | text | where`, `body name | text | where`, `form name | text | where`, `header name | text | where`: the
//!   call with the query, with these members in its body (`"<none>"` takes one out) or in its form, or with the header. The
//!   outcome differs from the base's `where`: `status`, `body`, `header:name`, a pointer into the answer, or `fewer` (some
//!   of the base's rows, and not all). Further parts: `base=body` another base; `name=other` another value of a path's
//!   parameter; `read=path` looks there instead of at the answer; `then=METHOD path body` sends that and looks at its
//!   answer; `until=pointer METHOD path` sends that until its answer has something there.
//!
//! `let` and `do` of a block are carried out once where the operation reads, so that base and variant see one state, and
//! anew for each call where it writes; `%` is a word of this preparation's own. The base is called before the variant and
//! once more behind it: a pair whose base differs from itself could not fail, and counts as one that shows nothing.

mod calls;
mod definition;

use std::collections::BTreeSet;

use heddle_api::openapi::{contract_json, platform_json};
use heddle_api::operations::{Document, OperationId, OperationSpec, OutputKind};
use heddle_testkit::db::TestDb;
use heddle_testkit::{Answer, TestApp};
use serde_json::Value;

use self::calls::{Block, World, blocks, has_organization, spec};
use crate::samples::NOBODY;

/// Parameters that are tried in tests of their own, with the test.
const ELSEWHERE: [(&str, &str); 34] = [
    // models_of_providers/wires.rs, whose provider tells what it was sent.
    ("postapiChat", "body stream_options"),
    ("postapiChat", "body stream_options.include_usage"),
    ("postapiChat", "body temperature"),
    ("postapiChat", "body top_p"),
    ("postapiChat", "body seed"),
    ("postapiChat", "body tool_choice"),
    ("postapiChat", "body metadata"),
    ("postapiChat", "body user"),
    ("postapiEmbeddings", "body user"),
    ("postapiEmbeddings", "query format"),
    // models_of_providers/usage.rs, whose provider gives vectors and puts passages in order.
    ("postapiVectorDatabasesNameQuery", "body fusion"),
    ("postapiVectorDatabasesNameQuery", "body fusion.method"),
    ("postapiVectorDatabasesNameQuery", "body fusion.alpha"),
    ("postapiVectorDatabasesNameQuery", "body fusion.k"),
    ("postapiVectorDatabasesNameQuery", "body diversity"),
    ("postapiVectorDatabasesNameQuery", "body diversity.mmrLambda"),
    ("postapiVectorDatabasesNameQuery", "body rerank"),
    ("postapiVectorDatabasesNameQuery", "body rerank.deployment"),
    ("postapiVectorDatabasesNameQuery", "body rerank.candidates"),
    // second_factor.rs, which has an authenticator.
    ("postapiAuthTotp", "body code"),
    ("deleteapiAuthTotp", "body password"),
    ("deleteapiAuthTotp", "body code"),
    // sign_ins/mod.rs, which has a provider.
    ("getapiAuthOidcProviderStart", "path provider"),
    ("getapiAuthOidcProviderStart", "query returnTo"),
    ("getapiAuthOidcProviderCallback", "path provider"),
    ("getapiAuthOidcProviderCallback", "query state"),
    ("getapiAuthOidcProviderCallback", "query code"),
    ("getapiAuthOidcProviderCallback", "query iss"),
    ("getapiAuthOidcProviderCallback", "query error"),
    ("deleteapiUsersUserIdProvidersProvider", "path userId"),
    ("deleteapiUsersUserIdProvidersProvider", "path provider"),
    // all_runs.rs: the stream over all runs has no end.
    ("getapiRunsEventsStream", "query workflowId"),
    ("getapiRunsEventsStream", "query types"),
    // jobs.rs, whose worker waits for what comes.
    ("postapiJobsActivate", "body waitMs"),
];

/// The members of a body, with those of the objects in it, each by its path; `*` is any name. A definition has a table of
/// its own.
fn members(
    document: &Value,
    schema: &Value,
    prefix: &str,
    within: &BTreeSet<String>,
    all: &mut BTreeSet<String>,
) {
    let mut within = within.clone();
    let schema = match schema["$ref"].as_str() {
        Some(reference) => {
            let name = reference.rsplit('/').next().unwrap().to_owned();
            if definition::ROOTS.contains(&name.as_str()) || !within.insert(name.clone()) {
                return;
            }
            &document["components"]["schemas"][name]
        }
        None => schema,
    };
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        all.insert(format!("{prefix}{name}"));
        members(document, member, &format!("{prefix}{name}."), &within, all);
    }
    members_of_parts(document, schema, prefix, &within, all);
}

fn members_of_parts(
    document: &Value,
    schema: &Value,
    prefix: &str,
    within: &BTreeSet<String>,
    all: &mut BTreeSet<String>,
) {
    if schema["items"].is_object() {
        members(document, &schema["items"], prefix, within, all);
    }
    if schema["additionalProperties"].is_object() {
        members(document, &schema["additionalProperties"], &format!("{prefix}*."), within, all);
    }
    for choices in ["allOf", "anyOf", "oneOf"] {
        for choice in schema[choices].as_array().into_iter().flatten() {
            members(document, choice, prefix, within, all);
        }
    }
}

/// Each query parameter, each member of a body and each part of a form that the documents name, as `operation place name`.
fn named() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for document in [contract_json(), platform_json()] {
        for operation in document["paths"]
            .as_object()
            .unwrap()
            .values()
            .flat_map(|item| item.as_object().unwrap().values())
        {
            let id = operation["operationId"].as_str().unwrap();
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            for parameter in parameters.filter(|parameter| parameter["in"] == "query") {
                all.insert(format!("{id} query {}", parameter["name"].as_str().unwrap()));
            }
            for (place, media) in [("body", "application/json"), ("form", "multipart/form-data")] {
                let schema = &operation["requestBody"]["content"][media]["schema"];
                let mut body = BTreeSet::new();
                members(document, schema, "", &BTreeSet::new(), &mut body);
                all.extend(body.iter().map(|name| format!("{id} {place} {name}")));
            }
        }
    }
    all
}

#[test]
fn each_parameter_and_each_member_has_its_pair_and_no_pair_is_left_over() {
    let mut paired = BTreeSet::new();
    for block in blocks().iter().skip(1) {
        let id = spec(block.operation).operation_id;
        for pair in block.pairs().filter(|pair| pair.place != "header") {
            assert!(paired.insert(format!("{id} {} {}", pair.place, pair.name)), "{id} {} twice", pair.name);
        }
    }
    // The parameters of paths are in no pair.
    let elsewhere = ELSEWHERE.iter().filter(|(_, what)| !what.starts_with("path "));
    paired.extend(elsewhere.map(|(operation, what)| format!("{operation} {what}")));
    let named = named();
    let unpaired: Vec<_> = named.difference(&paired).collect();
    let left_over: Vec<_> = paired.difference(&named).collect();
    assert!(
        unpaired.is_empty() && left_over.is_empty(),
        "without a pair: {unpaired:#?}; gone: {left_over:#?}"
    );
}

/// One database is enough: what reaches the database is tried on both by the tests of its kind.
#[tokio::test]
async fn each_parameter_and_each_member_changes_an_outcome() {
    let db = TestDb::sqlite().await;
    let mut app = TestApp::start(&db).await;
    let mut world = World::of(&app).await;
    let mut faults = Vec::new();
    for block in blocks().iter().skip(1) {
        faults.extend(world.faults(block).await);
    }
    app.stop().await;
    assert!(faults.is_empty(), "pairs that show nothing: {faults:#?}");
}

/// The headers and the path's parameters of every row, which work alike everywhere.
#[tokio::test]
async fn each_header_and_each_id_of_a_path_changes_an_outcome() {
    let db = TestDb::sqlite().await;
    let mut app = TestApp::start(&db).await;
    let mut world = World::of(&app).await;
    let blocks = blocks();
    let mut without = Vec::new();
    for id in OperationId::ALL {
        let spec = id.spec();
        let empty = Block::empty(spec.operation_id);
        let block = blocks.iter().find(|block| block.operation == spec.operation_id).unwrap_or(&empty);
        // What clients of other products send is tried in the tests of their faces; to sign out ends the caller's own
        // session, and the stream over all runs has no end.
        let own = matches!(spec.id, OperationId::SignOut | OperationId::StreamEvents);
        if own || spec.document == Document::Compatibility {
            continue;
        }
        without.extend(tried(&mut world, block, spec).await);
    }
    app.stop().await;
    assert!(without.is_empty(), "without effect: {without:#?}");
}

async fn tried(world: &mut World, block: &Block, spec: &OperationSpec) -> Vec<String> {
    let mut without = Vec::new();
    let mut note = |works: bool, what: &str, answer: &Answer| {
        if !works {
            without.push(format!("{} {what}: {} {}", spec.operation_id, answer.status, answer.text()));
        }
    };
    let (base, _) = world.base_call(block, spec, &[], None).await;
    let (named, _) = world.base_call(block, spec, &[("x-request-id", "a-name")], None).await;
    note(
        named.header("x-request-id") == "a-name" && base.header("x-request-id") != "a-name",
        "x-request-id",
        &named,
    );
    if has_organization(spec) {
        let (elsewhere, _) = world.base_call(block, spec, &[("x-organization-id", NOBODY)], None).await;
        note(elsewhere.status == 403 && base.status != 403, "x-organization-id", &elsewhere);
    }
    let elsewhere = |name: &str| {
        let what = format!("path {name}");
        ELSEWHERE.iter().any(|(operation, own)| *operation == spec.operation_id && *own == what)
    };
    for name in spec.path_parameters().filter(|name| !elsewhere(name)) {
        let (other, _) = world.base_call(block, spec, &[], Some((name, NOBODY))).await;
        note(other.status != base.status, &format!("path {name}"), &other);
    }
    if spec.if_match {
        let (stale, _) = world.base_call(block, spec, &[("if-match", "\"999999\"")], None).await;
        let is_it = |answer: &Answer| answer.status == 409 && answer.text().contains("revisionMismatch");
        note(is_it(&stale) && !is_it(&base), "If-Match", &stale);
    }
    if spec.accepts_idempotency_key() {
        let key = world.key();
        let (_, again) = world.base_call(block, spec, &[("idempotency-key", &key)], None).await;
        let long = "k".repeat(201);
        let (unusable, _) = world.base_call(block, spec, &[("idempotency-key", &long)], None).await;
        let told = again.header("idempotent-replayed") == "true" || again.fields() == ["Idempotency-Key"];
        let refused = unusable.fields() == ["Idempotency-Key"];
        // The demo's trial runs already; a repeat finds no dead letter that it could look for the answer with; and the model of
        // embeddings is not fetched.
        let untold = matches!(
            spec.id,
            OperationId::StartTrial | OperationId::RetryDeadLetter | OperationId::CreateEmbeddings
        );
        note((told || untold) && refused, "Idempotency-Key", &again);
    }
    let answers = !matches!(spec.output, OutputKind::None) && (200..300).contains(&base.status);
    if answers {
        let (picture, _) = world.base_call(block, spec, &[("accept", "image/png")], None).await;
        note(picture.status == 406, "Accept", &picture);
    }
    without
}
