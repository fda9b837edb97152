//! Forms as JSON Schema.

#![expect(clippy::indexing_slicing, reason = "members of JSON: an absent one reads as null")]

use super::map::{Place, flag, own};
use super::{Context, Members};
use crate::juel;
use crate::xml::tree::{El, Tree};
use serde_json::{Map as Object, Value, json};

const FOREIGN: &str = "the form stands outside the model; what is entered is not checked against it";

/// Fields of a form while it is gathered.
#[derive(Default)]
struct Fields {
    properties: Object<String, Value>,
    required: Vec<Value>,
}

impl Fields {
    fn add(&mut self, name: String, mut schema: Object<String, Value>, required: bool, order: usize) {
        // JSON objects have no order, and people fill in a form from top to bottom.
        schema.insert("x-order".to_owned(), order.into());
        if required {
            self.required.push(name.clone().into());
        }
        self.properties.insert(name, Value::Object(schema));
    }

    fn members(self, place: &Place<'_, '_>) -> Members {
        let mut form = json!({"type": "object", "properties": self.properties});
        if !self.required.is_empty() {
            form["required"] = Value::Array(self.required);
        }
        vec![(place.word.becomes.first().copied().unwrap_or("form"), form)]
    }
}

/// `camunda:formData` with its fields.
pub(super) fn data(place: &Place<'_, '_>) -> Result<Members, String> {
    let tree = place.tree;
    let mut fields = Fields::default();
    for (order, el) in tree.parts_of(place.el).enumerate() {
        let name = own(tree, el, "id").filter(|id| !id.is_empty()).ok_or("a field has no id")?;
        let mut schema = typed(tree, el, &own(tree, el, "type").unwrap_or_default())?;
        put(&mut schema, "title", own(tree, el, "label"));
        default(&mut schema, own(tree, el, "defaultValue"))?;
        let mut required = false;
        for child in tree.parts_of(el).filter(|&child| tree.part(child).local() == "validation") {
            for constraint in tree.parts_of(child) {
                required |= constrain(tree, constraint, &mut schema)?;
            }
        }
        fields.add(name, schema, required, order);
    }
    Ok(fields.members(place))
}

/// One `formProperty`.
pub(super) fn property(place: &Place<'_, '_>) -> Result<Members, String> {
    let (tree, el) = (place.tree, place.el);
    let name = place.own("id").filter(|id| !id.is_empty()).ok_or("a field has no id")?;
    for bound in ["variable", "expression", "value"] {
        if place.own(bound).is_some_and(|own| own != name) {
            return Err(format!("the field `{name}` stands for another value by `{bound}`"));
        }
    }
    let mut schema = typed(tree, el, &place.own("type").unwrap_or_default())?;
    put(&mut schema, "title", place.own("name"));
    default(&mut schema, place.own("default"))?;
    let said = |attribute: &str, usual: bool| place.own(attribute).map_or(Ok(usual), |value| flag(&value));
    let writable = said("writable", true)?;
    if !writable {
        schema.insert("readOnly".to_owned(), true.into());
    }
    if !said("readable", true)? {
        schema.insert("writeOnly".to_owned(), true.into());
    }
    let mut fields = Fields::default();
    fields.add(name, schema, said("required", false)? && writable, place.order);
    Ok(fields.members(place))
}

/// `zeebe:formDefinition` of a form that the model holds.
pub(super) fn definition(place: &Place<'_, '_>, context: &Context) -> Result<Members, String> {
    let key = place.own("formKey").unwrap_or_default();
    let id = key.trim().strip_prefix("camunda-forms:bpmn:");
    let Some(form) = id.and_then(|id| context.forms.get(id)) else {
        return Err(FOREIGN.to_owned());
    };
    let form: Value = serde_json::from_str(form).map_err(|error| format!("the form is no JSON: {error}"))?;
    let components = form.get("components").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut fields = Fields::default();
    for (order, component) in components.iter().enumerate() {
        camunda(component, order, &mut fields)?;
    }
    Ok(fields.members(place))
}

