//! The table and the JSON file.

use std::{fs, path::Path, time::Duration};

use serde_json::{Value, json};

use super::{
    BODY,
    accepts::{FRESH, JUDGED, KEPT, Pair, SENDERS},
    catch_up::{CaughtUp, EVENTS},
    idle::{Idle, TUNNELS},
    latency::{Latency, PACE},
};
use crate::{
    measured::SEED,
    report::{at_most, line, machine, median, mib, percentile, said},
};

/// The results. Parts that were not measured are empty.
#[derive(Default)]
pub(super) struct Measured {
    pub(super) syncs: Vec<Duration>,
    pub(super) kept: Vec<Pair>,
    pub(super) fresh: Vec<Pair>,
    pub(super) latency: Option<Latency>,
    pub(super) caught_up: Vec<CaughtUp>,
    pub(super) idle: Option<Idle>,
}

/// Prints the table, and writes the figures with everything that is needed to judge them.
pub(super) fn write(measured: &Measured) -> anyhow::Result<()> {
    let json = json!({
        "seed": SEED,
        "body_bytes": BODY,
        "requests": { "kept": KEPT, "fresh": FRESH },
        "disk": disk(&measured.syncs),
        "connections_kept": pairs(&measured.kept, ["bare handler, a second", "relay : bare"], 0.22),
        "connection_each": pairs(
            &measured.fresh,
            ["forwarder, a connection each", "relay : forwarder, each"],
            1.0,
        ),
        "latency": latency(measured.latency.as_ref()),
        "catching_up": caught_up(&measured.caught_up),
        "idle": idle(measured.idle.as_ref()),
        "machine": machine(),
        "commit": said("git", &["rev-parse", "HEAD"]),
        "changed_since": !said("git", &["status", "--porcelain"]).is_empty(),
    });
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/bench");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("relay.json"), serde_json::to_string_pretty(&json)? + "\n")?;
    Ok(())
}

fn disk(syncs: &[Duration]) -> Value {
    let (middle, high) = (percentile(syncs, 50.0), percentile(syncs, 99.0));
    line("fdatasync p50, ms", format!("{middle:.2}"), None);
    line("fdatasync p99, ms", format!("{high:.2}"), None);
    json!({ "fdatasync_ms": { "p50": middle, "p99": high } })
}

fn pairs(all: &[Pair], [other, ratio]: [&str; 2], least: f64) -> Value {
    let groups = SENDERS.map(|senders| {
        let pairs: Vec<_> = all.iter().filter(|pair| pair.senders == senders).collect();
        if pairs.is_empty() {
            return Value::Null;
        }
        let of = |figure: fn(&Pair) -> f64| median(pairs.iter().map(|pair| figure(pair)).collect());
        let (middle, with) = (of(|pair| pair.relay / pair.other), format!("{senders} senders"));
        line(&format!("{other}, {with}"), format!("{:.0}", of(|pair| pair.other)), None);
        line(&format!("relay, durable and sealed, {with}"), format!("{:.0}", of(|pair| pair.relay)), None);
        let judged = (senders == JUDGED).then_some(least);
        at_least(&format!("{ratio}, {with}"), middle, judged);
        let pair = |pair: &&Pair| json!({ "other": pair.other, "relay": pair.relay, "wal_bytes": pair.wal });
        json!({
            "senders": senders,
            "ratio_median": middle,
            "pairs": pairs.iter().map(pair).collect::<Vec<_>>(),
        })
    });
    if let Some(largest) = all.iter().map(|pair| pair.wal).max() {
        at_most("write-ahead log, largest, MiB", mib(largest), 128.0);
    }
    json!(groups)
}

fn latency(latency: Option<&Latency>) -> Value {
    let Some(Latency { bare, relay, inbox }) = latency else { return Value::Null };
    let both = |sorted: &[Duration]| (percentile(sorted, 50.0), percentile(sorted, 99.0));
    let (bare, relay, inbox) = (both(bare), both(relay), both(inbox));
    let added = (relay.0 - bare.0, relay.1 - bare.1);
    at_most(&format!("added to the answer at {PACE}/s, p50, ms"), added.0, 5.0);
    line(&format!("added to the answer at {PACE}/s, p99, ms"), format!("{:.2}", added.1), None);
    line("from the sender into the inbox, p50, ms", format!("{:.2}", inbox.0), None);
    line("from the sender into the inbox, p99, ms", format!("{:.2}", inbox.1), None);
    let figures = |(p50, p99): (f64, f64)| json!({ "p50": p50, "p99": p99 });
    json!({
        "answer_bare_ms": figures(bare), "answer_relay_ms": figures(relay), "answer_added_ms": figures(added),
        "into_inbox_ms": figures(inbox),
    })
}

fn caught_up(times: &[CaughtUp]) -> Value {
    if times.is_empty() {
        return Value::Null;
    }
    let rate = |took: Duration| EVENTS as f64 / took.as_secs_f64();
    let rates: Vec<_> = times.iter().map(|time| rate(time.took)).collect();
    let from_start: Vec<_> = times.iter().map(|time| time.from_start.as_secs_f64()).collect();
    at_least(&format!("caught up of {EVENTS}, events a second"), median(rates.clone()), Some(8_000.0));
    line("the same from the app's start, seconds", format!("{:.2}", median(from_start.clone())), None);
    json!({ "events": EVENTS, "caught_up_a_second": rates, "seconds_from_start": from_start })
}

fn idle(idle: Option<&Idle>) -> Value {
    let Some(idle) = idle else { return Value::Null };
    let kib = idle.per_connection() / 1_024.0;
    at_most(&format!("resident for each of {TUNNELS} idle tunnels, KiB"), kib, 50.0);
    json!({
        "tunnels": TUNNELS, "resident_without": idle.without, "resident_opened": idle.opened,
        "resident_connected": idle.connected, "kib_each": kib,
    })
}

fn at_least(name: &str, value: f64, least: Option<f64>) {
    let digits = if value < 100.0 { 3 } else { 0 };
    let wanted = least.map(|least| (format!("{least} or more"), value >= least));
    line(name, format!("{value:.digits$}"), wanted);
}
