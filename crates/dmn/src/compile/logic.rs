//! From boxed expressions to compiled logic.

use std::sync::Arc;

use heddle_feel::{Type, Value};

use super::plain::{self, Deferred};
use super::plan::{AllowedValues, Column, Entry, FunctionLogic, ItemType, Kind, Logic, Parameter, Place};
use super::table::{Cell, Input, Output, Table, Test};
use super::texts::Texts;
use super::types::Types;
use crate::diagnostic;
use crate::model::{
    At, BoxedExpression, ContextExpression, DecisionRule, DecisionTable, FunctionDefinition, FunctionKind,
    InformationItem, Invocation, LiteralExpression, Relation, UnaryTestsText,
};
use heddle_xml::hash::HashSet;

/// Compiles the logic of one element.
pub(super) struct Compiler<'c, 'm> {
    pub document: usize,
    pub texts: &'c mut Texts,
    pub types: &'c mut Types<'m>,
    /// The names in sight, outermost first.
    pub names: Vec<Arc<str>>,
    /// Number of names that stand around the element; the others are its own.
    pub around: usize,
    /// The names that its texts use.
    pub used: HashSet<Arc<str>>,
    /// Those among them that are not its own where they stand.
    pub outer: HashSet<Arc<str>>,
    pub place: Place,
    /// Names of the model's elements, required here or not.
    pub declared: &'c HashSet<Arc<str>>,
    /// Names of required inputs without a type of their own.
    pub untyped: Vec<Arc<str>>,
    /// The type of a decision whose whole logic is a table: what its outputs are, unless they say so themselves.
    pub whole: Option<Arc<ItemType>>,
}

impl Compiler<'_, '_> {
    /// The place of an element: its id, or that of the element around.
    fn place(&self, id: Option<&String>, at: At) -> Place {
        let mut place = self.place.clone();
        if let Some(id) = id {
            place.id = Some(Arc::from(id.as_str()));
        }
        place.at = at;
        place
    }

    pub(crate) fn kind(&mut self, name: Option<&String>, place: &Place) -> Option<Arc<ItemType>> {
        self.types.reference(self.document, name, place, self.texts)
    }

    fn item_kind(&mut self, item: Option<&InformationItem>, place: &Place) -> Option<Arc<ItemType>> {
        self.kind(item.and_then(|item| item.type_ref.as_ref()), place)
    }

    fn missing(reason: impl Into<Arc<str>>, place: Place) -> Logic {
        Logic { kind: Kind::Missing(reason.into()), result: None, place }
    }

    /// Compiles with these names in sight too.
    fn with<T>(&mut self, names: &[Arc<str>], compile: impl FnOnce(&mut Self) -> T) -> T {
        let depth = self.names.len();
        self.names.extend_from_slice(names);
        let result = compile(self);
        self.names.truncate(depth);
        result
    }

