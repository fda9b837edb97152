//! Texts that need no reader of FEEL: literals, and unary tests made of literals. Most cells of decision tables are
//! such, and reading them here takes a tenth of the time.

use std::sync::OnceLock;

use heddle_feel::{Dialect, Number, Range, RangeForm, UnaryTests, Value};

/// Longest number read here; all its digits are kept.
const MAX_NUMBER: usize = 30;

/// Unary tests whose compiled form is made when it is first asked for.
#[derive(Debug)]
pub(crate) struct Deferred {
    text: Box<str>,
    dialect: Dialect,
    compiled: OnceLock<Option<UnaryTests>>,
}

impl Deferred {
    /// Tests that [`tests`] has read.
    pub(crate) fn new(text: &str, dialect: Dialect) -> Self {
        Self { text: text.into(), dialect, compiled: OnceLock::new() }
    }

    /// Tests already compiled.
    pub(crate) fn compiled(tests: UnaryTests) -> Self {
        Self { text: "".into(), dialect: Dialect::default(), compiled: OnceLock::from(Some(tests)) }
    }

    /// The compiled form, when it has been made.
    pub(crate) fn made(&self) -> Option<&UnaryTests> {
        self.compiled.get().and_then(Option::as_ref)
    }

    /// The compiled form.
    pub(crate) fn get(&self) -> Option<&UnaryTests> {
        self.compiled.get_or_init(|| UnaryTests::compile(&self.text, self.dialect).ok()).as_ref()
    }
}

/// A literal: a string without escapes, a number, a truth value.
pub(super) fn value(text: &str) -> Option<Value> {
    let mut reader = Reader { rest: text.trim() };
    let value = reader.literal()?;
    reader.rest.is_empty().then_some(value)
}

/// Literals, comparisons with numbers and ranges of numbers, by commas.
pub(super) fn tests(text: &str) -> Option<Vec<Value>> {
    let mut reader = Reader { rest: text.trim() };
    let mut tests = Vec::new();
    loop {
        tests.push(reader.test()?);
        reader.blank();
        if reader.rest.is_empty() {
            return Some(tests);
        }
        reader.take(",")?;
        reader.blank();
    }
}

struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn take(&mut self, text: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(text)?;
        Some(())
    }

    fn blank(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\n', '\t', '\r']);
    }

    /// As many bytes, which are ASCII or end with such.
    fn split(&mut self, length: usize) -> Option<&'t str> {
        let (text, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(text)
    }

    fn test(&mut self) -> Option<Value> {
        let bytes = self.rest.as_bytes();
        match bytes.first()? {
            first @ (b'<' | b'>') => {
                let included = bytes.get(1) == Some(&b'=');
                self.split(1 + usize::from(included))?;
                self.blank();
                let end = Some(self.number()?);
                let below = *first == b'<';
                let (low, high) = if below { (None, end) } else { (end, None) };
                let (low_included, high_included) = (included && !below, included && below);
                Some(range(Range { low, low_included, high, high_included, form: RangeForm::Comparison }))
            }
            first @ (b'[' | b'(') => {
                self.split(1)?;
                self.blank();
                let low = self.number()?;
                self.blank();
                self.take("..")?;
                self.blank();
                let high = self.number()?;
                self.blank();
                let last = self.split(1)?;
                let (low_included, high_included) = (*first == b'[', last == "]");
                // A range whose ends are the wrong way round is null for a reason, which the reader of FEEL tells.
                let fits = (last == "]" || last == ")") && low.as_number()? <= high.as_number()?;
                let (low, high) = (Some(low), Some(high));
                let form = RangeForm::Interval;
                fits.then(|| range(Range { low, low_included, high, high_included, form }))
            }
            _ => self.literal(),
        }
    }

    fn literal(&mut self) -> Option<Value> {
        match self.rest.as_bytes().first()? {
            b'"' => {
                self.split(1)?;
                let text = self.split(self.rest.find(['"', '\\', '\n', '\r'])?)?;
                self.take("\"")?;
                Some(Value::string(text))
            }
            b't' => self.take("true").filter(|()| self.ends()).map(|()| Value::Boolean(true)),
            b'f' => self.take("false").filter(|()| self.ends()).map(|()| Value::Boolean(false)),
            _ => self.number(),
        }
    }

    /// Whether nothing follows that could belong to a word or number just read, or make it a part of something else.
    fn ends(&self) -> bool {
        matches!(self.rest.as_bytes().first(), None | Some(b' ' | b'\n' | b'\t' | b'\r' | b',' | b']' | b')'))
    }

    fn number(&mut self) -> Option<Value> {
        let bytes = self.rest.as_bytes();
        let digits = |from: usize| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
        let sign = usize::from(bytes.first() == Some(&b'-'));
        let whole = sign + digits(sign);
        if whole == sign {
            return None;
        }
        let fraction = if bytes.get(whole) == Some(&b'.') { digits(whole + 1) } else { 0 };
        let length = whole + if fraction > 0 { fraction + 1 } else { 0 };
        if length > MAX_NUMBER {
            return None;
        }
        let text = self.split(length)?;
        let value = match text.len() {
            ..=18 if fraction == 0 => Value::integer(text.parse().ok()?),
            _ => Value::Number(text.parse::<Number>().ok()?),
        };
        (self.ends() || self.rest.starts_with("..")).then_some(value)
    }
}

