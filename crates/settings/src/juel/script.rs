//! Scripts of assignments and simple expressions as FEEL.
//!
//! A script in JavaScript or Groovy is translated only where the translation is exact: variables that are set,
//! arithmetic, comparisons and the methods that [`super`] knows. Everything else is for a worker. What a script prints is
//! left out.

use super::parser::{self, Known, SCOPES};
use super::{JuelError, MAX_BYTES, value, writer};

/// Most statements of one script.
const MAX_STATEMENTS: usize = 200;
/// Words that declare a variable of the script alone.
const DECLARES: &[&str] = &["var", "let", "const", "def"];
/// Calls that print.
const PRINTS: &[&str] =
    &["java.lang.System.out.println(", "System.out.println(", "println(", "print(", "console.log("];

/// A script in FEEL. All values are computed over the variables as they are before the script.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    /// Variables that it sets by name, each with its last value.
    pub variables: Vec<(String, String)>,
    /// Names that it assigns without declaring them, each with its last value.
    pub globals: Vec<(String, String)>,
    /// Value of its last statement.
    pub result: Option<String>,
}

/// Language of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    JavaScript,
    Groovy,
    Juel,
}

impl Language {
    /// The language of a `scriptFormat`: a name or a media type.
    fn named(format: &str) -> Option<Self> {
        let format = format.trim().to_ascii_lowercase();
        let name = format.rsplit('/').next().unwrap_or_default();
        match name.strip_prefix("x-").unwrap_or(name) {
            "javascript" | "ecmascript" | "js" | "nashorn" | "graal.js" => Some(Self::JavaScript),
            "groovy" => Some(Self::Groovy),
            "juel" => Some(Self::Juel),
            _ => None,
        }
    }
}

/// Whether a condition's language is one of scripts that may be translated.
#[must_use]
pub fn is_known(language: &str) -> bool {
    matches!(Language::named(language), Some(Language::JavaScript | Language::Groovy))
}

/// The FEEL expression that is the value of a script that does nothing else.
///
/// # Errors
/// As [`translate`]; also when the script sets variables, or gives no value.
pub fn expression(format: &str, text: &str) -> Result<String, JuelError> {
    let found = translate(format, text)?;
    match found.result {
        Some(feel) if found.variables.is_empty() && found.globals.is_empty() => Ok(feel),
        _ => Err(JuelError("the script does more than to give a value".to_owned())),
    }
}

/// The type of the job of a script that is not translated, by its `scriptFormat`: `script:javascript`.
#[must_use]
pub fn job_type(format: &str) -> String {
    let format = format.trim().to_ascii_lowercase();
    let name = format.rsplit('/').next().unwrap_or_default();
    let name = name.strip_prefix("x-").unwrap_or(name);
    format!("script:{}", if name.is_empty() { "unnamed" } else { name })
}

/// The FEEL of a script.
///
/// # Errors
/// When the language is another one, or a statement has no exact counterpart.
pub fn translate(format: &str, text: &str) -> Result<Script, JuelError> {
    if text.len() > MAX_BYTES {
        return Err(JuelError(format!("the script is longer than {MAX_BYTES} bytes")));
    }
    let Some(language) = Language::named(format) else {
        return Err(JuelError(format!("scripts in `{}` are not translated", format.trim())));
    };
    if language == Language::Juel {
        return Ok(Script { result: Some(value(text)?), ..Script::default() });
    }
    let statements = statements(text, language)?;
    let mut reader = Reader::default();
    let count = statements.len();
    for (place, statement) in statements.into_iter().enumerate() {
        reader.statement(&statement, place + 1 == count)?;
    }
    Ok(reader.script)
}

#[derive(Default)]
struct Reader {
    known: Known,
    script: Script,
    nodes: usize,
}

impl Reader {
    fn statement(&mut self, text: &str, last: bool) -> Result<(), JuelError> {
        // What an argument does is not left out with the print.
        let acts = ["++", "--", "setVariable"].iter().any(|own| text.contains(own));
        if !acts && PRINTS.iter().any(|print| text.starts_with(print)) && closes_at_the_end(text) {
            return Ok(());
        }
        if let Some((name, inner)) = set_variable(text) {
            let feel = self.value(inner)?;
            put(&mut self.script.variables, &mut self.known, name, feel)?;
            return Ok(());
        }
        let (declared, rest) = match text.split_once(char::is_whitespace) {
            Some((word, rest)) if DECLARES.contains(&word) => (true, rest.trim()),
            Some(("return", rest)) if last => (false, rest.trim()),
            _ => (false, text),
        };
        match assignment(rest) {
            Some((name, source)) => {
                let feel = self.value(&source)?;
                if declared {
                    self.known.insert(name.to_owned(), feel);
                } else {
                    // The value of `n++` is the one of before it.
                    let before = rest.ends_with("++") || rest.ends_with("--");
                    self.script.result = (last && !before).then(|| feel.clone());
                    // A variable that the script declares is its own.
                    let own = self.known.contains_key(name) && !self.is_set(name);
                    if own {
                        self.known.insert(name.to_owned(), feel);
                    } else {
                        put(&mut self.script.globals, &mut self.known, name, feel)?;
                    }
                }
            }
            None if declared => return Err(JuelError("a declaration has no value".to_owned())),
            None => {
                let feel = self.value(rest)?;
                self.script.result = last.then_some(feel);
            }
        }
        Ok(())
    }

