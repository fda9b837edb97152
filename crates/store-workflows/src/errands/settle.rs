//! Ends of leases.

use diesel::{ExpressionMethods, OptionalExtension, QueryDsl, insert_into};
use diesel_async::RunQueryDsl;
use heddle_kernel::{DefinitionKind, Timestamp};
use heddle_store::schema::errands;
use heddle_store::{AsConn, At, Db, Error, Id, errands as rows, on_conn, write_tx};
use heddle_usecase::StoreError;
use heddle_usecase::errand::{AsideReason, Errand, Held, Settled, Settlement, Written};
use heddle_workflows::records::{DeadLetter, SetAsideReason, Tries, Work};
use uuid::Uuid;

use super::claim::held;
use crate::counts::used_on;
use crate::rows::count;
use crate::schema::{LetterDbRow, dead_letters, workflows};
use crate::words::DefinitionKindWord;
use crate::work::NO_ROOM_SECONDS;

/// End of leases: by a node, at an instant.
#[derive(Debug, Clone, Copy)]
struct Ending {
    node: Uuid,
    now: Timestamp,
    most_letters: u64,
}

/// Ends leases: all in one transaction, and each in its own where that fails. What was written of each.
pub(super) async fn settle(
    db: &Db,
    settled: &[Settled],
    node: Uuid,
    now: Timestamp,
    most_letters: u64,
) -> Result<Vec<Written>, StoreError> {
    let ending = Ending { node, now, most_letters };
    match all(db, settled, ending).await {
        Ok(written) => return Ok(written),
        Err(error) if settled.len() < 2 => return Err(error),
        Err(error) => tracing::warn!(%error, "errands are settled one by one"),
    }
    let mut written = Vec::with_capacity(settled.len());
    for one in settled {
        match all(db, std::slice::from_ref(one), ending).await {
            Ok(of) => written.extend(of),
            Err(error) => {
                tracing::error!(%error, errand = %one.errand.errand.id, "the end of an errand is not written");
                written.push(Written::Lost);
            }
        }
    }
    Ok(written)
}

async fn all(db: &Db, settled: &[Settled], ending: Ending) -> Result<Vec<Written>, StoreError> {
    write_tx!(db, |conn| {
        let mut written = Vec::with_capacity(settled.len());
        for one in settled {
            let of = match &one.settlement {
                Settlement::Done => settled_if(take_away(conn, &one.errand, ending).await?),
                Settlement::Later { not_before, attempts } => {
                    settled_if(later(conn, &one.errand, At(*not_before), *attempts, ending).await?)
                }
                Settlement::Aside { reason, message, attempts, crashes } => {
                    let tries = Tries { attempts: *attempts, crashes: *crashes };
                    let letter = letter_of(&one.errand, *reason, message, tries, ending.now);
                    aside(conn, &one.errand, letter, ending).await?
                }
            };
            written.push(of);
        }
        Ok(written)
    })
}

/// Record of an end that finds the errand held, or does not.
const fn settled_if(held: bool) -> Written {
    if held { Written::Settled } else { Written::Lost }
}

/// Removes the row of an errand that is still held; whether it was.
async fn take_away<C: AsConn>(conn: &mut C, errand: &Errand, ending: Ending) -> Result<bool, Error> {
    let held = Held::of(errand);
    let row = held!(held, ending.node);
    let gone = on_conn!(conn, |conn| diesel::delete(row).execute(conn).await?);
    Ok(gone > 0)
}

/// Lets an errand that is still held be tried again; whether it was.
async fn later<C: AsConn>(
    conn: &mut C,
    errand: &Errand,
    not_before: At,
    attempts: u32,
    ending: Ending,
) -> Result<bool, Error> {
    let held = Held::of(errand);
    let line = errand.errand.lane.line.as_deref().unwrap_or_default();
    let again = |at: At| {
        (
            errands::node.eq(None::<Id>),
            errands::due_at.eq(at),
            errands::turn.eq(rows::turn(line, at)),
            errands::attempts.eq(count(attempts)),
            errands::suspect.eq(false),
            errands::hastened.eq(false),
        )
    };
    let row = held!(held, ending.node).filter(errands::hastened.eq(false));
    let change = again(not_before);
    let rows = on_conn!(conn, |conn| heddle_store::update(row).set(change).execute(conn).await?);
    if rows > 0 {
        return Ok(true);
    }
    // What held it up is over since it was begun.
    let row = held!(held, ending.node);
    let change = again(At(ending.now));
    let rows = on_conn!(conn, |conn| heddle_store::update(row).set(change).execute(conn).await?);
    Ok(rows > 0)
}

/// Puts a letter in the place of an errand. One of an organisation that has as many letters as it may waits in its place,
/// unless it ends the process.
async fn aside<C: AsConn>(
    conn: &mut C,
    errand: &Errand,
    letter: DeadLetter,
    ending: Ending,
) -> Result<Written, Error> {
    let may_wait = letter.reason != SetAsideReason::Crashed;
    if may_wait && used_on(conn, letter.tenant).await?.dead_letters >= ending.most_letters {
        tracing::warn!(
            organization = %letter.tenant, most = ending.most_letters,
            "no room for another dead letter: the errand waits for an hour"
        );
        let again = At(ending.now.plus_seconds(NO_ROOM_SECONDS));
        let waits = later(conn, errand, again, letter.tries.attempts, ending).await?;
        return Ok(if waits { Written::Waits } else { Written::Lost });
    }
    if !take_away(conn, errand, ending).await? {
        return Ok(Written::Lost);
    }
    let instance_kind = kind_of(conn, &letter).await?;
    let row = LetterDbRow::of(DeadLetter { instance_kind, ..letter })?;
    on_conn!(conn, |conn| {
        insert_into(dead_letters::table).values(&row).execute(conn).await?;
    });
    Ok(Written::Settled)
}

/// Kind of the definition that an errand's letter belongs to; that of workflows where the definition is gone.
async fn kind_of<C: AsConn>(conn: &mut C, letter: &DeadLetter) -> Result<DefinitionKind, Error> {
    let Some(definition) = letter.workflow else { return Ok(letter.instance_kind) };
    let row = workflows::table.find((Id::from(letter.tenant), Id::from(definition))).select(workflows::kind);
    let found: Option<DefinitionKindWord> = on_conn!(conn, |conn| row.first(conn).await.optional()?);
    Ok(found.map_or(letter.instance_kind, |kind| kind.0))
}

/// The letter of an errand, with the errand's own id: tried again, it is the same to whoever gets it.
fn letter_of(
    errand: &Errand,
    reason: AsideReason,
    message: &str,
    tries: Tries,
    now: Timestamp,
) -> DeadLetter {
    let of = &errand.errand;
    DeadLetter {
        tenant: of.lane.tenant,
        id: of.id,
        work: Work::Errand(Box::new(of.clone())),
        reason: match reason {
            AsideReason::Refused => SetAsideReason::Refused,
            AsideReason::Failed => SetAsideReason::Failed,
            AsideReason::Crashed => SetAsideReason::Crashed,
        },
        message: message.to_owned(),
        tries,
        // Found out when it is written.
        instance_kind: DefinitionKind::Workflow,
        workflow: of.workflow,
        run: of.run,
        created_at: now,
    }
}
