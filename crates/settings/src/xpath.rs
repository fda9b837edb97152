//! Expressions in XPath, as models carry them, as FEEL.
//!
//! Translated are literals, `true()`, `false()`, `not()`, `count()`, comparisons, `and`, `or`, arithmetic, variables
//! `$name`, and the functions of BPMN that give a process's data (clause 10.4.3): `getDataObject`, `getDataInput`,
//! `getDataOutput` and `getProcessProperty`; behind these, steps to children and places of a list. A child is a member
//! of the value, whatever the prefix before its name. Everything else is refused by its name.
//!
//! An absent value compares as false with any other, as an empty node set does. Values of different types are not
//! converted into each other: such a comparison is null, which no condition takes for true.

use super::juel::{self, JuelError};

/// Longest text that is translated, in bytes, and longest FEEL written.
const MAX_BYTES: usize = 16 * 1024;
const MAX_WRITTEN: usize = 64 * 1024;
/// Deepest nesting.
const MAX_DEPTH: usize = 64;

/// Functions of BPMN that give the value of what their argument names.
const DATA_FUNCTIONS: &[&str] = &["getDataObject", "getDataInput", "getDataOutput", "getProcessProperty"];

/// Reason for leaving a text untranslated: one clause, to stand behind a colon.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct XpathError(pub String);

impl From<JuelError> for XpathError {
    fn from(error: JuelError) -> Self {
        Self(error.0)
    }
}

/// Whether a language's name or URI is that of XPath, of any version.
pub fn is_xpath(language: &str) -> bool {
    language.to_ascii_lowercase().contains("xpath")
}

/// The FEEL expression that gives the value of an XPath expression.
///
/// # Errors
/// When a part is not translated or is no XPath.
pub fn feel(text: &str) -> Result<String, XpathError> {
    if text.len() > MAX_BYTES {
        return Err(XpathError(format!("the text is longer than {MAX_BYTES} bytes")));
    }
    let mut lexer = Lexer { rest: text.trim() };
    let token = lexer.next()?;
    let mut parser = Parser { lexer, token, depth: 0 };
    let found = parser.binary(0)?;
    match parser.token {
        Token::End => Ok(found.text),
        other => Err(unexpected(&other)),
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token<'t> {
    /// A name without its prefix.
    Name(&'t str),
    Variable(&'t str),
    Number(&'t str),
    Text(&'t str),
    Sign(&'static str),
    End,
}

const SIGNS: &[&str] = &[
    "!=", "<=", ">=", "//", "..", "::", "=", "<", ">", "+", "-", "*", "/", "(", ")", "[", "]", ",", "@", ".",
    "|",
];

#[derive(Debug)]
struct Lexer<'t> {
    rest: &'t str,
}

impl<'t> Lexer<'t> {
    fn next(&mut self) -> Result<Token<'t>, XpathError> {
        self.rest = self.rest.trim_start();
        let rest = self.rest;
        let Some(first) = rest.chars().next() else { return Ok(Token::End) };
        if first == '\'' || first == '"' {
            let (text, behind) = rest[1..]
                .split_once(first)
                .ok_or_else(|| XpathError("a text has no closing quote".to_owned()))?;
            self.rest = behind;
            return Ok(Token::Text(text));
        }
        if first.is_ascii_digit() {
            return self.number();
        }
        if first == '$' {
            self.rest = &rest[1..];
            return match self.name() {
                Some(name) => Ok(Token::Variable(name)),
                None => Err(XpathError("`$` stands before no name".to_owned())),
            };
        }
        if let Some(name) = self.name() {
            return Ok(Token::Name(name));
        }
        match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            Some(sign) => {
                self.rest = &rest[sign.len()..];
                Ok(Token::Sign(sign))
            }
            None => Err(XpathError(format!("`{first}` is no sign of XPath"))),
        }
    }

    fn number(&mut self) -> Result<Token<'t>, XpathError> {
        let rest = self.rest;
        let digits = |from: usize| {
            rest[from..].find(|letter: char| !letter.is_ascii_digit()).map_or(rest.len(), |end| from + end)
        };
        let mut end = digits(0);
        if rest[end..].starts_with('.') && rest[end + 1..].starts_with(|letter: char| letter.is_ascii_digit())
        {
            end = digits(end + 1);
        }
        if rest[end..].starts_with(|letter: char| letter == '.' || name_start(letter)) {
            return Err(XpathError("a number has a form that is not translated".to_owned()));
        }
        self.rest = &rest[end..];
        Ok(Token::Number(&rest[..end]))
    }

    /// A name, without its prefix if it has one.
    fn name(&mut self) -> Option<&'t str> {
        let part = |text: &'t str| {
            let starts = text.starts_with(name_start);
            starts.then(|| text.split_at(text.find(|letter: char| !name_part(letter)).unwrap_or(text.len())))
        };
        let (name, rest) = part(self.rest)?;
        let behind = rest.strip_prefix(':').and_then(part);
        let (name, rest) = behind.unwrap_or((name, rest));
        self.rest = rest;
        Some(name)
    }
}

