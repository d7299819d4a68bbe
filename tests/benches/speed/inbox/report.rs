//! The table, with a column for each size, and the JSON file.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::figure::{Figure, Figures, Part};
use crate::report::{machine, said};

/// Prints the table, and writes the figures with everything that is needed to judge them.
pub(super) fn write(columns: &[(u64, Figures)]) -> anyhow::Result<()> {
    print(columns);
    let inboxes: serde_json::Map<_, _> =
        columns.iter().map(|(events, figures)| (events.to_string(), json(figures))).collect();
    let json = json!({
        "inboxes": inboxes,
        "machine": machine(),
        "commit": said("git", &["rev-parse", "HEAD"]),
        "changed_since": !said("git", &["status", "--porcelain"]).is_empty(),
    });
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/bench");
    fs::write(folder.join("inbox.json"), serde_json::to_string_pretty(&json)? + "\n")?;
    Ok(())
}

fn json(figures: &Figures) -> Value {
    let one = |figure: &Figure| {
        json!({
            "part": figure.part.name(),
            "name": figure.name,
            "value": figure.value,
            "limit": figure.limit,
            "met": met(figure),
            "ms": figure.times.map(|times| times.json()),
        })
    };
    figures.0.iter().map(one).collect()
}

/// Whether a figure is within its limit, if it has both.
fn met(figure: &Figure) -> Option<bool> {
    Some(figure.value? <= figure.limit?)
}

#[expect(clippy::print_stdout, reason = "this is what a benchmark is for")]
fn print(columns: &[(u64, Figures)]) {
    let sizes: String = columns.iter().map(|(events, _)| format!(" {:>16}", counted(*events))).collect();
    println!("{:<56}{sizes}   {:>7}", "events", "limit");
    for (part, _) in Part::ALL {
        let Some((_, longest)) = columns.first() else { return };
        let names: Vec<&Figure> = longest.0.iter().filter(|figure| figure.part == part).collect();
        if !names.is_empty() {
            println!("\n{}", part.name());
        }
        for Figure { name, limit, .. } in names {
            let cells: String =
                columns.iter().map(|(_, figures)| format!(" {:>16}", cell(figures, part, name))).collect();
            let limit = limit.map(|limit| format!("{limit}")).unwrap_or_default();
            println!("{name:<56}{cells}   {limit:>7}");
        }
    }
}

/// Returns what a column says of one figure.
fn cell(figures: &Figures, part: Part, name: &str) -> String {
    let Some(figure) = figures.0.iter().find(|figure| figure.part == part && figure.name == name) else {
        return String::new();
    };
    let Some(value) = figure.value else { return "not there yet".to_owned() };
    let word = match met(figure) {
        Some(true) => " ok  ",
        Some(false) => " OVER",
        None => "     ",
    };
    format!("{value:.2}{word}")
}

/// Writes a number with commas between its thousands.
fn counted(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group).into_owned());
    groups.collect::<Vec<_>>().join(",")
}
