//! `listen --public`: a public URL by what there is, in the order of what loses least.

use std::path::Path;

use hookmitt_stories::{
    LocalServer, Process, Programs, Ran, RelayProcess, SmeeChannel, eventually, hookmitt, post,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

/// A data directory with a server of one's own, and the programs that are installed.
struct Set {
    data: TempDir,
    server: LocalServer,
    programs: Programs,
}

async fn set(programs: &[&str]) -> Set {
    let programs = Programs::install(Path::new(env!("CARGO_BIN_EXE_quick-url")), programs);
    Set { data: tempfile::tempdir().unwrap(), server: LocalServer::start().await, programs }
}

impl Set {
    fn listen(&self, more: &[&str]) -> Command {
        let mut command = hookmitt(self.data.path());
        self.programs.on_path_of(&mut command);
        command.args([
            "listen",
            &self.server.url(),
            "--public",
            "--no-open",
            "--port",
            "0",
            "--api-port",
            "0",
        ]);
        command.args(more);
        command
    }

    async fn tunnels(&self) -> Vec<Value> {
        let mut command = hookmitt(self.data.path());
        command.args(["tunnel", "list", "--json"]);
        Ran::of(command).await.exits(0).json()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_installed_program_leads_the_internet_to_the_local_server_for_as_long_as_listen_runs() {
    let set = set(&["cloudflared", "ngrok"]).await;
    let mut listen = Process::start(set.listen(&["--qr"]));
    listen.says("trycloudflare.com").await;
    listen.says("->").await;
    let tunnel = set.tunnels().await.remove(0);
    assert_eq!((&tunnel["kind"], &tunnel["source"]), (&json!("cloudflared"), &json!("hooks")));
    let url = tunnel["public_url"].as_str().unwrap();
    assert!(listen.err().lines().any(|line| line.trim() == url), "alone on its line: {}", listen.err());
    assert!(listen.err().contains('\u{2588}'), "a QR code: {}", listen.err());
    let program = set.programs.of_url("cloudflared", url).await;
    assert_eq!(program.post("/hooks/path", &[], b"{}").await.status, 202);
    assert_eq!(set.server.wait_for(1).await[0].line(), "POST /path HTTP/1.1");

    listen.stop().await.exits(0);
    let tunnel = set.tunnels().await.remove(0);
    assert_eq!((&tunnel["enabled"], &tunnel["state"]), (&json!(false), &json!("off")));
    let mut again = Process::start(set.listen(&[]));
    again.says("trycloudflare.com").await;
    assert_eq!(set.tunnels().await.len(), 1, "the same tunnel is switched on again");
    again.stop().await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_relay_that_is_set_up_is_preferred_and_knows_the_source() {
    let set = set(&["cloudflared"]).await;
    let relay_dir = tempfile::tempdir().unwrap();
    let token = RelayProcess::token(relay_dir.path()).await;
    let relay = RelayProcess::start(relay_dir.path(), &[]).await;
    let mut add = hookmitt(set.data.path());
    add.args(["tunnel", "add", &format!("http://{}", relay.address), "--name", "acme"]);
    Ran::with_input(add, format!("{token}\n").as_bytes()).await.exits(0);

    let mut listen = Process::start(set.listen(&["--source", "github"]));
    listen.says(&format!("http://{}/acme/github", relay.address)).await;
    listen.says("->").await;
    assert_eq!(post(relay.address, "/acme/github", &[], b"{}").await.status, 200);
    set.server.wait_for(1).await;
    listen.stop().await.exits(0);
    assert_eq!(set.tunnels().await[0]["enabled"], true, "it was on before");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_channel_is_the_last_resort_and_only_if_somebody_agrees() {
    let (set, channel) = (set(&[]).await, SmeeChannel::start().await);
    let server = channel.url().replace("/AbC123", "");
    let refused = Ran::of(set.listen(&["--channel-server", &server])).await.exits(3);
    assert!(
        refused.err.contains("signatures can't verify") && refused.err.contains("--channel"),
        "{}",
        refused.err
    );
    assert!(set.tunnels().await.is_empty(), "nothing was opened");

    let mut listen = Process::start(set.listen(&["--channel", "--channel-server", &server]));
    listen.says(&channel.url()).await;
    listen.says("->").await;
    channel.pass_on(&[], &json!({ "n": 1 })).await;
    assert_eq!(set.server.wait_for(1).await[0].body(), br#"{"n":1}"#);
    listen.stop().await.exits(0);
    let mut again = Process::start(set.listen(&["--channel-server", &server]));
    again.says(&channel.url()).await;
    eventually("it is the same channel", async || (set.tunnels().await.len() == 1).then_some(())).await;
    again.stop().await.exits(0);
}
