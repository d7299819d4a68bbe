//! What real proxies with the files in `deploy/` change about a request, and which signatures hold behind each.

use std::net::SocketAddr;

use hookmitt_event::Timestamp;
use hookmitt_stories::{Proxy, secured_from};
use hookmitt_verify::{SignBy, provider, sign};
use serde_json::{Value, json};

use super::relay_proxies::{SECRETS, SENDER, Set, plain, set};

/// What is sent after a source's name, and what arrives behind nginx and behind Caddy; `None` if the proxy refuses it.
const PATHS: [(&str, Option<&str>, Option<&str>); 14] = [
    ("//a/../b%2Fc?x=%20&y", SAME, SAME),
    ("/./x", SAME, SAME),
    ("?", SAME, SAME),
    ("??", SAME, SAME),
    ("/%41;a+b?c+d", SAME, SAME),
    ("/~!$&'()*,=:@[x]", SAME, SAME),
    ("?q=a#b\\&\u{e9}=<b>", SAME, SAME),
    ("/a#b?c", SAME, Some("/a%23b?c")),
    ("/a\\b", SAME, Some("/a%5Cb")),
    ("/\u{e9}", SAME, Some("/%C3%A9")),
    ("/{a}|\"<>^`", SAME, Some("/%7Ba%7D%7C%22%3C%3E%5E%60")),
    ("/%00", None, SAME),
    ("/%zz", None, None),
    ("/a%", None, None),
];

/// The path arrives as it was sent.
const SAME: Option<&str> = Some("");

/// Header lines as a sender writes them, besides those of every request.
const LINES: &str = "x-zeta: 1\r\nX-B: 1\r\nx-b:  2 \r\nX-A: a\r\nX-B: 3\r\nx_odd.name: kept\r\nX!#$%&'*+.^`|~: t\r\n\
                     X-Empty:\r\nX-Tab: a\tb\r\nCookie: a=1\r\nCookie: b=2\r\nTE: trailers\r\n\
                     Keep-Alive: 1\r\nUser-Agent: U\r\n";

/// The lines as they arrive behind nginx. It keeps names, case and order. It drops white space around values and
/// hop-by-hop lines, and puts its own lines first.
const BEHIND_NGINX: [(&str, &str); 14] = [
    ("Host", "@"),
    ("Content-Length", "1"),
    ("x-zeta", "1"),
    ("X-B", "1"),
    ("x-b", "2"),
    ("X-A", "a"),
    ("X-B", "3"),
    ("x_odd.name", "kept"),
    ("X!#$%&'*+.^`|~", "t"),
    ("X-Empty", ""),
    ("X-Tab", "a\tb"),
    ("Cookie", "a=1"),
    ("Cookie", "b=2"),
    ("User-Agent", "U"),
];

/// The lines as they arrive behind Caddy: sorted by name, with names in canonical case.
const BEHIND_CADDY: [(&str, &str); 15] = [
    ("Host", "@"),
    ("User-Agent", "U"),
    ("Content-Length", "1"),
    ("Cookie", "a=1"),
    ("Cookie", "b=2"),
    ("Te", "trailers"),
    ("X!#$%&'*+.^`|~", "t"),
    ("X-A", "a"),
    ("X-B", "1"),
    ("X-B", "2"),
    ("X-B", "3"),
    ("X-Empty", ""),
    ("X-Tab", "a\tb"),
    ("X-Zeta", "1"),
    ("X_odd.name", "kept"),
];

impl Set {
    async fn raw(&self, target: &str, lines: &str) -> Option<Value> {
        let head = format!("POST /acme-dev/{target} HTTP/1.1\r\nHost: {}\r\n{lines}", self.host);
        let bytes = format!("{head}Content-Length: 1\r\nConnection: close\r\n\r\nx").into_bytes();
        let root = vec![self.proxy.root()];
        let came = secured_from(SENDER, self.proxy.address, "localhost", root, bytes).await;
        let reply = came.unwrap_or_else(|| panic!("no answer: {}", self.proxy.said())).reply();
        if reply.status == 400 { None } else { Some(self.arrived(&reply).await) }
    }