    fn uses<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        for name in names {
            if !self.used.contains(name) {
                self.used.insert(Arc::from(name));
            }
            let own = self.names.iter().skip(self.around).any(|own| **own == *name);
            if !own && !self.outer.contains(name) {
                self.outer.insert(Arc::from(name));
            }
        }
    }

    fn cell(&mut self, literal: &LiteralExpression) -> Cell {
        let text = literal.text.as_deref().unwrap_or_default();
        if text.trim().is_empty() {
            return Cell::Constant(Value::Null);
        }
        if literal.expression_language.is_none()
            && self.texts.language.is_none()
            && let Some(value) = plain::value(text)
        {
            return Cell::Constant(value);
        }
        let place = self.place(literal.id.as_ref(), literal.at);
        let (document, types) = (self.document, &mut *self.types);
        let compiled = self.texts.expression(
            text,
            literal.expression_language.as_ref(),
            &place,
            &self.names,
            &mut |name, texts| types.named(document, name, texts),
        );
        match compiled {
            Ok(expression) => match expression.constant() {
                Some(value) => Cell::Constant(value),
                None => {
                    self.uses(expression.globals());
                    Cell::Feel(expression, place)
                }
            },
            Err(reason) => Cell::Missing(reason, place),
        }
    }

    fn literal(&mut self, literal: &LiteralExpression) -> Logic {
        let place = self.place(literal.id.as_ref(), literal.at);
        let result = self.kind(literal.type_ref.as_ref(), &place);
        match self.cell(literal) {
            Cell::Constant(value) => Logic { kind: Kind::Constant(value), result, place },
            Cell::Feel(expression, place) => Logic { kind: Kind::Feel(expression), result, place },
            Cell::Missing(reason, place) => Self::missing(reason, place),
        }
    }

    /// The logic of an expression that may be absent.
    pub(crate) fn optional(&mut self, expression: Option<&BoxedExpression>, what: &str) -> Logic {
        match expression {
            Some(expression) => self.logic(expression),
            None => Self::missing(format!("{what} has no expression"), self.place.clone()),
        }
    }

    /// Compiles a boxed expression.
    pub(crate) fn logic(&mut self, expression: &BoxedExpression) -> Logic {
        let (id, kind, at) = match expression {
            BoxedExpression::LiteralExpression(it) => return self.literal(it),
            BoxedExpression::Context(it) => (&it.id, &it.type_ref, it.at),
            BoxedExpression::List(it) => (&it.id, &it.type_ref, it.at),
            BoxedExpression::Relation(it) => (&it.id, &it.type_ref, it.at),
            BoxedExpression::Invocation(it) => (&it.id, &it.type_ref, it.at),
            BoxedExpression::FunctionDefinition(it) => (&it.id, &it.type_ref, it.at),
            BoxedExpression::DecisionTable(it) => (&it.id, &it.type_ref, it.at),
            BoxedExpression::Conditional(it) => (&it.id, &it.type_ref, it.at),
            BoxedExpression::Filter(it) => (&it.id, &it.type_ref, it.at),
            BoxedExpression::For(it) => (&it.id, &it.type_ref, it.at),
            BoxedExpression::Some(it) | BoxedExpression::Every(it) => (&it.id, &it.type_ref, it.at),
        };
        let place = self.place(id.as_ref(), at);
        let result = self.kind(kind.as_ref(), &place);
        let outer = std::mem::replace(&mut self.place, place.clone());
        let (kind, result) = match self.boxed(expression, result.clone()) {
            Ok(kind) => (kind, result),
            Err(reason) => (Kind::Missing(reason), None),
        };
        self.place = outer;
        // A function's `typeRef` is checked where it is called.
        let result = if matches!(kind, Kind::Function(_)) { None } else { result };
        Logic { kind, result, place }
    }

    fn boxed(
        &mut self,
        expression: &BoxedExpression,
        result: Option<Arc<ItemType>>,
    ) -> Result<Kind, Arc<str>> {
        Ok(match expression {
            BoxedExpression::LiteralExpression(it) => self.literal(it).kind,
            BoxedExpression::Context(it) => self.context(it),
            BoxedExpression::List(it) => Kind::List(it.items.iter().map(|item| self.logic(item)).collect()),
            BoxedExpression::Relation(it) => self.relation(it),
            BoxedExpression::Invocation(it) => self.invocation(it),
            BoxedExpression::FunctionDefinition(it) => {
                Kind::Function(Arc::new(self.function(it, result, Vec::new())?))
            }
            BoxedExpression::DecisionTable(it) => {
                let whole = self.whole.take();
                Kind::Table(Box::new(self.table(it, result.or(whole))?))
            }
            BoxedExpression::Conditional(it) => Kind::Conditional(Box::new([
                self.optional(it.r#if.as_ref(), "`if`"),
                self.optional(it.then.as_ref(), "`then`"),
                self.optional(it.r#else.as_ref(), "`else`"),
            ])),
            BoxedExpression::Filter(it) => {
                let list = Box::new(self.optional(it.r#in.as_ref(), "`in`"));
                let names = [Arc::from("item")];
                let test = self.with(&names, |this| this.optional(it.r#match.as_ref(), "`match`"));
                Kind::Filter { list, test: Box::new(test) }
            }
            BoxedExpression::For(it) => {
                let list = self.list_of(it.r#in.as_ref(), it.in_type_ref.as_ref());
                let name: Arc<str> = Arc::from(it.iterator_variable.as_deref().unwrap_or("item").trim());
                let names = [Arc::from("partial"), name.clone()];
                let body = self.with(&names, |this| this.optional(it.r#return.as_ref(), "`return`"));
                Kind::For { name, list: Box::new(list), body: Box::new(body) }
            }
            BoxedExpression::Some(it) | BoxedExpression::Every(it) => {
                let list = self.list_of(it.r#in.as_ref(), it.in_type_ref.as_ref());
                let name: Arc<str> = Arc::from(it.iterator_variable.as_deref().unwrap_or("item").trim());
                let names = [name.clone()];
                let body = self.with(&names, |this| this.optional(it.satisfies.as_ref(), "`satisfies`"));
                let every = matches!(expression, BoxedExpression::Every(_));
                Kind::Quantified { every, name, list: Box::new(list), body: Box::new(body) }
            }
        })
    }

    fn list_of(&mut self, expression: Option<&BoxedExpression>, kind: Option<&String>) -> Logic {
        let mut list = self.optional(expression, "`in`");
        if list.result.is_none() {
            let place = list.place.clone();
            list.result = self.kind(kind, &place);
        }
        list
    }

    fn context(&mut self, context: &ContextExpression) -> Kind {
        let depth = self.names.len();
        let mut entries = Vec::with_capacity(context.entries.len());
        for entry in &context.entries {
            let name = entry.variable.as_ref().and_then(|variable| variable.name.as_deref());
            let name: Option<Arc<str>> = name.map(|name| Arc::from(name.trim()));
            let place = self.place(entry.id.as_ref(), entry.at);
            let kind = self.item_kind(entry.variable.as_ref(), &place);
            // A function may call itself by the name of its entry.
            let own = matches!(entry.value, Some(BoxedExpression::FunctionDefinition(_)));
            if own {
                self.names.extend(name.clone());
            }
            let value = self.optional(entry.value.as_ref(), "the entry");
            if !own {
                self.names.extend(name.clone());
            }
            entries.push(Entry { name, kind, value });
        }
        self.names.truncate(depth);
        Kind::Context(entries)
    }

    fn relation(&mut self, relation: &Relation) -> Kind {
        let mut columns = Vec::with_capacity(relation.columns.len());
        for column in &relation.columns {
            let place = self.place(column.id.as_ref(), column.at);
            let kind = self.item_kind(Some(column), &place);
            columns.push(Column { name: Arc::from(column.name.as_deref().unwrap_or_default().trim()), kind });
        }
        let rows = relation.rows.iter().map(|row| row.items.iter().map(|item| self.logic(item)).collect());
        Kind::Relation { columns, rows: rows.collect() }
    }

    fn invocation(&mut self, call: &Invocation) -> Kind {
        let callee = Box::new(self.optional(call.called_function.as_ref(), "the invocation"));
        let arguments = call.bindings.iter().map(|binding| {
            let name = binding.parameter.as_ref().and_then(|item| item.name.as_deref()).unwrap_or_default();
            let mut value = self.optional(binding.expression.as_ref(), "the binding");
            if value.result.is_none() {
                let place = value.place.clone();
                value.result = self.item_kind(binding.parameter.as_ref(), &place);
            }
            (Arc::from(name.trim()), value)
        });
        let arguments = arguments.collect();
        Kind::Invocation { callee, arguments }
    }

    /// Compiles a function; the reason when what carries it out is not at hand.
    pub(crate) fn function(
        &mut self,
        function: &FunctionDefinition,
        result: Option<Arc<ItemType>>,
        outer: Vec<Arc<str>>,
    ) -> Result<FunctionLogic, Arc<str>> {
        let kind = function.kind.unwrap_or_default();
        if kind != FunctionKind::Feel {
            let name = if kind == FunctionKind::Java { "Java" } else { "PMML" };
            let message = format!("Functions carried out by {name} are not supported; calls give null.");
            let place = self.place.clone();
            self.texts.report(diagnostic::error("externalFunction", message.clone()), &place);
            return Err(Arc::from(message));
        }
        let mut parameters = Vec::with_capacity(function.formal_parameters.len());
        for parameter in &function.formal_parameters {
            let place = self.place(parameter.id.as_ref(), parameter.at);
            let kind = self.item_kind(Some(parameter), &place);
            let name = Arc::from(parameter.name.as_deref().unwrap_or_default().trim());
            parameters.push(Parameter { name, kind });
        }
        let names: Vec<Arc<str>> = parameters.iter().map(|parameter| parameter.name.clone()).collect();
        let before = std::mem::take(&mut self.used);
        let mut sight = outer;
        sight.extend(names.iter().cloned());
        let body = self.with(&sight, |this| this.optional(function.body.as_ref(), "the function"));
        let used = std::mem::replace(&mut self.used, before);
        let free = used.iter().filter(|name| !names.contains(name)).cloned().collect();
        self.used.extend(used);
        // What tells a type of functions says nothing about the result.
        let result = result.filter(|kind| !matches!(kind.feel, Type::Function(_)));
        Ok(FunctionLogic { parameters, names, body, result, free })
    }

    /// Tests of a clause; `None` when there are none.
    fn allowed(&mut self, tests: Option<&UnaryTestsText>) -> Option<AllowedValues> {
        let (document, types) = (self.document, &mut *self.types);
        let allowed = self.texts.allowed(tests?, &self.place, &self.names, &mut |name, texts| {
            types.named(document, name, texts)
        })?;
        if let Some(program) = allowed.program.made() {
            self.uses(program.globals());
        }
        Some(allowed)
    }

    /// The values that a clause names, in order: its tests when they are constant.
    fn values(&mut self, tests: Option<&UnaryTestsText>) -> Vec<Value> {
        self.allowed(tests).map_or_else(Vec::new, |allowed| named_values(&allowed))
    }

    /// The name that an entry is, when the table cannot know it: most often a text without its quotes. `seen` are the
    /// names that its inputs use.
    fn unknown_name<'t>(&self, text: Option<&'t str>, seen: &HashSet<Arc<str>>) -> Option<&'t str> {
        let text = text?.trim();
        let letter = |c: char| c.is_alphanumeric() || c == '_';
        let is_name = text.starts_with(|c: char| c.is_alphabetic() || c == '_') && text.chars().all(letter);
        if !is_name || matches!(text, "true" | "false" | "null" | "not" | "item" | "partial") {
            return None;
        }
        let known = self.declared.contains(text) || seen.contains(text);
        (!known && !self.names.iter().any(|name| **name == *text)).then_some(text)
    }

    /// Warns of such entries of a rule.
    fn check_names(&mut self, rule: &DecisionRule, seen: &HashSet<Arc<str>>) {
        let inputs =
            rule.input_entries.iter().map(|entry| (entry.text.as_deref(), entry.id.as_ref(), entry.at));
        let outputs =
            rule.output_entries.iter().map(|entry| (entry.text.as_deref(), entry.id.as_ref(), entry.at));
        for (text, id, at) in inputs.chain(outputs) {
            let Some(name) = self.unknown_name(text, seen) else { continue };
            let message =
                format!("There is nothing named `{name}` here; a text stands in quotes: \"{name}\".");
            let place = self.place(id, at);
            self.texts.report(diagnostic::warning("unknownName", message), &place);
        }
    }

    fn test(&mut self, entry: &UnaryTestsText) -> Test {
        let text = entry.text.as_deref().unwrap_or_default();
        if matches!(text.trim(), "" | "-") {
            return Test::Any;
        }
        if let Some([first, second]) = decimal_comma(text) {
            let message =
                format!("These are two tests, `{first}` and `{second}`: the decimal sign is a point.");
            let place = self.place(entry.id.as_ref(), entry.at);
            self.texts.report(diagnostic::warning("decimalComma", message), &place);
        }
        if entry.expression_language.is_none()
            && self.texts.language.is_none()
            && let Some(tests) = plain::tests(text)
        {
            let program = Deferred::new(text, self.texts.dialect);
            let place = self.place(entry.id.as_ref(), entry.at);
            return Test::Constants { tests, negated: false, program, place };
        }
        let (document, types) = (self.document, &mut *self.types);
        let compiled = self
            .texts
            .tests(entry, &self.place, &self.names, &mut |name, texts| types.named(document, name, texts));
        match compiled {
            Ok(None) => Test::Any,
            Ok(Some((program, place))) => match program.constants() {
                Some(constants) if constants.tests.is_empty() => Test::Any,
                Some(constants) => {
                    let program = Deferred::compiled(program);
                    Test::Constants { tests: constants.tests, negated: constants.negated, program, place }
                }
                None => {
                    self.uses(program.globals());
                    Test::Program(program, place)
                }
            },
            Err(reason) => {
                let place = self.place(entry.id.as_ref(), entry.at);
                Test::Broken(reason, place)
            }
        }
    }

    fn inputs(&mut self, table: &DecisionTable) -> Result<Vec<Input>, Arc<str>> {
        let mut inputs = Vec::with_capacity(table.inputs.len());
        for clause in &table.inputs {
            let place = self.place(clause.id.as_ref(), clause.at);
            let Some(expression) = &clause.input_expression else {
                let message = "The input has no expression.";
                self.texts.report(diagnostic::error("tableInput", message), &place);
                return Err(Arc::from(message));
            };
            let kind = self.kind(expression.type_ref.as_ref(), &place);
            let text = expression.text.as_deref().unwrap_or_default().trim();
            let reads = kind.as_deref().is_some_and(|kind| is_time(&kind.feel)) && self.is_given(text);
            inputs.push(Input {
                text: Arc::from(text),
                value: self.cell(expression),
                kind,
                reads,
                allowed: self.allowed(clause.input_values.as_ref()),
                place,
            });
        }
        Ok(inputs)
    }

    /// Whether a text is a variable, or a path from one, that comes from outside without a type of its own.
    fn is_given(&self, text: &str) -> bool {
        // Java's expression language has its variables in braces.
        let inner = text.strip_prefix("${").and_then(|inner| inner.strip_suffix('}'));
        let text = inner.unwrap_or(text).trim();
        let is_path = text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ' '));
        let root = text.split('.').next().unwrap_or_default().trim();
        let begins = root.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let untyped = self.untyped.iter().any(|name| **name == *root);
        let known = self.declared.contains(root) || self.names.iter().any(|name| **name == *root);
        is_path && begins && (untyped || !known)
    }

    /// A table without an output has no value, and of two outputs with one name only one.
    fn check_outputs(&mut self, table: &DecisionTable) -> Result<(), Arc<str>> {
        let place = self.place.clone();
        if table.outputs.is_empty() {
            let message = "The decision table has no output.";
            self.texts.report(diagnostic::error("tableOutput", message), &place);
            return Err(Arc::from(message));
        }
        if table.outputs.len() == 1 {
            return Ok(());
        }
        let mut known = HashSet::default();
        let mut names = table.outputs.iter().filter_map(|own| own.name.as_deref()).map(str::trim);
        if names.any(|name| !name.is_empty() && !known.insert(name)) {
            let message = "Two outputs of the table have one name: only the last one's value would be kept.";
            self.texts.report(diagnostic::error("duplicateOutput", message), &place);
        }
        Ok(())
    }

    fn table(&mut self, table: &DecisionTable, whole: Option<Arc<ItemType>>) -> Result<Table, Arc<str>> {
        let inputs = self.inputs(table)?;
        let seen = self.used.clone();
        let mut outputs = Vec::with_capacity(table.outputs.len());
        for clause in &table.outputs {
            let place = self.place(clause.id.as_ref(), clause.at);
            let name: Option<Arc<str>> = clause.name.as_deref().map(|name| Arc::from(name.trim()));
            let kind = self.kind(clause.type_ref.as_ref(), &place);
            let mut values = self.values(clause.output_values.as_ref());
            if values.is_empty() {
                let member = name.as_deref().filter(|_| table.outputs.len() > 1);
                values = match (&kind, &whole) {
                    (Some(own), _) => allowed_values(own, None),
                    (None, Some(whole)) => allowed_values(whole, member),
                    (None, None) => Vec::new(),
                };
            }
            outputs.push(Output {
                name,
                kind,
                values,
                default: clause
                    .default_output_entry
                    .as_ref()
                    .filter(|literal| literal.text.as_deref().is_some_and(|text| !text.trim().is_empty()))
                    .map(|literal| self.cell(literal)),
                place,
            });
        }
        self.check_outputs(table)?;
        let mut tests = Vec::with_capacity(table.rules.len() * inputs.len());
        let mut cells = Vec::with_capacity(table.rules.len() * outputs.len());
        let mut rules = Vec::with_capacity(table.rules.len());
        for rule in &table.rules {
            let place = self.place(rule.id.as_ref(), rule.at);
            if rule.input_entries.len() > inputs.len() || rule.output_entries.len() != outputs.len() {
                let message = "The rule has not as many entries as the table has inputs and outputs.";
                self.texts.report(diagnostic::error("ruleEntries", message), &place);
            } else if rule.input_entries.len() < inputs.len() {
                let message =
                    "The rule has no entry for some inputs of the table: it matches all their values.";
                self.texts.report(diagnostic::warning("ruleEntries", message), &place);
            }
            let outer = std::mem::replace(&mut self.place, place);
            self.check_names(rule, &seen);
            for at in 0..inputs.len() {
                tests.push(rule.input_entries.get(at).map_or(Test::Any, |entry| self.test(entry)));
            }
            for at in 0..outputs.len() {
                let cell = rule.output_entries.get(at);
                cells.push(cell.map_or(Cell::Constant(Value::Null), |literal| self.cell(literal)));
            }
            self.place = outer;
            rules.push(rule.id.as_deref().map(Arc::from));
        }
        let table = Table {
            hit_policy: table.hit_policy.unwrap_or_default(),
            aggregation: table.aggregation,
            inputs,
            outputs,
            rules,
            tests,
            cells,
            index: None,
        };
        Ok(table.indexed())
    }
}

/// Whether a type is one that JSON has no values of, but texts for.
const fn is_time(kind: &Type) -> bool {
    matches!(
        kind,
        Type::Date | Type::Time | Type::DateTime | Type::DaysAndTimeDuration | Type::YearsAndMonthsDuration
    )
}

/// The two tests of an entry that looks like one with a decimal comma, as `<= 1.000,50`.
fn decimal_comma(text: &str) -> Option<[&str; 2]> {
    let text = text.trim();
    let (first, second) = text.split_once(',')?;
    let number = first.trim_start_matches(['<', '>', '=']).trim();
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut groups = number.trim_start_matches('-').split('.');
    let whole = groups.next().is_some_and(digits);
    let thousands: Vec<&str> = groups.collect();
    let grouped = !thousands.is_empty() && thousands.iter().all(|group| group.len() == 3 && digits(group));
    let compares = number.len() < first.len();
    (whole && digits(second) && (grouped || (compares && thousands.is_empty()))).then_some([first, second])
}

fn named_values(allowed: &AllowedValues) -> Vec<Value> {
    match &allowed.constants {
        Some(constants) if !constants.negated => match constants.tests.as_slice() {
            [Value::List(items)] => items.to_vec(),
            tests => tests.to_vec(),
        },
        _ => Vec::new(),
    }
}

/// The values that a type names in order, or its member of that name: without output values of its own an output has
/// those of its type (DMN 1.5, clause 8.3.3).
fn allowed_values(kind: &ItemType, member: Option<&str>) -> Vec<Value> {
    let check = kind.check.as_ref();
    let check = check.map(|check| check.items.as_deref().unwrap_or(check));
    let check = match member {
        None => check,
        Some(name) => check.and_then(|check| {
            check.members.iter().find(|(known, _)| **known == *name).map(|(_, check)| &**check)
        }),
    };
    check.and_then(|check| check.tests.first()).map_or_else(Vec::new, |allowed| named_values(allowed))
}
