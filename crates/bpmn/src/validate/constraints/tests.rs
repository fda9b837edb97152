use super::*;

#[test]
fn rules_stand_by_name() {
    assert!(RULES.windows(2).all(|pair| pair[0].rule < pair[1].rule));
}