fn range(range: Range) -> Value {
    Value::Range(std::sync::Arc::new(range))
}

#[cfg(test)]
mod tests_of_plain {
    use heddle_feel::Expression;

    use super::*;

    /// Pieces that texts are made of: whatever is read here is read so by FEEL too.
    const PIECES: [&str; 36] = [
        "\"a\"", "\"", "\\", "a", "true", "false", "null", "1", "-", "12.50", ".", "..", "[", "]", "(", ")",
        "<", ">", "=", "<=", ">=", "!=", ",", " ", "\n", "0", "00", "-3", "e5", "not(", "?", "+", "é",
        "1..2", "[1..5)", "@",
    ];

    fn pieces(mut number: u64) -> String {
        let mut text = String::new();
        while number > 0 {
            text.push_str(PIECES[(number % 36) as usize]);
            number /= 36;
        }
        text
    }

    #[test]
    fn as_the_reader_of_feel() {
        let mut read = [0, 0];
        let random = (0..300_000u64).map(|at| (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (24 + at % 20));
        for number in (0..48_000).chain(random) {
            let text = pieces(number);
            if let Some(found) = value(&text) {
                let expression = Expression::compile(&text, Dialect::Standard).expect(&text);
                let wanted = expression.constant().expect(&text);
                assert_eq!(format!("{found:?}"), format!("{wanted:?}"), "{text}");
                read[0] += 1;
            }
            if let Some(found) = tests(&text) {
                let compiled = UnaryTests::compile(&text, Dialect::Standard).expect(&text);
                let wanted = compiled.constants().expect(&text);
                assert!(!wanted.negated, "{text}");
                assert_eq!(format!("{found:?}"), format!("{:?}", wanted.tests), "{text}");
                read[1] += 1;
            }
        }
        assert!(read[0] > 50 && read[1] > 500, "{read:?}");
    }

    #[test]
    fn usual_cells() {
        for text in [
            "\"HIGH\"",
            "\"S\",\"M\"",
            " \"a\" , \"b\" ",
            "<=100",
            "> 7.5",
            "[120..130]",
            "(1 .. 2)",
            "-5",
            "true",
            "0.25, [1..2), false",
        ] {
            assert!(tests(text).is_some(), "{text}");
        }
        for text in
            ["-", "", "a", "not(1)", "[2..1]", "\"a\"+\"b\"", "1 + 1", "]1..2[", "date(\"2020-01-01\")", "1,"]
        {
            assert!(tests(text).is_none(), "{text}");
        }
    }
}
