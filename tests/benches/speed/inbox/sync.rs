//! How long it takes to reconcile 10,000 events with an API that answers at once, and what captures pay for that.

use std::{fs, path::Path, time::Instant};

use hookmitt_event::Timestamp;
use hookmitt_stories::{ApiAnswer, ProviderApi};
use serde_json::json;
use tokio::runtime::Runtime;

use super::{
    beside::{TURNS, beside},
    figure::{Figures, Part},
    place::Place,
};
use crate::{
    folder::{hookmitt, with_source},
    report::median,
    servers::start_hookmitt,
};

/// How many events the API lists, and how many on a page.
const LISTED: usize = 10_000;
const PAGE: usize = 100;

/// What the issue allows: seconds for all of them, and captures' p99 as a ratio.
const SECONDS: f64 = 10.0;
const BESIDE: f64 = 1.2;

pub(super) fn measure(runtime: &Runtime, place: &Place, figures: &mut Figures) -> anyhow::Result<()> {
    let api = api();
    let (mut adds, mut knows) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let folder = with_source("sync")?;
        set_up(folder.path(), &api)?;
        let _server = start_hookmitt(folder.path())?;
        adds.push(timed(folder.path())?);
        knows.push(timed(folder.path())?);
    }
    figures.add(Part::Sync, "10,000 listed, all missing, s", median(adds), Some(SECONDS));
    figures.add(Part::Sync, "10,000 listed, all here, s", median(knows), Some(SECONDS));
    let (mut alone, mut with) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let copied = place.copy()?;
        set_up(copied.directory(), &api)?;
        alone.push(beside(runtime, copied.directory(), None)?.0);
        with.push(beside(runtime, copied.directory(), Some(&["sync", "synced"]))?.0);
    }
    let ratio = median(with) / median(alone.clone());
    figures.add(Part::Sync, "alone before sync, p99, ms", median(alone), None);
    figures.add(Part::Sync, "beside sync, p99 : alone", ratio, Some(BESIDE));
    Ok(())
}

fn timed(data_dir: &Path) -> anyhow::Result<f64> {
    let began = Instant::now();
    hookmitt(data_dir, &["sync", "synced"], "")?;
    Ok(began.elapsed().as_secs_f64())
}

/// Makes a source that is synced with the API.
fn set_up(data_dir: &Path, api: &ProviderApi) -> anyhow::Result<()> {
    hookmitt(data_dir, &["source", "add", "synced", "--provider", "stripe"], "")?;
    let preset = hookmitt_sync::preset("stripe").unwrap_or_default();
    let file = data_dir.join("own.toml");
    fs::write(&file, preset.replace("https://api.stripe.com", &api.url()))?;
    let file = file.to_string_lossy().into_owned();
    hookmitt(data_dir, &["sync", "set", "synced", "--every", "off", "--connector", &file], "")?;
    hookmitt(data_dir, &["sync", "key", "synced"], "rk_test_1")?;
    Ok(())
}

/// Starts an API whose pages are made before they are asked for.
fn api() -> ProviderApi {
    let now = Timestamp::now().as_seconds();
    let event = |number: usize| {
        json!({ "id": format!("evt_{number:06}"), "object": "event", "created": now - 60 - number as i64, "type": "invoice.paid",
            "data": { "object": { "id": format!("in_{number}"), "object": "invoice", "amount_due": 1_200, "currency": "eur",
                "description": "x".repeat(1_000) } } })
    };
    let pages: Vec<String> = (0..LISTED / PAGE)
        .map(|page| {
            let events: Vec<_> = (page * PAGE..(page + 1) * PAGE).map(event).collect();
            json!({ "data": events, "has_more": page + 1 < LISTED / PAGE }).to_string()
        })
        .collect();
    ProviderApi::start(&["localhost"], move |call| {
        let after = call.asks("starting_after").and_then(|id| id.strip_prefix("evt_")?.parse::<usize>().ok());
        let page = after.map_or(0, |number| (number + 1) / PAGE);
        ApiAnswer { status: 200, headers: Vec::new(), body: pages.get(page).cloned().unwrap_or_default() }
    })
}
