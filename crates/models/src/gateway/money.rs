//! Costs in integers, and the periods of budgets.

use heddle_kernel::Timestamp;

use crate::records::{Budget, BudgetPeriod, BudgetScope, CallTokens, Cap, PriceTable};

/// Tokens that prices are for.
const MILLION: i128 = 1_000_000;
/// The most tokens of a call that are believed: no model has so many, and sums of them stay within their numbers.
const MOST_TOKENS: i64 = 1_000_000_000;
/// The most costs of a call, in millionths of a unit of the currency, for the same reason.
const MOST_COSTS: i64 = 1_000_000_000_000;

/// Tokens as they are counted: whatever a provider or a caller says, no more than are believed.
pub(crate) fn counted(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(MOST_TOKENS).min(MOST_TOKENS)
}

/// Costs of a call in millionths of a unit of the currency, rounded up once; tokens that the provider had kept are part of
/// the input and cost their own price.
pub(crate) fn cost(prices: Option<&PriceTable>, tokens: CallTokens) -> i64 {
    let Some(prices) = prices else { return 0 };
    let cached = tokens.cached.clamp(0, tokens.input.max(0));
    let parts = [
        (tokens.input.max(0) - cached, prices.input),
        (cached, prices.cached_input.unwrap_or(prices.input)),
        (tokens.output.max(0), prices.output),
    ];
    let sum: i128 = parts.iter().map(|(count, price)| i128::from(*count) * i128::from(*price)).sum();
    i64::try_from((sum + MILLION - 1) / MILLION).unwrap_or(MOST_COSTS).min(MOST_COSTS)
}

/// First instant of the period that an instant is in, and of the next one.
pub(crate) fn period(of: BudgetPeriod, now: Timestamp) -> (Timestamp, Timestamp) {
    const DAY: i64 = 86_400_000_000;
    let day = now.micros().div_euclid(DAY);
    match of {
        BudgetPeriod::Day => (Timestamp::from_micros(day * DAY), Timestamp::from_micros((day + 1) * DAY)),
        BudgetPeriod::Month => {
            let (year, month) = month_of(day);
            let (next_year, next_month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
            let first = |year, month| Timestamp::from_micros(days_before(year, month) * DAY);
            (first(year, month), first(next_year, next_month))
        }
    }
}

/// Days from 1970-01-01 to the first of a month of the Gregorian calendar (H. Hinnant, *chrono-Compatible Low-Level Date
/// Algorithms*, `days_from_civil`).
fn days_before(year: i64, month: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5;
    let days = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    era * 146_097 + days - 719_468
}

/// Year and month of a day since 1970-01-01 (the same, `civil_from_days`).
fn month_of(day: i64) -> (i64, i64) {
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let of_era = day.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + i64::from(month <= 2), month)
}

/// Cap of a budget at an instant.
pub(crate) fn cap(scope: BudgetScope, budget: &Budget, now: Timestamp) -> Cap {
    let (period_start, _) = period(budget.period, now);
    Cap { scope, period_start, cost_micros: budget.cost_micros, tokens: budget.tokens }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_are_counted_once_and_rounding_is_up_once() {
        let prices = PriceTable {
            version: 1,
            currency: "USD".to_owned(),
            input: 3_000_000,
            output: 15_000_000,
            cached_input: Some(300_000),
        };
        let tokens = |input, output, cached| CallTokens { input, output, cached, reasoning: 0 };
        assert_eq!(cost(Some(&prices), tokens(1_000, 100, 0)), 4_500);
        assert_eq!(cost(Some(&prices), tokens(1_000, 100, 900)), 300 + 270 + 1_500);
        assert_eq!(cost(Some(&prices), tokens(0, 0, 0)), 0);
        assert_eq!(cost(Some(&PriceTable { input: 1, ..prices }), tokens(1, 0, 0)), 1);
        assert_eq!(cost(None, tokens(1_000, 100, 0)), 0);
    }

    #[test]
    fn absurd_tokens_do_not_end_the_sums() {
        let prices = PriceTable {
            version: 1,
            currency: "USD".to_owned(),
            input: 1_000_000_000_000,
            output: 1_000_000_000_000,
            cached_input: None,
        };
        let absurd = counted(u64::MAX);
        let tokens = CallTokens { input: absurd, output: absurd, cached: absurd, reasoning: 0 };
        let a_year = 366 * 24 * 3_600;
        assert!(tokens.total().checked_mul(a_year).is_some());
        assert!(cost(Some(&prices), tokens).checked_mul(86_400 * 100).is_some());
    }

    #[test]
    fn periods_are_those_of_the_calendar() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        for (now, start, end) in [
            ("2026-11-23T11:26:12Z", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"),
            ("2026-12-31T23:59:59Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"),
            ("2028-02-29T12:00:00Z", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z"),
            ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "1970-02-01T00:00:00Z"),
            ("2000-03-01T00:00:00Z", "2000-03-01T00:00:00Z", "2000-04-01T00:00:00Z"),
        ] {
            assert_eq!(period(BudgetPeriod::Month, at(now)), (at(start), at(end)), "{now}");
        }
        let day = period(BudgetPeriod::Day, at("2026-11-23T11:26:12Z"));
        assert_eq!(day, (at("2026-11-23T00:00:00Z"), at("2026-11-24T00:00:00Z")));
    }
}
