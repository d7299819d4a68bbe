//! An inbox that is used for a long time: week after week its clock is turned, and what it takes is measured.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{Answer, LocalServer, Server, Stored, eventually, post, turn_store_clock};

/// A week of an inbox, measured at its end.
#[derive(Clone, Debug, Default)]
pub struct Week {
    /// Its number, from 1.
    pub number: u32,
    /// How many events there are.
    pub events: i64,
    /// How many dedupe keys are remembered.
    pub keys: i64,
    /// How many bytes the data directory takes without the logs, which begin anew now and then.
    pub disk: u64,
    /// How many bytes of memory the process takes.
    pub resident: u64,
    /// How long a page of the list and a search take.
    pub list: Duration,
    /// See [`list`](Self::list).
    pub search: Duration,
    /// How long pruning took at the week's beginning.
    pub prune: Duration,
}

/// How many events are sent at a time.
const WIDTH: u32 = 32;

/// One in this many is refused by its target, and so is kept for 30 days.
const REFUSED: u32 = 20;

/// Uses an inbox for that many weeks, with that many events in each, and tells of each week as it ends.
pub async fn use_for(weeks: u32, events: u32, mut tell: impl FnMut(&Week)) {
    let (folder, target) = (tempfile::tempdir().expect("a folder"), LocalServer::start().await);
    let mut gone_by = None;
    for number in 1..=weeks {
        let begun = Instant::now();
        let server = Server::start(folder.path()).await;
        if number == 1 {
            server.ask("POST", "/api/sources", json!({ "slug": "year" })).await;
            let to = json!({ "source": "year", "url": target.url(), "order": "parallel:16" });
            server.ask("POST", "/api/targets", to).await;
        }
        wait_until_pruned(&server).await;
        let prune = begun.elapsed();
        let stored = Stored::open(folder.path());
        capture(&server, &target, number, events).await;
        delivered(&stored).await;
        let mut week = measure(&server, &stored, folder.path(), gone_by.as_deref()).await;
        (week.number, week.prune) = (number, prune);
        tell(&week);
        drop(stored);
        stop(server).await;
        turn_store_clock(folder.path(), Duration::from_secs(7 * 24 * 60 * 60));
        gone_by = Some(format!("week{:04}", number.saturating_sub(5)));
    }
}

async fn wait_until_pruned(server: &Server) {
    let nothing_left = async || {
        let would = server.ask("GET", "/api/prune", Value::Null).await;
        would["items"].as_array().is_some_and(Vec::is_empty).then_some(())
    };
    eventually("all that is old enough is gone", nothing_left).await;
}

/// Posts a week's events. Some of them are refused by the target.
async fn capture(server: &Server, target: &LocalServer, week: u32, events: u32) {
    let answers = (0..events).map(|number| Answer::Status(if number % REFUSED == 0 { 422 } else { 200 }));
    target.will(answers);
    for first in (0..events).step_by(WIDTH as usize) {
        let mut posts = JoinSet::new();
        for number in first..events.min(first + WIDTH) {
            let (capture, words) = (server.capture, "some words of an order ".repeat(40));
            let body = json!({ "order": format!("week{week:04}-{number}"), "text": words }).to_string();
            posts.spawn(async move {
                let reply =
                    post(capture, "/year", &[("Content-Type", "application/json")], body.as_bytes()).await;
                assert!((200..300).contains(&reply.status), "{reply:?}");
            });
        }
        posts.join_all().await;
    }
}

async fn delivered(stored: &Stored) {
    let open = "SELECT count(*) FROM delivery WHERE state IN (0, 1)";
    eventually("all is delivered", async || (stored.count(open) == 0).then_some(())).await;
}

async fn measure(server: &Server, stored: &Stored, folder: &Path, gone: Option<&str>) -> Week {
    let begun = Instant::now();
    server.ask("GET", "/api/events?limit=100", Value::Null).await;
    let list = begun.elapsed();
    let begun = Instant::now();
    let found = server.ask("GET", "/api/events?limit=10&q=words", Value::Null).await;
    let search = begun.elapsed();
    assert!(!found["items"].as_array().expect("a list").is_empty(), "what is there is found");
    if let Some(gone) = gone {
        let found = server.ask("GET", &format!("/api/events?limit=10&q={gone}"), Value::Null).await;
        assert_eq!(found["items"], json!([]), "{gone} is gone");
    }
    let events = stored.count("SELECT count(*) FROM event");
    let counted = server.ask("GET", "/api/stats", Value::Null).await;
    assert_eq!(counted["events"], events, "the totals are right");
    let files = fs::read_dir(folder).expect("a folder").filter_map(Result::ok);
    let kept = files.filter(|file| !file.file_name().to_string_lossy().ends_with("-wal"));
    Week {
        events,
        keys: stored.count("SELECT count(*) FROM first_key"),
        disk: kept.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum(),
        resident: resident(server.pid()),
        list,
        search,
        ..Week::default()
    }
}

/// Returns how many bytes of memory a process takes; 0 where the system doesn't say.
fn resident(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1_024
}

async fn stop(server: Server) {
    let pid = i32::try_from(server.pid()).ok().and_then(Pid::from_raw).expect("a pid");
    kill_process(pid, Signal::TERM).expect("a signal");
    server.ended().await;
}
