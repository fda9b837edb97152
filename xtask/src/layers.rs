//! Layers: the workspace's normal dependencies against a table of who may know whom.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

use heddle_harness_kit::{out, workspace};

/// A crate of the workspace and the workspace crates it may name.
struct Layer {
    name: &'static str,
    knows: &'static [&'static str],
}

/// `*` stands for every crate of the workspace. Crates to come have their rows already.
const LAYERS: &[Layer] = &[
    Layer { name: "heddle-kernel", knows: &[] },
    Layer { name: "heddle-xml", knows: &[] },
    Layer { name: "heddle-policy", knows: &["heddle-kernel"] },
    Layer { name: "heddle-usecase", knows: &["heddle-kernel", "heddle-policy"] },
    // The form of the licence file, for the installation that reads it and for whoever issues it.
    Layer { name: "heddle-licence", knows: &["heddle-policy"] },
    Layer { name: "heddle-feel", knows: &["heddle-kernel"] },
    Layer { name: "heddle-dmn", knows: &["heddle-kernel", "heddle-feel", "heddle-xml"] },
    // Checks of protection: rules alone.
    Layer { name: "heddle-guardrails", knows: &["heddle-kernel", "heddle-feel"] },
    // What elements ask for in BPMN and CMMN alike.
    Layer { name: "heddle-settings", knows: &["heddle-kernel", "heddle-feel", "heddle-guardrails"] },
    Layer { name: "heddle-bpmn", knows: &["heddle-kernel", "heddle-feel", "heddle-xml", "heddle-settings"] },
    Layer {
        name: "heddle-bpmn-graph",
        knows: &[
            "heddle-kernel",
            "heddle-feel",
            "heddle-xml",
            "heddle-settings",
            "heddle-bpmn",
            "heddle-guardrails",
        ],
    },
    Layer {
        name: "heddle-bpmn-validate",
        knows: &[
            "heddle-kernel",
            "heddle-feel",
            "heddle-xml",
            "heddle-bpmn",
            "heddle-bpmn-graph",
            "heddle-guardrails",
        ],
    },
    // What the service does of a workflow's nodes itself, over a port to models.
    Layer {
        name: "heddle-nodes",
        knows: &["heddle-kernel", "heddle-feel", "heddle-settings", "heddle-guardrails"],
    },
    Layer {
        name: "heddle-bpmn-layout",
        knows: &["heddle-kernel", "heddle-xml", "heddle-bpmn", "heddle-bpmn-graph"],
    },
    Layer {
        name: "heddle-bpel",
        knows: &["heddle-kernel", "heddle-feel", "heddle-xml", "heddle-bpmn", "heddle-bpmn-graph"],
    },
    Layer { name: "heddle-cmmn", knows: &["heddle-kernel", "heddle-feel", "heddle-xml", "heddle-settings"] },
    Layer {
        name: "heddle-conformance",
        knows: &[
            "heddle-kernel",
            "heddle-feel",
            "heddle-xml",
            "heddle-dmn",
            "heddle-bpmn",
            "heddle-bpmn-graph",
            "heddle-bpmn-validate",
            "heddle-bpmn-layout",
            "heddle-bpel",
            "heddle-cmmn",
            "heddle-engine",
        ],
    },
    // Of a workflow the engine knows what it compiles to, and nothing of how it is read, checked or drawn.
    Layer {
        name: "heddle-engine",
        knows: &[
            "heddle-kernel",
            "heddle-feel",
            "heddle-dmn",
            "heddle-settings",
            "heddle-bpmn-graph",
            "heddle-cmmn",
        ],
    },
    Layer { name: "heddle-definitions", knows: &["heddle-kernel", "heddle-policy", "heddle-usecase"] },
    Layer {
        name: "heddle-execution",
        // What an instance follows comes compiled through a port; of definitions it knows nothing else.
        knows: &[
            "heddle-kernel",
            "heddle-policy",
            "heddle-usecase",
            "heddle-feel",
            "heddle-settings",
            "heddle-dmn",
            "heddle-bpmn-graph",
            "heddle-cmmn",
            "heddle-engine",
        ],
    },
    Layer {
        name: "heddle-workflows",
        knows: &[
            "heddle-kernel",
            "heddle-policy",
            "heddle-usecase",
            "heddle-feel",
            "heddle-xml",
            "heddle-dmn",
            "heddle-bpmn",
            "heddle-bpmn-graph",
            "heddle-bpmn-validate",
            "heddle-bpmn-layout",
            "heddle-bpel",
            "heddle-engine",
            "heddle-definitions",
            "heddle-execution",
            "heddle-settings",
            "heddle-guardrails",
        ],
    },
    Layer {
        name: "heddle-cases",
        knows: &[
            "heddle-kernel",
            "heddle-policy",
            "heddle-usecase",
            "heddle-feel",
            "heddle-cmmn",
            "heddle-engine",
            "heddle-definitions",
            "heddle-execution",
        ],
    },
    Layer { name: "heddle-vectors", knows: &["heddle-kernel", "heddle-policy", "heddle-usecase"] },
    // Requests to and answers of providers of models, as each wire has them.
    Layer { name: "heddle-models-wire", knows: &[] },
    // Calls and replies of local runtimes as data: whoever has a way out makes them.
    Layer { name: "heddle-models-local", knows: &[] },
    Layer {
        name: "heddle-models",
        knows: &[
            "heddle-kernel",
            "heddle-policy",
            "heddle-usecase",
            "heddle-models-wire",
            "heddle-models-local",
        ],
    },
    Layer {
        name: "heddle-connections",
        knows: &["heddle-kernel", "heddle-policy", "heddle-usecase", "heddle-feel"],
    },
    Layer {
        name: "heddle-identity",
        knows: &["heddle-kernel", "heddle-policy", "heddle-usecase", "heddle-licence"],
    },
    Layer {
        name: "heddle-api",
        knows: &[
            "heddle-kernel",
            "heddle-policy",
            "heddle-bpmn",
            "heddle-bpmn-validate",
            "heddle-conformance",
            "heddle-dmn",
            "heddle-cmmn",
        ],
    },
    // Records of all areas on the wire: conversions, and nothing that decides.
    Layer {
        name: "heddle-faces",
        knows: &[
            "heddle-kernel",
            "heddle-policy",
            "heddle-usecase",
            "heddle-api",
            "heddle-bpmn-graph",
            "heddle-cmmn",
            "heddle-conformance",
            "heddle-engine",
            "heddle-workflows",
            "heddle-cases",
            "heddle-vectors",
            "heddle-connections",
            "heddle-identity",
        ],
    },
    Layer { name: "heddle-sqlite-log", knows: &[] },
    // The journal and the tenant are what every area writes; the store knows no area.
    Layer {
        name: "heddle-store",
        knows: &["heddle-kernel", "heddle-policy", "heddle-usecase", "heddle-sqlite-log"],
    },
    Layer {
        name: "heddle-store-identity",
        knows: &["heddle-kernel", "heddle-policy", "heddle-usecase", "heddle-store", "heddle-identity"],
    },
    Layer {
        name: "heddle-store-definitions",
        knows: &["heddle-kernel", "heddle-policy", "heddle-usecase", "heddle-store", "heddle-definitions"],
    },
    Layer {
        name: "heddle-store-execution",
        knows: &[
            "heddle-kernel",
            "heddle-policy",
            "heddle-usecase",
            "heddle-store",
            "heddle-engine",
            "heddle-execution",
        ],
    },
    Layer {
        name: "heddle-store-workflows",
        knows: &[
            "heddle-kernel",
            "heddle-policy",
            "heddle-usecase",
            "heddle-store",
            "heddle-definitions",
            "heddle-workflows",
            "heddle-bpmn",
            "heddle-engine",
        ],
    },
    Layer {
        name: "heddle-store-cases",
        knows: &["heddle-kernel", "heddle-policy", "heddle-usecase", "heddle-store", "heddle-cases"],
    },
    Layer {
        name: "heddle-store-vectors",
        knows: &["heddle-kernel", "heddle-policy", "heddle-usecase", "heddle-store", "heddle-vectors"],
    },
    Layer {
        name: "heddle-store-models",
        knows: &["heddle-kernel", "heddle-policy", "heddle-usecase", "heddle-store", "heddle-models"],
    },
    Layer {
        name: "heddle-store-connections",
        knows: &["heddle-kernel", "heddle-policy", "heddle-usecase", "heddle-store", "heddle-connections"],
    },
    Layer {
        name: "heddle-runtime",
        knows: &[
            "heddle-kernel",
            "heddle-policy",
            "heddle-usecase",
            "heddle-workflows",
            "heddle-cases",
            "heddle-execution",
            "heddle-settings",
        ],
    },
    Layer { name: "heddle-seal", knows: &[] },
    // Files and text in, text and passages out: whoever ingests knows it, and it knows nobody.
    Layer { name: "heddle-extract", knows: &[] },
    Layer { name: "heddle-egress", knows: &["heddle-kernel", "heddle-policy"] },
    // What speaks to the other side of a connection, through the one way out.
    Layer {
        name: "heddle-outbound",
        knows: &["heddle-kernel", "heddle-usecase", "heddle-connections", "heddle-egress", "heddle-seal"],
    },
    // The protocol of sign-in by a provider; what a person may do is decided by identity.
    Layer { name: "heddle-oidc", knows: &["heddle-kernel", "heddle-egress"] },
    // The bytes of files; a bucket is reached by the way out.
    Layer { name: "heddle-blobs", knows: &["heddle-kernel", "heddle-vectors", "heddle-egress"] },
    Layer {
        name: "heddle-providers",
        knows: &[
            "heddle-kernel",
            "heddle-policy",
            "heddle-usecase",
            "heddle-models",
            "heddle-models-wire",
            "heddle-egress",
        ],
    },
    // Wire types of models to those of the use cases and back, apart from the server.
    Layer {
        name: "heddle-model-faces",
        knows: &[
            "heddle-kernel",
            "heddle-policy",
            "heddle-usecase",
            "heddle-models",
            "heddle-models-wire",
            "heddle-api",
        ],
    },
    // Keys and ids are numbers and names to it; the composition adapts it to the port of the area.
    Layer { name: "heddle-passages", knows: &[] },
    // The built-in model: it knows texts and vectors, and nobody who asks for them.
    Layer { name: "heddle-embedding", knows: &[] },
    // What does the work of the service's own node kinds: between the areas, as the composition is.
    Layer {
        name: "heddle-service-nodes",
        knows: &[
            "heddle-kernel",
            "heddle-policy",
            "heddle-usecase",
            "heddle-settings",
            "heddle-definitions",
            "heddle-execution",
            "heddle-identity",
            "heddle-vectors",
            "heddle-models",
            "heddle-models-wire",
            "heddle-nodes",
        ],
    },
    // Conversations in, cited sentences out.
    Layer { name: "heddle-answerer", knows: &[] },
    // Chat in the process: files in, words out; and, behind a feature, as the gateway asks models inside the service.
    Layer { name: "heddle-local-candle", knows: &["heddle-kernel", "heddle-models", "heddle-models-wire"] },
    // Connections and their limits, below HTTP.
    Layer { name: "heddle-edge", knows: &["heddle-kernel", "heddle-policy"] },
    // What a server, or a command beside it, works with: every area and its store, and nothing of HTTP.
    Layer {
        name: "heddle-installation",
        knows: &[
            "heddle-kernel",
            "heddle-policy",
            "heddle-usecase",
            "heddle-engine",
            "heddle-definitions",
            "heddle-workflows",
            "heddle-cases",
            "heddle-vectors",
            "heddle-models",
            "heddle-connections",
            "heddle-identity",
            "heddle-runtime",
            "heddle-store",
            "heddle-store-identity",
            "heddle-store-workflows",
            "heddle-store-vectors",
            "heddle-store-models",
            "heddle-store-connections",
            "heddle-blobs",
            "heddle-edge",
            "heddle-egress",
            "heddle-embedding",
            "heddle-oidc",
            "heddle-outbound",
            "heddle-seal",
        ],
    },
    // Vector databases over what a node has for them: between the areas, as the composition is.
    Layer {
        name: "heddle-vector-service",
        knows: &[
            "heddle-kernel",
            "heddle-policy",
            "heddle-usecase",
            "heddle-identity",
            "heddle-workflows",
            "heddle-vectors",
            "heddle-models",
            "heddle-models-wire",
            "heddle-runtime",
            "heddle-service-nodes",
            "heddle-store",
            "heddle-store-vectors",
            "heddle-store-workflows",
            "heddle-blobs",
            "heddle-egress",
            "heddle-embedding",
            "heddle-extract",
            "heddle-installation",
            "heddle-passages",
        ],
    },
    Layer { name: "heddle-server", knows: &["*"] },
    Layer { name: "heddle", knows: &["*"] },
    Layer { name: "heddle-harness-kit", knows: &[] },
    // The runners know a server by its HTTP API alone; the decision kit is run without one, too.
    Layer {
        name: "heddle-harness-conformance",
        knows: &["heddle-kernel", "heddle-dmn", "heddle-cmmn", "heddle-conformance", "heddle-harness-kit"],
    },
    Layer {
        name: "heddle-harness",
        knows: &[
            "heddle-kernel",
            "heddle-guardrails",
            "heddle-harness-kit",
            "heddle-harness-conformance",
            "heddle-harness-models",
        ],
    },
    Layer { name: "heddle-harness-models", knows: &["heddle-harness-kit"] },
    Layer { name: "heddle-testkit", knows: &["*"] },
    Layer {
        name: "xtask",
        knows: &["heddle-harness-kit", "heddle-kernel", "heddle-licence", "heddle-policy"],
    },
];

