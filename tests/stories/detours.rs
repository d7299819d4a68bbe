//! A quick public URL from an installed program, played by one that prints what the real one does and really forwards.

use std::path::Path;

use hookmitt_event::{HeaderLines, HttpVersion, Request, Timestamp};
use hookmitt_stories::{Programs, QuickUrl, Ran, Server, eventually, hookmitt, post, serve};
use hookmitt_verify::{SignBy, provider, sign};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A hookmitt that finds the programs on its PATH.
pub(super) struct Set {
    pub(super) data: TempDir,
    pub(super) programs: Programs,
    pub(super) server: Server,
}

pub(super) async fn set(names: &[&str]) -> Set {
    let data = tempfile::tempdir().unwrap();
    let programs = Programs::install(Path::new(env!("CARGO_BIN_EXE_quick-url")), names);
    let server = start(data.path(), &programs).await;
    for slug in ["shop", "sms"] {
        server.ask("POST", "/api/sources", json!({ "slug": slug })).await;
    }
    Set { data, programs, server }
}

async fn start(data_dir: &Path, programs: &Programs) -> Server {
    let mut command = serve(data_dir);
    programs.on_path_of(&mut command);
    let server = Server::spawn(command).await;
    server.delivers().await;
    server
}

impl Set {
    pub(super) async fn add(&self, kind: &str, source: &str) -> i64 {
        let order = json!({ "kind": kind, "source": source });
        self.server.ask("POST", "/api/tunnels", order).await["id"].as_i64().unwrap()
    }

    /// Returns a tunnel as soon as it is in this state.
    pub(super) async fn is(&self, id: i64, state: &str) -> Value {
        eventually(&format!("the tunnel {id} is {state}"), async || {
            let tunnel = self.server.ask("GET", &format!("/api/tunnels/{id}"), Value::Null).await;
            (tunnel["state"] == state).then_some(tunnel)
        })
        .await
    }

    /// Returns the program of a tunnel, once the tunnel is connected.
    pub(super) async fn program(&self, id: i64) -> QuickUrl {
        let tunnel = self.is(id, "connected").await;
        let url = tunnel["public_url"].as_str().unwrap();
        self.programs.of_url(tunnel["kind"].as_str().unwrap(), url).await
    }

    async fn public_url(&self, source: &str) -> Value {
        self.server.ask("GET", &format!("/api/sources/{source}"), Value::Null).await["public_url"].take()
    }

    async fn last_event(&self) -> Value {
        self.server.ask("GET", "/api/events/last", Value::Null).await
    }
}

#[tokio::test]
async fn a_quick_url_is_picked_up_shown_and_leads_to_its_source() {
    let set = set(&["cloudflared", "ngrok"]).await;
    let (first, second) = (set.add("cloudflared", "shop").await, set.add("ngrok", "sms").await);
    for (id, kind, source) in [(first, "cloudflared", "shop"), (second, "ngrok", "sms")] {
        let program = set.program(id).await;
        let tunnel = set.is(id, "connected").await;
        let url = format!("{}/{source}", program.url);
        assert_eq!((&tunnel["public_url"], &tunnel["kind"]), (&json!(url), &json!(kind)));
        assert_eq!((&tunnel["error"], &tunnel["source"]), (&Value::Null, &json!(source)));
        assert_eq!(set.public_url(source).await, json!(url), "shown as the source's");

        let mut command = hookmitt(set.data.path());
        command.args(["url", source]);
        let printed = Ran::of(command).await.exits(0).text();
        assert_eq!(printed.lines().next(), Some(url.as_str()), "{printed}");

        let round =
            set.server.call("POST", "/api/targets", &json!({ "url": format!("{}/x", program.url) })).await;
        assert_eq!(round.json()["code"], "own-address", "threat 4");
        let reply = program.post(&format!("/{source}/a/b?x=1"), &[("X-Own", "1")], b"{\"n\":1}").await;
        assert_eq!(reply.status, 202);
        let event = set.last_event().await;
        assert_eq!((&event["source"], &event["via"]), (&json!(source), &json!("tunnel")));
        assert_eq!((&event["url"], &event["path"]), (&json!(format!("{url}/a/b?x=1")), &json!("/a/b")));
        assert_eq!(event["remote"], "203.0.113.9", "the caller, not the program");
        let names = |lines: &Value| {
            let lines = lines.as_array().unwrap().iter();
            lines.map(|line| line[0].as_str().unwrap().to_ascii_lowercase()).collect::<Vec<_>>()
        };
        let (own, beside) = (names(&event["headers"]), names(&event["forwarded"]));
        assert!(own.contains(&"host".to_owned()) && own.contains(&"x-own".to_owned()), "{own:?}");
        assert!(
            !own.iter().any(|name| name.starts_with("x-forwarded") || name.starts_with("cf-")),
            "{own:?}"
        );
        assert!(beside.contains(&"x-forwarded-for".to_owned()), "{beside:?}");
    }
}

