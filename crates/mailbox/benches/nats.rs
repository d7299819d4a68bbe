//! Measures the numbers that docs/scaling.md is based on: the NATS store on three servers on this machine. Run it with
//! `cargo bench -p hookmitt-mailbox`.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "figures are printed; what fails stops it")]

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use async_nats::jetstream::{self, consumer};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use hookmitt_clock::MachineClock;
use hookmitt_mailbox::{Feed as _, Mailbox as _, NatsMailbox, NatsOptions, NewDevice, NewTunnel, Quota};
use hookmitt_wire::Parcel;

#[expect(dead_code, unreachable_pub, reason = "shared with the stories, which use the rest")]
#[path = "../../../tests/support/nats.rs"]
mod servers;

use servers::Cluster;

const LETTER: usize = 1_024;
const TUNNELS: usize = 5_000;

#[tokio::main]
async fn main() {
    let Some(program) = servers::server() else {
        println!("nats-server is missing");
        return;
    };
    for nodes in [1, 3] {
        let cluster = Cluster::start(&program, nodes);
        println!("== {nodes} node(s), replicas {}", if nodes > 1 { 3 } else { 1 });
        let options = NatsOptions::from_url(&format!("{}?shards=8", cluster.url())).unwrap();
        let store = NatsMailbox::open(&options, Arc::new(MachineClock)).await.unwrap();
        store.add_token("tk", [9; 32], None, u32::MAX).await.unwrap();
        letters(&store, &cluster).await;
        if nodes == 3 {
            latency(&store, &options).await;
            tunnels(&store, &cluster).await;
            acks(&store).await;
            consumers(&cluster).await;
            opening(&options).await;
        }
        store.close().await;
    }
}

async fn open_tunnel(store: &NatsMailbox, name: &str) {
    let device = NewDevice { key: [1; 32], name: "bench".to_owned() };
    let tunnel = NewTunnel { name: name.to_owned(), token: "tk".to_owned(), sealing_key: [7; 32], device };
    store.open_tunnel(tunnel).await.unwrap();
}

fn parcel(tunnel: u8, number: u32) -> Parcel {
    let data = Bytes::from(vec![7; LETTER]);
    Parcel { epoch: [tunnel; 32], number, received_at: 0, held: false, data }
}

/// Letters put and fed, over 16 tunnels.
async fn letters(store: &NatsMailbox, cluster: &Cluster) {
    let quota = Quota { letters: u64::MAX, bytes: u64::MAX, ..Quota::default() };
    for tunnel in 0..16_u8 {
        open_tunnel(store, &format!("bench-{tunnel}")).await;
    }
    let mut number = 0;
    for (at_once, count) in [(1, 2_000), (64, 30_000), (512, 60_000)] {
        let before = disk(cluster);
        let started = Instant::now();
        let puts = stream::iter(number..number + count).map(|number| {
            let tunnel = u8::try_from(number % 16).unwrap();
            async move { store.put(&format!("bench-{tunnel}"), parcel(tunnel, number), &quota).await.unwrap() }
        });
        puts.buffer_unordered(at_once).for_each(|_| std::future::ready(())).await;
        let took = started.elapsed();
        number += count;
        let disk = (disk(cluster) - before) / u64::from(count);
        println!(
            "put, {at_once} at once: {:.0} letters/s, {disk} bytes on all disks a letter",
            rate(count, took)
        );
    }
    let started = Instant::now();
    let drained = stream::iter(0..16_u8).map(|tunnel| drain(store, format!("bench-{tunnel}"), number / 16));
    drained.buffer_unordered(16).for_each(|()| std::future::ready(())).await;
    println!("drain and acknowledge, 16 tunnels: {:.0} letters/s", rate(number, started.elapsed()));
    for number in 0..20_000 {
        drop(store.put("bench-0", parcel(99, number), &quota).await);
        if number >= 2_000 {
            break;
        }
    }
    let started = Instant::now();
    drain(store, "bench-0".to_owned(), 2_001).await;
    println!("drain and acknowledge, 1 tunnel: {:.0} letters/s", rate(2_001, started.elapsed()));
}

