//! The chain of the audit trail: whatever is done to it, the first bad record is named.

use std::collections::BTreeMap;

use heddle_kernel::{EventId, TenantId, Timestamp};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::chain::{
    AuditRecord, ChainRow, Checkpoint, CheckpointKey, CheckpointKind, Content, ExportReader, Fault,
    FaultReason, Hash, PublicKey, Statement, Verifier, link, sealed_text,
};

const ACME: TenantId = TenantId(Uuid::from_u128(0xACE));

fn key() -> CheckpointKey {
    CheckpointKey::of_seed([7; 32])
}

fn record(number: u128) -> AuditRecord {
    AuditRecord {
        tenant: ACME,
        id: EventId(Uuid::from_u128(number)),
        at: Timestamp::from_micros(1_000_001 * i64::try_from(number).unwrap()),
        actor_kind: "user".to_owned(),
        actor_id: Some("u".to_owned()),
        actor_display: "Ada".to_owned(),
        actor_credential: Some("s".to_owned()),
        action: "workflow.created".to_owned(),
        resource_type: "workflow".to_owned(),
        resource_id: Some("w".to_owned()),
        target_type: None,
        target_id: None,
        outcome: "succeeded".to_owned(),
        request_id: "r".to_owned(),
        client_ip: Some("127.0.0.1".to_owned()),
        details: json!({ "b": 1, "a": { "d": [true, null], "c": "ä" } }),
    }
}

fn seal(rows: Vec<Content>) -> Vec<ChainRow> {
    let mut before = Hash::NONE;
    let mut sealed = Vec::new();
    for (number, content) in (1..).zip(rows) {
        let id = EventId(Uuid::from_u128(u128::try_from(number).unwrap()));
        let mut row = ChainRow { id, sequence: Some(number), hash: None, content };
        before = link(&sealed_text(ACME, &row, number, &before));
        row.hash = Some(before.bytes().to_vec());
        sealed.push(row);
    }
    sealed
}

fn chain(length: u128) -> Vec<ChainRow> {
    seal((1..=length).map(|number| Content::Readable(Box::new(record(number)))).collect())
}

fn told(row: &ChainRow) -> Checkpoint {
    let hash = Hash::of(row.hash.as_deref().unwrap()).unwrap();
    let (kind, at) = (CheckpointKind::Head, Timestamp::from_micros(9));
    key().sign(Statement { tenant: ACME, kind, sequence: row.sequence.unwrap(), hash, dropped: 0, at })
}

/// Result of a verification, as the use case makes it: records in the order of their numbers, with the checkpoints.
fn verify(rows: &[ChainRow], checkpoints: &[Checkpoint], before: Option<&Checkpoint>) -> Result<i64, Fault> {
    let mut by_number: BTreeMap<i64, Vec<&Checkpoint>> = BTreeMap::new();
    for one in checkpoints {
        by_number.entry(one.statement.sequence).or_default().push(one);
    }
    let mut verifier = Verifier::after(ACME, 0, Hash::NONE, key().public());
    let mut rows: Vec<&ChainRow> = rows.iter().collect();
    rows.sort_by_key(|row| row.sequence);
    for row in rows {
        verifier.record(row)?;
        for one in by_number.get(&verifier.reached()).into_iter().flatten() {
            verifier.checkpoint(one)?;
        }
    }
    before.map_or(Ok(()), |before| verifier.reaches(before))?;
    verifier.is_told_by(checkpoints.last())?;
    Ok(verifier.reached())
}

fn readable(row: &mut ChainRow) -> &mut AuditRecord {
    match &mut row.content {
        Content::Readable(record) => record,
        Content::Unreadable(why) => panic!("{why}"),
    }
}

