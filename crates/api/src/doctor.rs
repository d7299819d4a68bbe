//! Reports hookmitt's state: health and checks.

use std::sync::Arc;

use axum::{Json, extract::State};
use hookmitt_engine::{
    Backlogs, CHECKED_FOR, Engine, InboxError, SyncView, TunnelState, TunnelView, WithheldHost,
};
use hookmitt_event::{Cause, GapWhy, Slug, Target, TargetKind, TargetState, TunnelKind, counted};
use serde::Serialize;

use crate::{
    Problem,
    check::{Check, machine},
};

/// The sign that hookmitt runs.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Health {
    ok: bool,
    /// The version of hookmitt.
    version: &'static str,
}

/// Returns that hookmitt runs. Needs no token.
#[utoipa::path(get, path = "/healthz", responses((status = 200, body = Health)))]
pub(crate) async fn healthz() -> Json<Health> {
    Json(Health { ok: true, version: VERSION })
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The results of all checks.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Checks {
    /// The version of the hookmitt that checked.
    version: &'static str,
    checks: Vec<Check>,
}

/// Checks whether everything works: inbox, files, clock, disk, capture, secrets, sources, targets and tunnels.
#[utoipa::path(get, path = "/api/doctor", responses((status = 200, body = Checks)))]
pub(crate) async fn doctor(State(engine): State<Arc<Engine>>) -> Result<Json<Checks>, Problem> {
    Ok(Json(Checks { version: VERSION, checks: check(&engine).await? }))
}

/// Mends what is wrong with the data directory and needs nobody's decision, and returns the results of all checks. For
/// trusted callers only, because it changes files.
pub(crate) async fn fix(State(engine): State<Arc<Engine>>) -> Result<Json<Checks>, Problem> {
    let mut checks = Vec::new();
    for check in check(&engine).await? {
        checks.push(check.mend(&engine).await);
    }
    Ok(Json(Checks { version: VERSION, checks }))
}

async fn check(engine: &Engine) -> Result<Vec<Check>, Problem> {
    let mut checks = vec![inbox(engine).await, capture(engine)];
    checks.extend(engine.inbox().recovered().await?.map(|recovered| {
        let hint = "restore a backup for what is missing, or delete the damaged file";
        Check::failed("inbox", recovered.to_string(), hint)
    }));
    checks.extend(engine.flaws().await?.into_iter().map(Check::from));
    checks.extend(machine(engine).await?);
    checks.extend(secrets(engine).await?);
    checks.extend(not_in_backup(engine).await?);
    checks.extend(engine.sources.all().into_iter().filter_map(|source| source.lacks).map(lacks));
    checks.extend(silent(engine).await?);
    for source in engine.sources.all() {
        checks.extend(withheld(&source.slug, engine.withheld_hosts.of(&source.slug).await?));
    }
    checks.push(search_index(engine).await?);
    checks.extend(engine.sync.all().await?.iter().filter_map(synced));
    let tunnels = engine.tunnels.all().await?;
    checks.extend(tunnels.iter().filter(|tunnel| tunnel.enabled).map(tunnel));
    checks.extend(engine.tunnels.without_keys().await?.into_iter().map(keyless));
    Ok(checks)
}

/// Reports how far backup sync of a source is, if it has an API key.
fn synced(view: &SyncView) -> Option<Check> {
    view.key?;
    let (source, failed) = (&view.source, view.failed.as_ref().or(view.lacks.as_ref()));
    Some(match (failed, view.synced_until) {
        (Some(why), _) => {
            let hint = format!("`hookmitt sync {source}` tries again");
            Check::failed("sync", format!("{source}: {why}"), hint)
        }
        (None, Some(until)) => Check::passed("sync", format!("{source} is complete until {until}")),
        (None, None) => Check::passed("sync", format!("{source} will be synced")),
    })
}

/// Reports the targets at which nobody answers, as is looked at now.
async fn silent(engine: &Engine) -> Result<Vec<Check>, Problem> {
    let mut targets = engine.targets.all();
    targets.retain(|target| target.kind != TargetKind::Once);
    engine.targets.look(&targets).await?;
    let states = engine.targets.states().await?;
    let check = |target: &Arc<Target>| match states.get(&target.id)? {
        TargetState::Silent { since, why, .. } => {
            let message = format!("nobody answers at {} since {since}: {why}", target.url);
            Some(Check::failed("target", message, "start your server: what waits is sent in order"))
        }
        TargetState::Untried | TargetState::Answered { .. } => None,
    };
    Ok(targets.iter().filter_map(check).collect())
}

/// Reports the unknown host names that were called at a source. They may come from a web page. The check passes,
/// because this is only information.
fn withheld(source: &Slug, hosts: Vec<WithheldHost>) -> impl Iterator<Item = Check> {
    let source = source.clone();
    hosts.into_iter().take(MOST_HOSTS).map(move |WithheldHost { host, events, allowed, can_be_allowed }| {
        let what = counted(events, "request");
        let hint = match (allowed, can_be_allowed) {
            (true, _) => {
                Some(format!("`hookmitt retry --withheld-host {host} --source {source}` sends them"))
            }
            (false, true) => Some(format!(
                "if that name is yours, run `hookmitt source edit {source} --allow-host {host}`"
            )),
            (false, false) => None,
        };
        let message =
            format!("{source} withheld {what} called as {host}, which isn't a name of this machine");
        Check::passed("hosts", message).with_hint(hint)
    })
}

/// How many such host names are reported for one source.
const MOST_HOSTS: usize = 5;

/// Reports a source that rejects everything, because it has nothing with which to prove an event genuine.
fn lacks(cause: Cause) -> Check {
    Check::failed("source", cause.message, cause.fix)
}

/// Reports a tunnel to a relay whose keys aren't on this machine.
fn keyless(label: String) -> Check {
    let message = format!("{label} has no keys here, as after a backup was restored on another machine");
    let hint = "get an invitation (`hookmitt tunnel invite` where it works), remove the tunnel, and join: `hookmitt \
                tunnel join`";
    Check::failed("tunnel", message, hint)
}

/// Reports the secrets that the inbox had when the backup was made from which it was restored, and which aren't here.
async fn not_in_backup(engine: &Engine) -> Result<Vec<Check>, Problem> {
    let Some(note) = engine.inbox().restored_from().await? else { return Ok(Vec::new()) };
    let (there, sources) = (engine.secrets.list().await?, engine.sources.all());
    let is_lacking = |(source, label): &(String, String)| {
        let is_there = there.iter().any(|secret| secret.source.as_str() == source && secret.label == *label);
        !is_there && sources.iter().any(|known| known.slug.as_str() == source)
    };
    let lacking = note.secrets.into_iter().filter(is_lacking);
    Ok(lacking
        .map(|(source, label)| {
            let message = format!("the secret {label:?} of {source} wasn't in the backup that was restored");
            let hint = format!("set it again: `hookmitt secret set {source} --label {label}`");
            Check::failed("secrets", message, hint)
        })
        .collect())
}

/// Reports a tunnel. A tunnel that is off, or not connected only because hookmitt is not running, passes the check.
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
                TunnelKind::Relay => format!("events wait at {}", tunnel.host),
                _ => "events are lost".to_owned(),
            };
            (true, format!("{label} is not connected, because hookmitt isn't running: {meanwhile}"))
        }
        TunnelState::Connecting | TunnelState::Offline => {
            (false, format!("{label} has no connection to {} since {}{said}", tunnel.host, tunnel.since))
        }
        TunnelState::Refused => (false, format!("{} refused {label}{said}", tunnel.host)),
    };
    let mut check = Check::passed("tunnel", message).with_hint(hint);
    check.ok = ok;
    check
}

