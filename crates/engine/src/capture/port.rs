//! The capture port: determines where a request came from, and for which source.

use std::sync::Arc;

use hookmitt_catch::{Address, Caught, Refusal, RefusedHead, Reply, Sink};
use hookmitt_event::{Authority, HeaderLines, Request, Slug, Via};
use hookmitt_inbox::{InboxError, SourceSettings};

use super::Capture;
use crate::{EngineError, host_name::absolute, judging::Arrival, settings::ConfiguredSource};

/// Takes in the requests that the capture port catches.
#[derive(Clone, Debug)]
pub struct CapturePort(pub(crate) Arc<Capture>);

impl Sink for CapturePort {
    async fn caught(&self, address: Address, caught: Caught) -> Reply {
        let Self(capture) = self;
        let (Address { slug, path, query }, Caught { head, body, remote, received_at, share }) =
            (address, caught);
        let target = head.target.clone();
        // A refusal is noted with it. The header lines are shared, not copied.
        let called =
            RefusedHead { method: head.method.clone(), target: head.target, headers: head.headers.clone() };
        let request =
            Request { method: head.method, path, query, version: head.version, headers: head.headers, body };
        let known = capture.settings.now().sources.get(slug.as_str()).cloned();
        let page = capture.pages.at_port(&request, &target, known.as_deref());
        let from_outside =
            !page.is_absent() || !remote.ip().to_canonical().is_loopback() || was_passed_on(&request.headers);
        let known = match self.admit(slug, from_outside).await {
            Ok(known) => known,
            Err(refused) => {
                return capture.refuse(refused, (called, remote), request.body.len() as u64, received_at);
            }
        };
        let url = |(scheme, authority): (&str, &str)| {
            let authority = Authority::parse(authority).map_or("", |authority| authority.as_str());
            format!("{scheme}://{authority}/{}{}", known.source.slug, request.path_and_query())
        };
        let arrival = Arrival {
            url: known.public_url(&request).or_else(|| absolute(&target).map(url)),
            request,
            remote: Some(remote.to_string()),
            received_at,
            via: Via::Direct,
            page,
        };
        capture.take_in(&known, arrival, None, (called, remote), share).await
    }

    fn refused(&self, refusal: Refusal) {
        self.0.note_refusal(refusal);
    }
}

impl CapturePort {
    /// Returns the source of that name. An unknown source is created only for a sender on this machine that is neither
    /// a web page nor a tunnel (Threat 3).
    async fn admit(&self, slug: Slug, from_outside: bool) -> Result<Arc<ConfiguredSource>, EngineError> {
        let Capture { base, settings, .. } = &*self.0;
        if let Some(known) = settings.now().sources.get(slug.as_str()) {
            return Ok(Arc::clone(known));
        }
        if from_outside {
            return Err(InboxError::UnknownSource(slug.to_string()).into());
        }
        base.inbox.add_source(slug.clone(), SourceSettings::default(), true, base.now()).await?;
        settings.reload().await?;
        settings.source(&slug)
    }
}

/// Whether a proxy on this machine forwarded the request from elsewhere, for example a tunnel that was started by hand.
fn was_passed_on(headers: &HeaderLines) -> bool {
    PASSED_ON.iter().any(|name| headers.has(name))
}

/// Headers that proxies and tunnels add; any of them shows that the sender isn't on this machine.
pub(crate) const PASSED_ON: [&str; 15] = [
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-forwarded-port",
    "x-forwarded-server",
    "x-real-ip",
    "x-client-ip",
    "true-client-ip",
    "cf-connecting-ip",
    "cf-ray",
    "cdn-loop",
    "fly-client-ip",
    "fastly-client-ip",
];

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, pin::pin, task::Poll, time::Duration};

    use hookmitt_catch::{Share, parse_head};
    use hookmitt_event::Verdict;
    use hookmitt_inbox::{Filter, Listed};
    use zeroize::Zeroizing;

    use super::*;
    use crate::begun::{engine, source};

    /// A request whose signature is that of the body without its final newline.
    fn invalid() -> Caught {
        let head = "POST /hub HTTP/1.1\r\nHost: localhost\r\nX-GitHub-Event: ping\r\nX-Hub-Signature-256: \
            sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17\r\n\r\n";
        Caught {
            head: parse_head(head.as_bytes()).unwrap().unwrap().0,
            body: "Hello, World!\n".into(),
            remote: "127.0.0.1:1".parse().unwrap(),
            received_at: hookmitt_event::Timestamp::from_seconds(1_750_000_000),
            share: Share::default(),
        }
    }

    /// Sends the request, and hangs up after the first look at the answer. Returns whether that was before the commit.
    async fn hung_up_early(port: &CapturePort, address: Address) -> bool {
        let mut caught = pin!(port.caught(address, invalid()));
        poll_fn(|context| Poll::Ready(caught.as_mut().poll(context).is_pending())).await
    } // drops the future, as when the connection is gone

    #[tokio::test(flavor = "multi_thread")]
    async fn an_event_whose_sender_hung_up_before_the_commit_is_seen_off_like_any_other() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path()).await;
        let known = source(&engine, "hub").await;
        let secret = Zeroizing::new(b"It's a Secret to Everybody".to_vec());
        engine.secrets.set(known.source.slug.clone(), "default".to_owned(), secret).await.unwrap();
        let port = engine.capture_port();
        let address = Address { slug: known.source.slug.clone(), path: String::new(), query: None };
        let mut sent = 1;
        while !hung_up_early(&port, address.clone()).await {
            sent += 1; // on a busy machine the commit can come before the first look
        }
        let explained = async {
            loop {
                let events = engine.inbox().list(Filter::default(), None, 1_000).await.unwrap().items;
                assert!(events.iter().all(|listed| listed.event.verdict == Verdict::Invalid));
                let is_explained =
                    |listed: &Listed| listed.event.causes.iter().any(|cause| cause.code != "no_match");
                if events.len() == sent && events.iter().all(is_explained) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), explained).await.expect("it is explained");
        engine.stop().await;
    }
}
