//! A process without free file descriptors waits for one without keeping a core busy, and then goes on at once.

use std::{path::Path, time::Duration};

use hookmitt_stories::{LocalServer, Server, eventually, free_port, post, serve, serve_on, under, within};
use serde_json::json;
use tokio::{
    net::{TcpStream, UnixStream},
    time::Instant,
};

/// How long a process's processor time is measured.
const WINDOW: Duration = Duration::from_secs(2);

/// Starts `hookmitt serve` with these limits on open file descriptors.
async fn limited(limits: &str, folder: &Path) -> Server {
    let limit = format!("ulimit {limits}; exec \"$0\" \"$@\"");
    Server::spawn(under(&["sh", "-c", &limit], &serve(folder))).await
}

fn about(server: &Server, file: &str) -> String {
    let id = server.process.id().expect("it runs");
    std::fs::read_to_string(format!("/proc/{id}/{file}")).expect("Linux tells")
}

/// Returns the processor time that the process has used, in ticks of 10 ms.
fn ticks(server: &Server) -> u64 {
    let stat = about(server, "stat");
    let fields = stat.rsplit_once(')').expect("a name").1.split_whitespace();
    fields.skip(11).take(2).map(|ticks| ticks.parse::<u64>().expect("a number")).sum()
}

fn open_handles(server: &Server) -> usize {
    let id = server.process.id().expect("it runs");
    std::fs::read_dir(format!("/proc/{id}/fd")).expect("Linux tells").count()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_soft_limit_on_handles_is_raised_to_the_hard_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = limited("-Sn 256 && ulimit -Hn 2000", folder.path()).await;
    let limits = about(&server, "limits");
    let line = limits.lines().find(|line| line.starts_with("Max open files")).expect("a limit");
    let numbers: Vec<_> = line.split_whitespace().skip(3).take(2).collect();
    assert_eq!(numbers, ["2000", "2000"]);
    server.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_7_without_a_handle_left_nothing_spins_and_with_one_all_goes_on() {
    const MOST: usize = 128;
    let folder = tempfile::tempdir().expect("a folder");
    let mut server = limited(&format!("-n {MOST}"), folder.path()).await;
    assert_eq!(post(server.capture, "/demo", &[], b"before").await.status, 202);

    let (mut senders, mut commands) = (Vec::new(), Vec::new());
    for _ in 0..MOST {
        senders.push(TcpStream::connect(server.capture).await.expect("the system takes it"));
    }
    for _ in 0..5 {
        senders.push(TcpStream::connect(server.api).await.expect("the system takes it"));
        commands.push(UnixStream::connect(folder.path().join("hookmitt.sock")).await.expect("as well"));
    }
    eventually("no handle is left", async || (open_handles(&server) >= MOST).then_some(())).await;

    let (before, began) = (ticks(&server), Instant::now());
    tokio::time::sleep(WINDOW).await; // a fixed sleep, because it is the measured period
    let busy = Duration::from_millis(10 * (ticks(&server) - before));
    assert!(busy < began.elapsed() / 4, "it computed for {busy:?} of {:?}", began.elapsed());
    let said = server.said();
    let told = said.lines().filter(|line| line.contains("can't accept connections")).count();
    assert!((1..=5).contains(&told), "each port says it once: {said}");

    drop((senders, commands));
    eventually("it serves again", async || {
        (post(server.capture, "/demo", &[], b"after").await.status == 202).then_some(())
    })
    .await;
    assert_eq!(server.process.try_wait().expect("a status"), None, "it ended: {}", server.said());
    server.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_7_a_flood_from_the_first_moment_on_ends_no_process() {
    const MOST: usize = 64;
    let folder = tempfile::tempdir().expect("a folder");
    let (port, wanted) = (free_port(), LocalServer::start().await);
    let command = serve_on(folder.path(), port);
    let limit = format!("ulimit -n {MOST}; exec \"$0\" \"$@\"");
    let flood = async {
        let mut senders = Vec::new();
        while senders.len() < 2 * MOST {
            match TcpStream::connect(("127.0.0.1", port)).await {
                Ok(sender) => senders.push(sender),
                Err(_) => tokio::task::yield_now().await, // the server doesn't listen yet
            }
        }
        senders
    };
    let (server, senders) =
        tokio::join!(Server::spawn(under(&["sh", "-c", &limit], &command)), within("a flood", flood));
    eventually("no handle is left", async || (open_handles(&server) >= MOST).then_some(())).await;
    drop(senders);
    server.ask("POST", "/api/sources", json!({ "slug": "demo" })).await;
    server.ask("POST", "/api/targets", json!({ "source": "demo", "url": wanted.url() })).await;
    assert_eq!(post(server.capture, "/demo", &[], b"after").await.status, 202);
    wanted.wait_for(1).await;
}