    fn is_set(&self, name: &str) -> bool {
        self.script.variables.iter().chain(&self.script.globals).any(|(own, _)| own == name)
    }

    fn value(&mut self, source: &str) -> Result<String, JuelError> {
        let closed = format!("{source}}}");
        let (expression, used) = parser::parse_over(&closed, &mut self.nodes, Some(&self.known))?;
        if used != closed.len() {
            return Err(JuelError("an expression ends before its statement does".to_owned()));
        }
        writer::value(&expression)
    }
}

/// Sets a variable; its place is that of its first value.
fn put(
    list: &mut Vec<(String, String)>,
    known: &mut Known,
    name: &str,
    feel: String,
) -> Result<(), JuelError> {
    if name.is_empty() || name.trim() != name || name.contains('.') {
        return Err(JuelError(format!("`{name}` is no name of a variable")));
    }
    known.insert(name.to_owned(), feel.clone());
    match list.iter_mut().find(|(own, _)| own == name) {
        Some((_, value)) => *value = feel,
        None => list.push((name.to_owned(), feel)),
    }
    Ok(())
}

/// Name and value of `execution.setVariable("name", value)`.
fn set_variable(text: &str) -> Option<(&str, &str)> {
    let (object, call) = text.split_once('.')?;
    let inner = call.trim_start().strip_prefix("setVariable")?.trim_start().strip_prefix('(')?;
    if !SCOPES.contains(&object.trim()) || !closes_at_the_end(text) {
        return None;
    }
    let inner = inner.strip_suffix(')')?.trim();
    let quote = inner.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let (name, rest) = inner.get(1..)?.split_once(quote)?;
    Some((name, rest.trim_start().strip_prefix(',')?.trim()))
}

/// Name and value of `name = value`, `name += value` and `name++`.
fn assignment(text: &str) -> Option<(&str, String)> {
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let rest = rest.trim_start();
    if !name.starts_with(|first: char| first.is_alphabetic() || first == '_') {
        return None;
    }
    if rest == "++" || rest == "--" {
        return Some((name, format!("{name} {} 1", rest.get(1..)?)));
    }
    for sign in ["+", "-", "*", "/"] {
        if let Some(value) = rest.strip_prefix(sign).and_then(|rest| rest.strip_prefix('=')) {
            return Some((name, format!("{name} {sign} ({value})")));
        }
    }
    let value = rest.strip_prefix('=').filter(|value| !value.starts_with('='))?;
    Some((name, value.trim().to_owned()))
}

/// Whether the first parenthesis of a statement is closed by its last letter.
fn closes_at_the_end(text: &str) -> bool {
    let mut depth = 0_usize;
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(own), letter) if own == letter => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '(') => depth += 1,
            (None, ')') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1 == text.len();
                }
            }
            (None, _) => {}
        }
    }
    false
}

/// The statements of a script without comments, with `==` for `===`.
fn statements(text: &str, language: Language) -> Result<Vec<String>, JuelError> {
    let mut found = Vec::new();
    let mut statement = String::new();
    let mut depth = 0_usize;
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        if rest.starts_with("//") || rest.starts_with("/*") {
            let (mark, offset) = if rest.starts_with("//") { ("\n", 0) } else { ("*/", 2) };
            rest = rest.find(mark).map_or("", |end| &rest[end + offset..]);
            continue;
        }
        match letter {
            '\\' | '`' | '{' | '}' => {
                return Err(JuelError(format!("a script with `{letter}` is not translated")));
            }
            '"' | '\'' => {
                let inner = rest.get(1..).unwrap_or_default();
                let Some((quoted, _)) = inner.split_once(letter) else {
                    return Err(JuelError("a text has no closing quote".to_owned()));
                };
                let computed = language == Language::Groovy && letter == '"' && quoted.contains('$');
                if computed || quoted.contains(['\\', '\n']) {
                    return Err(JuelError("a text with expressions or escapes is not translated".to_owned()));
                }
                let whole = &rest[..quoted.len() + 2];
                statement.push_str(whole);
                rest = &rest[whole.len()..];
                continue;
            }
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let ends = letter == ';' || (letter == '\n' && depth == 0);
        if ends {
            rest = &rest[1..];
            let goes_on = |rest: &str| rest.trim_start().starts_with(CONTINUES);
            if letter == '\n' && language == Language::JavaScript && goes_on(rest) {
                return Err(JuelError("a statement over several lines is not translated".to_owned()));
            }
            take(&mut statement, &mut found)?;
            continue;
        }
        let strict = ["===", "!=="].into_iter().find(|sign| rest.starts_with(*sign));
        let length = strict.map_or(letter.len_utf8(), str::len);
        statement.push_str(strict.map_or(&rest[..length], |sign| &sign[..2]));
        rest = &rest[length..];
    }
    take(&mut statement, &mut found)?;
    Ok(found)
}

