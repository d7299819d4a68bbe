//! How much disk an inbox takes, for each byte that was captured.

use std::fs;

use super::{
    figure::{Figures, Part},
    place::Place,
};
use crate::report::mib;

const WITHOUT_INDEX: f64 = 0.5;
const WITH_INDEX: f64 = 1.0;

/// The inbox itself. Every other file of that name begins an index of it.
const INBOX: [&str; 3] = ["inbox.db", "inbox.db-wal", "inbox.db-shm"];

pub(super) fn measure(place: &Place, figures: &mut Figures) -> anyhow::Result<()> {
    let (mut inbox, mut all) = (0, 0);
    for entry in fs::read_dir(place.directory())? {
        let entry = entry?;
        let size = entry.metadata()?.len();
        all += size;
        if INBOX.iter().any(|name| entry.file_name() == *name) {
            inbox += size;
        }
    }
    let raw = place.raw_bytes();
    figures.add(Part::Disk, "captured bodies and header lines, MiB", mib(raw), None);
    figures.add(Part::Disk, "inbox, MiB", mib(inbox), None);
    figures.add(Part::Disk, "inbox : captured", inbox as f64 / raw as f64, Some(WITHOUT_INDEX));
    figures.add(Part::Disk, "inbox and index : captured", all as f64 / raw as f64, Some(WITH_INDEX));
    Ok(())
}
