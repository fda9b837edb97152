use super::*;

#[test]
fn rules_stand_by_name() {
    assert!(RULES.windows(2).all(|pair| pair[0].rule < pair[1].rule));
}

#[test]
fn every_rule_has_its_clause_and_says_what_to_do() {
    for rule in RULES {
        let mut numbers = rule.clause.split('.');
        let chapter = numbers.next().and_then(|first| first.parse::<u32>().ok());
        assert!(chapter.is_some_and(|chapter| (8..=13).contains(&chapter)), "{rule:?}");
        assert!(numbers.all(|number| number.parse::<u32>().is_ok()), "{rule:?}");
        for sentence in [rule.constraint, rule.remedy] {
            assert!(sentence.len() > 10 && sentence.ends_with('.'), "{sentence}");
        }
    }
}
