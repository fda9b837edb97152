//! The literal expressions of the DMN kit that need nothing but input data, against the results that the kit expects.

use std::path::{Path, PathBuf};

use heddle_feel::{
    Context, Dialect, Expression, Options, Type, Types, Value, parse_date, parse_date_time, parse_duration,
    parse_time,
};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::NOW;

/// An element with its attributes by local name.
#[derive(Default, Debug)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    children: Vec<Element>,
    text: String,
}

impl Element {
    fn of(start: &BytesStart<'_>) -> Self {
        let attributes = start
            .attributes()
            .flatten()
            .map(|a| {
                let value = quick_xml::escape::unescape(&a.value).unwrap_or_default().into_owned();
                (a.key.local_name().as_ref().to_owned(), value)
            })
            .collect();
        Self { name: start.local_name().as_ref().to_owned(), attributes, ..Self::default() }
    }

    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    fn all<'e>(&'e self, name: &'e str) -> impl Iterator<Item = &'e Self> {
        self.children.iter().filter(move |child| child.name == name)
    }
}

fn document(path: &Path) -> Option<Element> {
    let text = std::fs::read_to_string(path).ok()?;
    let mut reader = Reader::from_str(&text);
    let mut open = vec![Element::default()];
    loop {
        match reader.read_event().ok()? {
            Event::Start(start) => open.push(Element::of(&start)),
            Event::Empty(start) => open.last_mut()?.children.push(Element::of(&start)),
            Event::End(_) => {
                let element = open.pop()?;
                open.last_mut()?.children.push(element);
            }
            Event::Text(text) => open.last_mut()?.text.push_str(&text),
            Event::CData(text) => open.last_mut()?.text.push_str(&text),
            Event::GeneralRef(reference) => {
                let name: &str = &reference;
                let resolved = quick_xml::escape::unescape(&format!("&{name};")).ok()?.into_owned();
                open.last_mut()?.text.push_str(&resolved);
            }
            Event::Eof => return open.pop()?.children.pop(),
            _ => {}
        }
    }
}

/// The value of an `expected`, `inputNode`, `component` or `item` of the kit's test files.
fn value(element: &Element) -> Option<Value> {
    if let Some(list) = element.child("list") {
        return Some(Value::list(list.all("item").map(value).collect::<Option<_>>()?));
    }
    if element.child("component").is_some() {
        let mut context = Context::new();
        for component in element.all("component") {
            context.put(component.attribute("name")?, value(component)?);
        }
        return Some(Value::context(context));
    }
    let value = element.child("value")?;
    if value.attribute("nil") == Some("true") {
        return Some(Value::Null);
    }
    let kind = value.attribute("type").unwrap_or("string");
    let text = value.text.as_str();
    Some(match kind.rsplit(':').next().unwrap_or(kind) {
        "boolean" => Value::Boolean(text.trim() == "true"),
        "decimal" | "double" | "integer" | "int" | "long" | "float" => {
            Value::Number(text.trim().parse().ok()?)
        }
        "date" => Value::Date(parse_date(text.trim())?),
        "time" => Value::Time(parse_time(text.trim())?.into()),
        "dateTime" => Value::DateTime(parse_date_time(text.trim())?.into()),
        "duration" | "dayTimeDuration" | "yearMonthDuration" => match parse_duration(text.trim())? {
            heddle_feel::Duration::DaysAndTime(duration) => Value::DaysAndTimeDuration(duration),
            heddle_feel::Duration::YearsAndMonths(months) => Value::YearsAndMonthsDuration(months),
        },
        _ => Value::string(text),
    })
}

/// The text of a decision that is a literal expression over input data alone.
fn literal(decision: &Element) -> Option<&str> {
    let only_inputs = decision
        .all("informationRequirement")
        .all(|requirement| requirement.child("requiredInput").is_some());
    if !only_inputs || decision.child("knowledgeRequirement").is_some() {
        return None;
    }
    let expression = decision.child("literalExpression")?;
    expression.child("text").map(|text| text.text.as_str())
}

