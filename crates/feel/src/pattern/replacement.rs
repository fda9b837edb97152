//! Replacements of matches (XQuery and XPath Functions 3.1, 5.6.4).

/// Part of a replacement.
#[derive(Debug)]
pub(crate) enum Piece {
    /// Text as it stands.
    Text(String),
    /// Text that the group of that number matched.
    Group(usize),
}

/// Replacement with its `$1` and `\$` resolved; none when it is not of XPath.
pub(crate) fn replacement(text: &str, literal: bool, groups: usize) -> Option<Vec<Piece>> {
    if literal {
        return Some(vec![Piece::Text(text.to_owned())]);
    }
    let (mut pieces, mut plain) = (Vec::new(), String::new());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next()? {
                escaped @ ('\\' | '$') => plain.push(escaped),
                _ => return None,
            },
            '$' => {
                let mut group = chars.next()?.to_digit(10)? as usize;
                // As many digits as still name a group.
                while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                    let longer = group * 10 + digit as usize;
                    if longer >= groups {
                        break;
                    }
                    group = longer;
                    chars.next();
                }
                if !plain.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                }
                pieces.push(Piece::Group(group));
            }
            c => plain.push(c),
        }
    }
    if !plain.is_empty() {
        pieces.push(Piece::Text(plain));
    }
    Some(pieces)
}