/// Signs by which a line of JavaScript goes on with the statement before it.
const CONTINUES: &[char] =
    &['+', '-', '*', '/', '%', '(', '[', '.', '?', ':', '&', '|', '<', '>', '=', '!', ',', ')', ']'];

fn take(statement: &mut String, found: &mut Vec<String>) -> Result<(), JuelError> {
    let text = std::mem::take(statement);
    let text = text.trim();
    if !text.is_empty() {
        found.push(text.to_owned());
    }
    if found.len() > MAX_STATEMENTS {
        return Err(JuelError(format!("the script has more than {MAX_STATEMENTS} statements")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(name, feel)| ((*name).to_owned(), (*feel).to_owned())).collect()
    }

    #[test]
    fn scripts_of_assignments_are_translated() {
        for (format, text, variables, globals, result) in [
            (
                "javascript",
                "execution.setVariable('dateChanged', false);",
                vec![("dateChanged", "false")],
                vec![],
                None,
            ),
            (
                "groovy",
                "execution.setVariable(\"total\", price * 2)",
                vec![("total", "get or else(price, 0) * 2")],
                vec![],
                None,
            ),
            (
                "application/javascript",
                "integerVariable = integerVariable + 1",
                vec![],
                vec![("integerVariable", "integerVariable + 1")],
                Some("integerVariable + 1"),
            ),
            (
                "JavaScript",
                "var a = 2; // two\nvar b = a + 1;\nexecution.setVariable('sum', a + b);\na = 5;",
                vec![("sum", "(2) + ((2) + 1)")],
                vec![],
                Some("5"),
            ),
            ("groovy", "def x = amount > 5\nreturn x", vec![], vec![], Some("((amount > 5) = true)")),
            ("javascript", "n++; n += 2", vec![], vec![("n", "(n + 1) + 2")], Some("(n + 1) + 2")),
            ("juel", "${a.b}", vec![], vec![], Some("a.b")),
            (
                "javascript",
                "'Hello ' + name",
                vec![],
                vec![],
                Some("\"Hello \" + get or else(string(name), \"null\")"),
            ),
            ("javascript", "a === 'x'", vec![], vec![], Some("(a = \"x\") = true")),
            ("javascript", "println(a.b.c()); execution.setVariable('x', 1)", vec![("x", "1")], vec![], None),
        ] {
            let script = translate(format, text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(script.variables, pairs(&variables), "{text}");
            assert_eq!(script.globals, pairs(&globals), "{text}");
            assert_eq!(script.result.as_deref(), result, "{text}");
        }
    }

    #[test]
    fn what_is_not_exact_is_left_to_a_worker() {
        for (format, text) in [
            ("python", "x = 1"),
            ("javascript", "for (var i = 0; i < 3; i++) { x = i }"),
            ("javascript", "x = 1\n- 2"),
            ("javascript", "x = a || b"),
            ("javascript", "x = !a"),
            ("javascript", "order.setDiscount(discount); order;"),
            ("javascript", "if(!!task.getVariable('approver')) {   task.setAssignee(approver); }"),
            ("javascript", "task.setVariable('approver', task.getAssignee());"),
            ("javascript", "throw new BpmnError('X')"),
            ("groovy", "x = \"${a}\""),
            ("javascript", "x = 'a\\n'"),
            ("javascript", "execution.setVariable('a.b', 1)"),
            ("javascript", "execution.setVariable(name, 1)"),
            ("javascript", "x = new Date()"),
            ("javascript", "x = name.length"),
        ] {
            assert!(translate(format, text).is_err(), "{text}");
        }
        assert!(translate("javascript", &"x = 1;".repeat(300)).is_err());
    }
}
