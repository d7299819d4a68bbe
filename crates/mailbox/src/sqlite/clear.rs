//! Deletes letters that nobody wants any more, a few with each commit.

use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::{
    boxes::{Boxes, MailBox, Stretch, letter_id, reach},
    put_times,
};

/// How long deleting may delay new letters.
const STEP: Duration = Duration::from_millis(5);

/// How many letters one statement deletes at most.
const LETTERS: usize = 128;

/// How many bytes of letters one statement deletes at most, unless a single letter has more.
const BYTES: u64 = 4 * 1024 * 1024;

/// Deletes for a few milliseconds and leaves the rest to the next commit.
pub(super) fn some(db: &Connection, boxes: &mut Boxes) -> rusqlite::Result<()> {
    let started = Instant::now();
    while let Some((name, mailbox)) = boxes.next_due() {
        let name = name.to_owned();
        let is_clear = step(db, mailbox)?;
        if is_clear {
            boxes.is_clear(&name);
        }
        if started.elapsed() > STEP {
            break;
        }
    }
    Ok(())
}

/// Deletes the oldest unwanted letters of a mailbox. Returns whether nothing is left to delete.
pub(super) fn step(db: &Connection, mailbox: &mut MailBox) -> rusqlite::Result<bool> {
    let done = mailbox.done();
    if done <= mailbox.cleared {
        return Ok(true);
    }
    let stretch = Stretch { after: mailbox.cleared, through: done, letters: LETTERS, bytes: BYTES };
    // If there is no letter, the mailbox was emptied by hand, and everything up to `done` is gone already.
    let reached = reach(db, mailbox.id, &stretch)?.map(|reached| (reached.last, reached.upto));
    let (last, upto) = reached.unwrap_or((done, mailbox.cleared_bytes));
    let range = (letter_id(mailbox.id, mailbox.cleared), letter_id(mailbox.id, last));
    db.prepare_cached("DELETE FROM letter WHERE id > ?1 AND id <= ?2")?.execute(range)?;
    db.prepare_cached("UPDATE mark SET cleared = ?2, cleared_bytes = ?3 WHERE tunnel = ?1")?
        .execute((mailbox.id, last, upto))?;
    put_times::clear(db, mailbox, last)?;
    mailbox.cleared = last;
    mailbox.cleared_bytes = upto;
    Ok(last == done)
}