#[tokio::test]
async fn what_signs_its_url_verifies_through_a_quick_url() {
    let set = set(&["cloudflared"]).await;
    let secret = json!({ "value_base64": "YW4tYXV0aC10b2tlbg==" }); // an-auth-token
    set.server.ask("PATCH", "/api/sources/sms", json!({ "provider": "twilio" })).await;
    set.server.ask("PUT", "/api/sources/sms/secrets/first", secret).await;
    let program = set.program(set.add("cloudflared", "sms").await).await;
    let headers = [("Content-Type", "application/x-www-form-urlencoded")];
    let asked = Request {
        method: "POST".to_owned(),
        path: "/in".to_owned(),
        query: None,
        version: HttpVersion::Http11,
        headers: HeaderLines::from_pairs(headers).unwrap(),
        body: "MessageSid=SM1&MessageStatus=sent".into(),
    };
    let url = format!("{}/sms/in", program.url);
    let by = SignBy {
        url: Some(&url),
        ..SignBy::new(provider("twilio").unwrap(), b"an-auth-token", Timestamp::now())
    };
    let signed = sign(&by, &asked).unwrap();
    let lines: Vec<_> = signed
        .headers
        .iter()
        .map(|line| (line.name.to_owned(), String::from_utf8(line.value.to_vec()).unwrap()))
        .collect();
    let lines: Vec<_> = lines.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(program.post("/sms/in", &lines, &signed.body).await.status, 200);
    let event = set.last_event().await;
    assert_eq!((&event["verdict"], &event["url"]), (&json!("valid"), &json!(url)), "{event}");
}

#[tokio::test]
async fn a_program_that_dies_is_said_to_and_comes_back_with_another_url() {
    let set = set(&["cloudflared"]).await;
    let id = set.add("cloudflared", "shop").await;
    let first = set.program(id).await;
    set.programs.uninstall("cloudflared");
    first.dies().await;
    let tunnel = set.is(id, "offline").await;
    assert_eq!((&tunnel["public_url"], &set.public_url("shop").await), (&Value::Null, &Value::Null));
    let tunnel = eventually("it is said to be missing", async || {
        let tunnel = set.is(id, "offline").await;
        (tunnel["error"]["code"] == "program-missing").then_some(tunnel)
    })
    .await;
    assert!(tunnel["error"]["hint"].as_str().unwrap().contains("brew install cloudflared"), "{tunnel}");
    assert_eq!((&tunnel["why"], &tunnel["hindrance"]), (&json!("not_running"), &json!("not_running")));

    set.programs.reinstall("cloudflared");
    let second = set.program(id).await;
    assert_ne!((second.pid, &second.url), (first.pid, &first.url));
    assert_eq!(set.public_url("shop").await, json!(format!("{}/shop", second.url)));
    assert_eq!(second.post("/shop", &[], b"{}").await.status, 202);
    assert_eq!(set.last_event().await["url"], json!(format!("{}/shop", second.url)));
}

