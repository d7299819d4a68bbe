//! The table (rows: providers and their schemes; columns: groups of faults) and the JSON file.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write as _,
    path::Path,
};

use serde_json::{Value, json};

use crate::score::{Miss, Score, Tally};

/// Prints the table, then the causes that were not found.
pub(crate) fn print(score: &Score) {
    let mut out = std::io::stderr().lock();
    for line in lines(score) {
        writeln!(out, "{line}").unwrap();
    }
    let mut misses: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for miss in score.misses.iter().chain(&score.slandered) {
        let Miss { group, fault, expected, verdict, got, .. } = miss;
        let what = format!("{group}: {fault}: {verdict} {got:?} instead of {expected:?}");
        misses.entry(what).or_default().push(&miss.row);
    }
    for (what, rows) in misses {
        writeln!(out, "not first: {what} ({}): {}", rows.len(), rows.join(", ")).unwrap();
    }
    let summary = summary(score);
    writeln!(out, "{summary}").unwrap();
    if let Some(path) = std::env::var_os("HOOKMITT_REPORT") {
        let file = fs::OpenOptions::new().create(true).append(true).open(path);
        writeln!(file.unwrap(), "{summary}").unwrap();
    }
}

fn summary(score: &Score) -> String {
    format!(
        "faults: {} pairs, {} named ({:.2} %), {} first ({:.2} %); {} right requests, {} called invalid",
        score.pairs(),
        score.named(),
        score.named_percent(),
        score.first(),
        score.first_percent(),
        score.right,
        score.slandered.len(),
    )
}

fn lines(score: &Score) -> Vec<String> {
    let groups: BTreeSet<&str> = score.tallies.keys().map(|(_, group)| group.as_str()).collect();
    let rows: BTreeSet<&str> = score.tallies.keys().map(|(row, _)| row.as_str()).collect();
    let cells = |row: &str, of: &dyn Fn(&str, &str) -> String| {
        groups.iter().map(|group| format!("{:>10}", of(row, group))).collect::<String>()
    };
    let cell = |row: &str, group: &str| shown(score.tallies.get(&(row.to_owned(), group.to_owned())));
    let mut lines = vec![format!("{:<22}{}", "first / pairs", cells("", &|_, group| group.to_owned()))];
    lines.extend(rows.iter().map(|row| format!("{row:<22}{}", cells(row, &cell))));
    let all = |_: &str, group: &str| {
        let of_group = score.tallies.iter().filter(|((_, other), _)| other == group);
        shown(Some(&of_group.fold(Tally::default(), |sum, (_, tally)| plus(sum, *tally))))
    };
    lines.push(format!("{:<22}{}", "all", cells("", &all)));
    lines
}

fn plus(sum: Tally, more: Tally) -> Tally {
    Tally { pairs: sum.pairs + more.pairs, named: sum.named + more.named, first: sum.first + more.first }
}

fn shown(tally: Option<&Tally>) -> String {
    tally.map_or_else(|| "·".to_owned(), |tally| format!("{}/{}", tally.first, tally.pairs))
}

/// Writes the figures to `target/bench/faults.json`.
pub(crate) fn write(score: &Score) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("bench");
    fs::create_dir_all(&folder).unwrap();
    let mut rows: BTreeMap<&str, BTreeMap<&str, Value>> = BTreeMap::new();
    for ((row, group), tally) in &score.tallies {
        let cell = json!({ "pairs": tally.pairs, "named": tally.named, "first": tally.first });
        rows.entry(row).or_default().insert(group, cell);
    }
    let in_words = |miss: &Miss| {
        let Miss { row, group, fault, expected, verdict, got } = miss;
        json!({ "row": row, "group": group, "fault": fault, "expected": expected, "verdict": verdict.to_string(), "got": got })
    };
    let all = json!({
        "pairs": score.pairs(), "named": score.named(), "first": score.first(), "right": score.right,
        "called_invalid": score.slandered.iter().map(in_words).collect::<Vec<_>>(),
        "not_first": score.misses.iter().map(in_words).collect::<Vec<_>>(),
        "rows": rows,
    });
    fs::write(folder.join("faults.json"), serde_json::to_string_pretty(&all).unwrap() + "\n").unwrap();
}