/// Crates that only tests and checks may name.
const OF_TESTS: &[&str] = &[
    "heddle-testkit",
    "heddle-harness-kit",
    "heddle-harness-conformance",
    "heddle-harness-models",
    "heddle-harness",
];

/// The areas: neither their use cases nor their stores know those of another. Where one needs another, it has a
/// small port in its own words, and the composition adapts.
const AREAS: &[&str] = &["identity", "workflows", "cases", "vectors", "models", "connections"];

/// Crates from outside, by prefix, that only some of ours may name.
struct Reserved {
    prefix: &'static str,
    holders: &'static [&'static str],
    why: &'static str,
}

const RESERVED: &[Reserved] = &[
    Reserved { prefix: "diesel", holders: &["heddle-store*"], why: "only store crates name diesel" },
    Reserved {
        prefix: "libsqlite3-sys",
        holders: &["heddle-store*", "heddle-sqlite-log"],
        why: "only store crates name a database driver",
    },
    Reserved { prefix: "actix", holders: &["heddle-server"], why: "only the server names actix" },
    Reserved {
        prefix: "utoipa",
        holders: &[
            "heddle-api",
            "heddle-bpmn*",
            "heddle-conformance",
            "heddle-dmn",
            "heddle-cmmn",
            "heddle-server",
        ],
        why: "wire types live in api, definitions in their own crate",
    },
    Reserved {
        prefix: "rustls",
        // The edge takes TLS connections; those out are egress's.
        holders: &["heddle-edge", "heddle-egress"],
        why: "TLS belongs to the way out and to the edge",
    },
    Reserved {
        prefix: "reqwest",
        // Commands are clients of a server: the address is the operator's own.
        holders: &["heddle-egress", "heddle", "heddle-harness", "heddle-harness-kit", "heddle-testkit"],
        why: "only egress opens outbound connections",
    },
    Reserved { prefix: "hyper", holders: &["heddle-egress"], why: "only egress opens outbound connections" },
    Reserved {
        prefix: "tokio-rustls",
        holders: &["heddle-edge", "heddle-egress"],
        why: "TLS belongs to the way out and to the edge",
    },
    Reserved { prefix: "ureq", holders: &["heddle-egress"], why: "only egress opens outbound connections" },
    Reserved { prefix: "lettre", holders: &["heddle-egress"], why: "only egress opens outbound connections" },
    Reserved {
        prefix: "tokio-postgres",
        // The tester of `outbound` speaks it over a stream of egress.
        holders: &["heddle-egress", "heddle-outbound", "heddle-store"],
        why: "only the store connects to its database, and only egress opens other connections",
    },
    Reserved {
        prefix: "jiff",
        holders: &["heddle-feel", "heddle-settings"],
        why: "instants are the kernel's; zones and calendars are FEEL's and the timers'",
    },
    Reserved {
        prefix: "openidconnect",
        holders: &["heddle-oidc"],
        why: "the protocol of sign-in by a provider has one crate",
    },
    Reserved { prefix: "chrono", holders: &["heddle-oidc"], why: "instants are the kernel's" },
    Reserved { prefix: "time", holders: &["heddle-kernel"], why: "instants are the kernel's" },
];