fn name_start(letter: char) -> bool {
    letter.is_alphabetic() || letter == '_'
}

fn name_part(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.')
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Or,
    And,
    Equal,
    Unequal,
    /// Any comparison by order, which FEEL writes the same.
    Order(&'static str),
    Plus,
    Minus,
    Times,
    Divide,
    Remainder,
}

/// Operators by binding strength, from the weakest.
const LEVELS: &[&[(&str, Operator)]] = &[
    &[("or", Operator::Or)],
    &[("and", Operator::And)],
    &[("=", Operator::Equal), ("!=", Operator::Unequal)],
    &[
        ("<=", Operator::Order("<=")),
        (">=", Operator::Order(">=")),
        ("<", Operator::Order("<")),
        (">", Operator::Order(">")),
    ],
    &[("+", Operator::Plus), ("-", Operator::Minus)],
    &[("*", Operator::Times), ("div", Operator::Divide), ("mod", Operator::Remainder)],
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Number,
    /// Another literal.
    Literal,
    /// A value that needs no parentheses.
    Simple,
    Compound,
}

/// FEEL of a part of an expression.
#[derive(Debug)]
struct Part {
    text: String,
    shape: Shape,
}

impl Part {
    fn new(text: String, shape: Shape) -> Result<Self, XpathError> {
        if text.len() > MAX_WRITTEN {
            return Err(XpathError("its translation would be too long".to_owned()));
        }
        Ok(Self { text, shape })
    }

    /// The same, in parentheses where it is compound.
    fn operand(self) -> Self {
        match self.shape {
            Shape::Compound => Self { text: format!("({})", self.text), shape: Shape::Simple },
            Shape::Number | Shape::Literal | Shape::Simple => self,
        }
    }

    const fn is_literal(&self) -> bool {
        matches!(self.shape, Shape::Number | Shape::Literal)
    }
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    token: Token<'t>,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn advance(&mut self) -> Result<Token<'t>, XpathError> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    fn take(&mut self, sign: &str) -> Result<bool, XpathError> {
        let found = matches!(&self.token, Token::Sign(own) if *own == sign);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect(&mut self, sign: &str) -> Result<(), XpathError> {
        if self.take(sign)? { Ok(()) } else { Err(unexpected(&self.token)) }
    }

    fn deeper(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Part, XpathError>,
    ) -> Result<Part, XpathError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(XpathError(format!("the expression nests deeper than {MAX_DEPTH}")));
        }
        let found = read(self)?;
        self.depth -= 1;
        Ok(found)
    }

    fn binary(&mut self, level: usize) -> Result<Part, XpathError> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = self.operator(operators) {
            self.advance()?;
            let right = self.binary(level + 1)?;
            left = combined(operator, left.operand(), right.operand())?;
        }
        Ok(left)
    }

    fn operator(&self, operators: &[(&str, Operator)]) -> Option<Operator> {
        let word: &str = match self.token {
            Token::Sign(word) => word,
            Token::Name(word) => word,
            Token::Variable(_) | Token::Number(_) | Token::Text(_) | Token::End => return None,
        };
        operators.iter().find(|(own, _)| *own == word).map(|(_, operator)| *operator)
    }

    fn unary(&mut self) -> Result<Part, XpathError> {
        if !self.take("-")? {
            return self.path();
        }
        let operand = self.deeper(Self::unary)?.operand();
        Part::new(format!("-{}", operand.text), Shape::Compound)
    }

    /// A value, and the steps behind it.
    fn path(&mut self) -> Result<Part, XpathError> {
        let mut value = self.primary()?;
        loop {
            if self.take("/")? {
                let Token::Name(name) = self.advance()? else {
                    return Err(XpathError("a step is not the name of a child".to_owned()));
                };
                if matches!(&self.token, Token::Sign("(" | "::")) {
                    return Err(XpathError(format!("`{name}` is no step to a child")));
                }
                value = Part::new(juel::written_member(&value.operand().text, name), Shape::Simple)?;
            } else if self.take("[")? {
                let Token::Number(digits) = self.advance()? else {
                    return Err(XpathError("a predicate is not the number of a place".to_owned()));
                };
                let place = digits.parse::<u32>().ok().filter(|place| *place > 0);
                let place = place.ok_or_else(|| XpathError(format!("`[{digits}]` is no place of a list")))?;
                self.expect("]")?;
                value = Part::new(format!("{}[{place}]", value.operand().text), Shape::Simple)?;
            } else if let Token::Sign(sign @ ("//" | "|" | "::" | "@")) = self.token {
                return Err(XpathError(format!("`{sign}` is not translated")));
            } else {
                return Ok(value);
            }
        }
    }

    fn primary(&mut self) -> Result<Part, XpathError> {
        match self.advance()? {
            Token::Number(digits) => Part::new(digits.to_owned(), Shape::Number),
            Token::Text(text) => Part::new(juel::string(text), Shape::Literal),
            Token::Variable(name) => Part::new(juel::written_name(name)?, Shape::Simple),
            Token::Sign("(") => {
                let inner = self.deeper(|parser| parser.binary(0))?;
                self.expect(")")?;
                Ok(inner)
            }
            Token::Name(name) if self.token == Token::Sign("(") => self.function(name),
            Token::Name(name) => Err(XpathError(format!(
                "`{name}` is a step from no value: `${name}` is the variable, and getDataObject('{name}') the data object"
            ))),
            Token::Sign(sign @ ("/" | "//" | "@" | "." | ".." | "*")) => {
                Err(XpathError(format!("`{sign}` is a step from no value, as a process is no document")))
            }
            other => Err(unexpected(&other)),
        }
    }

    fn function(&mut self, name: &str) -> Result<Part, XpathError> {
        self.expect("(")?;
        if DATA_FUNCTIONS.contains(&name) {
            let argument = self.advance()?;
            let Token::Text(data) = argument else {
                return Err(XpathError(format!("{name}(…) needs the name of its data as a text")));
            };
            if !self.take(")")? {
                return Err(XpathError(format!("{name}(…) is translated with one argument: '{data}'")));
            }
            let plain = data.starts_with(name_start)
                && data.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
            if !plain {
                let sentence = "is no plain name, so that the data is known by its id";
                return Err(XpathError(format!("'{data}' {sentence}")));
            }
            return Part::new(juel::written_name(data)?, Shape::Simple);
        }
        match name {
            "true" | "false" => {
                self.expect(")")?;
                Part::new(name.to_owned(), Shape::Literal)
            }
            "not" | "count" => {
                let argument = self.deeper(|parser| parser.binary(0))?.operand().text;
                self.expect(")")?;
                if name == "not" {
                    return Part::new(format!("{argument} != true"), Shape::Compound);
                }
                let text = format!("(if {argument} = null then 0 else count({argument}))");
                Part::new(text, Shape::Simple)
            }
            _ => Err(XpathError(format!("the function `{name}(…)` is not translated"))),
        }
    }
}

