use super::*;

fn element(name: &str) -> &'static ElementClaim {
    claims().elements.iter().find(|one| one.element == name).unwrap()
}

fn event(name: &str) -> &'static EventRow {
    claims().event_matrix.iter().find(|row| row.r#type == name).unwrap()
}

#[test]
fn every_probe_is_read_to_members_and_written_as_it_was() {
    for class in claims().classes.iter().filter(|class| class.judged == "modeling") {
        let kept_as_xml = ["globalTask", "globalUserTask", "relationship"];
        let missing: Vec<_> =
            class.missing.iter().filter(|name| !kept_as_xml.contains(&name.as_str())).collect();
        assert!(missing.is_empty(), "{}: {missing:?}", class.id);
    }
}

#[test]
fn what_the_compiler_takes_is_claimed_and_nothing_else() {
    assert_eq!(element("userTask").execute, Extent::Full);
    assert_eq!(element("dataObject").execute, Extent::NotOperational);
    let timer = event("timer");
    assert_eq!((timer.start, timer.boundary, timer.throw), (Some(true), Some(true), None));
    let none = event("none");
    assert_eq!((none.start, none.catch, none.end), (Some(true), None, Some(true)));
    for one in &claims().elements {
        for feature in &one.features {
            assert_eq!(feature.execute == Some(false), feature.notes.is_some(), "{}", feature.feature);
        }
    }
}

#[test]
fn the_claims_at_a_glance() {
    let mut text = String::new();
    for class in &claims().classes {
        let Share { supported, total } = class.elements;
        text += &format!("{} {:?} {supported}/{total} {:?}\n", class.id, class.status, class.missing);
    }
    for row in &claims().event_matrix {
        let places = [
            row.start,
            row.event_sub_interrupting,
            row.event_sub_non_interrupting,
            row.catch,
            row.boundary,
            row.boundary_non_interrupting,
            row.throw,
            row.end,
        ];
        let marks = places.map(|place| place.map_or('.', |executed| if executed { 'y' } else { 'n' }));
        text += &format!("{:17} {}\n", row.r#type, marks.iter().collect::<String>());
    }
    insta::assert_snapshot!(text);
}
