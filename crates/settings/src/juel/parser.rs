//! A recursive descent parser of JUEL's expressions, bounded in depth and size.

use super::JuelError;
use super::functions;
use super::lexer::{Lexer, Token};
use super::methods::{self, Method, Unit};
use std::collections::BTreeMap;

/// Deepest nesting, and most nodes of one text.
const MAX_DEPTH: usize = 64;
const MAX_NODES: usize = 500;

/// An expression.
#[derive(Debug, Clone)]
pub(super) enum Expr<'t> {
    Null,
    Boolean(bool),
    Number(&'t str),
    Text(String),
    Name(String),
    Member(Box<Expr<'t>>, String),
    /// Zero-based.
    Item(Box<Expr<'t>>, u32),
    /// A place of a list, zero-based, or a key of a map: which one shows at the evaluation.
    At(Box<Expr<'t>>, Box<Expr<'t>>),
    /// The present instant.
    Now,
    /// An instant so many units later, or earlier.
    Shift(Box<Expr<'t>>, Box<Expr<'t>>, Unit, bool),
    /// A method with an exact counterpart.
    Call(Method, Box<Expr<'t>>, Option<Box<Expr<'t>>>),
    /// FEEL that is written already.
    Feel(String),
    Not(Box<Expr<'t>>),
    Negative(Box<Expr<'t>>),
    Empty(Box<Expr<'t>>),
    Binary(Operator, Box<Expr<'t>>, Box<Expr<'t>>),
    If(Box<Expr<'t>>, Box<Expr<'t>>, Box<Expr<'t>>),
}

/// An operator with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Plus,
    /// Plus of a script: it adds numbers and joins texts.
    Join,
    Minus,
    Times,
    Divide,
    Remainder,
}

/// Operators by binding strength, from the weakest.
const LEVELS: &[&[(&str, Operator)]] = &[
    &[("||", Operator::Or), ("or", Operator::Or)],
    &[("&&", Operator::And), ("and", Operator::And)],
    &[("==", Operator::Equal), ("eq", Operator::Equal), ("!=", Operator::Unequal), ("ne", Operator::Unequal)],
    &[
        ("<=", Operator::LessOrEqual),
        ("le", Operator::LessOrEqual),
        (">=", Operator::GreaterOrEqual),
        ("ge", Operator::GreaterOrEqual),
        ("<", Operator::Less),
        ("lt", Operator::Less),
        (">", Operator::Greater),
        ("gt", Operator::Greater),
    ],
    &[("+", Operator::Plus), ("-", Operator::Minus)],
    &[
        ("*", Operator::Times),
        ("/", Operator::Divide),
        ("div", Operator::Divide),
        ("%", Operator::Remainder),
        ("mod", Operator::Remainder),
    ],
];

/// Objects that the other engines put beside the variables.
const OBJECTS: &[&str] = &[
    "execution",
    "task",
    "caseExecution",
    "caseInstance",
    "planItemInstance",
    "authenticatedUserId",
    "variableContainer",
    "connector",
    "processInstance",
    "loggedInUser",
];

/// Objects among them whose methods read variables by name.
pub(super) const SCOPES: &[&str] =
    &["execution", "task", "caseExecution", "caseInstance", "planItemInstance"];

/// Values that a script gave its variables so far, as FEEL.
pub(super) type Known = BTreeMap<String, String>;

/// Parses what stands behind `${`; answers also how many bytes it took, with the closing brace.
pub(super) fn parse<'t>(source: &'t str, nodes: &mut usize) -> Result<(Expr<'t>, usize), JuelError> {
    parse_over(source, nodes, None)
}

/// The same for an expression of a script, over what is known of its variables.
pub(super) fn parse_over<'t>(
    source: &'t str,
    nodes: &mut usize,
    known: Option<&Known>,
) -> Result<(Expr<'t>, usize), JuelError> {
    let mut lexer = Lexer::new(source);
    let token = lexer.next()?;
    let mut parser = Parser { lexer, token, depth: 0, nodes: *nodes, known };
    let expression = parser.ternary()?;
    *nodes = parser.nodes;
    match parser.token {
        Token::End => Ok((expression, parser.lexer.used())),
        other => Err(unexpected(&other)),
    }
}

struct Parser<'t, 'k> {
    lexer: Lexer<'t>,
    token: Token<'t>,
    depth: usize,
    nodes: usize,
    /// Present for a script.
    known: Option<&'k Known>,
}

impl<'t> Parser<'t, '_> {
    /// Moves on; the closing brace is the last token.
    fn advance(&mut self) -> Result<Token<'t>, JuelError> {
        let next = if self.token == Token::End { Token::End } else { self.lexer.next()? };
        Ok(std::mem::replace(&mut self.token, next))
    }

    fn take(&mut self, sign: &str) -> Result<bool, JuelError> {
        let found = matches!(&self.token, Token::Sign(own) if *own == sign);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect(&mut self, sign: &str) -> Result<(), JuelError> {
        if self.take(sign)? { Ok(()) } else { Err(unexpected(&self.token)) }
    }

    fn node(&mut self, expression: Expr<'t>) -> Result<Expr<'t>, JuelError> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(JuelError(format!("the expression has more than {MAX_NODES} parts")));
        }
        Ok(expression)
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, JuelError>) -> Result<T, JuelError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(JuelError(format!("the expression nests deeper than {MAX_DEPTH}")));
        }
        let found = read(self)?;
        self.depth -= 1;
        Ok(found)
    }

    fn ternary(&mut self) -> Result<Expr<'t>, JuelError> {
        self.deeper(|parser| {
            let condition = parser.binary(0)?;
            if !parser.take("?")? {
                return Ok(condition);
            }
            parser.certain(&condition)?;
            let then = parser.ternary()?;
            parser.expect(":")?;
            let otherwise = parser.ternary()?;
            parser.node(Expr::If(Box::new(condition), Box::new(then), Box::new(otherwise)))
        })
    }

    fn binary(&mut self, level: usize) -> Result<Expr<'t>, JuelError> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = self.operator(operators) {
            self.advance()?;
            let script = self.known.is_some();
            let operator = if script && operator == Operator::Plus { Operator::Join } else { operator };
            let right = self.binary(level + 1)?;
            if matches!(operator, Operator::And | Operator::Or) {
                self.certain(&left)?;
                self.certain(&right)?;
            }
            left = self.node(Expr::Binary(operator, Box::new(left), Box::new(right)))?;
        }
        Ok(left)
    }

    /// Refuses in a script what is not surely true or false.
    fn certain(&self, operand: &Expr<'t>) -> Result<(), JuelError> {
        if self.known.is_none() || is_truth(operand) {
            return Ok(());
        }
        Err(JuelError("whether a value of any type counts as true has rules of its own there".to_owned()))
    }

    fn operator(&self, operators: &[(&str, Operator)]) -> Option<Operator> {
        let word = match &self.token {
            Token::Sign(word) => word,
            Token::Name(word) => word,
            _ => return None,
        };
        operators.iter().find(|(own, _)| own == word).map(|(_, operator)| *operator)
    }

    fn unary(&mut self) -> Result<Expr<'t>, JuelError> {
        let make: fn(Box<Expr<'t>>) -> Expr<'t> = match &self.token {
            Token::Sign("!") | Token::Name("not") => Expr::Not,
            Token::Sign("-") => Expr::Negative,
            Token::Name("empty") => Expr::Empty,
            _ => return self.postfix(),
        };
        let negation = matches!(&self.token, Token::Sign("!") | Token::Name("not"));
        self.advance()?;
        let operand = self.deeper(Self::unary)?;
        if negation {
            self.certain(&operand)?;
        }
        self.node(make(Box::new(operand)))
    }

    fn postfix(&mut self) -> Result<Expr<'t>, JuelError> {
        let mut value = self.primary()?;
        loop {
            if self.take(".")? {
                let Token::Name(name) = self.advance()? else { return Err(unexpected(&self.token)) };
                if name == "length" && self.known.is_some() && self.token != Token::Sign("(") {
                    return Err(JuelError("the length of a text or list is no member of it".to_owned()));
                }
                value = if self.token == Token::Sign("(") {
                    self.call(value, name)?
                } else {
                    self.node(Expr::Member(Box::new(value), name.to_owned()))?
                };
            } else if self.take("[")? {
                let key = self.ternary()?;
                self.expect("]")?;
                let index = |digits: &str| digits.parse::<u32>().ok().filter(|index| *index < u32::MAX);
                value = match key {
                    Expr::Text(name) => self.node(Expr::Member(Box::new(value), name))?,
                    Expr::Number(digits) if index(digits).is_some() => {
                        self.node(Expr::Item(Box::new(value), index(digits).unwrap_or_default()))?
                    }
                    key => self.node(Expr::At(Box::new(value), Box::new(key)))?,
                };
            } else {
                break;
            }
        }
        match root(&value) {
            Some(name) if OBJECTS.contains(&name) => Err(foreign(name)),
            _ => Ok(value),
        }
    }

    /// A method call: translated where the method reads a variable, or has an exact counterpart for values of JSON.
    fn call(&mut self, base: Expr<'t>, method: &str) -> Result<Expr<'t>, JuelError> {
        let code = || JuelError(format!("the method call `{method}(…)` runs code of the other engine"));
        let engine = matches!(&base, Expr::Name(name) if SCOPES.contains(&name.as_str()));
        if !engine && !methods::is_known(method) {
            return Err(code());
        }
        if let Some(name) = root(&base).filter(|name| !engine && OBJECTS.contains(name)) {
            return Err(foreign(name));
        }
        let mut arguments = self.arguments()?;
        if engine {
            let (Some(Expr::Text(name)), None) = (arguments.pop(), arguments.pop()) else {
                return Err(code());
            };
            return match method {
                "getVariable" => {
                    let name = self.variable(name);
                    self.node(name)
                }
                "hasVariable" => {
                    let name = self.variable(name);
                    let found = Expr::Binary(Operator::Unequal, Box::new(name), Box::new(Expr::Null));
                    self.node(found)
                }
                _ => Err(code()),
            };
        }
        let found = methods::call(base, method, arguments).ok_or_else(code)?;
        self.node(found)
    }

    /// Arguments of a call, from its parenthesis on.
    fn arguments(&mut self) -> Result<Vec<Expr<'t>>, JuelError> {
        self.expect("(")?;
        let mut found = Vec::new();
        if self.take(")")? {
            return Ok(found);
        }
        loop {
            found.push(self.ternary()?);
            if !self.take(",")? {
                self.expect(")")?;
                return Ok(found);
            }
        }
    }

    /// A variable by its name.
    fn variable(&self, name: String) -> Expr<'t> {
        if let Some(known) = self.known.and_then(|known| known.get(&name)) {
            return Expr::Feel(known.clone());
        }
        Expr::Name(name)
    }

    /// Whether a colon with the name of a function and its parenthesis follows.
    fn names_function(&self) -> bool {
        let mut ahead = self.lexer.clone();
        self.token == Token::Sign(":")
            && matches!(ahead.next(), Ok(Token::Name(_)))
            && matches!(ahead.next(), Ok(Token::Sign("(")))
    }

    /// A function on a variable, from the colon behind its prefix on; the variable stands in it by its name, quoted or not.
    fn of_variables(&mut self, space: &str) -> Result<Expr<'t>, JuelError> {
        self.expect(":")?;
        let name = match self.advance()? {
            Token::Name(name) => name,
            other => return Err(unexpected(&other)),
        };
        let mut arguments = self.arguments()?.into_iter();
        let variable = match arguments.next() {
            Some(Expr::Text(name)) => Some(self.variable(name)),
            own @ Some(Expr::Name(_) | Expr::Feel(_)) => own,
            Some(_) | None => None,
        };
        let argument = arguments.next();
        let found = variable.filter(|_| arguments.next().is_none());
        found.and_then(|own| functions::call(name, own, argument)).ok_or_else(|| {
            JuelError(format!(
                "the function `{space}:{name}(…)` with these arguments belongs to the other engine"
            ))
        })
    }

    /// A function that the other engines put beside the variables.
    fn function(&mut self, name: &str) -> Result<Expr<'t>, JuelError> {
        let unknown = || JuelError(format!("the function `{name}(…)` belongs to the other engine"));
        if !matches!(name, "now" | "dateTime" | "S" | "JSON") || self.known.is_some() {
            return Err(unknown());
        }
        let mut arguments = self.arguments()?;
        match (name, arguments.pop(), arguments.pop()) {
            ("now" | "dateTime", None, None) => Ok(Expr::Now),
            ("S" | "JSON", Some(text), None) => Ok(Expr::Call(Method::Json, Box::new(text), None)),
            _ => Err(unknown()),
        }
    }

    fn primary(&mut self) -> Result<Expr<'t>, JuelError> {
        let expression = match self.advance()? {
            Token::Number(digits) => Expr::Number(digits),
            Token::Text(text) => Expr::Text(text),
            Token::Sign("(") => {
                let inner = self.ternary()?;
                self.expect(")")?;
                return Ok(inner);
            }
            Token::Name("true") => Expr::Boolean(true),
            Token::Name("false") => Expr::Boolean(false),
            Token::Name("null") => Expr::Null,
            Token::Name("instanceof") => {
                return Err(JuelError("`instanceof` asks for a Java class".to_owned()));
            }
            Token::Name(space) if functions::SPACES.contains(&space) && self.names_function() => {
                self.of_variables(space)?
            }
            Token::Name(name) if self.token == Token::Sign("(") => self.function(name)?,
            Token::Name(name) => self.variable(name.to_owned()),
            other => return Err(unexpected(&other)),
        };
        self.node(expression)
    }
}

