//! One check of the doctor's, and those of the machine and of the data directory's files.

use hookmitt_engine::{Disk, Engine, Flaw, SCHEMA};
use hookmitt_event::{Explain as _, Timestamp, counted};
use serde::Serialize;

use crate::Problem;

/// The result of one check.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Check {
    name: &'static str,
    pub(crate) ok: bool,
    message: String,
    /// What to do about it.
    hint: Option<String>,
    /// Whether `hookmitt doctor --fix` does that.
    fixable: bool,
    /// Whether that was done just now; absent unless it was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<bool>,
    #[serde(skip)]
    flaw: Option<Flaw>,
}

impl Check {
    /// Something that is as it should be.
    pub(crate) fn passed(name: &'static str, message: impl Into<String>) -> Self {
        Self { name, ok: true, message: message.into(), hint: None, fixable: false, fixed: None, flaw: None }
    }

    /// Something that is wrong, with what to do about it.
    pub(crate) fn failed(name: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { ok: false, ..Self::passed(name, message) }.with_hint(Some(hint.into()))
    }

    /// Adds what can be done.
    #[must_use]
    pub(crate) fn with_hint(self, hint: Option<String>) -> Self {
        Self { hint, ..self }
    }

    /// Mends what is wrong, if hookmitt can.
    pub(crate) async fn mend(mut self, engine: &Engine) -> Self {
        let Some(flaw) = self.flaw.take() else { return self };
        match engine.mend(&flaw).await {
            Ok(()) => Self { ok: true, hint: None, fixable: false, fixed: Some(true), ..self },
            Err(error) => {
                let message = format!("{}; it couldn't be mended: {error}", self.message);
                Self { message, hint: error.hint(), fixable: false, fixed: Some(false), ..self }
            }
        }
    }
}

impl From<Flaw> for Check {
    fn from(flaw: Flaw) -> Self {
        const FIX: &str = "`hookmitt doctor --fix`";
        let check = match &flaw {
            Flaw::OpenToOthers(path) => {
                let message = format!("other users of this machine may open {}", path.display());
                Self::failed("file modes", message, format!("{FIX} takes that from them"))
            }
            Flaw::Leftover(path) => {
                let message =
                    format!("a restore or a recovery that was killed left {} behind", path.display());
                Self::failed("leftovers", message, format!("{FIX} deletes it"))
            }
            Flaw::StuckClaims(count) => {
                let what = counted(*count, "attempt");
                let message = format!("{what} had begun when hookmitt was killed, and may have arrived");
                Self::failed(
                    "claims",
                    message,
                    format!("{FIX} or `hookmitt serve` settles that and goes on sending"),
                )
            }
            Flaw::DamagedIndex(why) => Self::failed("search index", why, format!("{FIX} makes it anew")),
        };
        Self { fixable: true, flaw: Some(flaw), ..check }
    }
}

/// Checks what the operating system gives: clock and disk; tells the versions; and checks the size limit.
pub(crate) async fn machine(engine: &Engine) -> Result<Vec<Check>, Problem> {
    let version = format!("hookmitt {}, schema {SCHEMA} of the inbox", env!("CARGO_PKG_VERSION"));
    let seen = engine.inbox().clock_seen().await?;
    let size = engine.keeping.size_warning().await?.map(|warning| {
        let hint =
            "raise the limit (`hookmitt retention --size`), or unpin events (`hookmitt events is:pinned`)";
        Check::failed("size limit", warning, hint)
    });
    let checks = [Check::passed("version", version), clock(engine.now(), seen), disk(engine.disk().await)];
    Ok(checks.into_iter().chain(size).collect())
}

/// Before this no hookmitt was made: 2024-01-01.
const EARLIEST: Timestamp = Timestamp::from_micros(1_704_067_200_000_000);

/// How far the clock may be set back, in microseconds: an hour.
const STEP: i64 = 60 * 60 * 1_000_000;

/// Checks the wall clock by what it said when hookmitt last looked.
fn clock(now: Timestamp, seen: Option<Timestamp>) -> Check {
    let message = match seen {
        _ if now < EARLIEST => format!("the clock says {now}"),
        Some(seen) if now.as_micros() + STEP < seen.as_micros() => {
            format!("the clock says {now}, but it was {seen} before")
        }
        _ => return Check::passed("clock", format!("the clock says {now}")),
    };
    let hint = "set the machine's clock: signatures are judged by it, and events carry its time";
    Check::failed("clock", message, hint)
}

/// Checks whether there is room for more events.
fn disk(disk: Disk) -> Check {
    let megabytes = |bytes: u64| bytes / 1_000_000;
    let index = disk.index.map(|index| format!(", the search index {} MB", megabytes(index)));
    let free = disk.free.map(|free| format!("; {} MB are free", megabytes(free)));
    let message = format!(
        "the inbox takes {} MB{}{}",
        megabytes(disk.database + disk.log),
        index.unwrap_or_default(),
        free.unwrap_or_default()
    );
    if !disk.nearly_full {
        return Check::passed("disk", message);
    }
    let hint = "make room, or keep less: `hookmitt retention`; once the disk is full, new events get a 503";
    Check::failed("disk", message, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_set_far_back_or_never_set_is_a_finding() {
        let at = |micros| Timestamp::from_micros(EARLIEST.as_micros() + micros);
        assert!(!clock(at(-1), None).ok);
        assert!(clock(at(0), None).ok);
        assert!(clock(at(0), Some(at(STEP))).ok);
        assert!(!clock(at(0), Some(at(STEP + 1))).ok);
        assert!(clock(at(STEP * 9_999), Some(at(0))).ok, "hookmitt may not have run for a year");
    }

    #[test]
    fn a_disk_that_is_nearly_full_is_a_finding_and_says_how_large_everything_is() {
        let room = Disk { database: 7_000_000, log: 1_000_000, free: Some(9_000_000), ..Disk::default() };
        assert_eq!(disk(room).message, "the inbox takes 8 MB; 9 MB are free");
        assert!(disk(room).ok);
        assert!(!disk(Disk { nearly_full: true, ..room }).ok);
    }
}
