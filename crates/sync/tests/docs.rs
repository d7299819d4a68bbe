//! The table in `docs/backup-sync.md` says what the connectors say.

use std::{fs, path::Path};

use hookmitt_sync::{Connector, Gives, KeyPlace, connectors};
use hookmitt_verify::Confidence;

const BEGIN: &str = "<!-- Written from crates/sync/connectors/*.toml by `UPDATE_CONNECTORS=1 cargo test -p hookmitt-sync docs`. -->\n";
const END: &str = "<!-- End of what is written. -->\n";

/// `UPDATE_CONNECTORS=1 cargo test -p hookmitt-sync docs` rewrites the table.
#[test]
fn the_docs_say_what_the_connectors_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/backup-sync.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the beginning is marked");
    let (_, after) = rest.split_once(END).expect("the end is marked");
    let written = format!("{before}{BEGIN}{}{END}{after}", table());
    if std::env::var_os("UPDATE_CONNECTORS").is_some() {
        fs::write(&path, &written).unwrap();
    } else {
        assert_eq!(page, written, "docs/backup-sync.md is stale");
    }
}

fn table() -> String {
    let mut all: Vec<_> = connectors().collect();
    all.sort_by_key(|connector| connector.name.to_lowercase());
    let mut text = String::from(
        "\n| provider | goes back | gives | the least key | confidence |\n|---|---|---|---|---|\n",
    );
    for connector in &all {
        text += &row(connector);
    }
    for connector in &all {
        text += &section(connector);
    }
    text + "\n"
}

fn row(connector: &Connector) -> String {
    let days = connector.days.map_or_else(|| "it doesn't say".to_owned(), |days| format!("{days} days"));
    let gives = match connector.gives {
        Gives::Sent => "what it sent",
        Gives::Event => "the event",
        Gives::Object => "what the event was about",
    };
    let confidence = match connector.confidence {
        Some(Confidence::Confirmed) => "confirmed",
        _ => "corroborated",
    };
    let Connector { id, name, .. } = connector;
    format!(
        "| [{name}](#{}) `{id}` | {days} | {gives} | {} | {confidence} |\n",
        anchor(name),
        connector.key.scope
    )
}

fn section(connector: &Connector) -> String {
    let form = match connector.key.sent {
        KeyPlace::Basic => ", written as `name:password`",
        KeyPlace::ClientCredentials(_) => ", written as `id:secret`",
        KeyPlace::Bearer | KeyPlace::Header(_) => "",
    };
    let mut text = format!(
        "\n### {}\n\nKey: {}{form}. Sent to {} only.\n",
        connector.name,
        connector.key.hint,
        connector.called_hosts().join(", ")
    );
    if !connector.params.is_empty() {
        text += "\nTo be said with `hookmitt sync set SLUG --param NAME=VALUE`:\n\n";
        for param in &connector.params {
            text += &format!("- `{}`: {}; {}\n", param.name, param.label, param.hint);
        }
    }
    text += "\nNot recovered:\n\n";
    for lost in &connector.lost {
        text += &format!("- {lost}\n");
    }
    text + &format!("\nSeen in: {}\n", connector.evidence.join(", "))
}

/// Returns the anchor that GitHub gives a heading.
fn anchor(name: &str) -> String {
    let kept = name.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}
