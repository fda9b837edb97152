//! Messages that quote what somebody wrote, kept short.

use std::borrow::Cow;

/// Bytes of the longest text that a message quotes whole.
const QUOTED: usize = 200;
/// Bytes of the longest message.
const WHOLE: usize = 2_000;
/// Mark in the place of what was left out.
const CUT: &str = " … ";

/// The message with each text between backquotes cut to about 200 bytes, and itself to about 2,000: both keep their
/// beginning and their end. Whoever sent a long text has it, and nobody needs it back in every answer and incident.
#[must_use]
pub fn shortened(message: &str) -> Cow<'_, str> {
    if message.len() <= QUOTED {
        return Cow::Borrowed(message);
    }
    let mut short = String::new();
    for (at, part) in message.split('`').enumerate() {
        if at > 0 {
            short.push('`');
        }
        // What stands at odd places stands between backquotes.
        short.push_str(&if at % 2 == 1 { cut(part, QUOTED) } else { Cow::Borrowed(part) });
    }
    Cow::Owned(cut(&short, WHOLE).into_owned())
}

/// The text with its middle left out, when it is longer than that many bytes.
fn cut(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let head = text.floor_char_boundary(most / 4 * 3);
    let tail = text.ceil_char_boundary(text.len() - most / 4);
    let (head, tail) = (text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default());
    Cow::Owned(format!("{head}{CUT}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_is_cut_and_what_is_said_of_it_stays() {
        let long = "é".repeat(50_000);
        let short = shortened(&format!("the condition `{long}` gives 5")).into_owned();
        assert!(short.starts_with("the condition `é") && short.ends_with("é` gives 5"), "{short}");
        assert!(short.len() < 300, "{}", short.len());
        assert!(shortened(&long).len() < 2_100);
        assert_eq!(shortened("`a` is not a number"), "`a` is not a number");
    }
}