fn combined(operator: Operator, left: Part, right: Part) -> Result<Part, XpathError> {
    let (known, both) = (left.is_literal() || right.is_literal(), left.is_literal() && right.is_literal());
    let number = left.shape == Shape::Number || right.shape == Shape::Number;
    let (a, b) = (&left.text, &right.text);
    let text = match operator {
        Operator::Or => format!("{a} or {b}"),
        Operator::And => format!("{a} and {b}"),
        Operator::Equal if known => format!("{a} = {b}"),
        // Two absent values are not equal there.
        Operator::Equal => format!("{a} != null and {a} = {b}"),
        Operator::Unequal if both => format!("({a} = {b}) != true"),
        Operator::Unequal if left.is_literal() => format!("{b} != null and ({a} = {b}) != true"),
        Operator::Unequal if known => format!("{a} != null and ({a} = {b}) != true"),
        Operator::Unequal => format!("{a} != null and {b} != null and ({a} = {b}) != true"),
        Operator::Order(sign) => format!("{a} {sign} {b}"),
        Operator::Plus if number => format!("{a} + {b}"),
        // FEEL's plus would join two texts.
        Operator::Plus => format!("{a} - (0 - {b})"),
        Operator::Minus => format!("{a} - {b}"),
        Operator::Times => format!("{a} * {b}"),
        Operator::Divide => format!("{a} / {b}"),
        // The remainder has the sign of the dividend there, and that of the divisor in FEEL.
        Operator::Remainder => {
            format!("if {a} < 0 then -modulo(-({a}), abs({b})) else modulo({a}, abs({b}))")
        }
    };
    Part::new(text, Shape::Compound)
}

