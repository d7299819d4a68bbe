//! The same lists and searches once all but ten events are deleted: nothing may walk through the emptiness.

use std::time::Instant;

use anyhow::ensure;
use http::Method;
use serde_json::Value;
use tokio::{runtime::Runtime, task::JoinSet};

use super::{
    figure::{Figures, Part},
    lists,
    place::Place,
    search,
    served::Served,
};
use crate::report::millis;

/// The events that stay.
const KEPT: usize = 10;

/// How many connections delete at once.
const CONNECTIONS: usize = 64;

pub(super) fn measure(runtime: &Runtime, place: &Place, figures: &mut Figures) -> anyhow::Result<()> {
    let copied = place.copy()?;
    let served = Served::start(copied.directory())?;
    let ids = spread(copied.directory())?;
    let began = Instant::now();
    runtime.block_on(delete(&served, &ids))?;
    let each = millis(began.elapsed()) / ids.len() as f64;
    figures.add(Part::Deleted, "deletions over HTTP, a second", 1_000.0 / each, None);
    drop(served);
    let served = Served::cold(copied.directory())?;
    let mut own = Figures::default();
    runtime.block_on(async {
        let mut client = served.client().await?;
        let left = client.get("/api/events?limit=100").await?.rows();
        ensure!(left == KEPT, "{left} events are left, not {KEPT}");
        lists::measure(&mut client, place.last(), &mut own).await?;
        for part in [Part::Keys, Part::Pairs, Part::Text] {
            search::measure(&mut client, place, part, &mut own).await?;
        }
        anyhow::Ok(())
    })?;
    for mut figure in own.0.into_iter().filter(|figure| figure.value.is_some()) {
        (figure.part, figure.name) = (Part::Deleted, format!("after deletion: {}", figure.name));
        figures.0.push(figure);
    }
    Ok(())
}

/// Returns the ids of all events but ten, which lie far from each other.
fn spread(directory: &std::path::Path) -> anyhow::Result<Vec<String>> {
    let db = rusqlite::Connection::open(directory.join("inbox.db"))?;
    let mut select = db.prepare("SELECT lower(hex(id)) FROM event ORDER BY seq")?;
    let all = select.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    let step = all.len().div_ceil(KEPT);
    Ok(all.into_iter().enumerate().filter(|(place, _)| place % step != 0).map(|(_, id)| id).collect())
}

async fn delete(served: &Served, ids: &[String]) -> anyhow::Result<()> {
    let mut deleting = JoinSet::new();
    for some in ids.chunks(ids.len().div_ceil(CONNECTIONS).max(1)) {
        let (mut client, some) = (served.client().await?, some.to_vec());
        deleting.spawn(async move {
            for id in some {
                let answer = client.ask(Method::DELETE, &format!("/api/events/{}", hyphened(&id))).await?;
                ensure!(answer.status == 200, "{id} isn't deleted: {}", answer.text());
                let _told: Value = answer.json()?;
            }
            Ok(())
        });
    }
    while let Some(ended) = deleting.join_next().await {
        ended??;
    }
    Ok(())
}

/// Writes 32 hexadecimal digits as a UUID.
fn hyphened(hex: &str) -> String {
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}