/// Crates without I/O, which must not name those of [`IMPURE`].
const PURE: &[&str] = &[
    "heddle-kernel",
    "heddle-xml",
    "heddle-policy",
    "heddle-licence",
    "heddle-feel",
    "heddle-dmn",
    "heddle-settings",
    "heddle-bpmn",
    "heddle-bpmn-graph",
    "heddle-bpmn-validate",
    "heddle-bpmn-layout",
    "heddle-bpel",
    "heddle-cmmn",
    "heddle-conformance",
    "heddle-engine",
    "heddle-guardrails",
    "heddle-answerer",
    "heddle-models-wire",
    "heddle-models-local",
];
const IMPURE: &[&str] =
    &["tokio", "async-trait", "futures", "tracing", "parking_lot", "getrandom", "tempfile"];

/// Checks the workspace; prints each violation with its rule.
pub(crate) fn run() -> Result<bool> {
    let violations = violations(&normal_dependencies(&workspace::metadata()?)?);
    for violation in &violations {
        out::line(violation);
    }
    out::line(format_args!("layers: {} violation(s)", violations.len()));
    Ok(violations.is_empty())
}

/// Package name to the names of its normal and build dependencies (those of tests are free).
fn normal_dependencies(metadata: &Value) -> Result<BTreeMap<String, Vec<String>>> {
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let mut found = BTreeMap::new();
    for package in packages {
        let name = package["name"].as_str().context("a package without a name")?;
        let dependencies = package["dependencies"].as_array().context("a package without dependencies")?;
        let names = dependencies
            .iter()
            .filter(|dependency| dependency["kind"].as_str() != Some("dev"))
            .filter_map(|dependency| dependency["name"].as_str().map(str::to_owned))
            .collect();
        found.insert(name.to_owned(), names);
    }
    Ok(found)
}