#[tokio::test]
async fn a_program_whose_connection_is_cut_is_not_called_connected() {
    let set = set(&["cloudflared"]).await;
    let id = set.add("cloudflared", "shop").await;
    let program = set.program(id).await;
    program.says("Retrying connection in up to 1s connIndex=0 event=0 ip=198.41.200.13").await;
    let tunnel = set.is(id, "offline").await;
    assert_eq!(tunnel["error"]["code"], "program-cut");
    // Which of both it is depends on whether this machine has a way to the internet.
    assert!(["relay", "network"].iter().any(|why| tunnel["why"] == *why), "{tunnel}");
    program.says("Registered tunnel connection connIndex=0 event=0 ip=198.41.200.13 protocol=quic").await;
    let tunnel = set.is(id, "connected").await;
    assert_eq!(tunnel["public_url"], json!(format!("{}/shop", program.url)), "it is the same program");
}

#[tokio::test]
async fn a_program_runs_for_as_long_as_it_is_wanted() {
    let set = set(&["cloudflared", "ngrok"]).await;
    let (first, second) = (set.add("cloudflared", "shop").await, set.add("ngrok", "shop").await);
    let (cloudflared, ngrok) = (set.program(first).await, set.program(second).await);
    let at = format!("/api/tunnels/{first}");
    let off = set.server.ask("PATCH", &at, json!({ "enabled": false, "label": "quick" })).await;
    assert_eq!((&off["state"], &off["label"]), (&json!("off"), &json!("quick")));
    assert_eq!(off["public_url"], Value::Null);
    cloudflared.is_gone().await;
    set.server.ask("PATCH", &at, json!({ "enabled": true })).await;
    let again = set.program(first).await;
    assert_ne!(again.pid, cloudflared.pid);

    set.server.ask("DELETE", &format!("/api/tunnels/{second}"), Value::Null).await;
    ngrok.is_gone().await;
    assert_eq!(set.public_url("shop").await, json!(format!("{}/shop", again.url)));

    // Another process lists the tunnel, and claims nothing that it can't know.
    let Set { data, programs, server } = set;
    server.kill().await;
    again.is_gone().await;
    let mut command = hookmitt(data.path());
    command.args(["tunnel", "list", "--json"]);
    let listed = Ran::of(command).await.exits(0).json();
    assert_eq!((&listed[0]["state"], &listed[0]["public_url"]), (&json!("offline"), &Value::Null));

    let server = start(data.path(), &programs).await;
    let set = Set { data, programs, server };
    let third = set.program(first).await;
    let gap = set.is(first, "connected").await["gap"].take();
    assert!(gap.is_null() || gap["lost"].is_null(), "nobody knows what was lost: {gap}");
    set.server.ask("PATCH", &at, json!({ "enabled": false })).await;
    third.is_gone().await;
}

#[tokio::test]
async fn what_is_missing_is_said_at_once() {
    let set = set(&["ngrok"]).await;
    let refused = async |order: Value| {
        let reply = set.server.call("POST", "/api/tunnels", &order).await;
        let problem = reply.json();
        assert!(!problem["hint"].is_null(), "{problem}");
        (reply.status, problem["code"].as_str().unwrap().to_owned())
    };
    let missing = refused(json!({ "kind": "cloudflared", "source": "shop" })).await;
    assert_eq!(missing, (400, "program-missing".to_owned()));
    let nowhere = refused(json!({ "kind": "ngrok", "source": "nothing" })).await;
    assert_eq!(nowhere, (404, "unknown-source".to_owned()));
    assert_eq!(refused(json!({ "kind": "ngrok" })).await, (400, "no-tunnel-source".to_owned()));
    let nobody = refused(json!({ "kind": "smee", "source": "shop" })).await;
    assert_eq!(nobody, (400, "no-channel-url".to_owned()));
    let page = refused(json!({ "kind": "smee", "source": "shop", "url": "https://smee.io/" })).await;
    assert_eq!(page, (400, "bad-channel-url".to_owned()));
    let items = set.server.ask("GET", "/api/tunnels", Value::Null).await;
    assert_eq!(items["items"], json!([]), "nothing is left of any");
}

