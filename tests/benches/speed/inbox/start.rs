//! How long a start takes, and how much memory is resident afterwards.

use std::{thread, time::Duration};

use tokio::runtime::Runtime;

use super::{
    figure::{Figures, Part},
    place::Place,
    served::Served,
};
use crate::report::{median, millis};

/// How many starts are measured after the first.
const STARTS: usize = 5;

const START_MS: f64 = 500.0;
const RESIDENT_MIB: f64 = 200.0;

pub(super) fn measure(runtime: &Runtime, place: &Place, figures: &mut Figures) -> anyhow::Result<()> {
    let cold = Served::cold(place.directory())?.ready_after;
    figures.add(Part::Start, "start until ready, files not in memory, ms", millis(cold), Some(START_MS));
    let mut starts = Vec::with_capacity(STARTS);
    for number in 0..STARTS {
        let served = Served::start(place.directory())?;
        starts.push(millis(served.ready_after));
        if number + 1 == STARTS {
            figures.add(
                Part::Start,
                "start until ready, median of 5, ms",
                median(starts.clone()),
                Some(START_MS),
            );
            first_page(runtime, &served)?;
            thread::sleep(Duration::from_secs(2));
            figures.add(Part::Start, "resident when idle, MiB", served.resident()?, Some(RESIDENT_MIB));
        }
    }
    Ok(())
}

fn first_page(runtime: &Runtime, served: &Served) -> anyhow::Result<()> {
    runtime.block_on(async {
        let answer = served.client().await?.get("/api/events?limit=100&glance=true").await?;
        anyhow::ensure!(answer.status == 200, "the first page is refused: {}", answer.text());
        Ok(())
    })
}
