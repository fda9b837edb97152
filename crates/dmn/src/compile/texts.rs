//! Compiles the texts of FEEL in a model, with the names in sight, and collects what is wrong with them.

use std::sync::Arc;

use heddle_feel::{ConstantTests, Dialect, Expression, Function, Options, SyntaxError, Type, UnaryTests};

use super::plain::{self, Deferred};
use super::plan::{AllowedValues, Place};
use crate::diagnostic::{self, Diagnostic, ExpressionPosition, Placed as _};
use crate::model::{At, UnaryTestsText};

/// The types that a text names.
pub(super) type Named<'n> = &'n mut dyn FnMut(&str, &mut Texts) -> Option<Type>;

/// Settings for compiling the texts of a model, with the diagnostics so far.
#[derive(Default)]
pub(super) struct Texts {
    pub diagnostics: Vec<Diagnostic>,
    pub dialect: Dialect,
    /// Names of members anywhere in the document, and of types.
    pub members: Arc<Vec<String>>,
    pub types: Arc<Vec<String>>,
    /// The language that a text without one is in.
    pub language: Option<String>,
}

/// Whether the language is FEEL.
fn is_feel(language: &str) -> bool {
    let language = language.trim();
    language.is_empty() || language.to_ascii_lowercase().contains("feel")
}

/// FEEL for a text of Java's unified expression language, when it is only a literal or the path of a
/// variable: these are most of what models of workflow engines have in it.
fn juel(text: &str) -> Option<String> {
    let text = text.trim();
    let inner = text.strip_prefix("${").or_else(|| text.strip_prefix("#{"));
    let inner = inner.map_or(Some(text), |inner| inner.strip_suffix('}'))?.trim();
    let quoted = |quote: char| inner.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    if let Some(string) = quoted('"').or_else(|| quoted('\'')) {
        let plain = !string.contains(['"', '\'', '\\', '\n', '\r']);
        return plain.then(|| format!("\"{string}\""));
    }
    let name = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !matches!(
                part,
                "empty" | "not" | "and" | "or" | "div" | "mod" | "eq" | "ne" | "lt" | "gt" | "le" | "ge"
            )
    };
    let number = inner.starts_with(|c: char| c.is_ascii_digit()) && inner.parse::<f64>().is_ok();
    (number || inner.split('.').all(name)).then(|| inner.to_owned())
}

/// Whether the name has to be declared for the reader to find it.
fn is_spaced(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    // Most names are ASCII, for which a look at the bytes is enough.
    !name.bytes().all(plain) && !name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// The names of more than one word that may occur in the text: declaring the others costs time only.
fn occurring<'n>(names: impl Iterator<Item = &'n str>, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let calls = text.contains('(');
    for name in names {
        // A name that FEEL has a function of is told too: what the model declares goes before that.
        if !(is_spaced(name) || calls && Function::is_builtin_name(name)) {
            continue;
        }
        let word: &str = name
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .find(|word| !word.is_empty())
            .unwrap_or(name);
        if text.contains(word) {
            found.push(name.to_owned());
        }
    }
    found
}

impl Texts {
    pub(crate) fn place(&self, id: Option<&String>, owner: Option<&String>, at: At) -> Place {
        Place {
            id: id.map(|id| Arc::from(id.as_str())),
            owner: owner.map(|name| Arc::from(name.as_str())),
            at,
        }
    }

    pub(crate) fn report(&mut self, diagnostic: Diagnostic, place: &Place) {
        let diagnostic = Diagnostic {
            element_id: place.id.as_deref().map(str::to_owned),
            element_name: place.owner.as_deref().map(str::to_owned),
            ..diagnostic
        };
        let diagnostic = if diagnostic.line.is_none() { diagnostic.at(place.at) } else { diagnostic };
        self.diagnostics.push(diagnostic);
    }

    fn syntax(&mut self, error: &SyntaxError, place: &Place) -> Arc<str> {
        let position = ExpressionPosition { line: error.line, column: error.column };
        let diagnostic = diagnostic::error("feelSyntax", format!("This is no FEEL: {}.", error.message));
        self.report(diagnostic.within(place.at, position), place);
        Arc::from(format!("the expression cannot be read: {error}"))
    }

