//! Costs of hostile inputs: processor time and memory of each, in a thread with a stack of 2 MB, the slowest last.
//!
//! `bad-inputs [part of a name]`. Every one is to be answered in under 100 ms.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

use heddle_dmn::model::DecisionModel;
use heddle_dmn::{EvalOptions, analyse, compile, xml};
use heddle_feel::{Dialect, EvalContext, Expression};
use heddle_kernel::Timestamp;
use serde_json::Map;

type Failure = Box<dyn std::error::Error + Send + Sync>;

const NOW: Timestamp = Timestamp::from_micros(1_710_498_600_000_000);
const STACK: usize = 2 * 1024 * 1024;

enum Input {
    Feel(String),
    /// Documents, the first of which imports the others; its first decisions are evaluated.
    Models(Vec<String>),
}

struct Case {
    name: String,
    input: Input,
}

/// Processor time of this thread.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(stat.split_whitespace().next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0))
}

/// Peak of memory in use since the last call, in KiB.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    let kib = line.split_whitespace().nth(1)?.parse().ok();
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    kib
}

fn short(text: &str) -> String {
    text.chars().take(60).collect::<String>().replace('\n', " ")
}

fn feel(text: &str) -> String {
    let expression = match Expression::compile(text, Dialect::Standard) {
        Ok(expression) => expression,
        Err(error) => return format!("refused: {error}"),
    };
    match expression.evaluate(&Map::new(), &EvalContext { now: NOW }) {
        Ok(result) if result.value.is_null() => {
            format!("null: {}", result.notes.first().map_or("", |note| &*note.message))
        }
        Ok(result) => format!("weight {} depth {}", result.value.weight(), result.value.depth()),
        Err(limit) => format!("limit: {limit}"),
    }
}

fn decisions(sources: &[String]) -> String {
    let mut models: Vec<DecisionModel> = Vec::new();
    for source in sources {
        match xml::read(source.as_bytes()) {
            Ok(imported) => models.push(imported.model),
            Err(error) => return format!("refused: {error}"),
        }
    }
    let compiled = compile(&models);
    let found = compiled.diagnostics.first().map(|found| &*found.message).unwrap_or_default();
    let mut said = format!("{} findings {}", compiled.diagnostics.len(), short(found));
    let findings = analyse(&compiled.model);
    let _ = write!(said, "; {} of tables", findings.len());
    if let Some((element, ..)) = compiled.model.elements().next() {
        let outcome = compiled.model.evaluate_element(element, &Map::new(), &EvalOptions::new(NOW));
        let text = match outcome {
            Ok(outcome) => outcome.value.to_string(),
            Err(limit) => format!("limit: {limit}"),
        };
        let _ = write!(said, "; {}", short(&text));
    }
    said
}

fn text(feel: &str) -> String {
    format!("<text>{}</text>", feel.replace('&', "&amp;").replace('<', "&lt;"))
}

fn literal(feel: &str) -> String {
    format!("<literalExpression>{}</literalExpression>", text(feel))
}

fn decision(name: &str, needs: &[String], logic: &str) -> String {
    let mut out = format!("<decision id=\"{name}\" name=\"{name}\"><variable name=\"{name}\"/>");
    for need in needs {
        let _ = write!(
            out,
            "<informationRequirement><requiredDecision href=\"#{need}\"/></informationRequirement>"
        );
    }
    out + logic + "</decision>"
}

fn model(body: &str) -> String {
    format!("<definitions xmlns=\"{}\" name=\"m\" namespace=\"urn:m\">{body}</definitions>", xml::MODEL_NS)
}

/// A decision table of so many columns and rules, with the same test in each cell.
fn table(columns: usize, rules: usize, test: impl Fn(usize, usize) -> String) -> String {
    let mut out = String::from("<decisionTable hitPolicy=\"COLLECT\">");
    for column in 0..columns {
        let _ = write!(
            out,
            "<input><inputExpression>{}</inputExpression></input>",
            text(&format!("{column} + 1"))
        );
    }
    out.push_str("<output/>");
    for rule in 0..rules {
        out.push_str("<rule>");
        for column in 0..columns {
            let _ = write!(out, "<inputEntry>{}</inputEntry>", text(&test(rule, column)));
        }
        out.push_str("<outputEntry><text>1</text></outputEntry></rule>");
    }
    out + "</decisionTable>"
}