async fn inbox(engine: &Engine) -> Check {
    let path = engine.inbox().path();
    match engine.inbox().check().await {
        Ok(()) => Check::passed("inbox", format!("{} is intact", path.display())),
        Err(InboxError::TooLong) => {
            let checked_for = CHECKED_FOR.as_secs();
            let message = format!(
                "{} is too large to be read whole: no damage was found in {checked_for} s",
                path.display()
            );
            Check::passed("inbox", message)
        }
        Err(error) => {
            let hint = "start hookmitt again: it keeps the damaged file, and recovers what can be read";
            Check::failed("inbox", format!("{}: {error}", path.display()), hint)
        }
    }
}

/// Reports how far the search index and the compression are behind. That they are is only information: searches look
/// through what the index doesn't hold yet.
async fn search_index(engine: &Engine) -> Result<Check, Problem> {
    let backlogs = engine.backlogs().await?;
    let Backlogs { indexed, last, uncompressed } = backlogs;
    let behind = backlogs.unindexed();
    let message = match indexed {
        _ if last == 0 => "there is nothing to search yet".to_owned(),
        None => format!("there is no search index that can be read: {last} events are looked through"),
        Some(_) if behind == 0 => "up to date".to_owned(),
        Some(indexed) => format!("indexing: {indexed} of {last}"),
    };
    let compressing = match uncompressed {
        0 => String::new(),
        some => format!("; {} to be compressed", counted(some, "event")),
    };
    let hint = (behind > 0 && last > 0)
        .then(|| "`hookmitt serve` goes on with it; searches take longer meanwhile".to_owned());
    Ok(Check::passed("search index", message + &compressing).with_hint(hint))
}

/// Reports the secrets. The check fails if a secret cannot be read, but passes with a mere warning.
async fn secrets(engine: &Engine) -> Result<Vec<Check>, Problem> {
    let unread = engine.secrets.list().await?.into_iter().filter(|secret| !secret.readable);
    let mut checks: Vec<_> = unread
        .map(|secret| {
            let problem = secret.problem.unwrap_or_else(|| "it has not been tried yet".to_owned());
            let message =
                format!("the secret {:?} of {} can't be read: {problem}", secret.label, secret.source);
            let hint =
                "set it again with `hookmitt secret set`, or start hookmitt where it can read the secret";
            Check::failed("secrets", message, hint)
        })
        .collect();
    if checks.is_empty() {
        let warning = engine.secret_warnings().into_iter().next();
        let message = warning.unwrap_or_else(|| "all secrets can be read".to_owned());
        checks.push(Check::passed("secrets", message));
    }
    Ok(checks)
}

fn capture(engine: &Engine) -> Check {
    let urls = engine.capture_urls();
    if urls.is_empty() {
        let hint = Some("run `hookmitt serve` or `hookmitt listen 3000`".to_owned());
        return Check::passed("capture", "not capturing").with_hint(hint);
    }
    Check::passed("capture", format!("capturing on {}", urls.join(" and ")))
}
