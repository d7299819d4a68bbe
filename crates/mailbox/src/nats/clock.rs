//! The store's clock, which relays beside each other share.
//!
//! Each goes on from what was noted last by the time that passes for it, and each minute takes the larger of its own and
//! what is noted: so all tell about the same, and none goes back. No wall clock takes part, for among several machines one
//! is wrong sooner or later, and would push all the others. It is asked about one thing only, which nobody else knows: how
//! long a pause was in which no relay ran, a day at most. That there was one is known once this relay has listened for a
//! while and heard no other; until then it notes nothing itself, and forgets no device. Where several begin at once the
//! pause isn't counted, since the clock of any of them may be the wrong one: what waits then ages too slowly, and is safe.

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

/// For how long a relay listens: others note the clock once a minute, or a little less often.
const LISTENS: Duration = Duration::from_secs(3 * 60);

/// The clock of this relay.
#[derive(Debug)]
pub(super) struct SharedClock {
    clock: StoreClock,
    /// As long as it is not known whether other relays are there.
    listening: Mutex<Option<Listening>>,
}

#[derive(Clone, Debug)]
struct Listening {
    /// The note that was there at the beginning.
    revision: u64,
    /// The clock, if no relay ran since then.
    after_pause: StoreClock,
    /// By the machine's uptime.
    until: Duration,
}

impl SharedClock {
    /// Goes on with the store's clock, and begins it where there is none.
    pub(super) async fn open(cursors: &Table, machine: Arc<dyn Clock>) -> Result<Self, MailboxError> {
        let first = Note::first(Moment::of(&StoreClock::resume(None, Arc::clone(&machine))));
        let noted = cursors.change(CLOCK.to_owned(), None, 0, |found: Option<&Note>| {
            // Written again as it was: relays that listen hear that another has begun.
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

    /// What both clocks show.
    pub(super) fn now(&self) -> Moment {
        Moment::of(&self.clock)
    }

    /// For how long the machine has run.
    pub(super) fn uptime(&self) -> Duration {
        self.clock.machine().uptime()
    }

    /// Listens to the note that is there: whether this relay may note the clock, and whether nobody did meanwhile.
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

    /// Notes the clock; none as long as this relay listens.
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
    /// Other relays are there, or this one has noted the clock itself.
    Others,
    Nobody,
}