fn unexpected(token: &Token<'_>) -> XpathError {
    let what = match token {
        Token::Name(word) | Token::Number(word) => format!("`{word}`"),
        Token::Variable(name) => format!("`${name}`"),
        Token::Sign(sign) => format!("`{sign}`"),
        Token::Text(text) => format!("'{text}'"),
        Token::End => "the end".to_owned(),
    };
    XpathError(format!("{what} is not expected there"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_feel::{Dialect, EvalContext, Expression, to_json};
    use heddle_kernel::Timestamp;
    use serde_json::{Value, json};

    fn run(text: &str) -> Value {
        let translated = feel(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let expression = Expression::compile(&translated, Dialect::Heddle)
            .unwrap_or_else(|error| panic!("{text}: {translated}: {error}"));
        let scope = json!({
            "amount": 1500, "flag": true, "status": "open", "a-b": 4, "none": [], "for": 3,
            "order": {"total": 99.5, "lines": [{"sku": "a"}, {"sku": "b"}]}
        });
        let context = EvalContext { now: Timestamp::from_micros(0) };
        to_json(&expression.evaluate(scope.as_object().unwrap(), &context).unwrap().value)
    }

    #[test]
    fn values_are_those_of_xpath() {
        for (text, expected) in [
            ("2", json!(2)),
            ("'two'", json!("two")),
            ("true()", json!(true)),
            ("not(false())", json!(true)),
            ("not($absent)", json!(true)),
            ("$amount > 1000 and $flag", json!(true)),
            ("getDataObject('amount') >= 1500", json!(true)),
            ("bpmn:getDataObject(\"order\")/o:total * 2", json!(199)),
            ("bpmn:getProcessProperty('status') = 'open'", json!(true)),
            ("$status != 'open' or $amount = 1", json!(false)),
            ("$absent = $missing", json!(false)),
            ("$absent != 'x'", json!(false)),
            ("'x' != $absent", json!(false)),
            ("count($order/lines) = 2", json!(true)),
            ("count($absent) + count($none)", json!(0)),
            ("$order/lines[2]/sku", json!("b")),
            ("1 + 2 * 3 - -4", json!(11)),
            ("(1 + 2) * 3", json!(9)),
            ("$amount div 1000", json!(1.5)),
            ("$amount mod 7", json!(2)),
            ("-7 mod 3", json!(-1)),
            ("$amount + $for", json!(1503)),
            ("$status + $status", json!(null)),
            ("$a-b - 1", json!(3)),
        ] {
            assert_eq!(run(text), expected, "{text}: {}", feel(text).unwrap());
        }
    }

    #[test]
    fn everything_else_is_refused_by_its_name() {
        for (text, named) in [
            ("amount > 5", "`amount` is a step from no value"),
            ("/order/total = 5", "`/` is a step from no value"),
            ("//total", "`//` is a step from no value"),
            ("$order//total", "`//` is not translated"),
            ("$order/@id", "a step is not the name of a child"),
            ("$order/lines[sku = 'a']", "a predicate is not the number of a place"),
            ("$order/lines[0]", "`[0]` is no place"),
            ("$order/text()", "`text` is no step to a child"),
            ("contains($status, 'o')", "`contains(…)` is not translated"),
            ("getDataObject('p', 'x')", "one argument"),
            ("getDataObject($x)", "needs the name"),
            ("getDataObject('my order')", "no plain name"),
            ("getActivityProperty('a', 'x')", "`getActivityProperty(…)` is not translated"),
            ("$a | $b", "`|` is not translated"),
            ("=amount > 5", "`=` is not expected there"),
            ("$a > ", "the end is not expected there"),
            ("'open", "no closing quote"),
            ("5e3", "a number has a form"),
            ("", "the end is not expected there"),
            ("$status = 'it''s'", "'s' is not expected there"),
            ("$a $b", "`$b` is not expected there"),
        ] {
            let told = feel(text).unwrap_err().to_string();
            assert!(told.contains(named), "{text}: {told}");
        }
        assert!(feel(&"(".repeat(1_000)).is_err());
        assert!(feel(&"-".repeat(10_000)).is_err());
        assert!(feel(&format!("$x{}", " = $x".repeat(2_000))).is_err(), "each doubles what stands before it");
    }
}
