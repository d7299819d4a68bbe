//! Crates depend only on lower layers, and code that must build without the window doesn't depend on it.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use serde_json::Value;

/// A crate of the workspace: its short name, its layer, and the workspace crates on which it depends.
struct Member {
    name: String,
    layer: u64,
    leans_on: Vec<String>,
}

#[test]
fn crates_lean_only_on_layers_below_theirs() {
    let members = members();
    assert!(members.len() >= 10, "cargo names only {} crates", members.len());
    assert_eq!(wrong_edges(&members), Vec::<String>::new());
}

#[test]
fn an_edge_sideways_or_upwards_is_noticed() {
    let member = |name: &str, layer, leans_on: &[&str]| Member {
        name: name.to_owned(),
        layer,
        leans_on: leans_on.iter().map(|&name| name.to_owned()).collect(),
    };
    let mut members = vec![
        member("event", 0, &[]),
        member("forward", 2, &["event"]),
        member("inbox", 2, &["event"]),
        member("engine", 3, &["forward", "inbox"]),
    ];
    assert_eq!(wrong_edges(&members), Vec::<String>::new());
    members[2].leans_on.push("forward".to_owned());
    members[0].leans_on.push("engine".to_owned());
    let wrong = ["event (layer 0) leans on engine (layer 3)", "inbox (layer 2) leans on forward (layer 2)"];
    assert_eq!(wrong_edges(&members), wrong);
}

#[test]
fn nothing_but_the_window_depends_on_tauri_or_webkit() {
    let locked = locked();
    let core: Vec<_> =
        members().into_iter().map(|member| member.name).filter(|name| name != "desktop").collect();
    let names: Vec<_> = core.iter().map(|name| format!("hookmitt-{name}")).collect();
    let paths = paths_to(&locked, &names, is_of_the_window);
    assert_eq!(paths, Vec::<String>::new());
}

#[test]
fn a_path_to_the_window_through_another_crate_is_noticed() {
    let edge = |name: &str, on: &[&str]| {
        (name.to_owned(), on.iter().map(|&name| name.to_owned()).collect::<BTreeSet<_>>())
    };
    let graph = BTreeMap::from([
        edge("hookmitt-cli", &["opener"]),
        edge("opener", &["webkit2gtk"]),
        edge("webkit2gtk", &[]),
        edge("hookmitt-desktop", &["tauri"]),
    ]);
    let paths = paths_to(&graph, &["hookmitt-cli".to_owned()], is_of_the_window);
    assert_eq!(paths, ["hookmitt-cli → opener → webkit2gtk"]);
}

#[test]
fn only_the_stores_and_the_index_speak_sql() {
    let locked = locked();
    let leaning = locked.iter().filter(|(_, on)| on.contains("rusqlite")).map(|(name, _)| name.as_str());
    // The stories read the database themselves, so that they don't trust the code that they test.
    assert_eq!(
        leaning.collect::<Vec<_>>(),
        ["hookmitt-inbox", "hookmitt-index", "hookmitt-mailbox", "hookmitt-sqlite", "hookmitt-stories"]
    );
    let product = members().into_iter().filter(|member| member.leans_on.iter().any(|on| on == "stories"));
    assert_eq!(product.map(|member| member.name).collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn only_the_crates_that_serve_the_api_describe_it() {
    let describes = |on: &Value| match on["name"].as_str() {
        Some("utoipa") => on["optional"] == false,
        Some("hookmitt-event") => on["features"].as_array().is_some_and(|on| on.contains(&"schema".into())),
        _ => false,
    };
    let packages = packages()
        .into_iter()
        .filter(|package| package["dependencies"].as_array().expect("dependencies").iter().any(describes));
    let mut names: Vec<_> = packages.map(|package| member(&package).name).collect();
    names.sort();
    assert_eq!(names, ["api", "engine"]);
}

/// Returns the names of dependencies that don't lead to a lower layer.
fn wrong_edges(members: &[Member]) -> Vec<String> {
    let layers: BTreeMap<_, _> = members.iter().map(|member| (member.name.as_str(), member.layer)).collect();
    let mut wrong = Vec::new();
    for Member { name, layer, leans_on } in members {
        for on in leans_on {
            let below = layers[on.as_str()];
            if below >= *layer {
                wrong.push(format!("{name} (layer {layer}) leans on {on} (layer {below})"));
            }
        }
    }
    wrong.sort();
    wrong
}

/// Returns the workspace as cargo sees it, with dependencies of every kind and platform.
fn members() -> Vec<Member> {
    packages().iter().map(member).collect()
}

/// Returns what cargo says of each crate of the workspace.
fn packages() -> Vec<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let arguments = ["metadata", "--format-version=1", "--no-deps", "--offline", "--manifest-path", manifest];
    let output = Command::new(cargo).args(arguments).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

fn member(package: &Value) -> Member {
    let name = short(package["name"].as_str().expect("a name"));
    let layer = package["metadata"]["layer"].as_u64();
    let layer = layer.unwrap_or_else(|| panic!("{name} lacks `layer` under [package.metadata]"));
    let dependencies = package["dependencies"].as_array().expect("dependencies").iter();
    let ours = dependencies.filter(|dependency| dependency["path"].is_string());
    let leans_on = ours.map(|dependency| short(dependency["name"].as_str().expect("a name"))).collect();
    Member { name, layer, leans_on }
}

fn short(name: &str) -> String {
    name.trim_start_matches("hookmitt-").to_owned()
}

/// Returns which crate depends on which, for any platform and feature, by Cargo.lock. Versions count as one crate.
fn locked() -> BTreeMap<String, BTreeSet<String>> {
    let text = include_str!("../../Cargo.lock");
    let lock: toml::Table = text.parse().expect("a lock file");
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in lock["package"].as_array().expect("packages") {
        let name = package["name"].as_str().expect("a name").to_owned();
        let on = package.get("dependencies").and_then(toml::Value::as_array).into_iter().flatten();
        let on = on.filter_map(|on| on.as_str()?.split(' ').next().map(str::to_owned));
        graph.entry(name).or_default().extend(on);
    }
    graph
}

fn is_of_the_window(name: &str) -> bool {
    ["tauri", "webkit", "wry", "tao", "gtk"]
        .iter()
        .any(|part| name == *part || name.starts_with(&format!("{part}-")))
        || name.starts_with("webkit2gtk")
        || name.starts_with("javascriptcore")
}

/// Returns a path from each start to something unwanted, if there is one.
fn paths_to(
    graph: &BTreeMap<String, BTreeSet<String>>,
    starts: &[String],
    unwanted: fn(&str) -> bool,
) -> Vec<String> {
    let path_from = |start: &String| {
        let mut seen = BTreeSet::from([start]);
        let mut paths = vec![vec![start]];
        while let Some(path) = paths.pop() {
            let last = path[path.len() - 1];
            if unwanted(last) {
                return Some(path.into_iter().map(String::as_str).collect::<Vec<_>>().join(" → "));
            }
            for next in graph.get(last).into_iter().flatten() {
                if seen.insert(next) {
                    paths.push(path.iter().copied().chain([next]).collect());
                }
            }
        }
        None
    };
    starts.iter().filter_map(path_from).collect()
}