/// The inputs that the issue names, and others in their spirit, as expressions.
const EXPRESSIONS: &[(&str, &str)] = &[
    ("endless recursion", "{f: function(n) f(n+1), r: f(1)}.r"),
    ("loop to 10^9", "for i in 1..1000000000 return i"),
    ("loop to 10^18 backwards", "for i in 1000000000000000000..1 return i"),
    ("10**6000 * 10**6000", "10**6000 * 10**6000"),
    ("lone surrogate", "\"\\uD800\""),
    ("fibonacci", "{f: function(n) if n < 2 then n else f(n - 1) + f(n - 2), r: f(60)}.r"),
    ("mutual calls", "{f: function(g, n) g(g, n) + g(g, n), r: f(f, 1)}.r"),
    ("nested loops", "for a in 1..1000, b in 1..1000, c in 1..1000 return a * b * c"),
    ("nested quantifiers", "every a in 1..100000 satisfies some b in 1..100000 satisfies a + b = 0"),
    ("doubling strings", "{f: function(s, n) if n = 0 then s else f(s + s, n - 1), r: f(\"ab\", 60)}.r"),
    (
        "doubling lists",
        "{f: function(l, n) if n = 0 then l else f(concatenate(l, l), n - 1), r: f([1], 60)}.r",
    ),
    (
        "doubling by sharing",
        "{f: function(l, n) if n = 0 then l else f([l, l], n - 1), r: flatten(f([1], 60))}.r",
    ),
    (
        "shared compared",
        "{f: function(l, n) if n = 0 then l else f([l, l], n - 1), r: f([1], 60) = f([1], 60)}.r",
    ),
    (
        "shared to string",
        "{f: function(l, n) if n = 0 then l else f([l, l], n - 1), r: string(f([1], 40))}.r",
    ),
    (
        "joined",
        "string join(for i in 1..100000 return \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\", \"-\")",
    ),
    (
        "sort by an expensive function",
        "sort(for i in 1..10000 return 10000 - i, function(x, y) sum(for i in 1..1000 return i) + x < y)",
    ),
    (
        "sort that contradicts itself",
        "sort(for i in 1..100000 return modulo(i * 7919, 1000), function(x, y) true)",
    ),
    ("distinct values", "distinct values(for i in 1..200000 return i)"),
    ("distinct contexts", "count(distinct values(for i in 1..20000 return {a: i, b: [i]}))"),
    ("union", "count(union(for i in 1..100000 return i, for i in 50000..150000 return i))"),
    ("index of", "for i in 1..10000 return index of(for j in 1..1000 return j, i)"),
    (
        "list contains in a loop",
        "{l: for i in 1..20000 return i, r: every x in l satisfies list contains(l, x)}.r",
    ),
    ("append in a loop", "for i in 1..100000 return if i = 1 then [1] else append(partial[-1], i)"),
    (
        "insert before in a loop",
        "for i in 1..100000 return if i = 1 then [1] else insert before(partial[-1], 1, i)",
    ),
    ("remove in a loop", "for i in 1..100000 return remove(for j in 1..1000 return j, 1)"),
    ("flatten deep", "{f: function(l, n) if n = 0 then l else f([l], n - 1), r: flatten(f([1], 10000))}.r"),
    ("huge range equality", "[1..1000000000000000] = [1..1000000000000000]"),
    ("filter of a huge range", "count([1..10000000][item > 3])"),
    ("range texts", "for i in 1..100000 return range(\"[1..\" + string(i) + \"]\")"),
    ("roots", "for i in 1..100000 return sqrt(i) + log(i) + exp(i / 1000)"),
    ("real powers", "for i in 1..100000 return i ** 0.123456789"),
    ("great powers", "for i in 1..100000 return 1.000000000000000000000000000001 ** (10**18 + i)"),
    ("remainders far apart", "for i in 1..100000 return modulo(10**6000 + i, 7 * 10**-6000)"),
    ("decimal", "for i in 1..100000 return decimal(1 / 3, 6111) + decimal(10**6000, -6000)"),
    ("years", "for i in 1..100000 return date(\"999999999-12-31\") - date(\"-999999999-01-01\")"),
    ("zones", "for i in 1..100000 return date and time(\"2024-03-31T02:30:00@Europe/Berlin\")"),
    (
        "get entries",
        "for i in 1..1000 return get entries(context(for j in 1..1000 return {key: string(j), value: j}))",
    ),
    (
        "context put",
        "{f: function(c, n) if n = 0 then c else f(context put(c, string(n), n), n - 1), r: f({}, 10000)}.r",
    ),
    ("context merge", "context merge(for i in 1..100000 return {a: i})"),
    ("mode and median", "mode(for i in 1..100000 return i)"),
    ("stddev", "stddev(for i in 1..100000 return i / 7)"),
    ("product", "product(for i in 1..100000 return i / 7)"),
];

