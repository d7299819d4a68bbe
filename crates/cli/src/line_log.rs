//! Lines that are logged while events come in. A full disk that the log is written to must not end capturing.

use hookmitt_event::counted;

use crate::{
    failure::CliError,
    terminal::{BAD, ODD, Screen, Styled},
};

/// How many lines couldn't be written since the last one that could.
#[derive(Debug, Default)]
pub(crate) struct LineLog {
    lost: u64,
}

impl LineLog {
    /// Writes a line with `write`. One that can't be written is left out, which is said once.
    ///
    /// # Errors
    /// Fails with [`CliError::ClosedPipe`] if nobody reads any more.
    pub(crate) fn add(
        &mut self,
        screen: &Screen,
        write: impl FnOnce() -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        // The line before may have been written in part.
        let ended = if self.lost > 0 { screen.print_bytes(b"\n") } else { Ok(()) };
        match ended.and_then(|()| write()) {
            Err(CliError::ClosedPipe) => return Err(CliError::ClosedPipe),
            Err(why) => {
                if self.lost == 0 {
                    screen.note(Styled(BAD, format_args!("{why}; everything else goes on")));
                }
                self.lost += 1;
            }
            Ok(()) => {
                if self.lost > 0 {
                    screen.note(Styled(ODD, format_args!("the log misses {}", counted(self.lost, "line"))));
                }
                self.lost = 0;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn only_a_reader_that_left_ends_the_log() {
        let (mut log, screen) = (LineLog::default(), Screen { json: true });
        let full = || CliError::System { doing: "can't write", source: io::ErrorKind::StorageFull.into() };
        for lost in 1..4 {
            log.add(&screen, || Err(full())).unwrap();
            assert_eq!(log.lost, lost);
        }
        log.add(&screen, || Ok(())).unwrap();
        assert_eq!(log.lost, 0);
        assert!(matches!(log.add(&screen, || Err(CliError::ClosedPipe)), Err(CliError::ClosedPipe)));
    }
}