async fn drain(store: &NatsMailbox, tunnel: String, letters: u32) {
    let after = store.devices(&tunnel).await.unwrap()[0].cursor;
    let mut feed = store.feed(&tunnel, after).await.unwrap();
    let mut got = 0;
    while got < letters {
        let next = feed.next(256, 4 << 20).await.unwrap();
        got += u32::try_from(next.len()).unwrap();
        store.ack(&tunnel, &[1; 32], next[next.len() - 1].position).await.unwrap();
    }
}

/// The time from `put` to the feed, at 50 letters a second, at the same relay and at another one.
async fn latency(store: &NatsMailbox, options: &NatsOptions) {
    let other = NatsMailbox::open(options, Arc::new(MachineClock)).await.unwrap();
    open_tunnel(store, "latency").await;
    for (at, relay) in [("the same relay", store), ("another relay", &other)] {
        let mut feed = relay.feed("latency", u64::MAX - 1).await.unwrap_or_else(|error| panic!("{error}"));
        drop(feed);
        let after = relay.depth("latency", &[1; 32]).await.unwrap().1;
        feed = relay.feed("latency", after).await.unwrap();
        let (mut stored, mut delivered) = (Vec::new(), Vec::new());
        let mut tick = tokio::time::interval(Duration::from_millis(20));
        for number in 0..500 {
            tick.tick().await;
            let epoch = if at == "another relay" { 101 } else { 100 };
            let started = Instant::now();
            let put = async {
                store.put("latency", parcel(epoch, number), &Quota::default()).await.unwrap();
                started.elapsed()
            };
            let take = async {
                feed.next(1, 1 << 20).await.unwrap();
                started.elapsed()
            };
            let (put, take) = tokio::join!(put, take);
            stored.push(put);
            delivered.push(take);
        }
        println!("50/s, stored: {}; delivered at {at}: {}", shown(&mut stored), shown(&mut delivered));
    }
    other.close().await;
}

/// What idle tunnels cost.
async fn tunnels(store: &NatsMailbox, cluster: &Cluster) {
    let (servers, relay, disk_before) = (server_memory(cluster), own_memory(), disk(cluster));
    let started = Instant::now();
    let opened = stream::iter(0..TUNNELS)
        .map(|number| async move { open_tunnel(store, &format!("rest-{number}")).await });
    opened.buffer_unordered(16).for_each(|()| std::future::ready(())).await;
    let took = started.elapsed();
    println!("open tunnels: {:.0}/s", TUNNELS as f64 / took.as_secs_f64());
    let mut feeds = Vec::new();
    let started = Instant::now();
    for number in 0..TUNNELS {
        let name = format!("rest-{number}");
        store.seen(&name, &[1; 32]).await.unwrap();
        feeds.push(store.feed(&name, 0).await.unwrap());
    }
    println!(
        "open feeds, with a cursor written for each: {:.0}/s",
        TUNNELS as f64 / started.elapsed().as_secs_f64()
    );
    let each = |before: u64, now: u64| now.saturating_sub(before) / TUNNELS as u64;
    println!(
        "a tunnel with a cursor and an open feed: {} bytes in all servers' memory, {} in the relay's, {} on all disks",
        each(servers, server_memory(cluster)),
        each(relay, own_memory()),
        each(disk_before, disk(cluster))
    );
    println!("the servers: {} MB each", server_memory(cluster) / 3_000_000);
}

/// One letter for each tunnel, acknowledged one by one and deleted.
async fn acks(store: &NatsMailbox) {
    let one_each = async |number: usize| {
        let parcel = parcel(150, u32::try_from(number).unwrap());
        (number, store.put(&format!("rest-{number}"), parcel, &Quota::default()).await.unwrap())
    };
    let put: Vec<_> = stream::iter(0..TUNNELS).map(one_each).buffer_unordered(64).collect().await;
    let started = Instant::now();
    let acked = stream::iter(put).map(async |(number, position)| {
        store.ack(&format!("rest-{number}"), &[1; 32], position).await.unwrap();
    });
    acked.buffer_unordered(64).for_each(|()| std::future::ready(())).await;
    println!(
        "acknowledgements of one letter, each of another tunnel: {:.0}/s",
        TUNNELS as f64 / started.elapsed().as_secs_f64()
    );
    let started = Instant::now();
    store.close().await;
    println!("  their deleting was over {:.1} s after the last", started.elapsed().as_secs_f64());
}