fn violations(packages: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut found = Vec::new();
    for (name, dependencies) in packages {
        let Some(layer) = LAYERS.iter().find(|layer| layer.name == name) else {
            found.push(format!("`{name}` has no row in the table of layers: say what it may know"));
            continue;
        };
        for dependency in dependencies {
            if packages.contains_key(dependency) {
                inside(layer, dependency, &mut found);
            } else {
                outside(name, dependency, &mut found);
            }
        }
    }
    found
}

fn inside(layer: &Layer, dependency: &str, found: &mut Vec<String>) {
    let tests = OF_TESTS.contains(&layer.name) || layer.name == "xtask";
    if OF_TESTS.contains(&dependency) && !tests {
        found.push(format!("`{}` names `{dependency}`: it is a dependency of tests only", layer.name));
    } else if let (Some(own), Some(other)) = (area(layer.name), area(dependency))
        && own != other
    {
        found.push(format!("`{}` names `{dependency}`: no area knows another", layer.name));
    } else if !layer.knows.contains(&"*") && !layer.knows.contains(&dependency) {
        let allowed = if layer.knows.is_empty() { "nothing".to_owned() } else { layer.knows.join(", ") };
        found.push(format!("`{}` names `{dependency}`: it may know {allowed}", layer.name));
    }
}

