//! Plays `cloudflared` or `ngrok`, depending on the name under which it is called. It prints what the real program
//! prints, and forwards what arrives at its edge (a local port) with the header lines that the real edge adds.
//!
//! In the folder `QUICK_URL_DIR` it writes `<program>-<source port>.json` atomically, with `pid`, `edge`, `port` and
//! `url`. If the first line sent to the edge is `say TEXT`, it writes TEXT to its log. If `QUICK_URL_FAILS` is set, it
//! prints that text instead of all this, and exits.

use std::{
    io::Write as _,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// The program that is played.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Cloudflared,
    Ngrok,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let name = Path::new(&arguments[0]).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let part = if name == "ngrok" { Part::Ngrok } else { Part::Cloudflared };
    let words: Vec<&str> = arguments[1..].iter().map(String::as_str).collect();
    let leads_to = match (part, words.as_slice()) {
        (Part::Cloudflared, ["tunnel", "--no-autoupdate", "--url", url])
        | (Part::Ngrok, ["http", "--log", "stdout", "--log-format", "json", url]) => *url,
        (_, other) => anyhow::bail!("{name} is called with {other:?}"),
    };
    if let Ok(words) = std::env::var("QUICK_URL_FAILS") {
        log(part, &words);
        std::process::exit(1);
    }
    let inner: SocketAddr = leads_to.trim_start_matches("http://").parse().context("where it leads")?;
    let edge = TcpListener::bind("127.0.0.1:0").await?;
    let (pid, address) = (std::process::id(), edge.local_addr()?);
    let url = match part {
        Part::Cloudflared => format!("https://run-{pid}-of-words.trycloudflare.com"),
        Part::Ngrok => format!("https://run{pid}.ngrok-free.app"),
    };
    let folder = PathBuf::from(std::env::var("QUICK_URL_DIR").context("QUICK_URL_DIR")?);
    let note = json!({ "pid": pid, "edge": address, "port": inner.port(), "url": url });
    let (fresh, file) =
        (folder.join(format!("{pid}.new")), folder.join(format!("{name}-{}.json", inner.port())));
    std::fs::write(&fresh, note.to_string())?;
    std::fs::rename(&fresh, &file)?;
    introduce(part, &url);
    let mut requests = JoinSet::new();
    loop {
        let (stream, _) = edge.accept().await?;
        while requests.try_join_next().is_some() {}
        requests.spawn(async move {
            if let Err(error) = pass_on(part, stream, inner).await {
                log(part, &format!("{error:#}"));
            }
        });
    }
}

/// Prints what the real program prints at its start.
fn introduce(part: Part, url: &str) {
    match part {
        Part::Cloudflared => {
            log(part, "Requesting new quick Tunnel on trycloudflare.com...");
            log(
                part,
                "|  Your quick Tunnel has been created! Visit it at (it may take some time to be reachable):  |",
            );
            log(part, &format!("|  {url}  |"));
            log(
                part,
                "Registered tunnel connection connIndex=0 event=0 ip=198.41.200.13 location=fra08 protocol=quic",
            );
        }
        Part::Ngrok => {
            log(part, r#"{"lvl":"info","msg":"starting web service","obj":"web","addr":"127.0.0.1:4040"}"#);
            log(part, r#"{"lvl":"info","msg":"client session established","obj":"tunnels.session"}"#);
            let started =
                json!({ "lvl": "info", "msg": "started tunnel", "name": "command_line", "url": url });
            log(part, &started.to_string());
        }
    }
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "it plays a program of the command line")]
fn log(part: Part, line: &str) {
    match part {
        Part::Cloudflared => eprintln!("2026-11-21T09:00:00Z INF {line}"),
        Part::Ngrok => println!("{line}"),
    }
    let _closed = std::io::stdout().flush();
}

/// Forwards one request, with the edge's header lines after the request line.
async fn pass_on(part: Part, mut outside: TcpStream, inner: SocketAddr) -> anyhow::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\n") {
        head.push(outside.read_u8().await?);
    }
    let line = String::from_utf8_lossy(&head).into_owned();
    if let Some(words) = line.strip_prefix("say ") {
        log(part, words.trim_end());
        return Ok(outside.write_all(b"said").await?);
    }
    let added = match part {
        Part::Cloudflared => {
            "Cf-Connecting-Ip: 203.0.113.9\r\nX-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\nCdn-Loop: cloudflare\r\n"
        }
        Part::Ngrok => "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\n",
    };
    head.extend_from_slice(added.as_bytes());
    let mut inside = TcpStream::connect(inner).await?;
    inside.write_all(&head).await?;
    tokio::io::copy_bidirectional(&mut outside, &mut inside).await?;
    Ok(())
}
