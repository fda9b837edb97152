//! Expressions in the languages that models are written in, as FEEL.

use super::juel::script;
use heddle_feel::{Dialect, Expression};

/// Defect of a condition that cannot be evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// Code of the finding.
    pub code: &'static str,
    /// Reason, as a sentence.
    pub sentence: String,
    /// Line and column in the text, from 1.
    pub place: Option<(u32, u32)>,
}

impl Wrong {
    /// A defect without a place.
    pub fn new(code: &'static str, sentence: impl Into<String>) -> Self {
        Self { code, sentence: sentence.into(), place: None }
    }
}

/// A condition's text as FEEL. XPath is translated; a plain number or truth value means the same in every language.
///
/// # Errors
/// When the language is another one, or the text is no expression of it.
pub fn feel(text: &str, language: Option<&str>) -> Result<Expression, Wrong> {
    if let Some(translated) = xpath(text, language)? {
        // A place in the translation is none that the author knows.
        return feel(&translated, None).map_err(|wrong| Wrong { place: None, ..wrong });
    }
    let known = language.is_none_or(|own| own.trim().is_empty() || own.to_ascii_lowercase().contains("feel"));
    if !known && !is_plain(text) {
        let language = language.unwrap_or_default();
        let sentence = format!("conditions in the language {language} are not evaluated");
        return Err(Wrong::new("expressionLanguage", sentence));
    }
    let source = text.strip_prefix('=').unwrap_or(text).trim();
    if source.is_empty() {
        return Err(Wrong::new("expressionSyntax", "the condition is empty"));
    }
    // Places are told in the text as its author sees it, with the sign before the expression.
    let before = text.find(source).and_then(|at| text.get(..at)).unwrap_or_default();
    let lines = u32::try_from(before.matches('\n').count()).unwrap_or_default();
    let last = before.rsplit('\n').next().unwrap_or_default();
    let columns = u32::try_from(last.chars().count()).unwrap_or_default();
    Expression::compile(source, Dialect::Heddle).map_err(|error| {
        let column = if error.line == 1 { error.column + columns } else { error.column };
        let place = (error.line + lines, column);
        let sentence = format!("line {}, column {}: {}", place.0, place.1, error.message);
        Wrong { place: Some(place), ..Wrong::new("expressionSyntax", sentence) }
    })
}

/// The FEEL that an expression in XPath becomes; none when the language is another one, or the text a plain value.
///
/// # Errors
/// When the expression cannot be translated.
pub fn xpath(text: &str, language: Option<&str>) -> Result<Option<String>, Wrong> {
    if !language.is_some_and(super::xpath::is_xpath) || is_plain(text) {
        return Ok(None);
    }
    super::xpath::feel(text).map(Some).map_err(|error| {
        let sentence = format!("`{}` is XPath and is not translated to FEEL: {error}", text.trim());
        Wrong::new("expressionLanguage", sentence)
    })
}

/// Whether a text is a number or truth value that every language of expressions writes the same.
fn is_plain(text: &str) -> bool {
    let text = text.trim();
    let digits = text.strip_prefix('-').unwrap_or(text);
    let all = |part: &str| !part.is_empty() && part.bytes().all(|own| own.is_ascii_digit());
    matches!(text, "true" | "false")
        || digits.split_once('.').map_or_else(|| all(digits), |(whole, part)| all(whole) && all(part))
}

/// The FEEL that a condition in JUEL, or in a language of scripts, becomes; none when the text is neither. `language` is
/// the condition's own: the model's is often XPath although the conditions are JUEL, and no XPath begins with `${`.
///
/// # Errors
/// When the condition cannot be translated.
pub fn juel(text: &str, language: Option<&str>) -> Result<Option<String>, Wrong> {
    if let Some(language) = language.filter(|own| script::is_known(own)) {
        let translated = script::expression(language, text);
        return translated.map(Some).map_err(|error| {
            let sentence = format!("`{text}` is in {language} and is not translated to FEEL: {error}");
            Wrong::new("expressionLanguage", sentence)
        });
    }
    let other = language.map(str::trim).filter(|own| !own.is_empty());
    let other = other.is_some_and(|own| !own.to_ascii_lowercase().contains("juel"));
    if other || !(text.starts_with("${") || text.starts_with("#{")) {
        return Ok(None);
    }
    match super::juel::condition(text) {
        Ok(translated) => Ok(Some(translated)),
        Err(error) => {
            let sentence = format!("`{text}` is JUEL and is not translated to FEEL: {error}");
            Err(Wrong::new("expressionLanguage", sentence))
        }
    }
}

/// A condition in any of the languages: `own` is its own language, `language` the model's.
///
/// # Errors
/// When the language is another one, or the text is no expression of it.
pub fn condition(text: &str, own: Option<&str>, language: Option<&str>) -> Result<Expression, Wrong> {
    match juel(text, own)? {
        Some(translated) => feel(&translated, None).map_err(|wrong| Wrong { place: None, ..wrong }),
        None => feel(text, own.or(language)),
    }
}

/// The expression of a value in any of the languages: `own` is its own language, `language` the model's.
///
/// # Errors
/// As [`condition`].
pub fn value(text: &str, own: Option<&str>, language: Option<&str>) -> Result<Expression, Wrong> {
    if !super::juel::is_juel(text) {
        return condition(text, own, language);
    }
    let translated = super::juel::value(text).map_err(|error| {
        let sentence = format!("`{}` is JUEL and is not translated to FEEL: {error}", text.trim());
        Wrong::new("expressionLanguage", sentence)
    })?;
    feel(&translated, None).map_err(|wrong| Wrong { place: None, ..wrong })
}
