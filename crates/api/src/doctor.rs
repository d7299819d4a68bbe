//! How it is: health and checks.

use std::sync::Arc;

use axum::{Json, extract::State};
use hookmitt_engine::{Engine, TunnelState, TunnelView, WithheldHost};
use hookmitt_event::{Cause, GapWhy, Slug, Target, TargetKind, TunnelKind};
use serde::Serialize;

use crate::Problem;

/// That it runs.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Health {
    ok: bool,
    /// Which hookmitt it is.
    version: &'static str,
}

/// Says that it runs. Needs no token.
#[utoipa::path(get, path = "/healthz", responses((status = 200, body = Health)))]
pub(crate) async fn healthz() -> Json<Health> {
    Json(Health { ok: true, version: env!("CARGO_PKG_VERSION") })
}

/// What was checked.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Checks {
    checks: Vec<Check>,
}

/// One check.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Check {
    name: &'static str,
    ok: bool,
    message: String,
    hint: Option<String>,
}

/// Looks whether all is well.
#[utoipa::path(get, path = "/api/doctor", responses((status = 200, body = Checks)))]
pub(crate) async fn doctor(State(engine): State<Arc<Engine>>) -> Result<Json<Checks>, Problem> {
    let mut checks = vec![inbox(&engine).await, capture(&engine)];
    checks.extend(secrets(&engine).await?);
    checks.extend(engine.sources.all().into_iter().filter_map(|source| source.lacks).map(lacks));
    let kept = |target: &&Arc<Target>| target.kind != TargetKind::Once && target.down_since.is_some();
    for target in engine.targets.all().iter().filter(kept) {
        checks.push(Check {
            name: "target",
            ok: false,
            message: format!("nobody answers at {}", target.url),
            hint: Some("start your server: what waits is sent in order".to_owned()),
        });
    }
    for source in engine.sources.all() {
        checks.extend(withheld(&source.slug, engine.withheld_hosts.of(&source.slug).await?));
    }
    checks.extend(engine.tunnels.all().await?.iter().filter(|tunnel| tunnel.enabled).map(tunnel));
    Ok(Json(Checks { checks }))
}

/// Names that a source doesn't know may be a web page's doing: that is no failure, but somebody should know.
fn withheld(source: &Slug, hosts: Vec<WithheldHost>) -> impl Iterator<Item = Check> {
    let source = source.clone();
    hosts.into_iter().take(MOST_HOSTS).map(move |WithheldHost { host, events, allowed, can_be_allowed }| {
        let what = if events == 1 { "1 request".to_owned() } else { format!("{events} requests") };
        let hint = match (allowed, can_be_allowed) {
            (true, _) => {
                Some(format!("`hookmitt retry --withheld-host {host} --source {source}` sends what is left"))
            }
            (false, true) => {
                Some(format!("where that name is yours, `hookmitt source edit {source} --allow-host {host}`"))
            }
            (false, false) => None,
        };
        let message =
            format!("{source} withheld {what} called as {host}, which isn't a name of this machine");
        Check { name: "hosts", ok: true, message, hint }
    })
}

/// So many names are told of for a source.
const MOST_HOSTS: usize = 5;

/// A source that rejects everything, for want of something to tell what is genuine by.
fn lacks(cause: Cause) -> Check {
    Check { name: "source", ok: false, message: cause.message, hint: Some(cause.fix) }
}

/// One that can't be connected because nothing runs is no failure: what comes waits.
fn tunnel(tunnel: &TunnelView) -> Check {
    let label = &tunnel.label;
    let trouble = tunnel.error.clone();
    let (said, hint) = match trouble {
        Some(error) => (format!(": {}", error.message), error.hint),
        None => (String::new(), None),
    };
    let (ok, message) = match tunnel.state {
        TunnelState::Connected | TunnelState::Limited => {
            (said.is_empty(), format!("{label} is connected to {} since {}{said}", tunnel.host, tunnel.since))
        }
        TunnelState::Off => (true, format!("{label} is not connected here{said}")),
        TunnelState::Offline if tunnel.why == Some(GapWhy::AppClosed) => {
            let meanwhile = match tunnel.kind {
                TunnelKind::Relay => format!("what comes waits at {}", tunnel.host),
                _ => "what comes is lost".to_owned(),
            };
            (true, format!("{label} is not connected, as no hookmitt runs: {meanwhile}"))
        }
        TunnelState::Connecting | TunnelState::Offline => {
            (false, format!("{label} has no connection to {} since {}{said}", tunnel.host, tunnel.since))
        }
        TunnelState::Refused => (false, format!("{} refuses {label}{said}", tunnel.host)),
    };
    Check { name: "tunnel", ok, message, hint }
}

async fn inbox(engine: &Engine) -> Check {
    let path = engine.inbox().path();
    match engine.inbox().check().await {
        Ok(()) => {
            Check { name: "inbox", ok: true, message: format!("{} is sound", path.display()), hint: None }
        }
        Err(error) => Check {
            name: "inbox",
            ok: false,
            message: format!("{}: {error}", path.display()),
            hint: Some("make a copy of the data directory before anything else".to_owned()),
        },
    }
}

/// What a person should know is no failure; a secret that can't be read is one.
async fn secrets(engine: &Engine) -> Result<Vec<Check>, Problem> {
    let unread = engine.secrets.list().await?.into_iter().filter(|secret| !secret.readable);
    let mut checks: Vec<_> = unread
        .map(|secret| Check {
            name: "secrets",
            ok: false,
            message: format!(
                "the secret {:?} of {} can't be read: {}",
                secret.label,
                secret.source,
                secret.problem.unwrap_or_else(|| "it has not been tried yet".to_owned())
            ),
            hint: Some(
                "set it again with `hookmitt secret set`, or start hookmitt where it can be read".to_owned(),
            ),
        })
        .collect();
    if checks.is_empty() {
        let message =
            engine.warnings().into_iter().next().unwrap_or_else(|| "every secret could be read".to_owned());
        checks.push(Check { name: "secrets", ok: true, message, hint: None });
    }
    Ok(checks)
}

fn capture(engine: &Engine) -> Check {
    let urls = engine.capture_urls();
    if urls.is_empty() {
        let hint = Some("`hookmitt serve` or `hookmitt listen 3000` starts it".to_owned());
        return Check { name: "capture", ok: true, message: "nothing captures now".to_owned(), hint };
    }
    Check { name: "capture", ok: true, message: format!("capturing on {}", urls.join(" and ")), hint: None }
}