#[test]
fn a_change_of_any_column_names_the_record() {
    type Flip = (&'static str, fn(&mut AuditRecord));
    let flips: [Flip; 15] = [
        ("id", |record| record.id = EventId(Uuid::from_u128(99))),
        ("at, by a microsecond", |record| record.at = Timestamp::from_micros(record.at.micros() + 1)),
        ("actor_kind", |record| record.actor_kind = "apiToken".to_owned()),
        ("actor_id", |record| record.actor_id = None),
        ("actor_display", |record| record.actor_display.push(' ')),
        ("actor_credential", |record| record.actor_credential = Some(String::new())),
        ("action", |record| record.action = "workflow.deleted".to_owned()),
        ("resource_type", |record| record.resource_type = "run".to_owned()),
        ("resource_id", |record| record.resource_id = Some("v".to_owned())),
        ("target_type alone", |record| record.target_type = Some("run".to_owned())),
        ("target_id alone", |record| record.target_id = Some("x".to_owned())),
        ("outcome", |record| record.outcome = "denied".to_owned()),
        ("request_id", |record| record.request_id = "s".to_owned()),
        ("client_ip", |record| record.client_ip = None),
        ("details", |record| record.details = json!({ "b": 2, "a": { "d": [true, null], "c": "ä" } })),
    ];
    let whole = chain(5);
    let head = told(whole.last().unwrap());
    assert_eq!(verify(&whole, std::slice::from_ref(&head), Some(&head)), Ok(5));
    for (column, flip) in flips {
        for place in 0..5_usize {
            let mut rows = whole.clone();
            flip(readable(&mut rows[place]));
            let fault = verify(&rows, std::slice::from_ref(&head), Some(&head)).unwrap_err();
            let sequence = i64::try_from(place).unwrap() + 1;
            assert_eq!((fault.sequence, fault.reason), (sequence, FaultReason::Changed), "{column}");
        }
    }
}

#[test]
fn every_byte_of_a_hash_counts() {
    let whole = chain(3);
    let head = told(whole.last().unwrap());
    for byte in 0..32_usize {
        let mut rows = whole.clone();
        rows[1].hash.as_mut().unwrap()[byte] ^= 1;
        let fault = verify(&rows, std::slice::from_ref(&head), Some(&head)).unwrap_err();
        assert_eq!((fault.sequence, fault.reason), (2, FaultReason::Changed), "{byte}");
    }
}

#[test]
fn what_is_removed_added_or_moved_is_named() {
    let whole = chain(6);
    let head = told(whole.last().unwrap());
    let check = |rows: &[ChainRow]| verify(rows, std::slice::from_ref(&head), Some(&head)).unwrap_err();
    for place in 0..6_usize {
        let mut rows = whole.clone();
        let _ = rows.remove(place);
        let fault = check(&rows);
        let sequence = i64::try_from(place).unwrap() + 1;
        let reason = if place == 5 { FaultReason::Truncated } else { FaultReason::Missing };
        assert_eq!((fault.sequence, fault.reason), (sequence, reason), "without {sequence}");
    }
    for place in 0..5_usize {
        let mut rows = whole.clone();
        let (one, other) = (rows[place].sequence, rows[place + 1].sequence);
        (rows[place].sequence, rows[place + 1].sequence) = (other, one);
        let fault = check(&rows);
        assert_eq!((fault.sequence, fault.reason), (one.unwrap(), FaultReason::Changed));
    }
    let mut twice = whole.clone();
    twice.insert(3, whole[2].clone());
    assert_eq!(check(&twice).reason, FaultReason::Misplaced);
}

#[test]
fn a_chain_that_is_computed_anew_lacks_the_signature() {
    let whole = chain(6);
    let checkpoints = [told(&whole[2]), told(&whole[5])];
    let mut rows: Vec<Content> = whole.iter().map(|row| row.content.clone()).collect();
    if let Content::Readable(record) = &mut rows[4] {
        record.action = "nothing.happened".to_owned();
    }
    let fault = verify(&seal(rows), &checkpoints, Some(&checkpoints[1])).unwrap_err();
    assert_eq!((fault.sequence, fault.through, fault.reason), (4, 6, FaultReason::Rewritten));
    // One more record at the end, with the right hash.
    let longer = chain(7);
    let fault = verify(&longer, &checkpoints, Some(&checkpoints[1])).unwrap_err();
    assert_eq!((fault.sequence, fault.reason), (7, FaultReason::Unsigned));
    // A checkpoint of somebody else's key.
    let mut forged = told(&whole[5]);
    forged.signature[0] ^= 1;
    let fault = verify(&whole, &[forged], None).unwrap_err();
    assert_eq!((fault.sequence, fault.reason), (6, FaultReason::Forged));
    // The end cut off with its checkpoints: a checkpoint that was kept shows it.
    let fault = verify(&whole[..3], &checkpoints[..1], Some(&checkpoints[1])).unwrap_err();
    assert_eq!((fault.sequence, fault.through, fault.reason), (4, 6, FaultReason::Truncated));
    assert_eq!(verify(&whole[..3], &checkpoints[..1], None), Ok(3));
}

#[test]
fn an_unreadable_row_has_its_place_and_one_that_becomes_so_is_named() {
    let mut contents: Vec<Content> =
        (1..=3).map(|number| Content::Readable(Box::new(record(number)))).collect();
    contents[1] = Content::Unreadable("no JSON".to_owned());
    let rows = seal(contents);
    let head = told(&rows[2]);
    assert_eq!(verify(&rows, std::slice::from_ref(&head), Some(&head)), Ok(3));
    let mut rows = chain(3);
    let head = told(&rows[2]);
    rows[1].content = Content::Unreadable("no JSON".to_owned());
    let fault = verify(&rows, std::slice::from_ref(&head), Some(&head)).unwrap_err();
    assert_eq!((fault.sequence, fault.reason), (2, FaultReason::Unreadable));
}

#[test]
fn a_statement_is_read_in_its_one_spelling() {
    let signed = told(&chain(1)[0]);
    let signature = heddle_usecase::hex(&signed.signature);
    assert_eq!(Checkpoint::of_text(&signed.text(), &signature).as_ref(), Some(&signed));
    assert!(signed.is_signed_by(&key().public()));
    assert!(!signed.is_signed_by(&CheckpointKey::of_seed([8; 32]).public()));
    assert_eq!(Checkpoint::of_text(&signed.text().replace(':', ": "), &signature), None);
    let moved = Checkpoint { statement: Statement { sequence: 2, ..signed.statement }, ..signed.clone() };
    assert!(!moved.is_signed_by(&key().public()));
    let dropped = Statement { kind: CheckpointKind::Dropped, ..signed.statement };
    assert!(!Checkpoint { statement: dropped, ..signed }.is_signed_by(&key().public()));
    assert_eq!(key().public().to_string().parse::<PublicKey>(), Ok(key().public()));
}

/// The lines of an export, as the server writes them.
fn lines(rows: &[ChainRow], checkpoints: &[Checkpoint]) -> Vec<Value> {
    let mut before = Hash::NONE;
    let mut lines = Vec::new();
    for row in rows {
        let (sequence, hash) = (row.sequence.unwrap(), Hash::of(row.hash.as_deref().unwrap()).unwrap());
        let text = sealed_text(ACME, row, sequence, &before);
        let told: Value = serde_json::from_str(&text).unwrap();
        let own: Vec<Value> = checkpoints
            .iter()
            .filter(|one| one.statement.sequence == sequence)
            .map(|one| json!({ "statement": one.text(), "signature": heddle_usecase::hex(&one.signature) }))
            .collect();
        let Content::Readable(record) = &row.content else { panic!("unreadable") };
        lines.push(json!({
            "id": told["id"], "organizationId": told["organizationId"], "at": record.at,
            "actor": { "kind": "user", "userId": "u", "displayName": "Ada", "sessionId": "s" },
            "action": told["action"], "resourceType": "workflow",
            "resourceId": "w", "outcome": "success", "requestId": "r", "ip": "127.0.0.1",
            "details": told["details"], "sequence": sequence, "hash": hash.to_string(), "record": text,
            "checkpoints": own,
        }));
        before = hash;
    }
    lines
}

fn exported(lines: &[Value], anchors: Vec<Checkpoint>) -> Result<u64, (i64, FaultReason)> {
    let mut reader = ExportReader::new(key().public(), anchors);
    for line in lines {
        reader.line(&line.to_string()).map_err(|fault| (fault.sequence, fault.reason))?;
    }
    reader.finish().map(|found| found.records).map_err(|fault| (fault.sequence, fault.reason))
}

#[test]
fn an_export_is_verified_without_its_database() {
    let rows = chain(5);
    let head = told(&rows[4]);
    let whole = lines(&rows, std::slice::from_ref(&head));
    assert_eq!(exported(&whole, vec![head.clone()]), Ok(5));
    let with = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut lines = whole.clone();
        change(&mut lines);
        exported(&lines, vec![head.clone()]).unwrap_err()
    };
    for member in
        ["id", "at", "action", "resourceType", "resourceId", "outcome", "requestId", "ip", "details", "hash"]
    {
        let told = with(&|lines| lines[2][member] = json!("another"));
        assert_eq!(told, (3, FaultReason::Changed), "{member}");
    }
    for member in ["kind", "userId", "displayName", "sessionId", "tokenId"] {
        let told = with(&|lines| lines[2]["actor"][member] = json!("another"));
        assert_eq!(told, (3, FaultReason::Changed), "{member}");
    }
    for (member, value) in [("target", json!({ "kind": "run", "id": "r" })), ("reason", json!("none"))] {
        let told = with(&|lines| lines[2][member] = value.clone());
        assert_eq!(told, (3, FaultReason::Changed), "{member}");
    }
    let told = with(&|lines| {
        let text = lines[2]["record"].as_str().unwrap().replace("\"w\"", "\"x\"");
        lines[2]["record"] = json!(text);
    });
    assert_eq!(told, (3, FaultReason::Changed));
    assert_eq!(with(&|lines| drop(lines.remove(1))), (2, FaultReason::Missing));
    assert_eq!(with(&|lines| lines.swap(1, 2)), (2, FaultReason::Missing));
    assert_eq!(with(&|lines| lines.insert(2, lines[1].clone())), (3, FaultReason::Misplaced));
    assert_eq!(with(&|lines| lines.truncate(3)), (4, FaultReason::Truncated));
    assert_eq!(with(&|lines| drop(lines.remove(0))), (1, FaultReason::Missing));
    // Without an anchor the missing signature tells.
    assert_eq!(exported(&whole[..3], Vec::new()), Err((1, FaultReason::Unsigned)));
    assert_eq!(exported(&[], Vec::new()), Err((1, FaultReason::Missing)));
}