/// One component of a Camunda form.
fn camunda(component: &Value, order: usize, fields: &mut Fields) -> Result<(), String> {
    let text = |member: &str| component.get(member).and_then(Value::as_str).map(str::to_owned);
    let kind = text("type").unwrap_or_default();
    if matches!(kind.as_str(), "text" | "html" | "image" | "button" | "separator" | "spacer") {
        return Ok(());
    }
    let name = text("key").filter(|key| !key.is_empty()).ok_or("a field has no key")?;
    if name.contains('.') || component.get("conditional").is_some_and(|own| !own.is_null()) {
        return Err(format!("the field `{name}` is nested or shown on a condition"));
    }
    let mut schema = match (kind.as_str(), text("subtype").as_deref()) {
        ("textfield" | "textarea", _) => object(json!({"type": "string"})),
        ("number", _) => object(json!({"type": "number"})),
        ("checkbox", _) => object(json!({"type": "boolean"})),
        ("datetime", None | Some("date")) => object(json!({"type": "string", "format": "date"})),
        ("radio" | "select", _) => chosen(component),
        ("checklist" | "taglist", _) => {
            object(json!({"type": "array", "items": chosen(component), "uniqueItems": true}))
        }
        _ => return Err(format!("there is no counterpart for a field of the type `{kind}`")),
    };
    put(&mut schema, "title", text("label"));
    put(&mut schema, "description", text("description"));
    if let Some(value) = component.get("defaultValue").filter(|value| !value.is_null()) {
        schema.insert("default".to_owned(), value.clone());
    }
    let closed =
        ["readonly", "disabled"].iter().any(|own| component.get(own).is_some_and(|own| *own != false));
    if closed {
        schema.insert("readOnly".to_owned(), true.into());
    }
    let validate = component.get("validate");
    let rule = |name: &str| validate.and_then(|own| own.get(name)).filter(|own| !own.is_null());
    for (from, to) in
        [("minLength", "minLength"), ("maxLength", "maxLength"), ("min", "minimum"), ("max", "maximum")]
    {
        if let Some(bound) = rule(from) {
            let Some(bound) = number(bound) else { return Err(format!("the bound `{from}` is computed")) };
            schema.insert(to.to_owned(), bound);
        }
    }
    if let Some(pattern) = rule("pattern") {
        schema.insert("pattern".to_owned(), pattern.clone());
    }
    let required = match rule("required") {
        None => false,
        Some(own) => own.as_bool().ok_or("whether a field is required is computed")?,
    };
    fields.add(name, schema, required && !closed, order);
    Ok(())
}

/// A number, given as such or as a text.
fn number(value: &Value) -> Option<Value> {
    match value {
        Value::Number(_) => Some(value.clone()),
        Value::String(text) => text.trim().parse::<serde_json::Number>().ok().map(Value::Number),
        _ => None,
    }
}

/// Options of a choice; computed ones are not known here.
fn chosen(component: &Value) -> Object<String, Value> {
    let values = component.get("values").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let options: Vec<(Value, Option<String>)> = values
        .iter()
        .filter_map(|option| {
            Some((
                option.get("value")?.clone(),
                option.get("label").and_then(Value::as_str).map(str::to_owned),
            ))
        })
        .collect();
    options_schema(options)
}

fn options_schema(options: Vec<(Value, Option<String>)>) -> Object<String, Value> {
    let mut schema = Object::new();
    if !options.is_empty() {
        let each = options.into_iter().map(|(value, title)| match title {
            Some(title) => json!({"const": value, "title": title}),
            None => json!({"const": value}),
        });
        schema.insert("oneOf".to_owned(), each.collect());
    }
    schema
}

/// The schema of a field's type.
fn typed(tree: &Tree<'_>, el: El, kind: &str) -> Result<Object<String, Value>, String> {
    Ok(match kind {
        "" | "string" | "text" => object(json!({"type": "string"})),
        "long" | "integer" | "int" => object(json!({"type": "integer"})),
        "double" | "float" | "number" => object(json!({"type": "number"})),
        "boolean" => object(json!({"type": "boolean"})),
        "date" => object(json!({"type": "string", "format": "date"})),
        "enum" => {
            let values = tree.parts_of(el).filter(|&child| tree.part(child).local() == "value");
            let options =
                values.filter_map(|value| Some((own(tree, value, "id")?.into(), own(tree, value, "name"))));
            options_schema(options.collect())
        }
        other => return Err(format!("there is no counterpart for a field of the type `{other}`")),
    })
}

/// Sets the default of a field: a proposal to who fills in the form, and what a field gets that is not required and not sent.
fn default(schema: &mut Object<String, Value>, text: Option<String>) -> Result<(), String> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(()) };
    if juel::is_juel(&text) {
        return Err(format!("the default `{text}` is computed"));
    }
    let typed = match schema.get("type").and_then(Value::as_str) {
        Some("integer" | "number") => text.trim().parse::<serde_json::Number>().ok().map(Value::Number),
        Some("boolean") => text.trim().parse::<bool>().ok().map(Value::Bool),
        _ => None,
    };
    schema.insert("default".to_owned(), typed.unwrap_or_else(|| text.into()));
    Ok(())
}

/// Adds a constraint; answers whether it says that the field is required.
fn constrain(tree: &Tree<'_>, el: El, schema: &mut Object<String, Value>) -> Result<bool, String> {
    let name = own(tree, el, "name").unwrap_or_default();
    let config = own(tree, el, "config").unwrap_or_default();
    let member = match name.as_str() {
        "required" => return Ok(config.trim() != "false"),
        "readonly" => {
            schema.insert("readOnly".to_owned(), (config.trim() != "false").into());
            return Ok(false);
        }
        "min" => "minimum",
        "max" => "maximum",
        "minlength" => "minLength",
        "maxlength" => "maxLength",
        other => return Err(format!("there is no counterpart for the constraint `{other}`")),
    };
    let bound = config.trim().parse::<serde_json::Number>().ok();
    let bound = bound.ok_or_else(|| format!("the bound `{config}` of `{name}` is no number"))?;
    schema.insert(member.to_owned(), Value::Number(bound));
    Ok(false)
}

fn put(schema: &mut Object<String, Value>, member: &str, text: Option<String>) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        schema.insert(member.to_owned(), text.into());
    }
}

fn object(value: Value) -> Object<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Object::new(),
    }
}
