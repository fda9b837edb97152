//! Models small enough to be read at once, and what DMN 1.5 makes of them: types, tables, boxed expressions, functions,
//! imports.

use std::fmt::Write as _;

use heddle_dmn::model::DecisionModel;
use heddle_dmn::{Compiled, EvalOptions, Severity, compile, xml};
use heddle_kernel::Timestamp;
use serde_json::{Value as Json, json};

fn model(namespace: &str, body: &str) -> DecisionModel {
    let text = format!(
        r#"<definitions xmlns="https://www.omg.org/spec/DMN/20230324/MODEL/" xmlns:camunda="http://camunda.org/schema/1.0/dmn" name="m" namespace="{namespace}">{body}</definitions>"#
    );
    xml::read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}")).model
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

fn literal(text: &str) -> String {
    format!("<literalExpression><text>{}</text></literalExpression>", escaped(text))
}

/// Requirements as `#decision`, `in:#input` and `fn:#function`.
fn decision(name: &str, kind: &str, logic: &str, requires: &[&str]) -> String {
    let kind = if kind.is_empty() { String::new() } else { format!(r#" typeRef="{}""#, escaped(kind)) };
    let mut text = format!(r#"<decision name="{name}" id="{name}"><variable name="{name}"{kind}/>"#);
    for href in requires {
        let _ = match (href.strip_prefix("in:"), href.strip_prefix("fn:")) {
            (Some(input), _) => {
                write!(
                    text,
                    r#"<informationRequirement><requiredInput href="{input}"/></informationRequirement>"#
                )
            }
            (_, Some(function)) => {
                write!(
                    text,
                    r#"<knowledgeRequirement><requiredKnowledge href="{function}"/></knowledgeRequirement>"#
                )
            }
            _ => write!(
                text,
                r#"<informationRequirement><requiredDecision href="{href}"/></informationRequirement>"#
            ),
        };
    }
    text + logic + "</decision>"
}

fn input(name: &str) -> String {
    format!(r#"<inputData name="{name}" id="{name}"><variable name="{name}"/></inputData>"#)
}

fn value(compiled: &Compiled, name: &str, given: &Json) -> String {
    let given = given.as_object().expect("an object");
    let options = EvalOptions::new(Timestamp::from_micros(0));
    compiled.model.evaluate(name, given, &options).unwrap_or_else(|e| panic!("{name}: {e}")).value.to_string()
}

/// What decisions of these logics come to, one model for each.
fn check(around: &str, cases: &[(&str, &str, &str)]) {
    let mut wrong = Vec::new();
    for (kind, logic, want) in cases {
        let logic = if logic.starts_with("</") || !logic.starts_with('<') {
            literal(logic)
        } else {
            (*logic).to_owned()
        };
        let compiled =
            compile(&[model("urn:m", &format!("{around}{}", decision("d", kind, &logic, &["in:#x"])))]);
        let got = value(&compiled, "d", &json!({"x": 6}));
        if got != *want {
            wrong.push(format!("{logic} as {kind:?} gave {got}, not {want}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Clause 7.3.2 and the implicit conversions of 10.3.2.9.4.
#[test]
fn results_are_of_their_types() {
    let types = r#"
        <itemDefinition name="tSmall"><typeRef>number</typeRef><allowedValues><text>[0..10]</text></allowedValues></itemDefinition>
        <itemDefinition name="tSmalls" isCollection="true"><typeRef>tSmall</typeRef></itemDefinition>
        <itemDefinition name="tTwo" isCollection="true"><typeRef>string</typeRef><typeConstraint><text>count(?) &lt;= 2</text></typeConstraint></itemDefinition>
        <itemDefinition name="tPerson"><itemComponent name="name"><typeRef>string</typeRef></itemComponent><itemComponent name="tags" isCollection="true"><typeRef>string</typeRef></itemComponent></itemDefinition>
        <itemDefinition name="tNode"><itemComponent name="v"><typeRef>number</typeRef></itemComponent><itemComponent name="next"><typeRef>tNode</typeRef></itemComponent></itemDefinition>
        <itemDefinition name="tTree"><itemComponent name="on"><typeRef>date</typeRef></itemComponent><itemComponent name="under" isCollection="true"><typeRef>tTree</typeRef></itemComponent></itemDefinition>
        <itemDefinition name="tFn"><functionItem outputTypeRef="number"><parameters name="x" typeRef="number"/></functionItem></itemDefinition>"#;
    let around = format!("{types}{}", input("x"));
    check(
        &around,
        &[
            ("tSmall", "11", "null"),
            ("tSmall", "[5]", "5"),
            ("tSmalls", "5", "[5]"),
            ("tSmalls", "[1, 11]", "null"),
            ("tTwo", "\"a\"", "[\"a\"]"),
            ("tTwo", "[\"a\", \"b\", \"c\"]", "null"),
            ("tPerson", "{name: \"x\"}", "null"),
            ("tPerson", "{name: null, tags: []}", "{name: null, tags: []}"),
            ("tPerson", "[{name: \"x\", tags: [], more: 1}]", "{name: \"x\", tags: [], more: 1}"),
            ("tNode", "{v: 1, next: {v: 2, next: null}}", "{v: 1, next: {v: 2, next: null}}"),
            ("tNode", "{v: 1, next: {v: 2, next: {v: \"x\", next: null}}}", "null"),
            ("tNode", "{v: 1, next: 2}", "null"),
            ("tTree", "{on: @\"2024-01-02\", under: [{on: 1, under: []}]}", "null"),
            ("tFn", "function(x: number, y: number) 1", "null"),
            ("date and time", "@\"2012-01-01\"", "2012-01-01T00:00:00Z"),
            ("date", "@\"2012-01-01T00:00:00\"", "null"),
            ("number", "[[1]]", "null"),
            ("number", "[]", "null"),
            ("list<number>", "[1, \"a\"]", "null"),
            ("", "{v: 1, next: {v: 2, next: null}} instance of tNode", "true"),
        ],
    );
    // JSON has no dates: they are read where the type asks for them, however deep.
    let tree = format!(
        r#"{types}<inputData name="t" id="t"><variable name="t" typeRef="tTree"/></inputData>{}"#,
        decision("d", "", &literal("t.under[1].on.year"), &["in:#t"])
    );
    let compiled = compile(&[model("urn:m", &tree)]);
    let given = json!({"t": {"on": "2024-01-02", "under": [{"on": "2023-01-02", "under": []}]}});
    assert_eq!(value(&compiled, "d", &given), "2023");
}

fn table(attributes: &str, outputs: &str, rules: &[(&str, &[&str])]) -> String {
    let mut text = format!(
        "<decisionTable {attributes}><input><inputExpression><text>x</text></inputExpression></input>{outputs}"
    );
    for (test, cells) in rules {
        let _ = write!(text, "<rule><inputEntry><text>{}</text></inputEntry>", escaped(test));
        for cell in *cells {
            let _ = write!(text, "<outputEntry><text>{}</text></outputEntry>", escaped(cell));
        }
        text += "</rule>";
    }
    text + "</decisionTable>"
}

/// Clause 8.2.8 to 8.3.3.
#[test]
fn hit_policies() {
    let around = format!(
        r#"<itemDefinition name="tLevel"><typeRef>string</typeRef><allowedValues><text>"high","low"</text></allowedValues></itemDefinition>
        <itemDefinition name="tLevels" isCollection="true"><typeRef>tLevel</typeRef></itemDefinition>
        <itemDefinition name="tPair"><itemComponent name="a"><typeRef>tLevel</typeRef></itemComponent><itemComponent name="b"><typeRef>number</typeRef></itemComponent></itemDefinition>{}"#,
        input("x")
    );
    let levels: [(&str, &[&str]); 2] = [("> 1", &["\"low\""]), (">= 5", &["\"high\""])];
    let numbers: [(&str, &[&str]); 3] = [("> 1", &["1"]), (">= 5", &["3"]), ("-", &["2"])];
    let pairs: [(&str, &[&str]); 2] = [("> 1", &["\"low\"", "1"]), (">= 5", &["\"high\"", "2"])];
    let out = "<output/>";
    let cases = [
        ("", table(r#"hitPolicy="PRIORITY""#, r#"<output typeRef="tLevel"/>"#, &levels), "high"),
        ("tLevel", table(r#"hitPolicy="PRIORITY""#, out, &levels), "high"),
        ("tLevels", table(r#"hitPolicy="OUTPUT ORDER""#, out, &levels), r#"["high", "low"]"#),
        (
            "tPair",
            table(r#"hitPolicy="PRIORITY""#, r#"<output name="a"/><output name="b"/>"#, &pairs),
            r#"{a: "high", b: 2}"#,
        ),
        ("", table("", out, &numbers), "null"),
        ("", table(r#"hitPolicy="ANY""#, out, &numbers), "null"),
        ("", table(r#"hitPolicy="FIRST""#, out, &numbers), "1"),
        ("", table(r#"hitPolicy="RULE ORDER""#, out, &numbers), "[1, 3, 2]"),
        ("", table(r#"hitPolicy="COLLECT""#, out, &numbers), "[1, 3, 2]"),
        ("", table(r#"hitPolicy="COLLECT" aggregation="SUM""#, out, &numbers), "6"),
        ("", table(r#"hitPolicy="COLLECT" aggregation="MAX""#, out, &numbers), "3"),
        ("", table(r#"hitPolicy="COLLECT" aggregation="COUNT""#, out, &numbers), "3"),
        ("", table(r#"hitPolicy="COLLECT" aggregation="SUM""#, out, &levels), "null"),
        ("", table(r#"hitPolicy="COLLECT" aggregation="MIN""#, out, &levels), "high"),
        (
            "",
            table(
                r#"hitPolicy="COLLECT" aggregation="MAX""#,
                r#"<output name="a"/><output name="b"/>"#,
                &pairs,
            ),
            "null",
        ),
        (
            "",
            table(
                r#"hitPolicy="COLLECT" aggregation="SUM""#,
                out,
                &[("-", &["@\"P1D\""]), ("> 1", &["@\"PT12H\""])],
            ),
            "P1DT12H",
        ),
        ("", table(r#"hitPolicy="COLLECT" aggregation="SUM""#, out, &[("-", &["@\"2012-01-01\""])]), "null"),
        ("", table("", out, &[("> 100", &["1"])]), "null"),
        (
            "",
            table(
                "",
                r#"<output name="a"><defaultOutputEntry><text>7</text></defaultOutputEntry></output><output name="b"/>"#,
                &[("> 100", &["1", "2"])],
            ),
            "{a: 7, b: null}",
        ),
    ];
    let cases: Vec<(&str, &str, &str)> =
        cases.iter().map(|(kind, logic, want)| (*kind, &**logic, *want)).collect();
    check(&around, &cases);
}

/// Boxed expressions run over days as well as over numbers, and call functions of FEEL by the names of parameters.
#[test]
fn boxed_expressions() {
    let days = literal(r#"[@"2012-01-30"..@"2012-02-01"]"#);
    let call = |function: &str, arguments: &[(&str, &str)]| {
        let mut text = format!("<invocation>{}", literal(function));
        for (name, argument) in arguments {
            let _ = write!(text, r#"<binding><parameter name="{name}"/>{}</binding>"#, literal(argument));
        }
        text + "</invocation>"
    };
    let loop_over = |domain: &str, body: &str| {
        format!(r#"<for iteratorVariable="i"><in>{domain}</in><return>{body}</return></for>"#)
    };
    let cases = [
        (loop_over(&days, &literal("i.day")), "[30, 31, 1]"),
        (loop_over(&literal("(1..3)"), &literal("i")), "[2]"),
        (loop_over(&literal("[1.5..3]"), &literal("i")), "null"),
        (loop_over(&literal("null"), &literal("i")), "null"),
        (
            format!(
                r#"<some iteratorVariable="i"><in>{days}</in><satisfies>{}</satisfies></some>"#,
                literal("i.day = 31")
            ),
            "true",
        ),
        (call("substring", &[("string", "\"foobar\""), ("start position", "3")]), "obar"),
        (call("context put", &[("context", "{a: 1}"), ("keys", "[\"b\"]"), ("value", "2")]), "{a: 1, b: 2}"),
        (call("abs", &[("m", "1")]), "null"),
        (call("function(a, b) a - b", &[("b", "1"), ("a", "3")]), "2"),
        (call("function(a, b) a", &[("a", "3")]), "null"),
    ];
    let cases: Vec<(&str, &str, &str)> = cases.iter().map(|(logic, want)| ("", &**logic, *want)).collect();
    check(&input("x"), &cases);
}

/// Knowledge models go before functions of FEEL of their name, and their types tell what functions they are.
#[test]
fn functions_of_models() {
    let function = |name: &str, body: &str| {
        format!(
            r#"<businessKnowledgeModel name="{name}" id="{name}"><variable name="{name}" typeRef="number"/><encapsulatedLogic><formalParameter name="a" typeRef="number"/>{}</encapsulatedLogic></businessKnowledgeModel>"#,
            literal(body)
        )
    };
    let body = [
        function("max", "a + 1"),
        function("double", "a * 2"),
        input("date"),
        decision("own", "", &literal("max(4)"), &["fn:#max"]),
        decision("feel", "", &literal("max(4, 7)"), &[]),
        decision("date of", "", &literal("date(\"2012-01-02\").day + date"), &["in:#date"]),
        decision("is", "", &literal("double instance of function<number>->number"), &["fn:#double"]),
        decision("is not", "", &literal("double instance of function<string>->number"), &["fn:#double"]),
        decision("nor", "", &literal("double instance of function<number>->string"), &["fn:#double"]),
    ];
    let compiled = compile(&[model("urn:m", &body.concat())]);
    for (name, want) in
        [("own", "5"), ("feel", "7"), ("date of", "3"), ("is", "true"), ("is not", "false"), ("nor", "false")]
    {
        assert_eq!(value(&compiled, name, &json!({"date": 1})), want, "{name}");
    }
}

/// Names as people write them, some with keywords, operators and names of functions in them.
#[test]
fn names_are_found_in_texts() {
    for name in [
        "Person's description",
        "a-b",
        "x/y - z",
        "for rent",
        "in stock",
        "if any",
        "some thing",
        "function name",
        "and so on",
        "list contains",
        "date of birth",
        "null value",
        "Größe",
        "number",
        "time",
    ] {
        let body = format!(
            "{}{}",
            input(name),
            decision("d", "", &literal(&format!("{name} + 1")), &[&format!("in:#{name}")])
        );
        let compiled = compile(&[model("urn:m", &body)]);
        assert_eq!(value(&compiled, "d", &json!({name: 2})), "3", "{name}");
    }
}

/// Clause 6.3.3: under its name an imported model is a context; without a name its elements are as the model's own.
#[test]
fn imports() {
    let library = [
        r#"<itemDefinition name="tP"><itemComponent name="n"><typeRef>number</typeRef></itemComponent></itemDefinition>"#.to_owned(),
        input("given"),
        format!(
            r#"<businessKnowledgeModel name="twice" id="twice"><variable name="twice"/><encapsulatedLogic><formalParameter name="v"/>{}</encapsulatedLogic></businessKnowledgeModel>"#,
            literal("v * 2")
        ),
        decision("base rate", "", &literal("given + 1"), &["in:#given"]),
        r##"<decisionService name="S" id="S"><variable name="S"/><outputDecision href="#base rate"/><inputData href="#given"/></decisionService>"##.to_owned(),
    ];
    let library = model("urn:lib", &library.concat());
    for prefix in ["I", "My Lib", ""] {
        let q = if prefix.is_empty() { String::new() } else { format!("{prefix}.") };
        let (base, twice) = ("urn:lib#base rate", "fn:urn:lib#twice");
        let mut cases = vec![
            (format!("{q}base rate + 1"), vec![base], "5"),
            (format!("{q}twice(v: {q}base rate)"), vec![base, twice], "8"),
            (format!("{q}S(7)"), vec!["fn:urn:lib#S"], "8"),
            (format!("{q}given"), vec!["in:urn:lib#given"], "3"),
            (format!("{{n: 1}} instance of {q}tP"), vec![], "true"),
        ];
        if !prefix.is_empty() {
            cases.extend([
                (prefix.to_owned(), vec![base, "in:urn:lib#given"], "{base rate: 4, given: 3}"),
                (format!("get value({prefix}, \"base rate\")"), vec![base], "4"),
                (format!("get entries({prefix}).key"), vec![base, twice], "[\"base rate\", \"twice\"]"),
                (format!("{{m: {prefix}, r: m.twice(m.base rate)}}.r"), vec![base, twice], "8"),
                (format!("for i in [1, 2] return {prefix}.twice(i)"), vec![twice], "[2, 4]"),
                (format!("{prefix} = null"), vec![base], "false"),
            ]);
        }
        for (text, requires, want) in cases {
            let body = format!(
                r#"<import name="{prefix}" namespace="urn:lib" importType="https://www.omg.org/spec/DMN/20230324/MODEL/"/>{}"#,
                decision("d", "", &literal(&text), &requires)
            );
            let compiled = compile(&[model("urn:m", &body), library.clone()]);
            assert_eq!(value(&compiled, "d", &json!({"given": 3})), want, "{text}");
        }
    }
}

/// Paths and literals of Java's expression language mean in FEEL what they mean there; the rest is refused.
#[test]
fn texts_of_workflow_engines() {
    let body = [
        r#"<decision id="a" name="A" camunda:historyTimeToLive="P30D"><decisionTable id="t"><input id="i" camunda:inputVariable="g"><inputExpression id="e" typeRef="string" expressionLanguage="juel"><text>${customer.kind}</text></inputExpression></input><output id="o" name="o" typeRef="integer"/><rule id="r"><inputEntry id="x"><text>"new"</text></inputEntry><outputEntry id="y" expressionLanguage="juel"><text>5</text></outputEntry></rule></decisionTable></decision>"#,
        r#"<decision id="b" name="B"><variable name="b" typeRef="double"/><literalExpression id="l" expressionLanguage="juel"><text>n * 2</text></literalExpression></decision>"#,
        r#"<decision id="c" name="C"><literalExpression id="s" expressionLanguage="juel"><text>'new'</text></literalExpression></decision>"#,
    ];
    let compiled = compile(&[model("urn:m", &body.concat())]);
    let given = json!({"customer": {"kind": "new"}, "n": 2});
    for (name, want) in [("A", "5"), ("B", "null"), ("C", "new")] {
        assert_eq!(value(&compiled, name, &given), want, "{name}");
    }
    let errors: Vec<_> = compiled.diagnostics.iter().filter(|it| it.severity == Severity::Error).collect();
    assert!(errors.iter().all(|it| it.code == "expressionLanguage" && it.element_id.as_deref() == Some("l")));
    assert_eq!(errors.len(), 1);
}

/// What is told of the names in the cells of a table with one input, and which of its rules matched.
fn told(clause: &str, cells: [&str; 2], given: &Json) -> (Vec<String>, String) {
    let [test, output] = cells.map(escaped);
    let logic = format!(
        r#"<decisionTable><input id="i"><inputExpression{clause}</inputExpression></input><output/>
           <rule><inputEntry id="t"><text>{test}</text></inputEntry><outputEntry id="o"><text>{output}</text></outputEntry>
           </rule></decisionTable>"#
    );
    let compiled =
        compile(&[model("urn:m", &format!("{}{}", input("x"), decision("d", "", &logic, &["in:#x"])))]);
    let names = ["unknownName", "decimalComma"];
    let found = compiled.diagnostics.iter().filter(|one| names.contains(&one.code.as_str()));
    let found = found.map(|one| format!("{} {}", one.code, one.element_id.as_deref().unwrap_or_default()));
    (found.collect(), value(&compiled, "d", given))
}

#[test]
fn a_cell_that_is_a_text_without_quotes_is_told() {
    let x = "><text>x</text>";
    for (cells, expected) in [
        (["gold", "1"], vec!["unknownName t"]),
        (["\"gold\"", "approve"], vec!["unknownName o"]),
        (["\"gold\"", "\"approve\""], vec![]),
        (["true", "null"], vec![]),
        (["x", "x"], vec![]),
        (["<= 1.000,50", "1"], vec!["decimalComma t"]),
        (["1.000,50", "1"], vec!["decimalComma t"]),
        (["> 1,5", "1"], vec!["decimalComma t"]),
        (["1,5", "1"], vec![]),
        (["<= 1000.50", "1"], vec![]),
    ] {
        assert_eq!(told(x, cells, &json!({"x": "gold"})).0, expected, "{cells:?}");
    }
    // A name that the table reads is one that its caller gives.
    assert_eq!(
        told("><text>tariff</text>", ["\"a\"", "tariff"], &json!({"tariff": "a"})),
        (vec![], "a".to_owned())
    );
}

#[test]
fn texts_from_outside_are_the_times_that_the_clause_asks_for() {
    for (kind, test, text) in [
        ("date", r#"< date("2030-01-31")"#, "2030-01-01"),
        ("date", r#"[date("2030-01-01")..date("2030-01-31")]"#, "2030-01-15"),
        ("time", r#"> time("08:00:00")"#, "09:30:00"),
        ("dateTime", r#"> date and time("2030-01-01T00:00:00")"#, "2030-01-01T12:00:00"),
        ("dayTimeDuration", r#"> duration("PT1H")"#, "PT2H"),
    ] {
        for name in ["x", "unheard", "order.placed"] {
            let clause = format!(r#" typeRef="{kind}"><text>{name}</text>"#);
            let given = json!({"x": text, "unheard": text, "order": {"placed": text}});
            assert_eq!(told(&clause, [test, "1"], &given).1, "1", "{kind} {name}");
        }
        // What is computed has its type, and what is no such text stays what it is.
        let computed = format!(r#" typeRef="{kind}"><text>x + ""</text>"#);
        assert_eq!(told(&computed, [test, "1"], &json!({"x": text})).1, "null", "{kind}");
        let clause = format!(r#" typeRef="{kind}"><text>x</text>"#);
        assert_eq!(told(&clause, [test, "1"], &json!({"x": "soon"})).1, "null", "{kind}");
    }
}

#[test]
fn a_result_that_its_type_does_not_take_has_its_reason() {
    let options = EvalOptions::new(Timestamp::from_micros(0));
    let reasons = |body: &str, name: &str| {
        let compiled = compile(&[model("urn:m", body)]);
        let outcome =
            compiled.model.evaluate(name, &json!({}).as_object().unwrap().clone(), &options).unwrap();
        (outcome.value.to_string(), outcome.reasons.len())
    };
    let quantified = |word: &str, condition: &str| {
        let logic = format!(
            r#"<{word} iteratorVariable="i"><in>{}</in><satisfies>{}</satisfies></{word}>"#,
            literal("[1, 2]"),
            literal(condition)
        );
        decision("d", "", &logic, &[])
    };
    assert_eq!(reasons(&quantified("some", "i + 1"), "d"), ("null".to_owned(), 1));
    assert_eq!(reasons(&quantified("every", "\"yes\""), "d"), ("null".to_owned(), 1));
    assert_eq!(reasons(&quantified("some", "i > 1"), "d"), ("true".to_owned(), 0));
    let service = |kind: &str, result: &str| {
        format!(
            r##"<itemDefinition name="tGiven"><typeRef>{result}</typeRef></itemDefinition>
               <itemDefinition name="tFunction"><functionItem outputTypeRef="{result}"/></itemDefinition>{}
               <decisionService id="s" name="s"><variable name="s" typeRef="{kind}"/><outputDecision href="#d"/>
               </decisionService>"##,
            decision("d", "", &literal("\"text\""), &[])
        )
    };
    for kind in ["number", "tGiven", "tFunction"] {
        assert_eq!(reasons(&service(kind, "number"), "s"), ("null".to_owned(), 1), "{kind}");
    }
    for kind in ["string", "tGiven", "tFunction"] {
        assert_eq!(reasons(&service(kind, "string"), "s"), ("text".to_owned(), 0), "{kind}");
    }
}
