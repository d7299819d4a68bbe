//! `cloudflared` and `ngrok`: how each is started, and what the lines of its log mean for the tunnel.

use url::Url;

/// A program that makes public URLs quickly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quick {
    /// Cloudflare's quick tunnels: each start gets a new name, and at most 200 requests may be open at once.
    Cloudflared,
    /// ngrok's agent, which needs the token of an account.
    Ngrok,
}

impl std::fmt::Display for Quick {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.program())
    }
}

impl Quick {
    /// Returns the program's name.
    pub const fn program(self) -> &'static str {
        match self {
            Self::Cloudflared => "cloudflared",
            Self::Ngrok => "ngrok",
        }
    }

    /// Returns where the program can be had, and what else it needs.
    pub(crate) const fn install(self) -> &'static str {
        match self {
            Self::Cloudflared => {
                "install it (`brew install cloudflared`, or a package from \
                 https://github.com/cloudflare/cloudflared/releases), and make sure that it is on hookmitt's PATH"
            }
            Self::Ngrok => {
                "install it (https://ngrok.com/download), sign in with `ngrok config add-authtoken`, and make sure \
                 that it is on hookmitt's PATH"
            }
        }
    }

    pub(crate) fn arguments(self, port: u16) -> Vec<String> {
        let words: &[&str] = match self {
            Self::Cloudflared => &["tunnel", "--no-autoupdate", "--url"],
            Self::Ngrok => &["http", "--log", "stdout", "--log-format", "json"],
        };
        let here = format!("http://127.0.0.1:{port}");
        words.iter().map(|word| (*word).to_owned()).chain([here]).collect()
    }

    /// Returns what a line of the program's log says about the tunnel, if it says anything.
    pub(crate) fn word_in(self, line: &str) -> Option<Word> {
        match self {
            Self::Cloudflared => cloudflared(line),
            Self::Ngrok => ngrok(line),
        }
    }
}

/// What a line of a log means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// The program names its public URL, given without a slash at its end.
    Named(String),
    /// The program is connected.
    Up,
    /// The program is no longer connected, and tries again by itself.
    Down,
}

/// Reads a line of cloudflared's log. A quick tunnel has only one connection to Cloudflare's edge (`--ha-connections`
/// is 1), so one lost connection means that the tunnel is down.
fn cloudflared(line: &str) -> Option<Word> {
    const DOWN: [&str; 4] = [
        "Unregistered tunnel connection",
        "Retrying connection in up to",
        "Connection terminated",
        "Lost connection with the edge",
    ];
    if let Some(url) = line.split_whitespace().find_map(|word| public(word, ".trycloudflare.com")) {
        return Some(Word::Named(url));
    }
    if DOWN.iter().any(|words| line.contains(words)) {
        return Some(Word::Down);
    }
    line.contains("Registered tunnel connection").then_some(Word::Up)
}

fn ngrok(line: &str) -> Option<Word> {
    let line: serde_json::Value = serde_json::from_str(line).ok()?;
    match line["msg"].as_str()? {
        "started tunnel" => line["url"].as_str().and_then(|url| public(url, "")).map(Word::Named),
        "client session established" => Some(Word::Up),
        "session closed, starting reconnect loop" | "failed to reconnect session" => Some(Word::Down),
        _ => None,
    }
}

fn public(word: &str, ending: &str) -> Option<String> {
    let url = Url::parse(word).ok()?;
    let host = url.host_str()?;
    // Cloudflare's errors name its own API, which is not a tunnel's URL.
    let fits = url.scheme() == "https" && host.ends_with(ending) && host != "api.trycloudflare.com";
    fits.then(|| url.origin().ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(which: Quick, line: &str) -> Option<String> {
        match which.word_in(line) {
            Some(Word::Named(url)) => Some(url),
            _ => None,
        }
    }

    #[test]
    fn the_url_is_picked_out_of_what_the_program_says() {
        let line = "2026-11-21T09:00:00Z INF |  https://four-random-plain-words.trycloudflare.com     |";
        assert_eq!(
            named(Quick::Cloudflared, line).as_deref(),
            Some("https://four-random-plain-words.trycloudflare.com")
        );
        let line = r#"{"lvl":"info","msg":"started tunnel","name":"x","url":"https://ab12.ngrok-free.app"}"#;
        assert_eq!(named(Quick::Ngrok, line).as_deref(), Some("https://ab12.ngrok-free.app"));
    }

    #[test]
    fn other_urls_are_not_taken_for_it() {
        for line in [
            "see https://developers.cloudflare.com/cloudflare-one/",
            "http://x.trycloudflare.com",
            "failed to request https://api.trycloudflare.com/tunnel",
        ] {
            assert_eq!(Quick::Cloudflared.word_in(line), None, "{line}");
        }
        for line in ["https://a.ngrok.app", r#"{"msg":"starting web service","url":"https://a.b"}"#] {
            assert_eq!(Quick::Ngrok.word_in(line), None, "{line}");
        }
    }

    #[test]
    fn a_connection_that_comes_and_goes_is_heard_of() {
        let registered = "2026-11-21T09:00:00Z INF Registered tunnel connection connIndex=0 event=0 ip=198.41.200.13 location=fra08 protocol=quic";
        assert_eq!(Quick::Cloudflared.word_in(registered), Some(Word::Up));
        for line in [
            "2026-11-21T09:10:00Z INF Unregistered tunnel connection connIndex=0 event=0 ip=198.41.200.13",
            "2026-11-21T09:10:00Z INF Retrying connection in up to 1s connIndex=0 event=0 ip=198.41.200.13",
            r#"2026-11-21T09:10:00Z WRN Connection terminated error="timeout: no recent network activity" connIndex=0"#,
        ] {
            assert_eq!(Quick::Cloudflared.word_in(line), Some(Word::Down), "{line}");
        }
        let closed = r#"{"err":"read EOF","lvl":"eror","msg":"session closed, starting reconnect loop","obj":"csess"}"#;
        assert_eq!(Quick::Ngrok.word_in(closed), Some(Word::Down));
        let back = r#"{"lvl":"info","msg":"client session established","obj":"csess"}"#;
        assert_eq!(Quick::Ngrok.word_in(back), Some(Word::Up));
    }
}
