use proptest::prelude::*;

use super::*;
use crate::SystemRandom;

const PLACE: Place<'static> =
    Place { tenant: "org_1", kind: "connection", record: "con_1", field: "password" };

fn ring() -> Keyring {
    Keyring::generate(&mut SystemRandom).unwrap()
}

fn sealed(ring: &Keyring) -> Sealed {
    ring.seal(&PLACE, b"correct horse", &mut SystemRandom).unwrap()
}

#[test]
fn what_is_sealed_opens_in_its_place_and_in_no_other() {
    let ring = ring();
    let sealed = sealed(&ring);
    assert_eq!(ring.unseal(&PLACE, &sealed).unwrap().as_slice(), b"correct horse");
    for (what, other) in [
        ("tenant", Place { tenant: "org_2", ..PLACE }),
        ("kind", Place { kind: "webhook", ..PLACE }),
        ("record", Place { record: "con_2", ..PLACE }),
        ("field", Place { field: "token", ..PLACE }),
    ] {
        assert!(matches!(ring.unseal(&other, &sealed), Err(SealError::DoesNotOpen)), "{what}");
        let mut later = ring.clone();
        later.add_current(&mut SystemRandom).unwrap();
        let moved = later.rewrap(&other, &sealed, &mut SystemRandom);
        assert!(matches!(moved, Err(SealError::DoesNotOpen)), "{what}: rotation moves nothing either");
    }
}

#[test]
fn a_flipped_bit_anywhere_keeps_it_closed() {
    let ring = ring();
    let sealed = sealed(&ring);
    let fields: [fn(&mut Sealed) -> &mut [u8]; 4] =
        [|it| &mut it.wrapped_dek, |it| &mut it.n1, |it| &mut it.ct, |it| &mut it.n2];
    for (index, field) in fields.into_iter().enumerate() {
        for at in 0..field(&mut sealed.clone()).len() {
            let mut changed = sealed.clone();
            field(&mut changed)[at] ^= 1;
            assert!(
                matches!(ring.unseal(&PLACE, &changed), Err(SealError::DoesNotOpen)),
                "byte {at} of field {index}"
            );
        }
        let mut cut = sealed.clone();
        match index {
            0 => cut.wrapped_dek.truncate(20),
            2 => cut.ct.clear(),
            _ => continue,
        }
        assert!(matches!(ring.unseal(&PLACE, &cut), Err(SealError::DoesNotOpen)), "cut field {index}");
    }
    let other = Sealed { v: 2, ..sealed };
    assert!(matches!(ring.unseal(&PLACE, &other), Err(SealError::UnknownVersion(2))));
}

#[test]
fn another_key_opens_nothing_and_is_known_by_its_check_value() {
    let one = ring();
    let two = ring();
    let kept = sealed(&one);
    assert!(matches!(two.unseal(&PLACE, &kept), Err(SealError::UnknownKey(kid)) if kid == one.current()));
    assert!(matches!(two.verify(&one.check_value()), Err(SealError::UnknownKey(_))));
    one.verify(&one.check_value()).unwrap();
    // Another key under the same id, as of a key file that somebody wrote by hand.
    let text = two.to_text();
    let forged = Keyring::from_text(&text.replace(two.current(), one.current())).unwrap();
    assert!(matches!(forged.unseal(&PLACE, &kept), Err(SealError::DoesNotOpen)));
    assert!(matches!(forged.verify(&one.check_value()), Err(SealError::WrongKey(_))));
    // The id of another key of the same ring.
    let mut both = one.clone();
    both.add_current(&mut SystemRandom).unwrap();
    let renamed = Sealed { kid: both.current().to_owned(), ..kept.clone() };
    assert!(matches!(both.unseal(&PLACE, &renamed), Err(SealError::DoesNotOpen)));
    assert_eq!(both.unseal(&PLACE, &kept).unwrap().as_slice(), b"correct horse");
}

#[test]
fn rotation_wraps_again_and_the_old_key_may_go() {
    let mut ring = ring();
    let first = ring.current().to_owned();
    let before = sealed(&ring);
    assert!(ring.rewrap(&PLACE, &before, &mut SystemRandom).unwrap().is_none());
    assert!(matches!(ring.retire(&first), Err(SealError::IsCurrent(_))));
    let second = ring.add_current(&mut SystemRandom).unwrap().to_owned();
    assert_eq!(ring.ids().collect::<Vec<_>>(), [second.as_str(), first.as_str()]);
    assert_eq!(ring.unseal(&PLACE, &before).unwrap().as_slice(), b"correct horse", "meanwhile it opens");
    let after = ring.rewrap(&PLACE, &before, &mut SystemRandom).unwrap().unwrap();
    assert_eq!((after.kid.as_str(), &after.ct, after.n2), (second.as_str(), &before.ct, before.n2));
    assert_ne!(after.n1, before.n1);
    ring.retire(&first).unwrap();
    assert!(matches!(ring.retire(&first), Err(SealError::UnknownKey(_))));
    assert_eq!(ring.unseal(&PLACE, &after).unwrap().as_slice(), b"correct horse");
    assert!(matches!(ring.unseal(&PLACE, &before), Err(SealError::UnknownKey(kid)) if kid == first));
}

