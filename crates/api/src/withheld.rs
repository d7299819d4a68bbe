//! Why an event was not forwarded automatically, in words (Threat 1).

use hookmitt_event::{Event, Plain, WithheldReason, is_host_name};
use serde::{Deserialize, Serialize};

/// Why an event is not forwarded automatically: a web page sent it, or may have sent it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Withheld {
    /// The stable code of the reason.
    pub reason: WithheldReason,
    /// The host name that was called, if it is the reason.
    pub host: Option<String>,
    /// The reason as a sentence.
    pub message: String,
    /// What to do about it.
    pub fix: String,
}

impl Withheld {
    /// Returns why an event was not forwarded automatically, if a web page is the reason.
    pub(crate) fn of(event: &Event) -> Option<Self> {
        let reason = match &event.foreign_host {
            Some(_) => WithheldReason::ForeignHost,
            None if !event.browser || event.callback => return None,
            None if event.request.is_form_post() => WithheldReason::FormPost,
            None => WithheldReason::WebPage,
        };
        let host = event.foreign_host.clone();
        let (source, number) = (&event.source, event.seq);
        let (message, fix) = match &host {
            Some(host) => {
                let allow = match is_host_name(host) {
                    true => format!("If {host} is yours (a tunnel or a proxy), allow it: `hookmitt source edit \
                                     {source} --allow-host {host}`."),
                    // A command that people copy must not contain anything that a shell would act on.
                    false => "That isn't a host name, so it can't be allowed.".to_owned(),
                };
                (format!("Not forwarded: it was called as {}, which isn't a name of this machine.", Plain(host)), allow)
            }
            None if reason == WithheldReason::FormPost => (
                "Not forwarded: a web page posted it as a form. A sign-in page that uses form_post does that, but \
                 so can any page.".to_owned(),
                format!("Let it call back with GET (response_mode=query), or forward this one: `hookmitt retry \
                         '#{number}'`."),
            ),
            None => (
                "Not forwarded: a web page from another origin sent it.".to_owned(),
                format!("If that was you, forward it: `hookmitt retry '#{number}'`."),
            ),
        };
        Some(Self { reason, host, message, fix })
    }
}