    /// Checks what becomes of each path.
    async fn keeps_paths(&self, expected: impl Fn(usize) -> Option<&'static str>) {
        for (at, (sent, ..)) in PATHS.iter().enumerate() {
            let event = self.raw(&format!("github{sent}"), "").await;
            let arrived = event.map(|event| {
                let query = event["query"].as_str().map(|query| format!("?{query}")).unwrap_or_default();
                format!("{}{query}", event["path"].as_str().unwrap())
            });
            let expected = expected(at).map(|to| if to.is_empty() { *sent } else { to });
            assert_eq!(arrived.as_deref(), expected, "{sent}");
        }
    }

    async fn keeps_lines(&self, expected: &[(&str, &str)]) {
        let event = self.raw("github", LINES).await.expect("it is taken");
        let host = |value: &&str| if *value == "@" { self.host.clone() } else { (*value).to_owned() };
        let expected: Vec<_> = expected.iter().map(|(name, value)| json!([name, host(value)])).collect();
        assert_eq!(event["headers"], json!(expected));
    }

    /// Checks whether each provider's signature still holds, for each path that the proxy forwards.
    async fn verifies(&self, holds: impl Fn(&str, usize) -> bool, passes: impl Fn(usize) -> bool) {
        for (source, secret) in SECRETS {
            for at in (0..PATHS.len()).filter(|at| passes(*at)) {
                let sent = PATHS[at].0;
                let (path, query) = match sent.split_once('?') {
                    Some((path, query)) => (path, Some(query)),
                    None => (sent, None),
                };
                let headers = [
                    ("Host", self.host.as_str()),
                    ("Content-Type", "application/x-www-form-urlencoded"),
                    ("X-Contentful-Signed-Headers", "content-type,x-contentful-topic"),
                    ("X-Contentful-Topic", "a.b"),
                ];
                let mut unsigned = plain(&headers, query, b"Body=Ahoy&From=%2B15550001111");
                unsigned.path = format!("/acme-dev/{source}{path}");
                let url = format!("https://{}/acme-dev/{source}{sent}", self.host);
                let known = provider(source).unwrap();
                let by =
                    SignBy { url: Some(&url), ..SignBy::new(known, secret.as_bytes(), Timestamp::now()) };
                let mut signed = sign(&by, &unsigned).unwrap();
                signed.path.clear();
                let event = self.arrived(&self.send(&format!("{source}{path}"), &signed).await).await;
                let verdict = if holds(source, at) { "valid" } else { "invalid" };
                assert_eq!(event["verdict"], verdict, "{source} {sent}: {event}");
            }
        }
    }
}

/// Whether a provider signs nothing but the body.
fn signs_body_alone(source: &str) -> bool {
    source == "github"
}

#[tokio::test(flavor = "multi_thread")]
async fn behind_nginx_what_arrives_is_what_was_sent_but_for_spaces_and_the_connections_own_lines() {
    let nginx = async |port, relay: SocketAddr| Proxy::nginx(port, relay, |site| site).await;
    let Some(set) = set(nginx).await else { return };
    set.keeps_paths(|at| PATHS[at].1).await;
    set.keeps_lines(&BEHIND_NGINX).await;
    set.verifies(|_, _| true, |at| PATHS[at].1.is_some()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn behind_caddy_header_lines_are_sorted_and_some_paths_escaped_so_that_signed_urls_fail() {
    let Some(set) = set(Proxy::caddy).await else { return };
    set.keeps_paths(|at| PATHS[at].2).await;
    set.keeps_lines(&BEHIND_CADDY).await;
    let holds = |source: &str, at: usize| signs_body_alone(source) || PATHS[at].2 == SAME;
    set.verifies(holds, |at| PATHS[at].2.is_some()).await;
}