fn expressions() -> Vec<(String, String)> {
    let mut all: Vec<(&str, String)> =
        EXPRESSIONS.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
    all.extend(long_expressions());
    all.extend(patterns());
    all.into_iter().map(|(name, text)| (name.to_owned(), text)).collect()
}

fn long_expressions() -> Vec<(&'static str, String)> {
    let a = "a".repeat(20_000);
    let deep = |open: &str, inner: &str, close: &str, times: usize| {
        open.repeat(times) + inner + &close.repeat(times)
    };
    vec![
        ("100,000 parentheses", deep("(", "1", ")", 100_000)),
        ("10,000 lists", deep("[", "1", "]", 10_000)),
        ("10,000 contexts", deep("{a: ", "1", "}", 10_000)),
        ("100,000 terms", format!("1{}", " + 1".repeat(100_000))),
        ("30,000 terms", format!("1{}", " + 1".repeat(30_000))),
        (
            "replace growth",
            format!(
                "{{f: function(s, n) if n = 0 then s else f(replace(s, \"a\", \"aaaaaaaaaa\"), n - 1), r: f(\"{}\", 50)}}.r",
                "a".repeat(100)
            ),
        ),
        ("nested range text", format!("range(\"{}\")", deep("(", "1", ")", 5000))),
        ("long range text", format!("range(\"[1..{}]\")", "9".repeat(100_000))),
        ("long number", format!("{} + 1", "9".repeat(500_000))),
        ("tiny number", format!("0.{}1", "0".repeat(500_000))),
        ("long string functions", format!("{{s: \"{a}\", r: for i in 1..10000 return upper case(s)}}.r")),
        (
            "substrings",
            format!("{{s: \"{}\", r: for i in 1..20000 return substring(s, i, 1)}}.r", "é".repeat(20_000)),
        ),
        ("contains", format!("{{s: \"{a}\", r: for i in 1..10000 return contains(s, s + \"b\")}}.r")),
        (
            "substring after",
            format!(
                "{{s: \"{a}\", r: for i in 1..10000 return substring after(s, \"{}b\")}}.r",
                "a".repeat(5000)
            ),
        ),
        ("split", "split(\"".to_owned() + &"a,".repeat(50_000) + "\", \",\")"),
        ("split by nothing", format!("split(\"{a}\", \"x*\")")),
    ]
}

