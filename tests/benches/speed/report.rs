//! The table and the JSON file.

use std::{fs, path::Path, process::Command, time::Duration};

use serde_json::{Value, json};

use crate::{
    claims,
    measured::{BARE, CONNECTIONS, DURABLE, Measured, Pair, SEED, WARM_UP},
    signatures::{self, EXPLAINED_BODY, EXPLAINED_SECRETS, Signatures},
    workload::BODY,
};

/// Prints the table, and writes the figures with everything that is needed to judge them.
pub(crate) fn write(measured: &Measured) -> anyhow::Result<()> {
    let figures = Figures::of(measured);
    figures.print();
    print_signatures(&measured.signatures);
    claims::print(&measured.claims);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/bench");
    fs::create_dir_all(&folder)?;
    let json = figures.json(measured);
    fs::write(folder.join("speed.json"), serde_json::to_string_pretty(&json)? + "\n")?;
    Ok(())
}

/// Measures and prints only the signatures.
pub(crate) fn signatures() -> anyhow::Result<()> {
    print_signatures(&signatures::measured()?);
    Ok(())
}

fn print_signatures(measured: &Signatures) {
    at_most("verdict on a 3.3 KB GitHub event, us", measured.verdict, 15.0);
    at_most("explanation, 100 KB, 20 known secrets, ms", measured.explanation, 100.0);
    at_most("the same, all of them the source's own, ms", measured.explanation_own, 100.0);
}

/// The reported figures: rates in requests a second, times in milliseconds, sizes in MiB.
struct Figures {
    bare: f64,
    durable: f64,
    ratio: f64,
    wal: f64,
    sync: (f64, f64),
    steady: (f64, f64),
    first_capture: f64,
    idle: f64,
    full: f64,
}

impl Figures {
    fn of(measured: &Measured) -> Self {
        let of_pairs = |figure: fn(&Pair) -> f64| median(measured.pairs.iter().map(figure).collect());
        let both = |sorted: &[Duration]| (percentile(sorted, 50.0), percentile(sorted, 99.0));
        Self {
            bare: of_pairs(|pair| pair.bare),
            durable: of_pairs(|pair| pair.durable),
            ratio: of_pairs(|pair| pair.durable / pair.bare),
            wal: mib(measured.pairs.iter().map(|pair| pair.wal).max().unwrap_or(0)),
            sync: both(&measured.syncs),
            steady: both(&measured.steady),
            first_capture: millis(measured.first_capture),
            idle: mib(measured.idle_bytes),
            full: mib(measured.full_bytes),
        }
    }

    /// Returns the limit for the 99th percentile of answer times, in milliseconds: 3 ms plus three times that of the
    /// syncs.
    fn steady_limit(&self) -> f64 {
        3.0 + 3.0 * self.sync.1
    }

    fn print(&self) {
        let limit = self.steady_limit();
        line("bare handler, requests a second", format!("{:.0}", self.bare), None);
        line("durable capture, requests a second", format!("{:.0}", self.durable), None);
        let wanted = "0.25 or more; aim 0.30".to_owned();
        line("durable : bare", format!("{:.3}", self.ratio), Some((wanted, self.ratio >= 0.25)));
        line("fdatasync p50, ms", format!("{:.2}", self.sync.0), None);
        line("fdatasync p99, ms", format!("{:.2}", self.sync.1), None);
        at_most("write-ahead log, largest, MiB", self.wal, 128.0);
        line("answer at 200/s, p50, ms", format!("{:.2}", self.steady.0), None);
        at_most("answer at 200/s, p99, ms", self.steady.1, limit);
        at_most("first capture after start, ms", self.first_capture, 150.0);
        at_most("resident when idle, MiB", self.idle, 40.0);
        at_most("resident after 100,000 events, MiB", self.full, 150.0);
    }

    fn json(&self, measured: &Measured) -> Value {
        let (pairs, signatures) = (&measured.pairs, &measured.signatures);
        let pair = |pair: &Pair| json!({ "bare": pair.bare, "durable": pair.durable, "wal_bytes": pair.wal });
        json!({
            "seed": SEED,
            "body_bytes": BODY,
            "connections": CONNECTIONS,
            "requests": { "bare": BARE, "durable": DURABLE, "warm_up": WARM_UP },
            "pairs": pairs.iter().map(pair).collect::<Vec<_>>(),
            "ratio_median": self.ratio,
            "fdatasync_ms": { "p50": self.sync.0, "p99": self.sync.1 },
            "steady_200_ms": { "p50": self.steady.0, "p99": self.steady.1, "limit": self.steady_limit() },
            "first_capture_ms": self.first_capture,
            "resident_mib": { "idle": self.idle, "after_100000_events": self.full },
            "verdict_us": signatures.verdict,
            "explanation_ms": {
                "body_bytes": EXPLAINED_BODY,
                "secrets": EXPLAINED_SECRETS,
                "of_one_source": signatures.explanation,
                "all_own": signatures.explanation_own,
            },
            "claim_100000_to_10_waiting": measured.claims.iter().map(|(order, ratio)| (order.to_string(), json!(ratio))).collect::<serde_json::Map<_, _>>(),
            "machine": machine(),
            "commit": said("git", &["rev-parse", "HEAD"]),
            "changed_since": !said("git", &["status", "--porcelain"]).is_empty(),
        })
    }
}

pub(crate) fn at_most(name: &str, value: f64, limit: f64) {
    line(name, format!("{value:.2}"), Some((format!("{limit:.2} or less"), value <= limit)));
}

#[expect(clippy::print_stdout, reason = "this is what a benchmark is for")]
pub(crate) fn line(name: &str, value: String, wanted: Option<(String, bool)>) {
    let wanted = wanted.map(|(text, met)| format!("{text}  {}", if met { "met" } else { "MISSED" }));
    println!("{name:<44} {value:>14}   {}", wanted.unwrap_or_default());
}

pub(crate) fn percentile(sorted: &[Duration], percent: f64) -> f64 {
    let place = (sorted.len() as f64 * percent / 100.0).ceil() as usize;
    sorted.get(place.clamp(1, sorted.len().max(1)) - 1).map_or(0.0, |span| millis(*span))
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

pub(crate) fn millis(span: Duration) -> f64 {
    span.as_secs_f64() * 1_000.0
}

pub(crate) fn mib(bytes: u64) -> f64 {
    bytes as f64 / 1_048_576.0
}

pub(crate) fn machine() -> Value {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name\t: ")).unwrap_or("unknown");
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    json!({ "cpu": model, "cores": cores, "system": std::env::consts::OS, "arch": std::env::consts::ARCH })
}

pub(crate) fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}
