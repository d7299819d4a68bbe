//! An invite as one line of text.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hookmitt_wire::Invited;
use url::Url;

use crate::{TunnelError, check_relay, credentials::key};

/// How the line begins.
const PREFIX: &str = "hookmitt-invite:";

/// How many bytes the line may have. Ours have about 300.
const LONGEST: usize = 4096;

/// Returns the line that a teammate is given. It holds the tunnel's secret key, so it is shown once, and only to the
/// teammate.
pub fn invite_text(invited: &Invited) -> String {
    // The invite holds only strings, so that it can always be written as JSON.
    let json = serde_json::to_vec(invited).unwrap_or_default();
    format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(json))
}

/// Reads an invite. White space around and inside the line, for example from a mail that wrapped it, is ignored.
///
/// # Errors
/// Returns [`TunnelError::Invite`] if the invite is damaged, or an error of [`check_relay`] if its relay's URL is
/// wrong.
pub fn read_invite(text: &str) -> Result<Invited, TunnelError> {
    let text: String = text.split_whitespace().collect();
    let coded =
        text.strip_prefix(PREFIX).ok_or(TunnelError::Invite("it doesn't start with hookmitt-invite:"))?;
    if coded.len() > LONGEST {
        return Err(TunnelError::Invite("it is too long"));
    }
    let cut = TunnelError::Invite("part of it is missing or was changed");
    let json = URL_SAFE_NO_PAD.decode(coded.trim_end_matches('=')).map_err(|_| cut.clone())?;
    let invited: Invited = serde_json::from_slice(&json).map_err(|_| cut)?;
    let relay: Url = invited.relay.parse().map_err(|_| TunnelError::Invite("its relay isn't a URL"))?;
    check_relay(&relay)?;
    key(&invited.sealing_secret).ok_or(TunnelError::Invite("its key is damaged"))?;
    if invited.owner.as_deref().is_some_and(|owner| key(owner).is_none()) {
        return Err(TunnelError::Invite("its owner's key is damaged"));
    }
    if invited.tunnel.is_empty() || invited.code.is_empty() {
        return Err(TunnelError::Invite("its tunnel or its code is empty"));
    }
    Ok(invited)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invited() -> Invited {
        Invited {
            relay: "https://relay.example.com".into(),
            tunnel: "acme-dev".into(),
            sealing_secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=".into(),
            code: "one-time".into(),
            owner: Some("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=".into()),
        }
    }

    #[test]
    fn an_invite_is_read_from_its_line_even_where_a_mail_broke_it() {
        let text = invite_text(&invited());
        assert!(text.starts_with(PREFIX) && !text.contains('\n'));
        assert_eq!(read_invite(&text), Ok(invited()));
        let (start, rest) = text.split_at(60);
        assert_eq!(read_invite(&format!("  {start}\r\n  {rest}\n")), Ok(invited()));
    }

    #[test]
    fn what_is_no_invite_is_refused_in_words() {
        let text = invite_text(&invited());
        let with = |change: fn(&mut Invited)| {
            let mut invited = invited();
            change(&mut invited);
            invite_text(&invited)
        };
        for (text, words) in [
            (String::new(), "doesn't start with"),
            ("hmr_notaninvite".to_owned(), "doesn't start with"),
            (PREFIX.to_owned(), "part of it is missing"),
            (text[..text.len() - 4].to_owned(), "part of it is missing"),
            (text.replace("hookmitt-invite:", "hookmitt-invite:%%"), "part of it is missing"),
            (format!("{PREFIX}{}", "A".repeat(LONGEST + 1)), "too long"),
            (with(|invited| invited.sealing_secret = "AAEC".into()), "its key is damaged"),
            (with(|invited| invited.owner = Some("AAEC".into())), "its owner's key is damaged"),
            (with(|invited| invited.relay = "relay".into()), "its relay isn't a URL"),
            (
                with(|invited| invited.relay = "http://relay.example.com".into()),
                "http:// to relay.example.com",
            ),
            (with(|invited| invited.code = String::new()), "is empty"),
        ] {
            let error = read_invite(&text).unwrap_err();
            assert!(error.to_string().contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn an_error_never_repeats_what_was_pasted() {
        let error = read_invite("hookmitt-invite:c2VjcmV0").unwrap_err();
        assert!(!format!("{error:?}").contains("c2VjcmV0"));
    }
}
