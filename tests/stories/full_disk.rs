//! A full disk: nothing is acknowledged without being stored, nothing crashes, and capture resumes once there is room.

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
};

use hookmitt_stories::{RelayProcess, Reply, Server, eventually, lacking, post, serve, under, within};
use rand::{Rng as _, SeedableRng as _, rngs::SmallRng};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

/// The whole disk, and the size of the file that fills a part of it until room is needed.
const DISK: &str = "size=10m,mode=700";
const FILLER: usize = 4 << 20;

/// The acknowledged events: id and body.
type Acknowledged = HashMap<String, Vec<u8>>;

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_refuses_captures_answers_reads_and_recovers_by_itself() {
    let Some(SmallDisk { mut server, mounted, folder: _held }) = SmallDisk::start().await else { return };
    let mut random = SmallRng::seed_from_u64(8);
    let mut acknowledged = Acknowledged::new();
    std::fs::write(mounted.join("filler"), vec![1; FILLER]).expect("a filler");

    // Large bodies first, then smaller ones that fit into what is left.
    for size in [64 << 10, 4 << 10, 1] {
        let refusal = fill(&server, size, &mut random, &mut acknowledged).await;
        assert_refused(&refusal);
    }
    assert!(acknowledged.len() > 10, "{} were stored before the disk was full", acknowledged.len());

    // What can't be stored is never acknowledged, however often it is sent; what is stored can be read.
    for _ in 0..20 {
        assert_refused(&post(server.capture, "/demo", &[], b"again").await);
    }
    assert_readable(&server, &acknowledged).await;
    let stats = server.ask("GET", "/api/stats", Value::Null).await;
    assert_eq!(stats["events"], acknowledged.len());
    let refused = stats["refused"].as_array().expect("a list");
    assert!(refused.len() >= 23, "{} refusals are shown", refused.len());
    for refusal in refused {
        let seen = (&refusal["code"], &refusal["status"], &refusal["target"]);
        assert_eq!(seen, (&"disk-full".into(), &503.into(), &"/demo".into()), "{refusal}");
    }
    let logged = || {
        server.said().lines().filter(|line| line.contains("the disk that holds the inbox is full")).count()
    };
    eventually("each refusal is logged on stderr", async || (logged() >= 23).then_some(())).await;

    std::fs::remove_file(mounted.join("filler")).expect("room again");
    // On a busy machine, whoever reads may keep the log from being cut for a while, and what comes is refused until then.
    let wanted = acknowledged.len() + 100;
    within("captures resume", async {
        while acknowledged.len() < wanted {
            let (body, reply) = post_random(&server, 4 << 10, &mut random).await;
            if reply.status == 503 {
                assert_refused(&reply);
            } else {
                note(&mut acknowledged, body, &reply);
            }
        }
    })
    .await;
    assert_readable(&server, &acknowledged).await;
    assert_eq!(server.process.try_wait().expect("a status"), None, "it ended: {}", server.said());

    let checks = server.ask("GET", "/api/doctor", Value::Null).await;
    let inbox = &checks["checks"][0];
    assert_eq!((&inbox["name"], &inbox["ok"]), (&"inbox".into(), &true.into()), "{checks}");
    server.kill().await;
}

/// More letters than fit on the disk beside 7 MiB, but fewer than fit without those.
const LETTERS: usize = 60;
const LETTER: usize = 64 << 10;

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_fills_in_the_middle_of_a_drain_loses_and_doubles_no_letter() {
    let Some(SmallDisk { server, mounted, folder }) = SmallDisk::start().await else { return };
    let relay_dir = folder.path().join("relay");
    let token = RelayProcess::token(&relay_dir).await;
    let relay = RelayProcess::start(&relay_dir, &[]).await;
    server.ask("POST", "/api/sources", json!({ "slug": "s" })).await;
    let order = json!({ "relay": format!("http://{}", relay.address), "token": token, "name": "acme-dev" });
    let tunnel = server.ask("POST", "/api/tunnels", order).await;
    eventually("the relay knows the source", async || {
        (post(relay.address, "/acme-dev/s", &[], b"first").await.status == 202).then_some(())
    })
    .await;
    let stored = async || {
        server.ask("GET", "/api/stats", Value::Null).await["events"].as_u64().expect("a number") as usize
    };
    eventually("the tunnel works", async || (stored().await == 1).then_some(())).await;
    let path = format!("/api/tunnels/{}", tunnel["id"]);
    server.ask("PATCH", &path, json!({ "enabled": false })).await;
    let mut random = SmallRng::seed_from_u64(9);
    for _ in 0..LETTERS {
        let mut body = vec![0; LETTER];
        random.fill_bytes(&mut body);
        assert_eq!(post(relay.address, "/acme-dev/s", &[], &body).await.status, 202);
    }

    std::fs::write(mounted.join("filler"), vec![1; 7 << 20]).expect("a filler");
    server.ask("PATCH", &path, json!({ "enabled": true })).await;
    eventually("the disk is full in the middle of it", async || {
        server.said().contains("it is waiting at the relay").then_some(())
    })
    .await;
    let before = stored().await;
    assert!((2..=LETTERS).contains(&before), "{before} are stored");
    std::fs::remove_file(mounted.join("filler")).expect("room again");
    eventually("the rest comes by itself", async || (stored().await == LETTERS + 1).then_some(())).await;
    let page = server.ask("GET", "/api/events?limit=1000", Value::Null).await;
    let events = page["items"].as_array().expect("a list");
    let bodies: HashSet<_> = events.iter().map(|event| event["sha256"].as_str()).collect();
    assert_eq!((events.len(), bodies.len()), (LETTERS + 1, LETTERS + 1), "each once");
    let came: Vec<_> = events.iter().map(|event| event["received_at"].as_str()).collect();
    assert!(came.is_sorted_by(|newer, older| newer >= older), "in the order in which the relay took them");
    server.kill().await;
}