fn foreign(name: &str) -> JuelError {
    JuelError(format!("`{name}` is an object of the other engine, not a variable"))
}

/// Whether an expression of a script is surely true or false: others count as either by rules of their own there.
fn is_truth(expression: &Expr<'_>) -> bool {
    match expression {
        Expr::Boolean(_) | Expr::Not(_) | Expr::Empty(_) => true,
        Expr::Call(method, ..) => method.is_truth(),
        Expr::Binary(operator, ..) => !matches!(
            operator,
            Operator::Plus
                | Operator::Join
                | Operator::Minus
                | Operator::Times
                | Operator::Divide
                | Operator::Remainder
        ),
        _ => false,
    }
}

/// The variable that a path begins with.
fn root<'e>(expression: &'e Expr<'_>) -> Option<&'e str> {
    let mut at = expression;
    loop {
        match at {
            Expr::Name(name) => return Some(name),
            Expr::Member(base, _) | Expr::Item(base, _) | Expr::At(base, _) => at = base,
            _ => return None,
        }
    }
}

fn unexpected(token: &Token<'_>) -> JuelError {
    let what = match token {
        Token::Name(word) | Token::Number(word) => format!("`{word}`"),
        Token::Sign(sign) => format!("`{sign}`"),
        Token::Text(text) => format!("'{text}'"),
        Token::End => "the closing brace".to_owned(),
    };
    JuelError(format!("{what} is not expected there"))
}
