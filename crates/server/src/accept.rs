//! Negotiation of the media type of an answer: what the caller takes (`Accept`, RFC 9110, 12.5.1) against what the
//! operation gives.

use heddle_api::operations::{OperationSpec, OutputKind};

const JSON: &str = "application/json";
const PROBLEM: &str = "application/problem+json";

/// Media types that a caller takes; without any, everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Accept(Option<Vec<Range>>);

/// A media range with its weight in thousandths.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Range {
    media: String,
    weight: u16,
}

impl Range {
    fn read(text: &str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let media = parts.next().filter(|media| media.contains('/'))?.to_ascii_lowercase();
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        Some(Self { media, weight: weight.map_or(1000, thousandths) })
    }

    /// Closeness with which the range names a media type; none when it does not cover it.
    fn covers(&self, media: &str) -> Option<u8> {
        let kind = media.split('/').next().unwrap_or_default();
        match self.media.as_str() {
            own if own == media => Some(2),
            "*/*" => Some(0),
            own => (own.strip_suffix("/*") == Some(kind)).then_some(1),
        }
    }
}

/// A weight from 0 to 1; what is none counts as 1.
fn thousandths(text: &str) -> u16 {
    let (whole, rest) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let is_part = rest.len() <= 3 && rest.bytes().all(|byte| byte.is_ascii_digit());
    match (whole, is_part) {
        ("0", true) => format!("{rest:0<3}").parse().unwrap_or(1000),
        _ => 1000,
    }
}

impl Accept {
    /// Reads the header; a caller without one takes everything.
    #[must_use]
    pub(crate) fn read(header: Option<&str>) -> Self {
        let text = header.map(str::trim).filter(|text| !text.is_empty());
        Self(text.map(|text| text.split(',').filter_map(Range::read).collect()))
    }

    /// Weight of a media type, and the place of the range that gives it: the closest one counts.
    fn weight(&self, media: &str) -> (u16, usize) {
        let Some(ranges) = &self.0 else { return (1000, 0) };
        let closest =
            ranges.iter().enumerate().filter_map(|(at, range)| Some((range.covers(media)?, at, range)));
        let closest = closest.max_by_key(|(close, at, _)| (*close, usize::MAX - at));
        closest.map_or((0, usize::MAX), |(_, at, range)| (range.weight, at))
    }

    /// Whether the caller takes a media type. Whoever asks for errors as problem details takes JSON, which is what they are.
    #[must_use]
    pub(crate) fn takes(&self, media: &str) -> bool {
        self.weight(media).0 > 0 || (media == JSON && self.weight(PROBLEM).0 > 0)
    }

    /// The media type that the caller likes best; of equals the one that they name first, else the first one.
    #[must_use]
    pub(crate) fn best(&self, offers: &[&'static str]) -> Option<&'static str> {
        let rank = |media: &str| {
            let (weight, at) = self.weight(media);
            (weight, usize::MAX - at)
        };
        let mut best: Option<&'static str> = None;
        for offer in offers.iter().copied().filter(|offer| self.takes(offer)) {
            if best.is_none_or(|known| rank(offer) > rank(known)) {
                best = Some(offer);
            }
        }
        best
    }

    /// Whether errors are told as problem details (RFC 9457).
    #[must_use]
    pub(crate) fn prefers_problem(&self) -> bool {
        let named = self.0.iter().flatten().any(|range| range.media == PROBLEM);
        let (problem, json) = (self.weight(PROBLEM).0, self.weight(JSON).0);
        named && problem > 0 && problem >= json
    }
}

/// Media types that an operation gives, the preferred one first; none where it gives no body.
#[must_use]
pub(crate) fn offers(spec: &OperationSpec) -> Vec<&'static str> {
    match spec.output {
        OutputKind::None => Vec::new(),
        OutputKind::Data | OutputKind::List | OutputKind::Bare | OutputKind::BareList => vec![JSON],
        OutputKind::ListOrLines => vec![JSON, "application/x-ndjson"],
        // A page for people is given to who asks for it.
        OutputKind::Document(["text/html"]) => vec![JSON, "text/html"],
        OutputKind::Document(media) => media.iter().copied().chain([JSON]).collect(),
        OutputKind::Raw(media) => vec![media],
        OutputKind::EventStream => vec!["text/event-stream"],
        // Which of them it is, the body says.
        OutputKind::DataOrStream | OutputKind::BareOrStream => vec![JSON, "text/event-stream"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const XML: &str = "application/xml";

    #[test]
    fn the_best_of_what_is_offered_is_given() {
        let cases = [
            (None, Some(XML)),
            (Some(""), Some(XML)),
            (Some("*/*"), Some(XML)),
            (Some("application/json"), Some(JSON)),
            (Some("application/json;q=0.1, application/xml"), Some(XML)),
            (Some("application/xml;q=0.1, application/json;q=0.2"), Some(JSON)),
            (Some("application/json, application/xml"), Some(JSON)),
            (Some("application/json, */*;q=0.1"), Some(JSON)),
            (Some("*/*, application/json"), Some(XML)),
            (Some("application/xml;q=0, */*"), Some(JSON)),
            (Some("Application/JSON; charset=utf-8"), Some(JSON)),
            (Some("application/problem+json"), Some(JSON)),
            (Some("text/*"), None),
            (Some("image/png"), None),
            (Some("application/json;q=0"), None),
            (Some("nonsense"), None),
        ];
        for (header, wanted) in cases {
            assert_eq!(Accept::read(header).best(&[XML, JSON]), wanted, "{header:?}");
        }
    }

    #[test]
    fn problems_are_told_to_who_asks_for_them() {
        let cases = [
            ("application/problem+json", true),
            ("application/json, application/problem+json", true),
            ("application/json, application/problem+json;q=0.1", false),
            ("*/*", false),
            ("application/*", false),
            ("application/problem+json;q=0", false),
        ];
        for (header, wanted) in cases {
            assert_eq!(Accept::read(Some(header)).prefers_problem(), wanted, "{header}");
        }
    }
}