/// Patterns that a search could spend its life on, in each function that takes one.
fn patterns() -> Vec<(&'static str, String)> {
    let a = "a".repeat(20_000);
    let mut all = Vec::new();
    for (name, pattern) in [
        ("(a+)+$", "(a+)+$".to_owned()),
        ("(a|aa)+$", "(a|aa)+$".into()),
        ("(.*)*x", "(.*)*x".into()),
        ("(a*)*b back", "(a*)*\\\\1b".into()),
        ("back reference", "(a+)(a+)(a+)\\\\1\\\\2\\\\3b".into()),
        ("counted", "(a{1,1000}){1,1000}b".into()),
        ("counted 3", "((a{1,100}){1,100}){1,100}b".into()),
        ("million", "a{1000000}".into()),
        ("classes", "[\\\\p{L}-[a-z]]{500}\\\\w{500}".into()),
        ("\\w{1000}", "\\\\w{1000}\\\\W{1000}\\\\p{L}{1000}".into()),
        ("nested groups", "(".repeat(2000) + "a" + &")".repeat(2000)),
        ("alternatives", "a|".repeat(50_000) + "b"),
        ("lookalike", ".*.*.*.*.*.*.*.*.*.*.*.*x".into()),
    ] {
        let subject = a.clone() + "!";
        for call in [
            format!("matches(\"{subject}\", \"{pattern}\")"),
            format!("replace(\"{subject}\", \"{pattern}\", \"x\")"),
            format!("split(\"{subject}\", \"{pattern}\")"),
            format!(
                "for i in 1..1000 return matches(\"{}!\" + string(i), \"{pattern}\" + string(i))",
                "a".repeat(200)
            ),
        ] {
            all.push((name, call));
        }
    }
    all
}

fn models() -> Vec<(&'static str, Vec<String>)> {
    let parts = [graphs(), functions(), imported(), types(), boxes(), tables(), documents(), names()];
    parts.into_iter().flatten().collect()
}

fn graphs() -> Vec<(&'static str, Vec<String>)> {
    let name = |at: usize| format!("d{at}");
    let chain = |count: usize| -> String {
        let link = |at: usize| {
            let next = name(at + 1);
            if at + 1 < count {
                decision(&name(at), std::slice::from_ref(&next), &literal(&format!("{next} + 1")))
            } else {
                decision(&name(at), &[], &literal("1"))
            }
        };
        (0..count).map(link).collect()
    };
    let diamond = |levels: usize, width: usize| -> String {
        let mut out = String::new();
        for level in 0..levels {
            for at in 0..width {
                let needs: Vec<String> = if level + 1 < levels {
                    (0..width).map(|to| name((level + 1) * width + to)).collect()
                } else {
                    Vec::new()
                };
                let sum = if needs.is_empty() { "1".to_owned() } else { needs.join(" + ") };
                out.push_str(&decision(&name(level * width + at), &needs, &literal(&sum)));
            }
        }
        out
    };
    vec![
        ("decision requiring itself", vec![model(&decision("d", &["d".to_owned()], &literal("d + 1")))]),
        ("10,000 decisions in a chain", vec![model(&chain(10_000))]),
        ("diamonds 100 x 20", vec![model(&diamond(100, 20))]),
    ]
}

fn functions() -> Vec<(&'static str, Vec<String>)> {
    let knowledge = |name: &str, needs: &str, logic: &str| {
        format!(
            "<businessKnowledgeModel id=\"{name}\" name=\"{name}\"><variable name=\"{name}\"/><encapsulatedLogic><formalParameter name=\"n\"/>{}</encapsulatedLogic><knowledgeRequirement><requiredKnowledge href=\"#{needs}\"/></knowledgeRequirement></businessKnowledgeModel>",
            literal(logic)
        )
    };
    let requires = |name: &str| {
        format!("<knowledgeRequirement><requiredKnowledge href=\"#{name}\"/></knowledgeRequirement>")
    };
    let call = |logic: &str| {
        format!(
            "<decision id=\"d\" name=\"d\"><variable name=\"d\"/>{}{}</decision>",
            requires("f"),
            literal(logic)
        )
    };
    vec![
        ("knowledge model calling itself", vec![model(&(call("f(1)") + &knowledge("f", "f", "f(n + 1)")))]),
        (
            "knowledge models doubling",
            vec![model(
                &(call("f(1)") + &knowledge("f", "g", "g(n) + g(n)") + &knowledge("g", "f", "f(n) + f(n)")),
            )],
        ),
    ]
}