/// `hookmitt serve` with its data on a disk of its own, in memory.
struct SmallDisk {
    server: Server,
    /// The disk's path outside of the namespace.
    mounted: PathBuf,
    folder: TempDir,
}

impl SmallDisk {
    /// Mounts the disk in a namespace that only the server is in, so that the mount ends with the server in any case.
    /// Returns `None` if this machine can't do that and doesn't have to.
    async fn start() -> Option<Self> {
        let Some(namespace) = namespace().await else {
            lacking(
                "a mount namespace for a small disk (unshare --mount)",
                "run as root, or allow user namespaces",
            );
            return None;
        };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let data = folder.path().join("data");
        std::fs::create_dir(&data).expect("a folder");
        let mount = format!("mount -t tmpfs -o {DISK} hookmitt {} && exec \"$0\" \"$@\"", data.display());
        let wrapper: Vec<_> = namespace.into_iter().chain(["sh", "-c", &mount]).collect();
        let server = Server::spawn(under(&wrapper, &serve(&data))).await;
        let inside = data.strip_prefix("/").expect("an absolute path");
        let mounted = PathBuf::from(format!("/proc/{}/root", server.pid())).join(inside);
        assert!(mounted.join("inbox.db").exists(), "{} is not the server's disk", mounted.display());
        Some(Self { server, mounted, folder })
    }
}

/// Returns the command that enters a mount namespace: as root, or as root of a user namespace.
async fn namespace() -> Option<Vec<&'static str>> {
    for way in [vec!["unshare", "--mount"], vec!["unshare", "--map-root-user", "--mount"]] {
        let tried = Command::new(way[0])
            .args(&way[1..])
            .args(["mount", "-t", "tmpfs", "none", "/tmp"])
            .output()
            .await;
        if tried.is_ok_and(|tried| tried.status.success()) {
            return Some(way);
        }
    }
    None
}

/// Posts bodies of this size until one is refused.
async fn fill(server: &Server, size: usize, random: &mut SmallRng, acknowledged: &mut Acknowledged) -> Reply {
    for _ in 0..10_000 {
        let (body, reply) = post_random(server, size, random).await;
        if reply.status == 503 {
            return reply;
        }
        note(acknowledged, body, &reply);
    }
    panic!("a 10 MiB disk takes 10,000 more events");
}

async fn post_random(server: &Server, size: usize, random: &mut SmallRng) -> (Vec<u8>, Reply) {
    let mut body = vec![0; size];
    random.fill_bytes(&mut body);
    let reply = post(server.capture, "/demo", &[], &body).await;
    (body, reply)
}

fn note(acknowledged: &mut Acknowledged, body: Vec<u8>, reply: &Reply) {
    assert_eq!(reply.status, 202, "{}", String::from_utf8_lossy(&reply.body));
    let id = reply.header("x-hookmitt-event-id").expect("an event id");
    acknowledged.insert(id.to_owned(), body);
}

fn assert_refused(reply: &Reply) {
    assert_eq!((reply.status, &reply.json()["code"]), (503, &"disk-full".into()), "{:?}", reply.json());
    let wait: u32 = reply.header("retry-after").expect("Retry-After").parse().expect("seconds");
    assert!((1..=60).contains(&wait), "{wait} s");
    assert_eq!(reply.header("x-hookmitt-event-id"), None);
}

async fn assert_readable(server: &Server, acknowledged: &Acknowledged) {
    for (id, body) in acknowledged {
        let reply = server.call("GET", &format!("/api/events/{id}/body"), &Value::Null).await;
        assert_eq!(reply.status, 200, "event {id}: {:?}", reply.json());
        assert!(reply.body == *body, "event {id} has other bytes");
    }
}
