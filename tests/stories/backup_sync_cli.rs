//! `hookmitt sync`, with a connector of the user's own, and through crashes.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use hookmitt_stories::{Process, ProviderApi, Ran, eventually};
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};
use serde_json::Value;

use super::{
    apis::stripe::{invoice, stripe_lists},
    listen::{command, folder, run},
};

const KEY: &str = "rk_test_4242";

async fn fed(data_dir: &Path, arguments: &[&str], input: &str) -> Ran {
    Ran::with_input(command(data_dir, arguments), input.as_bytes()).await
}

/// Makes a source with Stripe's connector, but for where its API is.
async fn set_up(data_dir: &Path, api: &ProviderApi) {
    run(data_dir, &["source", "add", "stripe", "--provider", "stripe"]).await.exits(0);
    let preset = run(data_dir, &["sync", "preset", "stripe"]).await.exits(0).text();
    let file = data_dir.join("own.toml");
    std::fs::write(&file, preset.replace("https://api.stripe.com", &api.url())).unwrap();
    let file = file.to_str().unwrap();
    run(data_dir, &["sync", "set", "stripe", "--connector", file, "--every", "off"]).await.exits(0);
    fed(data_dir, &["sync", "key", "stripe"], &format!("{KEY}\n")).await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_is_synced_from_the_command_line() {
    let events: Vec<_> = (0..12).map(|number| invoice(number, 600 + number)).collect();
    let api = ProviderApi::start(&["localhost"], move |call| stripe_lists(call, &events));
    let folder = folder();
    let data_dir = folder.path();
    let nothing = run(data_dir, &["sync"]).await.exits(2).err;
    assert!(nothing.contains("no source has an API key yet"), "{nothing}");
    set_up(data_dir, &api).await;
    let checked = run(data_dir, &["sync", "key", "stripe", "--check"]).await.exits(0).text();
    assert!(checked.contains("the key of stripe is good"), "{checked}");
    let dry = run(data_dir, &["sync", "stripe", "--dry-run"]).await.exits(0).text();
    assert!(dry.contains("lists 12 events") && dry.contains("12 are missing"), "{dry}");
    let report = run(data_dir, &["sync", "--json"]).await.exits(0).json().remove(0);
    assert_eq!((&report["checked"], &report["added"]), (&12.into(), &12.into()));
    let missed = run(data_dir, &["sync", "report"]).await.exits(0).text();
    assert!(missed.contains("in both") && missed.contains("only there 0"), "{missed}");
    let days = run(data_dir, &["sync", "report", "--json"]).await.exits(0).json();
    assert_eq!(days.iter().map(|day| day["both"].as_i64().unwrap()).sum::<i64>(), 12);
    let listed = run(data_dir, &["sync", "report", "stripe", "--list", "both"]).await.exits(0).text();
    assert_eq!(listed.lines().count(), 12, "{listed}");
    let syncs = run(data_dir, &["sync", "report", "--syncs"]).await.exits(0).text();
    assert_eq!(syncs.lines().count(), 2, "{syncs}");
    let found = run(data_dir, &["events", "via:backup_sync", "--json"]).await.exits(0).json();
    assert_eq!(found.len(), 12);

    fed(data_dir, &["sync", "key", "stripe"], "another").await.exits(0);
    let refused = run(data_dir, &["sync", "key", "stripe", "--check"]).await.exits(1).text();
    assert!(
        refused.contains("doesn't know this key") && refused.contains("`hookmitt sync key stripe`"),
        "{refused}"
    );
    assert!(!refused.contains("another"), "{refused}");
    run(data_dir, &["sync", "stripe"]).await.exits(1);
    run(data_dir, &["sync", "key", "stripe", "--remove"]).await.exits(0);
    run(data_dir, &["sync", "stripe"]).await.exits(2);
    let wrong = run(data_dir, &["sync", "key", "stripe", "rk_live_secret"]).await.exits(2).err;
    assert!(!wrong.contains("rk_live_secret"), "{wrong}");
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_6_a_connector_s_key_goes_to_no_metadata_service() {
    let folder = folder();
    let data_dir = folder.path();
    run(data_dir, &["source", "add", "mine"]).await.exits(0);
    let file = data_dir.join("own.toml");
    for url in
        ["https://169.254.169.254/x", "http://169.254.169.254/x", "http://192.0.2.1/x", "https://[fe80::1]/x"]
    {
        let text = format!(
            "name = \"Mine\"\n[key]\nsent = \"bearer\"\n[list]\nitems = \"\"\nid = \"/id\"\n[list.call]\nurl = \"{url}\"\n"
        );
        std::fs::write(&file, text).unwrap();
        run(data_dir, &["sync", "set", "mine", "--connector", file.to_str().unwrap(), "--every", "off"])
            .await
            .exits(0);
        fed(data_dir, &["sync", "key", "mine"], KEY).await.exits(0);
        let said = run(data_dir, &["sync", "mine"]).await.exits(1).text();
        assert!(said.contains("isn't sent to"), "{url}: {said}");
    }
    std::fs::write(&file, "name = 1").unwrap();
    let wrong =
        run(data_dir, &["sync", "set", "mine", "--connector", file.to_str().unwrap()]).await.exits(2).err;
    assert!(wrong.contains("the connector can't be used"), "{wrong}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_goes_on_with_its_sync_when_the_one_that_ran_it_is_killed() {
    let events: Vec<_> = (0..150).map(|number| invoice(number, 600 + number)).collect();
    let api = ProviderApi::start(&["localhost"], move |call| stripe_lists(call, &events));
    let folder = folder();
    let data_dir = folder.path();
    set_up(data_dir, &api).await;
    let late = || Some(hookmitt_stories::Trouble::Late(std::time::Duration::from_secs(3)));
    api.will([late(), None, None, late()]);
    let first = Process::start(command(data_dir, &["sync", "stripe"]));
    eventually("it asks", async || (!api.calls().is_empty()).then_some(())).await;
    let second = Process::start(command(data_dir, &["sync", "stripe", "--since", "20h"]));
    eventually("both are jobs", async || {
        let jobs = run(data_dir, &["jobs", "--json"]).await.exits(0).json();
        (jobs.len() == 2).then_some(())
    })
    .await;
    first.kill().await;
    let said = second.end().await.exits(0).text();
    assert!(said.contains("lists 150 events"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_in_the_middle_repeats_nothing_and_misses_nothing() {
    const ROUNDS: usize = 20;
    const EACH: i64 = 120;
    let seed = hookmitt_stories::seed();
    let mut random = SmallRng::seed_from_u64(seed);
    let events = Arc::new(Mutex::new(Vec::new()));
    let listed = Arc::clone(&events);
    let api = ProviderApi::start(&["localhost"], move |call| stripe_lists(call, &listed.lock().unwrap()));
    let folder = folder();
    let data_dir = folder.path();
    set_up(data_dir, &api).await;
    let mut killed_in_the_middle = 0;
    for round in 0..ROUNDS {
        let first = i64::try_from(round).unwrap() * EACH;
        events.lock().unwrap().extend((first..first + EACH).map(|number| invoice(number, 20_000 - number)));
        let process = Process::start(command(data_dir, &["sync", "stripe", "--since", "1d"]));
        let enough = first + random.random_range(0..EACH);
        let db = rusqlite::Connection::open(data_dir.join("inbox.db")).unwrap();
        eventually("some are added", async || {
            let count: i64 = db.query_row("SELECT count(*) FROM event", [], |row| row.get(0)).unwrap_or(0);
            (count >= enough).then_some(())
        })
        .await;
        process.kill().await;
        let stored = run(data_dir, &["events", "--json"]).await.exits(0).json().len() as i64;
        killed_in_the_middle += usize::from(stored < first + EACH);
    }
    let report =
        run(data_dir, &["sync", "stripe", "--since", "1d", "--json"]).await.exits(0).json().remove(0);
    let total = i64::try_from(ROUNDS).unwrap() * EACH;
    assert_eq!(report["checked"], total, "seed {seed}");
    let all: Vec<Value> = run(data_dir, &["events", "--json"]).await.exits(0).json();
    let mut keys: Vec<_> = all.iter().map(|event| event["dedupe_key"].to_string()).collect();
    keys.sort();
    keys.dedup();
    assert_eq!((all.len(), keys.len()), (total as usize, total as usize), "seed {seed}");
    hookmitt_stories::say(&format!("killed in the middle: {killed_in_the_middle} of {ROUNDS}"));
}