fn imported() -> Vec<(&'static str, Vec<String>)> {
    let imports = |own: &str, others: &[&str]| {
        let imports: String = others
            .iter()
            .map(|to| {
                format!("<import name=\"{to}\" namespace=\"urn:{to}\" importType=\"{}\"/>", xml::MODEL_NS)
            })
            .collect();
        format!(
            "<definitions xmlns=\"{}\" name=\"{own}\" namespace=\"urn:{own}\">{imports}{}</definitions>",
            xml::MODEL_NS,
            decision("d", &[], &literal("1"))
        )
    };
    vec![
        ("imports in a ring", vec![imports("a", &["b", "a"]), imports("b", &["a", "b"])]),
        ("imports without documents", vec![imports("a", &["b"; 5000])]),
    ]
}

fn types() -> Vec<(&'static str, Vec<String>)> {
    let nested = |open: &str, inner: &str, close: &str, times: usize| {
        open.repeat(times) + inner + &close.repeat(times)
    };
    let components =
        nested("<itemComponent name=\"c\">", "<typeRef>number</typeRef>", "</itemComponent>", 200);
    let doubling: String = (0..100)
        .map(|at| {
            let part = |side: &str| {
                format!("<itemComponent name=\"{side}\"><typeRef>t{}</typeRef></itemComponent>", at + 1)
            };
            format!("<itemDefinition name=\"t{at}\">{}{}</itemDefinition>", part("l"), part("r"))
        })
        .collect();
    let typed = "<decision id=\"d\" name=\"d\"><variable name=\"d\" typeRef=\"t0\"/><literalExpression><text>{l: 1, r: 2}</text></literalExpression></decision>";
    vec![
        ("item components 200 deep", vec![model(&format!("<itemDefinition name=\"t\">{components}</itemDefinition>"))]),
        ("item definitions doubling", vec![model(&(doubling + typed))]),
        ("item definition of itself", vec![model(&("<itemDefinition name=\"t0\"><itemComponent name=\"l\"><typeRef>t0</typeRef></itemComponent></itemDefinition>".to_owned() + typed))]),
    ]
}

fn boxes() -> Vec<(&'static str, Vec<String>)> {
    let nested = |open: &str, inner: &str, close: &str, times: usize| {
        open.repeat(times) + inner + &close.repeat(times)
    };
    let entry = |logic: &str| format!("<contextEntry><variable name=\"x\"/>{logic}</contextEntry>");
    let boxed = (0..38).fold(literal("1"), |inner, _| format!("<context>{}</context>", entry(&inner)));
    let wide: String = (0..20_000)
        .map(|at| {
            format!("<contextEntry><variable name=\"x{at}\"/>{}</contextEntry>", literal(&format!("{at}")))
        })
        .collect();
    let loops = (0..6).fold(literal("1"), |inner, at| {
        format!(
            "<for iteratorVariable=\"i{at}\"><in>{}</in><return>{inner}</return></for>",
            literal("for i in 1..100 return i")
        )
    });
    vec![
        ("contexts 38 deep", vec![model(&decision("d", &[], &boxed))]),
        (
            "contexts 10,000 deep",
            vec![model(&decision(
                "d",
                &[],
                &nested("<context><contextEntry>", "", "</contextEntry></context>", 10_000),
            ))],
        ),
        (
            "context of 20,000 entries",
            vec![model(&decision("d", &[], &format!("<context>{wide}</context>")))],
        ),
        ("boxed loops", vec![model(&decision("d", &[], &loops))]),
    ]
}