#[test]
fn no_two_sealings_are_alike() {
    let ring = ring();
    let (one, two) = (sealed(&ring), sealed(&ring));
    assert_ne!(one.ct, two.ct);
    assert_ne!(one.wrapped_dek, two.wrapped_dek);
    assert_ne!(one.n1, two.n1);
}

#[test]
fn texts_that_are_no_keyring_are_refused_with_the_reason() {
    let key = STANDARD.encode([7; KEY_LENGTH]);
    let many: String = (0..65).map(|n| format!("k{n} {key}\n")).collect();
    for (text, reason) in [
        (String::new(), "no key"),
        ("# remark\n\n".to_owned(), "no key"),
        (key.clone(), "`ID KEY`"),
        (format!("a {key}\na {key}"), "twice"),
        ("a c2hvcnQ=".to_owned(), "32 bytes"),
        ("a %%%".to_owned(), "32 bytes"),
        (format!("a {}", STANDARD.encode([0; KEY_LENGTH])), "all zero"),
        (format!("a/b {key}"), "letters"),
        (format!("{} {key}", "a".repeat(65)), "letters"),
        (many, "more than 64"),
    ] {
        let error = Keyring::from_text(&text).unwrap_err().to_string();
        assert!(error.contains(reason), "{text:.40}: {error}");
        assert!(!error.contains(&key), "{error}");
    }
    let ring = Keyring::from_text(&format!("# of 2026\nnew {key} ; old {key}")).unwrap();
    assert_eq!(ring.ids().collect::<Vec<_>>(), ["new", "old"]);
}

#[test]
fn nothing_that_is_printed_shows_a_key_or_a_secret() {
    let ring = ring();
    let sealed = sealed(&ring);
    let shown = format!("{ring:?} {sealed:?} {:?}", ring.check_value());
    let text = ring.to_text();
    let key = text.split_whitespace().nth(1).unwrap();
    assert!(!shown.contains(key), "{shown}");
    assert!(shown.contains(ring.current()));
    assert!(!serde_json::to_string(&sealed).unwrap().contains("horse"));
}

#[test]
fn stored_forms_that_are_broken_are_told() {
    let ring = ring();
    let stored = serde_json::to_value(sealed(&ring)).unwrap();
    for (member, value) in
        [("ct", "%".into()), ("n1", STANDARD.encode([1; 11]).into()), ("extra", serde_json::Value::from(1))]
    {
        let mut broken = stored.clone();
        broken[member] = value;
        assert!(serde_json::from_value::<Sealed>(broken).is_err(), "{member}");
    }
}

#[test]
fn a_secret_has_a_longest_length() {
    let long = vec![0; LONGEST + 1];
    let found = ring().seal(&PLACE, &long, &mut SystemRandom);
    assert!(matches!(found, Err(SealError::TooLong(length)) if length == LONGEST + 1));
}

fn place_of(parts: &[String; 4]) -> Place<'_> {
    let [tenant, kind, record, field] = parts;
    Place { tenant, kind, record, field }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_secret_comes_back_in_its_place_and_only_there(
        secret in prop::collection::vec(any::<u8>(), 0..200),
        parts in prop::array::uniform4(".{0,8}"),
        others in prop::array::uniform4(".{0,8}"),
    ) {
        let mut ring = ring();
        let sealed = ring.seal(&place_of(&parts), &secret, &mut SystemRandom).unwrap();
        let stored: Sealed = serde_json::from_str(&serde_json::to_string(&sealed).unwrap()).unwrap();
        ring.add_current(&mut SystemRandom).unwrap();
        let ring = Keyring::from_text(&ring.to_text()).unwrap();
        let rewrapped = ring.rewrap(&place_of(&parts), &stored, &mut SystemRandom).unwrap().unwrap();
        for sealed in [&stored, &rewrapped] {
            let opened = ring.unseal(&place_of(&parts), sealed).unwrap();
            prop_assert_eq!(opened.as_slice(), secret.as_slice());
            prop_assert_eq!(ring.unseal(&place_of(&others), sealed).is_ok(), parts == others);
        }
    }
}