#[tokio::test]
async fn threat_3_a_public_url_reaches_its_source_and_nothing_else() {
    let set = set(&["cloudflared"]).await;
    let id = set.add("cloudflared", "shop").await;
    let program = set.program(id).await;
    assert_ne!(program.port, set.server.api.port(), "it leads to a port that only captures");
    assert_ne!(program.port, set.server.capture.port(), "and to one of its own");
    for path in ["/nobody-knows", "/sms", "/api/sources", "/api/events", "/healthz", "/"] {
        let reply = program.post(path, &[("Host", "127.0.0.1")], b"{}").await;
        assert_eq!(reply.status, 404, "{path}: {reply:?}");
    }
    let slugs = set.server.ask("GET", "/api/sources", Value::Null).await;
    let slugs: Vec<_> = slugs["items"].as_array().unwrap().iter().map(|one| one["slug"].clone()).collect();
    assert_eq!(slugs, ["shop", "sms"], "no source is made");
    let stored = set.server.ask("GET", "/api/events", Value::Null).await;
    assert_eq!(stored["items"], json!([]), "nothing is stored");
    eventually("they are counted", async || {
        let tunnel = set.server.ask("GET", &format!("/api/tunnels/{id}"), Value::Null).await;
        (tunnel["unknown"].as_u64()? >= 3).then_some(())
    })
    .await;

    // A tunnel that somebody starts by hand forwards to the usual port, from this machine.
    for line in
        [("X-Forwarded-For", "203.0.113.9"), ("Cf-Connecting-Ip", "203.0.113.9"), ("Forwarded", "for=x")]
    {
        let reply = post(set.server.capture, "/by-hand", &[line], b"{}").await;
        assert_eq!(reply.status, 404, "{line:?}");
    }
    assert_eq!(post(set.server.capture, "/by-hand", &[], b"{}").await.status, 202, "as ever from here");
}

#[tokio::test]
async fn the_verbs_add_list_and_remove_it() {
    let set = set(&["ngrok"]).await;
    let typed = async |arguments: &[&str]| {
        let mut command = hookmitt(set.data.path());
        set.programs.on_path_of(&mut command);
        command.arg("tunnel").args(arguments);
        Ran::of(command).await
    };
    let added = typed(&["add", "--ngrok", "--source", "shop"]).await.exits(0);
    let printed = added.text();
    assert!(printed.starts_with("https://run") && printed.ends_with(".ngrok-free.app/shop\n"), "{printed}");
    assert!(added.err.contains("isn't running is lost"), "{}", added.err);
    let line = typed(&["list"]).await.exits(0).text();
    assert!(line.contains("ngrok-shop") && line.contains("connected since"), "{line}");
    let status = typed(&["status", "ngrok-shop"]).await.exits(0).text();
    assert!(status.contains("limits") && !status.contains("at the relay"), "{status}");
    let missing = typed(&["add", "--cloudflared", "--source", "shop"]).await.exits(2);
    assert!(missing.err.contains("cloudflared is not installed"), "{}", missing.err);
    assert!(missing.err.contains("brew install cloudflared"), "{}", missing.err);
    for wrong in [&["add"][..], &["add", "--ngrok"], &["add", "--ngrok", "--cloudflared", "--source", "shop"]]
    {
        typed(wrong).await.exits(2);
    }
    let program = set.program(1).await;
    typed(&["remove", "ngrok-shop"]).await.exits(0);
    program.is_gone().await;
    assert_eq!(typed(&["list"]).await.exits(0).text(), "");
}
