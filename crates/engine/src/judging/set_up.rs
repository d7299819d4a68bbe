//! What a verdict says of a set-up request that carries no proof: often it never does, and what is missing is ours.

use hookmitt_event::{Cause, Request, Verdict};
use hookmitt_verify::{Handshake, Provider, handshake};

use crate::settings::ConfiguredSource;

impl ConfiguredSource {
    /// Returns what takes the place of the usual causes if the request asks to set a webhook up and nothing proves who
    /// sent it: the advice for events would be wrong.
    pub(crate) fn set_up_cause(&self, request: &Request, verdict: Verdict) -> Option<Cause> {
        if !matches!(verdict, Verdict::Unsigned | Verdict::NoSecret) {
            return None;
        }
        let provider = self.provider_of(request)?;
        let asked = handshake(request, provider, &self.params)?;
        if asked.refused {
            return Some(self.other_token(provider, &asked));
        }
        if asked.needs_secret && !self.has_secret {
            return Some(self.no_secret_to_answer_with(provider));
        }
        (!asked.signed && verdict == Verdict::Unsigned).then(|| self.never_signed(provider, &asked))
    }

    fn other_token(&self, provider: &Provider, asked: &Handshake) -> Cause {
        let (slug, name) = (&self.source.slug, &provider.name);
        let param = asked.checked_param().unwrap_or("verify_token");
        cause(
            "set_up_token",
            format!(
                "The token in this set-up request isn't the {param} that is set for {slug}, so it was answered 403."
            ),
            format!(
                "Enter the same token at {name}, or set here what {name} sends: `hookmitt source edit {slug} --param {param}=…`."
            ),
        )
    }

    fn no_secret_to_answer_with(&self, provider: &Provider) -> Cause {
        let (slug, name) = (&self.source.slug, &provider.name);
        let looks = provider.secret_hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        cause(
            "set_up_no_secret",
            format!(
                "{name} expects its challenge back, signed with the secret, but {slug} has no secret yet."
            ),
            format!(
                "Add the secret{looks}: `hookmitt secret set {slug}`. Then let {name} check the URL again."
            ),
        )
    }

    fn never_signed(&self, provider: &Provider, asked: &Handshake) -> Cause {
        let (slug, name) = (&self.source.slug, &provider.name);
        let open = asked.checked_param().filter(|param| !self.source.params.contains_key(*param));
        let fix = match open {
            Some(param) => format!(
                "Nothing to fix: the events that follow are signed. To have the token checked as well, set it: \
                 `hookmitt source edit {slug} --param {param}=…`."
            ),
            None => "Nothing to fix: the events that follow are signed.".to_owned(),
        };
        cause("set_up_unsigned", format!("{name} never signs this set-up request."), fix)
    }
}

fn cause(code: &str, message: String, fix: String) -> Cause {
    Cause { code: code.to_owned(), title: None, message, fix }
}
