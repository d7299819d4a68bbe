//! Host names that a source allows besides those of this machine (Threat 1).

use std::collections::{BTreeMap, BTreeSet};

use crate::EngineError;

/// How many names a source may allow.
const MOST_HOSTS: usize = 64;

/// Allows the names that are mapped to true, and removes those that are mapped to false.
pub(crate) fn allow_hosts(
    hosts: &mut BTreeSet<String>,
    change: BTreeMap<String, bool>,
) -> Result<(), EngineError> {
    for (text, allowed) in change {
        let name = allowed_name(&text).ok_or_else(|| {
            let words = "use a single host name, such as abc.ngrok.app: not a URL, an address or a wildcard";
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
        _ => Err(EngineError::BadInput(format!("a source can allow at most {MOST_HOSTS} hosts"))),
    }
}

/// Returns the host name in a text that a person typed, as it is compared; `None` if it can't be allowed. The text may
/// have a port, capitals and letters of any script.
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