    fn options(&self, text: &str, names: &[Arc<str>]) -> Options {
        // A name that has to be declared has other characters than letters and digits, which the text then has too.
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let mut others = text.bytes().filter(|&byte| !letter(byte));
        let points = match others.next() {
            None => return Options { dialect: self.dialect, ..Options::default() },
            Some(first) => first == b'.' && others.all(|byte| byte == b'.'),
        };
        let possible = |name: &&str| !points || name.as_bytes().contains(&b'.');
        let locals = names.iter().map(|name| &**name).filter(possible);
        let types = self.types.iter().map(String::as_str);
        let members = self.members.iter().map(String::as_str);
        let types = if text.contains("instance") || text.contains("function") {
            occurring(types, text)
        } else {
            Vec::new()
        };
        let mut names = occurring(locals, text);
        names.extend(types);
        let with_members = text.contains('.') || text.contains('[');
        let members = if with_members { occurring(members.filter(possible), text) } else { Vec::new() };
        Options { dialect: self.dialect, names, members }
    }

    /// Reason why a text in that language cannot be compiled, which is reported too; none for FEEL.
    fn foreign(&mut self, language: Option<&String>, place: &Place) -> Option<Arc<str>> {
        let language = language.or(self.language.as_ref())?;
        if is_feel(language) {
            return None;
        }
        let message = format!("The expression language {language:?} is not supported; FEEL is.");
        self.report(diagnostic::error("expressionLanguage", message.clone()), place);
        Some(Arc::from(message))
    }

    /// Compiles an expression, or tells why not.
    pub(crate) fn expression(
        &mut self,
        text: &str,
        language: Option<&String>,
        place: &Place,
        names: &[Arc<str>],
        named: Named<'_>,
    ) -> Result<Expression, Arc<str>> {
        let spoken = language.or(self.language.as_ref());
        let same = spoken.filter(|language| language.trim().eq_ignore_ascii_case("juel")).and(juel(text));
        if same.is_none()
            && let Some(reason) = self.foreign(language, place)
        {
            return Err(reason);
        }
        let text = same.as_deref().unwrap_or(text);
        match Expression::compile_with(text, &self.options(text, names)) {
            Ok(mut expression) => {
                if expression.has_externals() {
                    let message = "Functions in other languages are not carried out; calls give null.";
                    self.report(diagnostic::error("externalFunction", message), place);
                }
                let wanted = expression.type_names();
                let known: Vec<(String, Option<Type>)> =
                    wanted.into_iter().map(|name| (name.clone(), named(&name, self))).collect();
                if !known.is_empty() {
                    expression.resolve_types(&|name| {
                        known.iter().find(|(known, _)| known == name).and_then(|(_, kind)| kind.clone())
                    });
                }
                Ok(expression)
            }
            Err(error) => Err(self.syntax(&error, place)),
        }
    }

    /// Compiles the tests of allowed values; `None` when there are none or they cannot be read.
    pub(crate) fn allowed(
        &mut self,
        tests: &UnaryTestsText,
        around: &Place,
        names: &[Arc<str>],
        named: Named<'_>,
    ) -> Option<AllowedValues> {
        if tests.expression_language.is_none()
            && self.language.is_none()
            && let Some(text) = &tests.text
            && let Some(values) = plain::tests(text)
        {
            let id = tests.id.as_deref().map(Arc::from).or_else(|| around.id.clone());
            return Some(AllowedValues {
                constants: Some(ConstantTests { negated: false, tests: values }),
                program: Deferred::new(text, self.dialect),
                place: Place { id, owner: around.owner.clone(), at: tests.at },
            });
        }
        let (program, place) = self.tests(tests, around, names, named).ok().flatten()?;
        Some(AllowedValues { constants: program.constants(), program: Deferred::compiled(program), place })
    }

    /// Compiles unary tests; nothing when there are none, the reason when they cannot be read.
    pub(crate) fn tests(
        &mut self,
        tests: &UnaryTestsText,
        around: &Place,
        names: &[Arc<str>],
        named: Named<'_>,
    ) -> Result<Option<(UnaryTests, Place)>, Arc<str>> {
        let text = tests.text.as_deref().unwrap_or_default();
        if text.trim().is_empty() {
            return Ok(None);
        }
        let mut place = around.clone();
        place.at = tests.at;
        if let Some(id) = &tests.id {
            place.id = Some(Arc::from(id.as_str()));
        }
        if let Some(reason) = self.foreign(tests.expression_language.as_ref(), &place) {
            return Err(reason);
        }
        match UnaryTests::compile_with(text, &self.options(text, names)) {
            Ok(mut compiled) => {
                let wanted = compiled.type_names();
                let known: Vec<(String, Option<Type>)> =
                    wanted.into_iter().map(|name| (name.clone(), named(&name, self))).collect();
                if !known.is_empty() {
                    compiled.resolve_types(&|name| {
                        known.iter().find(|(known, _)| known == name).and_then(|(_, kind)| kind.clone())
                    });
                }
                Ok(Some((compiled, place)))
            }
            Err(error) => Err(self.syntax(&error, &place)),
        }
    }
}