/// How far a result may be from the one expected: the kit writes numbers shorter than they are.
fn alike(got: &Value, want: &Value) -> bool {
    match (got, want) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.to_f64(), b.to_f64());
            a == b || (a - b).abs() <= 1e-8 * b.abs().max(1.0)
        }
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| alike(a, b))
        }
        (Value::Context(a), Value::Context(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| alike(a, b)))
        }
        (Value::Function(_) | Value::Range(_), _) => got.to_string() == want.to_string(),
        _ => got == want,
    }
}

/// The type that an item definition or one of its components declares.
fn item_type(item: &Element) -> Option<Type> {
    let is_list = item.attribute("isCollection") == Some("true");
    let single = match item.child("typeRef") {
        Some(name) => {
            let name = name.text.trim();
            match name.strip_prefix("feel:").unwrap_or(name) {
                "Any" => Type::Any,
                "boolean" => Type::Boolean,
                "number" => Type::Number,
                "string" => Type::String,
                "date" => Type::Date,
                "time" => Type::Time,
                "dateTime" | "date and time" => Type::DateTime,
                "dayTimeDuration" | "days and time duration" => Type::DaysAndTimeDuration,
                "yearMonthDuration" | "years and months duration" => Type::YearsAndMonthsDuration,
                other => Type::Named(other.into()),
            }
        }
        None => Type::Context(
            item.all("itemComponent")
                .map(|part| Some((part.attribute("name")?.into(), item_type(part)?)))
                .collect::<Option<_>>()?,
        ),
    };
    Some(if is_list { Type::List(Some(Box::new(single))) } else { single })
}

struct Tally {
    right: u32,
    wrong: Vec<String>,
}

fn run_tests(tests: &Path, tally: &mut Tally) -> Option<()> {
    let cases = document(tests)?;
    let model = document(&tests.with_file_name(&cases.child("modelName")?.text))?;
    let names: Vec<String> = model
        .children
        .iter()
        .filter_map(|child| child.attribute("name").map(str::to_owned))
        .chain(model.all("itemDefinition").flat_map(|item| {
            item.all("itemComponent").filter_map(|part| part.attribute("name").map(str::to_owned))
        }))
        .collect();
    let types: Types = model
        .all("itemDefinition")
        .filter_map(|item| Some((item.attribute("name")?.to_owned(), item_type(item)?)))
        .collect();
    for case in cases.all("testCase") {
        let mut scope = Context::new();
        for input in case.all("inputNode") {
            scope.put(input.attribute("name")?, value(input).unwrap_or_default());
        }
        for node in case.all("resultNode") {
            let name = node.attribute("name")?;
            let decision = model.all("decision").find(|d| d.attribute("name") == Some(name));
            let Some(text) = decision.and_then(literal) else { continue };
            let Some(want) = node.child("expected").and_then(value) else { continue };
            let options = Options { dialect: Dialect::Standard, names: names.clone(), ..Options::default() };
            let got = Expression::compile_typed(text, &options, &types)
                .map_or(Value::Null, |e| e.evaluate(&scope, &NOW).map_or(Value::Null, |e| e.value));
            if alike(&got, &want) {
                tally.right += 1;
            } else {
                let file = tests.file_stem().unwrap_or_default().to_string_lossy();
                tally.wrong.push(format!("{file} {name}: {text} gave {got}, not {want}"));
            }
        }
    }
    Some(())
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            files(&path, found);
        } else if name.contains("-test-") && name.ends_with(".xml") {
            found.push(path);
        }
    }
    found.sort();
}

#[test]
fn literal_expressions_of_the_kit() {
    let given = std::env::var_os("HEDDLE_SUITES").map(PathBuf::from);
    let suites =
        given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/suites"));
    if !suites.is_dir() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "the suites' folder is missing");
        eprintln!("skipped: the suites' folder is missing");
        return;
    }
    let mut tests = Vec::new();
    for level in ["compliance-level-2", "compliance-level-3"] {
        files(&suites.join("dmn-tck").join(level), &mut tests);
    }
    let mut tally = Tally { right: 0, wrong: Vec::new() };
    for test in &tests {
        run_tests(test, &mut tally);
    }
    eprintln!("{} right", tally.right);
    assert!(tally.right > 1000, "only {} found", tally.right);
    assert!(tally.wrong.is_empty(), "{} wrong:\n{}", tally.wrong.len(), tally.wrong.join("\n"));
}
