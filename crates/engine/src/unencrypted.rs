//! Says, in one sentence, what is stored in private files because no keychain is used.

use std::path::PathBuf;

use hookmitt_event::counted;

/// Private files, and how many values each of them holds: secrets and API keys of sources, and keys of tunnels.
#[derive(Debug, Default)]
pub(crate) struct Unencrypted {
    pub(crate) secrets: Option<(usize, PathBuf)>,
    pub(crate) api_keys: Option<(usize, PathBuf)>,
    pub(crate) tunnels: Option<(usize, PathBuf)>,
}

impl Unencrypted {
    /// Returns the sentence, or `None` if there are no such files.
    pub(crate) fn warning(&self) -> Option<String> {
        let holds = |kept: &Option<(usize, PathBuf)>, what: &str| {
            let (count, path) = kept.as_ref()?;
            Some(format!("{} holds {}", path.display(), counted(*count as u64, what)))
        };
        let secrets = holds(&self.secrets, "unencrypted secret");
        let api_keys = holds(&self.api_keys, "unencrypted API key");
        let tunnels = self.tunnels.as_ref().map(|(count, path)| {
            format!("{} holds the unencrypted keys of {}", path.display(), counted(*count as u64, "tunnel"))
        });
        let files: Vec<_> = secrets.into_iter().chain(api_keys).chain(tunnels).collect();
        let them = if files.len() == 1 { "it" } else { "them" };
        (!files.is_empty()).then(|| {
            let files = files.join(", ");
            format!("{files}, because no keychain is used; only your user can read {them}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sentence_says_it_all() {
        let file = |count, path: &str| Some((count, PathBuf::from(path)));
        let said = |secrets, tunnels| Unencrypted { secrets, tunnels, api_keys: None }.warning();
        assert_eq!(said(None, None), None);
        assert_eq!(
            said(file(1, "d/s"), None).unwrap(),
            "d/s holds 1 unencrypted secret, because no keychain is used; only your user can read it"
        );
        assert_eq!(
            said(file(2, "d/s"), file(1, "d/t/s")).unwrap(),
            "d/s holds 2 unencrypted secrets, d/t/s holds the unencrypted keys of 1 tunnel, because no keychain is \
             used; only your user can read them"
        );
        let api_keys = Unencrypted { api_keys: file(1, "d/k"), ..Unencrypted::default() }.warning();
        assert!(api_keys.unwrap().starts_with("d/k holds 1 unencrypted API key, because"));
    }
}
