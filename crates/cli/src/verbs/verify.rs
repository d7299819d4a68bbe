//! `hookmitt verify`: checks whether a stored event, or a request in a file, is genuine.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use hookmitt_api::EventJson;
use hookmitt_event::{Explanation, GenericScheme, Request, Timestamp};
use hookmitt_fixture::{RequestFile, read_request_file};
use http::Method;
use serde::Deserialize;

use crate::{
    client::{Address, Client},
    event_ref::EventRef,
    explanation_view::evidence,
    failure::{CliError, Exit},
    local_verdict::{self, Given, Subject},
    terminal::Screen,
    verdict_report::VerdictReport,
};

/// What `verify` takes.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true))]
pub(crate) struct Args {
    /// The event: its id or the start of it, '#12', last, last~2
    #[arg(group = "what")]
    id: Option<EventRef>,
    /// A file with a fixture or a raw HTTP/1.1 message
    #[arg(long, value_name = "FILE", group = "what")]
    request: Option<PathBuf>,
    #[command(flatten)]
    given: Given,
}

impl Args {
    /// Whether the command works without an inbox.
    pub(crate) fn is_for_file(&self) -> bool {
        self.request.is_some()
    }
}

/// Judges a stored event with its source's secrets, or with what was given.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let Some(id) = &args.id else { return run_on_file(args, screen).await };
    if args.given.has_secrets() {
        return local_verdict::find(&stored(id, client).await?, &args.given).await?.print(screen);
    }
    let report: VerdictReport =
        client.send(Method::POST, &id.address_of("verify"), &args.given.to_json()).await?;
    let exit = report.print(screen)?;
    if !screen.json && !args.given.is_given() && !report.causes.is_empty() {
        let explanation: Explanation = client.get(&id.address_of("explanation")).await?;
        screen.print(evidence(&explanation).trim_end())?;
    }
    Ok(exit)
}

/// Judges the request in a file.
pub(crate) async fn run_on_file(args: &Args, screen: &Screen) -> Result<Exit, CliError> {
    let path = args.request.as_deref().unwrap_or_else(|| std::path::Path::new(""));
    let file = std::fs::read(path).map_err(|source| CliError::file(path, source))?;
    let read = read_request_file(&file).map_err(|error| CliError::explained(&error))?;
    local_verdict::find(&subject_of(read, Timestamp::now()), &args.given).await?.print(screen)
}

fn subject_of(file: RequestFile, now: Timestamp) -> Subject {
    match file {
        RequestFile::Fixture(fixture) => Subject {
            request: fixture.request,
            provider: fixture.provider,
            url: Some(fixture.url),
            received_at: fixture.received_at,
            generic: None,
            tolerance: None,
            params: BTreeMap::new(),
        },
        RequestFile::Message(message) => Subject {
            request: message.request,
            provider: None,
            url: Some(message.target).filter(|target| target.contains("://")),
            received_at: now,
            generic: None,
            tolerance: None,
            params: BTreeMap::new(),
        },
    }
}

/// A source's settings about signatures.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SourceSigns {
    generic: Option<GenericScheme>,
    tolerance_s: Option<u32>,
    params: BTreeMap<String, String>,
}

async fn stored(id: &EventRef, client: &Client) -> Result<Subject, CliError> {
    let event: EventJson = id.read(client).await?;
    let body = client.bytes(&Address::new(["events", &event.id.to_string(), "body"])).await?;
    let source = client.get(&Address::new(["sources", event.source.as_str()])).await;
    let source: SourceSigns = match source {
        Ok(source) => source,
        Err(CliError::Problem(problem)) if problem.status == 404 => SourceSigns::default(), // the source was removed
        Err(error) => return Err(error),
    };
    Ok(Subject {
        request: Request {
            method: event.method,
            path: event.path,
            query: event.query,
            version: event.http_version,
            headers: event.headers,
            body,
        },
        provider: event.provider,
        url: Some(event.url),
        received_at: event.received_at,
        generic: source.generic,
        tolerance: source.tolerance_s.map(|seconds| Duration::from_secs(seconds.into())),
        params: source.params,
    })
}
