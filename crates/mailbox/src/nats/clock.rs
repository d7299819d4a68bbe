//! The store's clock, which all relays of the store share.
//!
//! Each relay continues from the last note by the time that passes on its own machine. Once a minute it takes the
//! larger of its own time and the noted one. So all relays show about the same time, and none goes back. Wall clocks
//! take no part, because among several machines one is sooner or later wrong and would advance all the others.
//!
//! The wall clock is used for one question only, which nothing else can answer: how long the pause was in which no
//! relay ran, at most a day. A relay knows that there was a pause once it has listened for a while and no other relay
//! has noted the clock. Until then it does not advance the note, and forgets no device. If several relays start at
//! once, the pause isn't counted, because any of their wall clocks may be wrong. Then waiting letters age too slowly,
//! which is safe.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use hookmitt_clock::{Clock, Reading, StoreClock};

use super::{
    names::CLOCK,
    table::{Next, Table, Versioned},
};
use crate::{
    MailboxError,
    age::{Moment, Note},
};

/// How long a relay listens. Other relays note the clock once a minute, or slightly less often.
const LISTENS: Duration = Duration::from_secs(3 * 60);

/// This relay's view of the shared clock.
#[derive(Debug)]
pub(super) struct SharedClock {
    clock: StoreClock,
    /// `Some` until it is known whether other relays run.
    listening: Mutex<Option<Listening>>,
}

#[derive(Clone, Debug)]
struct Listening {
    /// The revision of the note when this relay started.
    revision: u64,
    /// The clock to use if no relay ran since that note.
    after_pause: StoreClock,
    /// When listening ends, by the machine's uptime.
    until: Duration,
}

impl SharedClock {
    /// Continues the store's clock, or starts it if there is none.
    pub(super) async fn open(cursors: &Table, machine: Arc<dyn Clock>) -> Result<Self, MailboxError> {
        let first = Note::first(Moment::of(&StoreClock::resume(None, Arc::clone(&machine))));
        let noted = cursors.change(CLOCK.to_owned(), None, 0, |found: Option<&Note>| {
            // Written again unchanged, so that relays that listen learn that another one has started.
            Ok((Next::Write(found.copied().unwrap_or(first)), ()))
        });
        let Versioned { record, revision } =
            noted.await?.0.ok_or_else(|| MailboxError::Failed("the clock is gone".to_owned()))?;
        let without_pause = Reading { wall: machine.now().as_micros(), ..record.kept() };
        let clock = StoreClock::resume(Some(without_pause), Arc::clone(&machine));
        let until = machine.uptime() + LISTENS;
        let after_pause = StoreClock::resume(Some(record.kept()), machine);
        let listening = Mutex::new(Some(Listening { revision, after_pause, until }));
        Ok(Self { clock, listening })
    }

    /// Returns what both clocks show.
    pub(super) fn now(&self) -> Moment {
        Moment::of(&self.clock)
    }

    /// Returns how long the machine has been running.
    pub(super) fn uptime(&self) -> Duration {
        self.clock.machine().uptime()
    }

    /// Checks the revision of the current note. Returns whether this relay may write notes yet, and whether no other
    /// relay did.
    fn listen(&self, revision: u64) -> Heard {
        let mut listening = self.listening.lock().unwrap_or_else(PoisonError::into_inner);
        match listening.take() {
            None => Heard::Others,
            Some(began) if began.revision != revision => Heard::Others,
            Some(began) if self.uptime() < began.until => {
                *listening = Some(began);
                Heard::NothingYet
            }
            Some(began) => {
                self.clock.catch_up(began.after_pause.now());
                Heard::Nobody
            }
        }
    }

    /// Writes a note of the clock. Returns `None` while this relay still listens.
    pub(super) async fn note(&self, cursors: &Table) -> Result<Option<Note>, MailboxError> {
        let found = cursors.read::<Note>(CLOCK, 0).await?;
        let is_first = match self.listen(found.as_ref().map_or(0, |found| found.revision)) {
            Heard::NothingYet => return Ok(None),
            Heard::Others => false,
            Heard::Nobody => true,
        };
        let noted = cursors.change(CLOCK.to_owned(), found, 0, |found: Option<&Note>| {
            if let Some(found) = found {
                self.clock.catch_up(found.store);
            }
            let now = self.now();
            let next = found.map_or_else(
                || Note::first(now),
                |found| if is_first { found.taken_up(now).next(now) } else { found.next(now) },
            );
            Ok((Next::Write(next), ()))
        });
        Ok(noted.await?.0.map(|noted| noted.record))
    }
}

enum Heard {
    NothingYet,
    /// Other relays run, or this one has noted the clock already.
    Others,
    Nobody,
}
