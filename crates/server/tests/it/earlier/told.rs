//! What the earlier program answered, and whether that is still answered.

use std::fmt::Write as _;

use heddle_testkit::Client;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::folder;

/// An answer of the earlier program to a GET.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Told {
    /// The organisation in which it was asked.
    pub within: String,
    /// The path with its query.
    pub path: String,
    /// The status.
    pub status: u16,
    /// The body: JSON, or a text that is none.
    pub body: Value,
}

/// A meant change of what is answered.
pub(crate) struct Change {
    /// A part of the paths that it holds for; all of them when empty.
    pub at: &'static str,
    /// The words as they were, as they stand in the answer's JSON text.
    pub then: &'static str,
    /// The words as they are.
    pub now: &'static str,
}

/// Members that rows of a list no longer have.
pub(crate) struct LeftOut {
    /// A part of the paths that it holds for.
    pub at: &'static str,
    /// Names of the members.
    pub members: &'static [&'static str],
}

/// Members that change with the asking; and `options`, which once were fewer or more than what could be decided, and are
/// tried one by one in a test of their own.
const VOLATILE: [&str; 3] = ["lastUsedAt", "requestId", "options"];
/// How many differences are shown.
const SHOWN: usize = 20;

impl Told {
    /// Asks; exports come as JSON, so that their diagnostics are told as well.
    pub(crate) async fn ask(client: &Client, within: &str, path: &str) -> Self {
        let client = client.within(within);
        let client =
            if path.contains("/export/") { client.with("accept", "application/json") } else { client };
        let answer = client.get(path).await;
        let body = serde_json::from_slice(&answer.bytes).unwrap_or_else(|_| Value::from(answer.text()));
        Self { within: within.to_owned(), path: path.to_owned(), status: answer.status, body }
    }

    /// All that was told of one kind of database.
    pub(crate) fn read(kind: &str) -> Vec<Self> {
        let packed = std::fs::read(folder(kind).join("told.json.zst")).unwrap();
        serde_json::from_slice(&zstd::decode_all(packed.as_slice()).unwrap()).unwrap()
    }

    /// Writes down what was told.
    pub(crate) fn write(kind: &str, told: &[Self]) {
        let text = serde_json::to_vec(told).unwrap();
        std::fs::write(folder(kind).join("told.json.zst"), zstd::encode_all(text.as_slice(), 19).unwrap())
            .unwrap();
    }

    /// With the changes that are meant.
    pub(crate) fn changed(mut self, meant: &[Change]) -> Self {
        let then = self.body.to_string();
        let of_this = meant.iter().filter(|change| self.path.contains(change.at));
        let now = of_this.fold(then.clone(), |text, change| text.replace(change.then, change.now));
        if now != then {
            self.body = serde_json::from_str(&now).unwrap();
            // It was the digest of the text before the change.
            if self.path.contains("/export/")
                && let Some(data) = self.body["data"].as_object_mut()
            {
                data.remove("sha256");
            }
        }
        self
    }

    /// Without what rows are meant to leave out.
    pub(crate) fn without(mut self, left_out: &[LeftOut]) -> Self {
        let of_this = left_out.iter().filter(|one| self.path.contains(one.at));
        let members: Vec<&str> = of_this.flat_map(|one| one.members).copied().collect();
        for row in self
            .body
            .get_mut("data")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
            .filter_map(Value::as_object_mut)
        {
            row.retain(|name, _| !members.contains(&name.as_str()));
        }
        self
    }

    /// A licence's limits: those on servers, deployments and vector databases have come since.
    pub(crate) fn with_new_limits(mut self) -> Self {
        if self.path == "/api/licence"
            && let Some(limits) = self.body.pointer_mut("/data/limits").and_then(Value::as_array_mut)
        {
            limits.push(json!({ "licensed": 1, "name": "nodes", "used": 1 }));
            limits.push(json!({ "licensed": null, "name": "deployments", "used": 0 }));
            limits.push(json!({ "licensed": null, "name": "vectorDatabases", "used": 0 }));
        }
        self
    }

    /// A work list without a state: it shows open tasks alone since, as it was meant to.
    pub(crate) fn open_alone(mut self) -> Self {
        if self.path.starts_with("/api/human-tasks?")
            && !self.path.contains("state=")
            && let Some(rows) = self.body.get_mut("data").and_then(Value::as_array_mut)
        {
            rows.retain(|task| task["state"] == "open");
        }
        self
    }

    /// What the answer of now lacks of this one or says otherwise.
    pub(crate) fn differences(&self, now: &Self) -> Vec<String> {
        let mut found = Vec::new();
        if self.status != now.status {
            found.push(format!("{} instead of {}: {}", now.status, self.status, now.body));
        }
        differ("", &self.body, &now.body, &mut found);
        found.truncate(SHOWN);
        found
    }
}

/// Whatever stands in `then` must stand in `now`; objects may have more members.
fn differ(at: &str, then: &Value, now: &Value, found: &mut Vec<String>) {
    match (then, now) {
        (Value::Object(then), Value::Object(now)) => {
            for (name, value) in then.iter().filter(|(name, _)| !VOLATILE.contains(&name.as_str())) {
                match now.get(name) {
                    Some(own) => differ(&format!("{at}.{name}"), value, own, found),
                    None => found.push(format!("{at}.{name} is gone; it was {value}")),
                }
            }
        }
        (Value::Array(then), Value::Array(now)) if then.len() == now.len() => {
            for (index, (then, now)) in then.iter().zip(now).enumerate() {
                differ(&format!("{at}[{index}]"), then, now, found);
            }
        }
        (Value::String(then), Value::String(now)) if then != now => {
            found.push(first_difference(at, then, now))
        }
        (then, now) if then != now => found.push(format!("{at} was {then} and is {now}")),
        _ => {}
    }
}

/// The place at which two texts part, with some of what is around it.
fn first_difference(at: &str, then: &str, now: &str) -> String {
    let same = then.bytes().zip(now.bytes()).take_while(|(then, now)| then == now).count();
    let around = |text: &str| {
        let bytes = &text.as_bytes()[same.saturating_sub(60)..text.len().min(same + 100)];
        String::from_utf8_lossy(bytes).into_owned()
    };
    let mut message = format!("{at} differs from byte {same} on");
    let _ = write!(message, "\n  was: {:?}\n  is:  {:?}", around(then), around(now));
    message
}

#[test]
fn more_may_be_said_but_nothing_else() {
    use serde_json::json;
    let told = |body: Value| Told { within: String::new(), path: "/a".to_owned(), status: 200, body };
    let then = told(json!({"data": [{"a": 1, "lastUsedAt": null}]}));
    assert!(then.differences(&told(json!({"data": [{"a": 1, "b": 2, "lastUsedAt": "x"}]}))).is_empty());
    for now in [json!({"data": []}), json!({"data": [{"a": 2}]}), json!({"data": [{"b": 1}]}), json!({})] {
        assert_eq!(then.differences(&told(now.clone())).len(), 1, "{now}");
    }
    let meant = [Change { at: "/a", then: "\"a\"", now: "\"c\"" }];
    assert!(then.changed(&meant).differences(&told(json!({"data": [{"c": 1}]}))).is_empty());
}
