//! Writes log messages to standard error.

use tracing::{Level, Metadata};
use tracing_subscriber::{
    EnvFilter, filter::filter_fn, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

/// The environment variable that says what is logged, in the filter syntax of `tracing`.
const VARIABLE: &str = "HOOKMITT_LOG";

/// Logs to standard error: warnings and errors, or what the filter in `HOOKMITT_LOG` lets through.
pub fn log_to_stderr() {
    // The live view shows refused requests itself.
    let usual = "warn,hookmitt::refused=error";
    let log = tracing_subscriber::fmt().with_env_filter(filter(usual)).with_writer(anstream::stderr);
    log.with_target(false).finish().with(filter_fn(is_fit)).init();
}

/// Sets up a server's log on standard error, with one JSON object a line if `as_json` is set.
pub(crate) fn log_of_server(usual: &str, as_json: bool) {
    let log = tracing_subscriber::fmt().with_env_filter(filter(usual)).with_writer(anstream::stderr);
    let log = log.with_target(false);
    let fit = filter_fn(is_fit);
    if as_json {
        log.json().flatten_event(true).finish().with(fit).init()
    } else {
        log.finish().with(fit).init()
    }
}

fn filter(usual: &str) -> EnvFilter {
    EnvFilter::try_from_env(VARIABLE).unwrap_or_else(|_| EnvFilter::new(usual))
}

/// Returns whether a message may be logged at all, whatever the filter says. Below `info`, the libraries that we use
/// log whole requests and frames, with the tokens and secrets in them. Our own messages never contain any.
fn is_fit(what: &Metadata<'_>) -> bool {
    // Our own messages already say that a certificate was refused, and why.
    let is_refusal = what.target().starts_with("rustls_platform_verifier") && *what.level() == Level::ERROR;
    !is_refusal && (*what.level() <= Level::INFO || what.target().starts_with("hookmitt"))
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, some: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(some);
            Ok(some.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn promise_7_what_libraries_trace_is_never_logged() {
        let written = Written::default();
        let out = written.clone();
        let log = tracing_subscriber::fmt().with_env_filter(EnvFilter::new("trace"));
        let log = log.with_writer(move || out.clone()).finish().with(filter_fn(is_fit));
        tracing::subscriber::with_default(log, || {
            tracing::trace!(target: "tungstenite::handshake", "authorization: Bearer hmr_planted");
            tracing::debug!(target: "rustls::conn", "hmr_planted");
            tracing::info!(target: "async_nats", "connected");
            tracing::trace!(target: "hookmitt_relay::hello", "said");
        });
        let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        assert!(!text.contains("planted"), "{text}");
        assert!(text.contains("connected") && text.contains("said"), "{text}");
    }
}
