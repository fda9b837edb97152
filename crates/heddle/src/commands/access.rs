//! `heddle access`.

use std::collections::BTreeMap;

use anyhow::Result;
use heddle_server::operator;
use serde_json::{Value, json};

use crate::cli::ExplainAccess;
use crate::client::{Client, Query, is_id, text};
use crate::failure::Failure;
use crate::output;

/// Word for the account in whose name it is asked.
const ME: &str = "me";

/// Tells whether somebody may do something; who may not ends the command with a failure, so that scripts see it.
pub(crate) async fn explain(client: &Client, options: &ExplainAccess, as_json: bool) -> Result<()> {
    let body = question(client, options).await?;
    let told = client.post("/api/authorization/check-access", &body).await?;
    let allowed = told.get("decision").and_then(Value::as_bool) == Some(true);
    let reason = text(&told, "/context/reason").to_owned();
    if as_json {
        output::json(&told);
    } else {
        show(client, &told, allowed).await;
    }
    if allowed {
        return Ok(());
    }
    let ExplainAccess { user, action, resource, .. } = options;
    Err(Failure::Refused(format!("`{user}` may not `{action}` `{resource}`: {reason}")).into())
}

async fn question(client: &Client, options: &ExplainAccess) -> Result<Value> {
    let (kind, id) = match options.resource.split_once('/') {
        Some((kind, id)) => (kind, Some(id)),
        None => (options.resource.as_str(), None),
    };
    let mut resource = json!({ "type": kind });
    if let Some(id) = id {
        let id = match kind {
            "workflow" if !is_id(id) && id != "*" => text(&client.workflow(id).await?, "/id").to_owned(),
            _ if is_id(id) => id.to_lowercase(),
            _ => id.to_owned(),
        };
        add(&mut resource, "id", json!(id));
    }
    if !options.within.is_empty() {
        let places = options.within.iter().map(|text| place(text)).collect::<Result<Vec<_>>>()?;
        add(&mut resource, "within", json!(places));
    }
    let mut body = json!({ "action": options.action, "resource": resource, "explain": true });
    let permissions: Vec<&str> = match options.permissions.as_slice() {
        [] => operator::needed_permissions(kind, &options.action),
        named => named.iter().map(String::as_str).collect(),
    };
    if !permissions.is_empty() {
        add(&mut body, "permissions", json!(permissions));
    }
    if options.user != ME {
        let id = match is_id(&options.user) {
            true => options.user.to_lowercase(),
            false => text(&client.user(&options.user).await?, "/id").to_owned(),
        };
        add(&mut body, "subject", json!({ "type": "user", "id": id }));
    }
    Ok(body)
}

fn add(object: &mut Value, name: &str, value: Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert(name.to_owned(), value);
    }
}

fn place(text: &str) -> Result<Value> {
    let Some((kind, id)) = text.split_once('/') else {
        return Err(Failure::Refused(format!("`{text}` names no thing; TYPE/ID is needed")).into());
    };
    let id = if is_id(id) { id.to_lowercase() } else { id.to_owned() };
    Ok(json!({ "type": kind, "id": id }))
}

/// Prints the decision and its steps.
async fn show(client: &Client, told: &Value, allowed: bool) {
    let word = if allowed { "allowed" } else { "denied" };
    output::line(&output::plain(&format!("{word}: {}", text(told, "/context/reason"))));
    let roles = role_names(client, told).await;
    let list =
        |name: &str| told.pointer(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let cells = |step: &Value| {
        let passed = step.get("passed").and_then(Value::as_bool) == Some(true);
        let because = match (passed, text(step, "/permission")) {
            (true, permission) => permission.to_owned(),
            (false, _) => text(step, "/reason").to_owned(),
        };
        let via = step.get("via").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let rules: Vec<String> = via.iter().map(|rule| rule_in_words(rule, &roles)).collect();
        let outcome = if passed { "passes" } else { "refuses" };
        [text(step, "/step").to_owned(), outcome.to_owned(), because, rules.join(", ")]
    };
    let rows: Vec<_> = list("/context/steps").iter().map(cells).collect();
    output::table(["STEP", "OUTCOME", "BECAUSE", "BY"], &rows);
    for place in list("/context/unlessWithin") {
        let word = if allowed { "but not within" } else { "allowed unless it stands within" };
        let told = format!("{word} {} {}", text(place, "/type"), text(place, "/id"));
        output::line(&output::plain(&told));
    }
    for (member, words) in [("/context/ifOwn", "their own"), ("/context/ifNotOwn", "not their own")] {
        if told.pointer(member).and_then(Value::as_bool) == Some(true) {
            output::line(&output::plain(&format!("allowed if it is {words}, which was not looked up")));
        }
    }
}

fn rule_in_words(rule: &Value, roles: &BTreeMap<String, String>) -> String {
    let (effect, source, id) = (text(rule, "/effect"), text(rule, "/source"), text(rule, "/sourceId"));
    let through = match roles.get(id) {
        Some(name) => format!("{source} {name}"),
        None if id.is_empty() => source.to_owned(),
        None => format!("{source} {id}"),
    };
    match text(rule, "/grantId") {
        "" => format!("{effect} of {through}"),
        grant => format!("{effect} {grant} to {through}"),
    }
}

/// The names of roles by their ids, where a rule is one's; none for who may not list them.
async fn role_names(client: &Client, told: &Value) -> BTreeMap<String, String> {
    if !told.to_string().contains("\"sourceId\"") {
        return BTreeMap::new();
    }
    let rows = client.list("/api/roles", &Query::default(), usize::MAX).await.unwrap_or_default();
    rows.iter().map(|row| (text(row, "/id").to_owned(), text(row, "/name").to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_told_with_whom_it_goes_through() {
        let roles = BTreeMap::from([("r1".to_owned(), "viewer".to_owned())]);
        let cases = [
            (json!({ "effect": "allow", "source": "role", "sourceId": "r1" }), "allow of role viewer"),
            (json!({ "effect": "deny", "source": "role", "sourceId": "r2" }), "deny of role r2"),
            (json!({ "effect": "deny", "source": "everyone", "grantId": "g" }), "deny g to everyone"),
        ];
        for (rule, expected) in cases {
            assert_eq!(rule_in_words(&rule, &roles), expected);
        }
    }

    #[test]
    fn a_place_names_a_type_and_an_id() {
        let id = "018F0000-0000-7000-8000-00000000000A";
        let read = place(&format!("workflow/{id}")).unwrap();
        assert_eq!(read, json!({ "type": "workflow", "id": id.to_lowercase() }));
        assert!(place("workflow").is_err());
    }
}
