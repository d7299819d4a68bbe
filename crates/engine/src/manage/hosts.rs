//! Host names that a source allows beside those of this machine (Threat 1).

use std::collections::{BTreeMap, BTreeSet};

use crate::EngineError;

/// So many names may be allowed for a source.
const MOST_HOSTS: usize = 64;

/// Allows names and takes others back.
pub(crate) fn allow_hosts(
    hosts: &mut BTreeSet<String>,
    change: BTreeMap<String, bool>,
) -> Result<(), EngineError> {
    for (text, allowed) in change {
        let name = allowed_name(&text).ok_or_else(|| {
            let words =
                "give the name of one host alone, such as abc.ngrok.app: no URL, no address, no wildcard";
            EngineError::BadInput(format!("{text:?} can't be allowed: {words}"))
        })?;
        if allowed {
            hosts.insert(name)
        } else {
            hosts.remove(&name)
        };
    }
    match hosts.len() {
        0..=MOST_HOSTS => Ok(()),
        _ => Err(EngineError::BadInput(format!("a source can allow {MOST_HOSTS} hosts at most"))),
    }
}

/// A name as a person gives it to be allowed; with a port, with capitals, in any script.
pub(crate) fn allowed_name(text: &str) -> Option<String> {
    let host = text.trim().rsplit_once(':').map_or(text.trim(), |(host, port)| {
        if port.bytes().all(|byte| byte.is_ascii_digit()) { host } else { text.trim() }
    });
    match url::Host::parse(host).ok()? {
        url::Host::Domain(name) => {
            let name = name.strip_suffix('.').unwrap_or(&name).to_owned();
            hookmitt_event::is_host_name(&name).then_some(name)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_host_name_can_be_allowed() {
        for (text, name) in [
            ("abc.ngrok-free.app", "abc.ngrok-free.app"),
            (" ABC.example.:4400 ", "abc.example"),
            ("b\u{fc}cher.example", "xn--bcher-kva.example"),
        ] {
            assert_eq!(allowed_name(text).as_deref(), Some(name), "{text}");
        }
        for text in [
            "",
            ".",
            "*.example",
            "https://a.example",
            "a.example/x",
            "a b",
            "10.0.0.1",
            "[::1]",
            "a;b.example",
            "-a.example",
            "a..example",
        ] {
            assert_eq!(allowed_name(text), None, "{text}");
        }
    }
}
