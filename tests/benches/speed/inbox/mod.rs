//! `make bench-inbox`: how fast lists, searches and numbers are in inboxes of growing size, how much memory they take,
//! and how much disk.
//!
//! The inboxes are made once and kept in `target/bench`. ARGS names sizes (`10000`) and parts (`lists`); without them,
//! all are measured.

mod beside;
mod client;
mod deleted;
mod disk;
mod figure;
mod lists;
mod place;
mod queries;
mod report;
mod sample;
mod search;
mod served;
mod start;
mod sync;

use anyhow::bail;
use tokio::runtime::Runtime;

use figure::{Figures, Part};
use place::Place;
use served::Served;

/// The sizes that are measured if none is named, in events.
const SIZES: [u64; 3] = [10_000, 100_000, 1_000_000];

/// Measures the named sizes and parts, or all of them, and reports the figures.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    let (sizes, parts) = asked(arguments)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut columns = Vec::new();
    for size in sizes {
        let place = Place::ready(&runtime, size)?;
        columns.push((size, measured(&runtime, &place, &parts)?));
    }
    report::write(&columns)
}

/// Returns the sizes and parts that the arguments name.
fn asked(arguments: &[String]) -> anyhow::Result<(Vec<u64>, Vec<Part>)> {
    let (mut sizes, mut parts) = (Vec::new(), Vec::new());
    for word in arguments.iter().filter(|word| !word.starts_with('-')) {
        match (word.replace(['_', ','], "").parse(), Part::named(word)) {
            (Ok(size), _) => sizes.push(size),
            (_, Some(part)) => parts.push(part),
            _ => bail!("{word} is neither a number of events nor one of {}", Part::names().join(", ")),
        }
    }
    if sizes.is_empty() {
        sizes.extend(SIZES);
    }
    if parts.is_empty() {
        parts.extend(Part::ALL.map(|(part, _)| part));
    }
    Ok((sizes, parts))
}

fn measured(runtime: &Runtime, place: &Place, parts: &[Part]) -> anyhow::Result<Figures> {
    let mut figures = Figures::default();
    let wanted = |part| parts.contains(&part);
    if wanted(Part::Start) {
        start::measure(runtime, place, &mut figures)?;
    }
    if wanted(Part::Disk) {
        disk::measure(place, &mut figures)?;
    }
    if parts.iter().any(|part| part.is_asked_for()) {
        let served = Served::cold(place.directory())?;
        asked_for(runtime, place, &served, parts, &mut figures)?;
        figures.add(
            Part::Start,
            "largest resident while searching, MiB",
            served.largest_resident()?,
            Some(200.0),
        );
    }
    if wanted(Part::Indexing) {
        beside::indexing(runtime, &mut figures)?;
    }
    if wanted(Part::Beside) {
        beside::measure(runtime, place, &mut figures)?;
    }
    if wanted(Part::Sync) {
        sync::measure(runtime, place, &mut figures)?;
    }
    if wanted(Part::Deleted) {
        deleted::measure(runtime, place, &mut figures)?;
    }
    Ok(figures)
}

/// Measures the parts that only ask a server for things.
fn asked_for(
    runtime: &Runtime,
    place: &Place,
    served: &Served,
    parts: &[Part],
    figures: &mut Figures,
) -> anyhow::Result<()> {
    runtime.block_on(async {
        let mut client = served.client().await?;
        for part in parts.iter().filter(|part| part.is_asked_for()) {
            match part {
                Part::Lists => lists::measure(&mut client, place.last(), figures).await?,
                part => search::measure(&mut client, place, *part, figures).await?,
            }
        }
        Ok(())
    })
}
