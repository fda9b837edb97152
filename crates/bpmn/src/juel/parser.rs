//! A recursive descent parser of JUEL's expressions, bounded in depth and size.

use super::JuelError;
use super::lexer::{Lexer, Token};

/// Deepest nesting, and most nodes of one text.
const MAX_DEPTH: usize = 64;
const MAX_NODES: usize = 500;

/// An expression.
#[derive(Debug)]
pub(super) enum Expr<'t> {
    Null,
    Boolean(bool),
    Number(&'t str),
    Text(String),
    Name(String),
    Member(Box<Expr<'t>>, String),
    /// Zero-based.
    Item(Box<Expr<'t>>, u32),
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
    "authenticatedUserId",
    "variableContainer",
    "connector",
    "processInstance",
    "loggedInUser",
];

/// Parses what stands behind `${`; answers also how many bytes it took, with the closing brace.
pub(super) fn parse<'t>(source: &'t str, nodes: &mut usize) -> Result<(Expr<'t>, usize), JuelError> {
    let mut lexer = Lexer::new(source);
    let token = lexer.next()?;
    let mut parser = Parser { lexer, token, depth: 0, nodes: *nodes };
    let expression = parser.ternary()?;
    *nodes = parser.nodes;
    match parser.token {
        Token::End => Ok((expression, parser.lexer.used())),
        other => Err(unexpected(&other)),
    }
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    token: Token<'t>,
    depth: usize,
    nodes: usize,
}

impl<'t> Parser<'t> {
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
            let right = self.binary(level + 1)?;
            left = self.node(Expr::Binary(operator, Box::new(left), Box::new(right)))?;
        }
        Ok(left)
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
        self.advance()?;
        let operand = self.deeper(Self::unary)?;
        self.node(make(Box::new(operand)))
    }

    fn postfix(&mut self) -> Result<Expr<'t>, JuelError> {
        let mut value = self.primary()?;
        loop {
            if self.take(".")? {
                let Token::Name(name) = self.advance()? else { return Err(unexpected(&self.token)) };
                value = if self.token == Token::Sign("(") {
                    self.call(&value, name)?
                } else {
                    self.node(Expr::Member(Box::new(value), name.to_owned()))?
                };
            } else if self.take("[")? {
                let key = self.advance()?;
                self.expect("]")?;
                let index = |digits: &str| digits.parse::<u32>().ok().filter(|index| *index < u32::MAX);
                value = match key {
                    Token::Text(name) => self.node(Expr::Member(Box::new(value), name))?,
                    Token::Number(digits) if index(digits).is_some() => {
                        self.node(Expr::Item(Box::new(value), index(digits).unwrap_or_default()))?
                    }
                    _ => {
                        let message = "whether a computed index is a place or a key is not known";
                        return Err(JuelError(message.to_owned()));
                    }
                };
            } else {
                break;
            }
        }
        match root(&value) {
            Some(name) if OBJECTS.contains(&name) => {
                Err(JuelError(format!("`{name}` is an object of the other engine, not a variable")))
            }
            _ => Ok(value),
        }
    }

    /// A method call: none is translated but the one that reads a variable.
    fn call(&mut self, base: &Expr<'t>, method: &str) -> Result<Expr<'t>, JuelError> {
        let reads = matches!(base, Expr::Name(name) if name == "execution" || name == "task");
        if reads && method == "getVariable" {
            self.expect("(")?;
            if let Token::Text(name) = self.advance()? {
                self.expect(")")?;
                return self.node(Expr::Name(name));
            }
        }
        Err(JuelError(format!("the method call `{method}(…)` runs code of the other engine")))
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
            Token::Name(name) => {
                if self.token == Token::Sign("(") {
                    return Err(JuelError(format!("the function `{name}(…)` belongs to the other engine")));
                }
                Expr::Name(name.to_owned())
            }
            other => return Err(unexpected(&other)),
        };
        self.node(expression)
    }
}

/// The variable that a path begins with.
fn root<'e>(expression: &'e Expr<'_>) -> Option<&'e str> {
    let mut at = expression;
    loop {
        match at {
            Expr::Name(name) => return Some(name),
            Expr::Member(base, _) | Expr::Item(base, _) => at = base,
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