fn tables() -> Vec<(&'static str, Vec<String>)> {
    vec![
        (
            "table of 1,000 columns, 20 rules",
            vec![model(&decision("d", &[], &table(1000, 20, |_, column| format!("{column}"))))],
        ),
        (
            "table of 10,000 ranges",
            vec![model(&decision("d", &[], &table(2, 10_000, |rule, _| format!("[0..{rule}]"))))],
        ),
        (
            "table of 10 columns of ranges",
            vec![model(&decision(
                "d",
                &[],
                &table(10, 1000, |rule, column| {
                    format!("[{}..{}]", rule * 7 % 100 + column, rule * 7 % 100 + 50)
                }),
            ))],
        ),
        (
            "table of slow tests",
            vec![model(&decision(
                "d",
                &[],
                &table(2, 1000, |rule, _| format!("some i in 1..100000 satisfies i = ? + {rule} + 100000")),
            ))],
        ),
    ]
}

fn documents() -> Vec<(&'static str, Vec<String>)> {
    let bomb = "<!DOCTYPE a [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;\">]><definitions>&c;</definitions>";
    let bindings: String = (0..300).map(|at| format!(" xmlns:p{at}=\"urn:{at}\"")).collect();
    let attributes: String = (0..5000).map(|at| format!(" a{at}=\"{at}\"")).collect();
    vec![
        ("XML bomb", vec![bomb.to_owned()]),
        ("300 namespaces", vec![format!("<definitions xmlns=\"{}\"{bindings}/>", xml::MODEL_NS)]),
        ("5,000 attributes", vec![format!("<definitions xmlns=\"{}\"{attributes}/>", xml::MODEL_NS)]),
        ("100,000 elements of no meaning", vec![model(&"<a/>".repeat(100_000))]),
        (
            "one line of 4 MB",
            vec![model(&decision("d", &[], &format!("<list>{}</list>", literal("1").repeat(70_000))))],
        ),
        ("references", vec![model(&decision("d", &[], &literal(&"&#65;".repeat(100_000))))]),
    ]
}

fn names() -> Vec<(&'static str, Vec<String>)> {
    let spaced: String = (0..5000).map(|at| format!("<inputData id=\"i{at}\" name=\"long name {at}\"><variable name=\"long name {at}\"/></inputData>")).collect();
    let needs: String = (0..5000)
        .map(|at| {
            format!("<informationRequirement><requiredInput href=\"#i{at}\"/></informationRequirement>")
        })
        .collect();
    let names: String = (0..5000).map(|at| format!("long name {at} + ")).collect();
    vec![(
        "5,000 names with spaces",
        vec![model(
            &(format!(
                "<decision id=\"d\" name=\"d\"><variable name=\"d\"/>{needs}{}</decision>",
                literal(&(names + "1"))
            ) + &spaced),
        )],
    )]
}

fn run(case: &Case) -> Result<(Duration, u64, String), Failure> {
    peak();
    std::thread::scope(|scope| {
        let work = || {
            let start = cpu();
            let said = match &case.input {
                Input::Feel(text) => feel(text),
                Input::Models(sources) => decisions(sources),
            };
            (cpu().saturating_sub(start), said)
        };
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        let (spent, said) = thread.join().map_err(|_panic| format!("{}: it panicked", case.name))?;
        Ok((spent, peak().unwrap_or(0) / 1024, said))
    })
}

fn main() -> Result<(), Failure> {
    let part = std::env::args().nth(1).unwrap_or_default();
    let expressions = expressions().into_iter().map(|(name, text)| Case { name, input: Input::Feel(text) });
    let models = models()
        .into_iter()
        .map(|(name, sources)| Case { name: name.to_owned(), input: Input::Models(sources) });
    let mut rows = Vec::new();
    for case in expressions.chain(models).filter(|case| case.name.contains(&part)) {
        let (spent, memory, said) = run(&case)?;
        rows.push((spent, memory, case.name, said));
    }
    rows.sort_by_key(|row| row.0);
    let mut out = std::io::stdout();
    for (spent, memory, name, said) in rows {
        writeln!(out, "{:8.1} ms {memory:5} MiB  {name:34} {}", spent.as_secs_f64() * 1e3, short(&said))?;
    }
    Ok(())
}
