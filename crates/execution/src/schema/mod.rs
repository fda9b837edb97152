//! Forms and input schemas: JSON Schema (2020-12 unless the schema names another), within bounds of the work that
//! holding a value against one takes. Schemas are their authors' programs: a short one can ask for endless work.

mod bounds;
mod problems;
mod work;

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

use self::bounds::Shape;
use self::problems::Told;
use crate::Problem;

/// Most problems that one check tells.
const MAX_PROBLEMS: usize = 50;
/// Evaluations of subschemas that one check may take.
const MAX_WORK: u64 = 20_000_000;
/// Evaluations up to which every problem is looked for; each may be one.
const MAX_TOLD: u64 = 200_000;
/// Most defaults that are tried one by one, where they do not pass together.
const MAX_APART: usize = 16;
/// Steps back that a pattern with references or look-around may take.
const MAX_BACKTRACKS: usize = 50_000;

/// A schema that is ready to be held against values.
#[derive(Debug)]
pub struct Checker {
    /// The schema with what is known of it; otherwise the reason why it can't be used.
    ready: Result<Ready, String>,
}

#[derive(Debug)]
struct Ready {
    schema: Value,
    shape: Shape,
    validator: Validator,
}

impl Checker {
    /// Makes a schema ready. One that can't be used lets nothing pass, as [`Self::check`] tells.
    #[must_use]
    pub fn new(schema: &Value) -> Self {
        Self { ready: ready(schema) }
    }

    /// Everything that is wrong with a value, at most 50 problems; fields are named below `base`, a missing or unknown
    /// member by its own name. The reasons are those of bodies of calls (`required`, `unknownField`, `wrongType`, …), and
    /// `schema` for what has no such word.
    #[must_use]
    pub fn check(&self, value: &Value, base: &str) -> Vec<Problem> {
        let ready = match &self.ready {
            Ok(ready) => ready,
            Err(reason) => {
                let message = format!("No value can be checked, since its schema cannot be used: {reason}");
                return vec![Problem::at(base, "schemaNotUsable", message)];
            }
        };
        let work = work::of(&ready.schema, &ready.shape, value, MAX_WORK);
        if work > MAX_WORK {
            let message = format!("Checking the value by its schema would take more than {MAX_WORK} steps.");
            return vec![Problem::at(base, "schemaWork", message)];
        }
        if ready.validator.is_valid(value) {
            return Vec::new();
        }
        if work <= MAX_TOLD {
            return Told { value, base }.all(ready.validator.iter_errors(value));
        }
        if !ready.shape.branches
            && let Err(first) = ready.validator.validate(value)
        {
            return Told { value, base }.all(std::iter::once(first));
        }
        let message = "The value does not fit its schema, and is too large to say where.";
        vec![Problem::at(base, "schema", message)]
    }

    /// Fills in the `default` of each property that is neither among the values, which have passed, nor known already: what
    /// a schema requires must be sent, with a default or without. A default with which the values would not pass is none:
    /// whoever sent them did nothing wrong.
    pub fn fill(&self, values: &mut Map<String, Value>, is_known: impl Fn(&str) -> bool) {
        let schema = self.ready.as_ref().ok().map(|ready| &ready.schema);
        let properties = schema.and_then(|schema| schema.get("properties")?.as_object());
        let defaults: Vec<(&String, &Value)> = properties
            .into_iter()
            .flatten()
            .filter(|(name, _)| !values.contains_key(*name) && !is_known(name))
            .filter_map(|(name, property)| Some((name, property.get("default")?)))
            .collect();
        if defaults.is_empty() {
            return;
        }
        if let Some(filled) = self.with(values, &defaults) {
            *values = filled;
        } else if defaults.len() <= MAX_APART {
            for one in defaults.chunks(1) {
                if let Some(filled) = self.with(values, one) {
                    *values = filled;
                }
            }
        }
    }

    /// Values with defaults, if they pass.
    fn with(
        &self,
        values: &Map<String, Value>,
        defaults: &[(&String, &Value)],
    ) -> Option<Map<String, Value>> {
        let mut filled = values.clone();
        filled.extend(defaults.iter().map(|(name, value)| ((*name).clone(), (*value).clone())));
        let filled = Value::Object(filled);
        let passes = self.check(&filled, "").is_empty();
        if let (true, Value::Object(filled)) = (passes, filled) { Some(filled) } else { None }
    }
}

/// Whether the value is a JSON Schema that can be used. References to other documents are not followed.
///
/// # Errors
/// A sentence that says why not.
pub fn usable(schema: &Value) -> Result<(), String> {
    ready(schema).map(|_| ())
}

/// Names of the properties of a schema whose `default` is no value of them, each with a sentence that says why:
/// [`Checker::fill`] leaves those out. None of a schema that can't be used.
#[must_use]
pub fn unfit_defaults(schema: &Value) -> Vec<(String, String)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let default =
        |(name, property): (&String, &Value)| Some((name.clone(), property.get("default")?.clone()));
    let defaults: Map<String, Value> = properties.into_iter().flatten().filter_map(default).collect();
    if defaults.is_empty() || usable(schema).is_err() {
        return Vec::new();
    }
    // What is asked of each property, and nothing of them together: that depends on what else is sent.
    let mut apart = schema.clone();
    if let Some(apart) = apart.as_object_mut() {
        let stays = |name: &str| {
            matches!(name, "$schema" | "$id" | "$anchor" | "$defs" | "definitions" | "properties")
        };
        apart.retain(|member, _| stays(member));
    }
    let mut found: Vec<(String, String)> = Vec::new();
    for problem in Checker::new(&apart).check(&Value::Object(defaults.clone()), "of") {
        let field = problem.field.unwrap_or_default();
        let Some(at) = field.strip_prefix("of.") else { continue };
        let is_at = |name: &&String| {
            let behind = at.strip_prefix(name.as_str());
            behind.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let name = defaults.keys().filter(is_at).max_by_key(|name| name.len());
        let Some(name) = name.filter(|name| found.iter().all(|(told, _)| told != *name)) else { continue };
        found.push((name.clone(), problem.message));
    }
    found
}

fn ready(schema: &Value) -> Result<Ready, String> {
    let shape = bounds::measure(schema)?;
    let patterns = PatternOptions::fancy_regex().backtrack_limit(MAX_BACKTRACKS).size_limit(1 << 20);
    let validator = jsonschema::options().with_pattern_options(patterns).build(schema);
    let validator = validator.map_err(|error| error.to_string())?;
    Ok(Ready { schema: schema.clone(), shape, validator })
}

#[cfg(test)]
mod tests;
