//! Decisions per CPU second, single thread: `bench-decisions [folder of the DMN TCK [part of a figure's name]]`.

use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use heddle_dmn::model::DecisionModel;
use heddle_dmn::{EvalOptions, compile, xml};
use heddle_feel::to_json;
use heddle_kernel::Timestamp;
use serde_json::{Map, Value as Json, json};

type Failure = Box<dyn std::error::Error>;

/// CPU time of this process.
fn cpu() -> Result<Duration, Failure> {
    let stat = std::fs::read_to_string("/proc/self/schedstat")?;
    let nanos = stat.split_whitespace().next().unwrap_or("0").parse()?;
    Ok(Duration::from_nanos(nanos))
}

/// Rate of the work per CPU second: the best of nine rounds, since whatever else runs can only slow it.
fn rate(mut work: impl FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
    let mut round = |batch: u32| -> Result<f64, Failure> {
        let start = cpu()?;
        for _ in 0..batch {
            work()?;
        }
        Ok(cpu()?.saturating_sub(start).as_secs_f64())
    };
    let mut batch = 1u32;
    let mut spent = round(batch)?;
    while spent < 0.1 {
        batch = batch.saturating_mul(if spent < 0.01 { 8 } else { 2 });
        spent = round(batch)?;
    }
    for _ in 0..8 {
        spent = spent.min(round(batch)?);
    }
    Ok(f64::from(batch) / spent)
}

/// Measures and prints one figure, unless its name is not asked for.
fn figure(name: &str, unit: &str, work: impl FnMut() -> Result<(), Failure>) -> Result<(), Failure> {
    if std::env::args().nth(2).is_some_and(|part| !name.contains(&part)) {
        return Ok(());
    }
    let rate = rate(work)?;
    writeln!(std::io::stdout(), "{name}: {rate:.0} {unit}/s")?;
    Ok(())
}

fn load(path: &Path) -> Result<DecisionModel, Failure> {
    Ok(xml::read(&std::fs::read(path)?)?.model)
}

fn first_inputs(path: &Path) -> Result<Map<String, Json>, Failure> {
    let file = heddle_dmn::tck::read(&std::fs::read(path)?)?;
    let case = file.cases.first().ok_or("no case")?;
    Ok(case.inputs.iter().map(|(name, value)| (name.to_string(), to_json(value))).collect())
}

/// A table with an equality and two range inputs whose rules do not overlap.
fn large_table(rules: usize) -> String {
    let mut out = String::from(
        r#"<definitions xmlns="https://www.omg.org/spec/DMN/20230324/MODEL/" name="large" namespace="urn:large"><decision id="d" name="d"><variable name="d" typeRef="number"/><decisionTable hitPolicy="UNIQUE"><input><inputExpression typeRef="string"><text>code</text></inputExpression></input><input><inputExpression typeRef="number"><text>amount</text></inputExpression></input><output typeRef="number"/>"#,
    );
    for rule in 0..rules {
        let (code, low) = (rule / 100, rule % 100 * 10);
        let _ = write!(
            out,
            "<rule><inputEntry><text>\"C{code}\"</text></inputEntry><inputEntry><text>[{low}..{})</text></inputEntry><outputEntry><text>{rule}</text></outputEntry></rule>",
            low + 10
        );
    }
    out.push_str("</decisionTable></decision></definitions>");
    out
}

fn main() -> Result<(), Failure> {
    let given = std::env::args().nth(1).map(PathBuf::from);
    let suite =
        given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/suites/dmn-tck"));
    let options = EvalOptions::new(Timestamp::from_micros(1_710_498_600_000_000));

    let folder = suite.join("compliance-level-2/0004-simpletable-U");
    let model = compile(&[load(&folder.join("0004-simpletable-U.dmn"))?]).model;
    let input = first_inputs(&folder.join("0004-simpletable-U-test-01.xml"))?;
    let decision = model.find("Approval Status").ok_or("no decision")?;
    figure("0004-simpletable-U", "evaluations", || {
        black_box(model.evaluate_element(decision, black_box(&input), &options)?);
        Ok(())
    })?;

    let folder = suite.join("compliance-level-3/0004-lending");
    let path = folder.join("0004-lending.dmn");
    let model = compile(&[load(&path)?]).model;
    let input = first_inputs(&folder.join("0004-lending-test-01.xml"))?;
    let decision = model.find("Strategy").ok_or("no decision")?;
    let value = model.evaluate_element(decision, &input, &options)?.value;
    figure(&format!("0004-lending Strategy ({value})"), "evaluations", || {
        black_box(model.evaluate_element(decision, black_box(&input), &options)?);
        Ok(())
    })?;
    let bytes = std::fs::read(&path)?;
    figure("0004-lending load and compile", "models", || {
        black_box(compile(&[xml::read(black_box(&bytes))?.model]));
        Ok(())
    })?;
    figure("0004-lending load alone", "models", || {
        black_box(xml::read(black_box(&bytes))?);
        Ok(())
    })?;

    let model = compile(&[xml::read(large_table(10_000).as_bytes())?.model]).model;
    let decision = model.find("d").ok_or("no decision")?;
    let inputs: Vec<Map<String, Json>> = (0..64)
        .map(|at| json!({ "code": format!("C{}", at * 37 % 100), "amount": at * 131 % 1000 }))
        .filter_map(|json| json.as_object().cloned())
        .collect();
    let mut at = 0;
    figure("table of 10,000 rules", "evaluations", || {
        at = (at + 1) % inputs.len();
        let input = inputs.get(at).ok_or("an input")?;
        black_box(model.evaluate_element(decision, black_box(input), &options)?);
        Ok(())
    })?;
    Ok(())
}
