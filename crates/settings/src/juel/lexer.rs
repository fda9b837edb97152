//! Tokens of JUEL.

use super::JuelError;

/// A token with where it ends.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token<'t> {
    Name(&'t str),
    Number(&'t str),
    Text(String),
    Sign(&'static str),
    /// The brace that ends the expression.
    End,
}

const SIGNS: &[&str] = &[
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "+", "-", "*", "/", "%", "?", ":", "(", ")", "[", "]",
    ".", ",",
];

/// Reads tokens one by one.
#[derive(Debug, Clone)]
pub(super) struct Lexer<'t> {
    source: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(source: &'t str) -> Self {
        Self { source, at: 0 }
    }

    /// Number of bytes read.
    pub(super) fn used(&self) -> usize {
        self.at
    }

    pub(super) fn next(&mut self) -> Result<Token<'t>, JuelError> {
        let source = self.source;
        let rest = source[self.at..].trim_start();
        self.at = source.len() - rest.len();
        let Some(first) = rest.chars().next() else {
            return Err(JuelError("the expression has no closing brace".to_owned()));
        };
        if first == '}' {
            self.at += 1;
            return Ok(Token::End);
        }
        if first == '\'' || first == '"' {
            return self.text(first);
        }
        if first.is_ascii_digit() {
            return self.number(rest);
        }
        if name_start(first) {
            let end = rest.find(|letter| !name_part(letter)).unwrap_or(rest.len());
            self.at += end;
            return Ok(Token::Name(&rest[..end]));
        }
        match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            Some(sign) => {
                self.at += sign.len();
                Ok(Token::Sign(sign))
            }
            None => Err(JuelError(format!("`{first}` is no sign of JUEL"))),
        }
    }

    fn text(&mut self, quote: char) -> Result<Token<'t>, JuelError> {
        let mut text = String::new();
        let mut letters = self.source[self.at + 1..].char_indices();
        while let Some((offset, letter)) = letters.next() {
            match letter {
                '\\' => match letters.next() {
                    Some((_, escaped @ ('\\' | '\'' | '"'))) => text.push(escaped),
                    Some((_, other)) => {
                        text.push('\\');
                        text.push(other);
                    }
                    None => break,
                },
                _ if letter == quote => {
                    self.at += 1 + offset + 1;
                    return Ok(Token::Text(text));
                }
                _ => text.push(letter),
            }
        }
        Err(JuelError("a text has no closing quote".to_owned()))
    }

    fn number(&mut self, rest: &'t str) -> Result<Token<'t>, JuelError> {
        let digits = |from: usize| {
            rest[from..].find(|letter: char| !letter.is_ascii_digit()).map_or(rest.len(), |end| from + end)
        };
        let mut end = digits(0);
        if rest[end..].starts_with('.') && rest[end + 1..].starts_with(|letter: char| letter.is_ascii_digit())
        {
            end = digits(end + 1);
        }
        if rest[end..].starts_with(name_part) {
            return Err(JuelError("a number has a form that is not translated".to_owned()));
        }
        self.at += end;
        Ok(Token::Number(&rest[..end]))
    }
}

fn name_start(letter: char) -> bool {
    letter.is_alphabetic() || letter == '_' || letter == '$'
}

fn name_part(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}