/// The area of a crate of use cases or of their store.
fn area(name: &str) -> Option<&str> {
    let name = name.strip_prefix("heddle-")?;
    let name = name.strip_prefix("store-").unwrap_or(name);
    AREAS.contains(&name).then_some(name)
}

fn outside(name: &str, dependency: &str, found: &mut Vec<String>) {
    for reserved in RESERVED.iter().filter(|reserved| starts(dependency, reserved.prefix)) {
        if !reserved.holders.iter().any(|holder| holds(holder, name)) {
            found.push(format!("`{name}` names `{dependency}`: {}", reserved.why));
        }
    }
    if PURE.contains(&name) && IMPURE.contains(&dependency) {
        found.push(format!("`{name}` names `{dependency}`: a pure crate does no I/O and knows no executor"));
    }
}

/// Whether a crate is the named one or one of its family: `diesel` and `diesel-async`, but not `times` of `time`.
fn starts(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_']))
}

fn holds(holder: &str, name: &str) -> bool {
    holder.strip_suffix('*').map_or(holder == name, |prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packages(rows: &[(&str, &[&str])]) -> BTreeMap<String, Vec<String>> {
        rows.iter()
            .map(|(name, names)| ((*name).to_owned(), names.iter().map(|name| (*name).to_owned()).collect()))
            .collect()
    }

    #[test]
    fn the_workspace_keeps_its_layers() {
        let metadata = workspace::metadata().unwrap();
        let found = violations(&normal_dependencies(&metadata).unwrap());
        assert!(found.is_empty(), "{}", found.join("\n"));
    }

    #[test]
    fn violations_are_found_and_named() {
        type Row<'a> = (&'a [(&'a str, &'a [&'a str])], &'a str);
        let cases: &[Row<'_>] = &[
            (&[("heddle-kernel", &["heddle-policy"]), ("heddle-policy", &[])], "may know nothing"),
            (
                &[("heddle-workflows", &["heddle-identity"]), ("heddle-identity", &[])],
                "no area knows another",
            ),
            (
                &[("heddle-store-identity", &["heddle-store-workflows"]), ("heddle-store-workflows", &[])],
                "no area knows another",
            ),
            (
                &[("heddle-engine", &["heddle-bpmn-validate"]), ("heddle-bpmn-validate", &[])],
                "may know heddle-kernel, heddle-feel",
            ),
            (&[("heddle-store", &["heddle-identity"]), ("heddle-identity", &[])], "may know heddle-kernel"),
            (&[("heddle-workflows", &["jiff"])], "instants are the kernel's"),
            (&[("heddle-server", &["heddle-harness"]), ("heddle-harness", &[])], "tests only"),
            (&[("heddle-api", &["diesel-async"])], "only store crates name diesel"),
            (&[("heddle", &["actix-web"])], "only the server names actix"),
            (&[("heddle-runtime", &["reqwest"])], "only egress opens outbound connections"),
            (&[("heddle-engine", &["tokio"])], "a pure crate does no I/O"),
            (&[("heddle-server", &["heddle-testkit"]), ("heddle-testkit", &[])], "tests only"),
            (&[("heddle-new", &[])], "no row in the table"),
        ];
        for (rows, expected) in cases {
            let found = violations(&packages(rows));
            assert_eq!(found.len(), 1, "{rows:?}: {found:?}");
            assert!(found[0].contains(expected), "{rows:?}: {found:?}");
        }
    }

    #[test]
    fn what_is_allowed_passes_and_test_dependencies_are_free() {
        let rows = packages(&[
            ("heddle-store-workflows", &["diesel", "heddle-store"]),
            ("heddle-store", &["libsqlite3-sys"]),
            ("heddle-server", &["actix-web", "heddle-store"]),
        ]);
        assert!(violations(&rows).is_empty());
        let metadata = serde_json::json!({"packages": [
            {"name": "heddle-kernel", "dependencies": [{"name": "heddle-testkit", "kind": "dev"}]}]});
        assert_eq!(normal_dependencies(&metadata).unwrap()["heddle-kernel"], Vec::<String>::new());
    }
}
