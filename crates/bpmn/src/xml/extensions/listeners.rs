//! Listeners and scripts of the vendors.

use super::Members;
use super::map::{Place, field, own};
use crate::juel::{self, script};
use crate::xml::tree::{El, Tree};
use serde_json::{Map as Object, Value, json};

/// The places of listeners, by the vendors' words for them. `all` is each of the first four of human tasks.
const PLACES: &[(&str, &[&str])] = &[
    ("start", &["start"]),
    ("end", &["end"]),
    ("create", &["create"]),
    ("creating", &["create"]),
    ("assignment", &["assignment"]),
    ("assigning", &["assignment"]),
    ("update", &["update"]),
    ("updating", &["update"]),
    ("timeout", &["timeout"]),
    ("complete", &["complete"]),
    ("completing", &["complete"]),
    ("delete", &["delete"]),
    ("canceling", &["delete"]),
    ("all", &["create", "assignment", "complete", "delete"]),
];

fn places(event: &str) -> Result<&'static [&'static str], String> {
    let found = PLACES.iter().find(|(own, _)| *own == event.trim());
    found.map(|(_, places)| *places).ok_or_else(|| format!("nothing listens to `{}` here", event.trim()))
}

/// `executionListener` or `taskListener` of Camunda 7, Flowable and Activiti.
pub(super) fn one(place: &Place<'_, '_>) -> Result<Members, String> {
    for refused in [
        "onTransaction",
        "customPropertiesResolverClass",
        "customPropertiesResolverExpression",
        "customPropertiesResolverDelegateExpression",
    ] {
        if place.own(refused).is_some_and(|own| !own.trim().is_empty()) {
            return Err(format!("`{refused}` has no counterpart"));
        }
    }
    let event = place.own("event").unwrap_or_default();
    let tree = place.tree;
    let mut headers = Object::new();
    for child in tree.parts_of(place.el).filter(|&child| tree.part(child).local() == "field") {
        let (name, text) = field(tree, child)?;
        headers.insert(name, text.into());
    }
    let script = tree.parts_of(place.el).find(|&child| tree.part(child).local() == "script");
    let timer = timer(tree, place.el);
    if timer.is_none() && event.trim() == "timeout" {
        return Err("a listener of `timeout` has no timer".to_owned());
    }
    let with_timer = |mut listener: Value| {
        if let (Some(members), Some((form, text))) = (listener.as_object_mut(), &timer) {
            members.insert("timer".to_owned(), json!({ (*form): text }));
        }
        listener
    };
    let given = |name: &str| place.own(name).map(|own| own.trim().to_owned()).filter(|own| !own.is_empty());
    let job_type = if let Some(class) = given("class") {
        format!("java:{class}")
    } else if let Some(bean) = given("delegateExpression") {
        format!("delegate:{bean}")
    } else if let Some(expression) = given("expression") {
        // An expression that computes has no effect beside its value, which nothing takes.
        if juel::value(&expression).is_ok() {
            return Ok(Vec::new());
        }
        format!("expression:{expression}")
    } else if let Some(script) = script {
        if let Some(source) = assignments(tree, script) {
            let all = places(&event)?.iter().map(|on| with_timer(json!({"on": on, "source": source})));
            return Ok(vec![("listeners", all.collect())]);
        }
        let (job_type, own) = script_job(tree, script);
        headers.extend(own);
        job_type
    } else {
        return Err("the listener names no code".to_owned());
    };
    let listener = |on: &&'static str| {
        with_timer(if headers.is_empty() {
            json!({"on": on, "jobType": job_type})
        } else {
            json!({"on": on, "jobType": job_type, "headers": headers})
        })
    };
    Ok(vec![("listeners", places(&event)?.iter().map(listener).collect())])
}

/// The time of a listener: the form of its timer, and the text.
fn timer(tree: &Tree<'_>, el: El) -> Option<(&'static str, String)> {
    const FORMS: [(&str, &str); 3] =
        [("timeDuration", "duration"), ("timeDate", "date"), ("timeCycle", "cycle")];
    let timer = tree.parts_of(el).find(|&child| tree.part(child).local() == "timerEventDefinition")?;
    tree.parts_of(timer).find_map(|part| {
        let (_, form) = FORMS.iter().find(|(word, _)| *word == tree.part(part).local())?;
        let text = tree.text(part).trim().to_owned();
        (!text.is_empty()).then_some((*form, text))
    })
}