/// For comparison: the design that was not chosen, with a consumer for each device.
async fn consumers(cluster: &Cluster) {
    let js = jetstream::new(
        async_nats::connect(cluster.url().trim_start_matches("nats://").split(',').collect::<Vec<_>>())
            .await
            .unwrap(),
    );
    let stream = js.get_stream("hookmitt_box_0").await.unwrap();
    for (kind, durable, count) in [("ephemeral", false, 300), ("durable", true, 100)] {
        let servers = server_memory(cluster);
        let started = Instant::now();
        for number in 0..count {
            let config = consumer::pull::Config {
                durable_name: durable.then(|| format!("device-{number}")),
                filter_subject: format!("hookmitt.box.0.bench-{number}.>"),
                inactive_threshold: Duration::from_secs(600),
                ..consumer::pull::Config::default()
            };
            stream.create_consumer(config).await.unwrap();
        }
        let took = started.elapsed();
        let memory = server_memory(cluster).saturating_sub(servers) / count;
        println!(
            "{kind} consumers: {:.1} ms each, {memory} bytes in all servers' memory",
            took.as_secs_f64() * 1e3 / count as f64
        );
    }
}

/// How long a relay takes to start while others run.
async fn opening(options: &NatsOptions) {
    let quota = Quota { letters: u64::MAX, bytes: u64::MAX, ..Quota::default() };
    let store = Arc::new(NatsMailbox::open(options, Arc::new(MachineClock)).await.unwrap());
    let puts = stream::iter(0..200_000).map(|number| {
        let store = Arc::clone(&store);
        async move { store.put("bench-1", parcel(200, number), &quota).await.unwrap() }
    });
    puts.buffer_unordered(512).for_each(|_| std::future::ready(())).await;
    let before = own_memory();
    let started = Instant::now();
    let other = NatsMailbox::open(options, Arc::new(MachineClock)).await.unwrap();
    let usage = other.usage().await.unwrap();
    println!(
        "a relay starts: {:.1} s, with {} letters waiting and {} tunnels; {} bytes of memory a letter",
        started.elapsed().as_secs_f64(),
        usage.letters,
        usage.tunnels,
        own_memory().saturating_sub(before) / usage.letters.max(1)
    );
}

fn rate(count: u32, took: Duration) -> f64 {
    f64::from(count) / took.as_secs_f64()
}

fn shown(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |part: usize| times[times.len() * part / 100].as_secs_f64() * 1e3;
    format!("p50 {:.2} ms, p99 {:.2} ms", at(50), at(99))
}

/// Returns the resident memory of the servers.
fn server_memory(cluster: &Cluster) -> u64 {
    let configs: Vec<_> =
        cluster.folders().map(|folder| folder.join("config").display().to_string()).collect();
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok).map(|entry| entry.path());
    let is_server = |process: &std::path::PathBuf| {
        let line = std::fs::read_to_string(process.join("cmdline")).unwrap_or_default();
        let mut words = line.split('\0');
        words.next().is_some_and(|program| program.ends_with("nats-server"))
            && words.any(|word| configs.iter().any(|config| config == word))
    };
    processes.filter(is_server).map(|process| memory(&process)).sum()
}

fn own_memory() -> u64 {
    memory(Path::new("/proc/self"))
}

fn memory(process: &Path) -> u64 {
    let status = std::fs::read_to_string(process.join("status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or_default() * 1_024
}

fn disk(cluster: &Cluster) -> u64 {
    cluster.folders().map(size).sum()
}

fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => size(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        })
        .sum()
}