/// `zeebe:executionListeners` or `zeebe:taskListeners`.
pub(super) fn several(place: &Place<'_, '_>) -> Result<Members, String> {
    let tree = place.tree;
    let mut found = Vec::new();
    for child in tree.parts_of(place.el) {
        let event = own(tree, child, "eventType").unwrap_or_default();
        let [on] = places(&event)? else { return Err(format!("nothing listens to `{event}` here")) };
        let job_type = own(tree, child, "type").filter(|own| !own.trim().is_empty());
        let mut listener = json!({"on": on, "jobType": job_type.ok_or("a listener has no type")?.trim()});
        let headers: Object<String, Value> = tree
            .parts_of(child)
            .flat_map(|headers| tree.parts_of(headers))
            .filter_map(|header| {
                let value = own(tree, header, "value").unwrap_or_default();
                Some((own(tree, header, "key")?, value.into()))
            })
            .collect();
        if let Some(members) = listener.as_object_mut() {
            if !headers.is_empty() {
                members.insert("headers".to_owned(), Value::Object(headers));
            }
            if let Some(retries) = own(tree, child, "retries").filter(|own| !own.trim().is_empty()) {
                let retries = retries.trim();
                let value = retries.parse::<u32>().map_or_else(|_| Value::from(retries), Value::from);
                members.insert("retries".to_owned(), value);
            }
        }
        found.push(listener);
    }
    Ok(if found.is_empty() { Vec::new() } else { vec![("listeners", Value::Array(found))] })
}

fn format_of(tree: &Tree<'_>, script: El) -> String {
    let format = own(tree, script, "scriptFormat").or_else(|| own(tree, script, "language"));
    format.unwrap_or_default().trim().to_owned()
}

/// The FEEL of a script that gives one value.
pub(super) fn script_value(tree: &Tree<'_>, el: El) -> Result<String, String> {
    if own(tree, el, "resource").is_some_and(|own| !own.trim().is_empty()) {
        return Err("the text of the script is in no file at hand".to_owned());
    }
    let (format, text) = (format_of(tree, el), tree.text(el).trim().to_owned());
    if format.to_ascii_lowercase().contains("feel") {
        return Ok(text.strip_prefix('=').unwrap_or(&text).trim().to_owned());
    }
    script::expression(&format, &text).map_err(|error| error.0)
}

/// FEEL of the variables that a script sets; none when it does anything else.
fn assignments(tree: &Tree<'_>, el: El) -> Option<String> {
    if own(tree, el, "resource").is_some_and(|own| !own.trim().is_empty()) {
        return None;
    }
    let (format, text) = (format_of(tree, el), tree.text(el).trim().to_owned());
    if format.to_ascii_lowercase().contains("feel") {
        return Some(text.strip_prefix('=').unwrap_or(&text).trim().to_owned());
    }
    // Its value has a taker, to whom the worker gives it.
    if own(tree, el, "resultVariable").is_some_and(|own| !own.trim().is_empty()) {
        return None;
    }
    let found = script::translate(&format, &text).ok()?;
    // A value that nothing takes is none; what is assigned without a declaration is the script's own there.
    let set = found.variables;
    // Members of a context see those before them, and the script's values are those of before it.
    let apart = set
        .iter()
        .enumerate()
        .all(|(at, (_, feel))| set.iter().take(at).all(|(earlier, _)| !feel.contains(earlier.as_str())));
    if !apart || !found.globals.is_empty() {
        return None;
    }
    let entries: Vec<String> =
        set.iter().map(|(name, feel)| format!("{}: {feel}", juel::string(name))).collect();
    Some(format!("{{{}}}", entries.join(", ")))
}

/// Type and headers of the job of a script.
pub(super) fn script_job(tree: &Tree<'_>, el: El) -> (String, Object<String, Value>) {
    let format = format_of(tree, el);
    let mut headers = Object::new();
    let text = tree.text(el).trim().to_owned();
    if !text.is_empty() {
        headers.insert("script".to_owned(), text.into());
    }
    if let Some(resource) = own(tree, el, "resource").filter(|own| !own.trim().is_empty()) {
        headers.insert("resource".to_owned(), resource.into());
    }
    if let Some(name) = own(tree, el, "resultVariable").filter(|own| !own.trim().is_empty()) {
        headers.insert("resultVariable".to_owned(), name.trim().into());
    }
    (script::job_type(&format), headers)
}
