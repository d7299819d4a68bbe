//! `hookmitt sync`: fetches what was missed from the provider's own API.

use hookmitt_event::{Plain, Slug, Timestamp};
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    sync_report::{self, Report},
    sync_settings::{self, SyncView},
};
use crate::{
    client::{Address, Client},
    failure::{CliError, Exit},
    job::{self, Begun, Job},
    moment::Since,
    terminal::{FAINT, Screen, Styled},
};

/// What `sync` takes.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(flatten)]
    now: Now,
    #[command(subcommand)]
    verb: Option<Verb>,
}

/// What is synced now, and how.
#[derive(Debug, clap::Args)]
struct Now {
    /// The source; every source that has an API key if left out
    source: Option<Slug>,
    /// From when on: 2h, 7d, or a time; by default a day ago, or earlier if not everything was looked at since
    #[arg(long, value_name = "T")]
    since: Option<Since>,
    /// Until when
    #[arg(long, value_name = "T")]
    until: Option<Since>,
    /// Only show what is missing
    #[arg(long)]
    dry_run: bool,
    /// Deliver what was missing, whatever the source is set to
    #[arg(long, conflicts_with_all = ["dry_run", "keep"])]
    deliver: bool,
    /// Only keep what was missing, whatever the source is set to
    #[arg(long, conflicts_with = "dry_run")]
    keep: bool,
}

/// What is done about syncs.
#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Show what was missed: a provider's events by day against those that are here
    Report(sync_report::Args),
    /// Deliver what a sync added and kept
    Deliver {
        /// The report's number
        report: i64,
    },
    /// Store, check or remove a source's API key; reads it from standard input
    Key(sync_settings::KeyArgs),
    /// Change how a source is synced
    Set(sync_settings::SetArgs),
    /// Show how a source is synced: with which key, and what can't be recovered
    Show {
        /// The source
        slug: Slug,
    },
    /// List how every source is synced
    List,
    /// Print a connector file to adapt, for a service of your own or one that isn't known yet
    Preset {
        /// The provider's id; without one, lists them
        provider: Option<String>,
    },
}

/// Runs the command.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    match &args.verb {
        None => now(&args.now, client, screen).await,
        Some(Verb::Report(args)) => sync_report::run(args, client, screen).await,
        Some(Verb::Deliver { report }) => {
            let address = Address::new(["sync-reports", &report.to_string(), "deliver"]);
            let Begun { job } = client.send(Method::POST, &address, &json!({})).await?;
            job::follow(job, client, screen).await
        }
        Some(Verb::Key(args)) => sync_settings::key(args, client, screen).await,
        Some(Verb::Set(args)) => sync_settings::set(args, client, screen).await,
        Some(Verb::Show { slug }) => sync_settings::show(slug, client, screen).await,
        Some(Verb::List) => sync_settings::list(client, screen).await,
        Some(Verb::Preset { provider }) => sync_settings::preset(provider.as_deref(), screen),
    }
}

async fn now(asked: &Now, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let sources = match &asked.source {
        Some(source) => vec![source.clone()],
        None => with_key(client).await?,
    };
    if sources.is_empty() {
        let message = "no source has an API key yet";
        let hint = "`hookmitt sync list` says which can have one; `hookmitt sync key SLUG` stores it";
        return Err(CliError::bad_input_with("no-api-key", message, hint));
    }
    let mut worst = Exit::Success;
    for source in sources {
        match one(&source, asked, client, screen).await? {
            Exit::Success => {}
            Exit::Interrupted => return Ok(Exit::Interrupted),
            other => worst = other,
        }
    }
    Ok(worst)
}

async fn with_key(client: &Client) -> Result<Vec<Slug>, CliError> {
    let views: Vec<SyncView> = client.all(&Address::new(["sync"])).await?;
    Ok(views.into_iter().filter(|view| view.lacks.is_none()).map(|view| view.source).collect())
}

async fn one(source: &Slug, asked: &Now, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let now = Timestamp::now();
    let request = Request {
        since: asked.since.map(|since| since.moment(now)),
        until: asked.until.map(|until| until.moment(now)),
        dry_run: asked.dry_run,
        deliver: asked.deliver.then_some(true).or(asked.keep.then_some(false)),
    };
    let address = Address::new(["sync", source.as_str()]);
    let Begun { job } = client.send(Method::POST, &address, &json!(request)).await?;
    let id = job.id;
    let exit = job::follow_quietly(job, client, screen).await?;
    let Some(report) = report_of(source, id, client).await? else {
        let job: Job = client.get(&Job::address(id)).await?;
        job::conclude(&job, client, screen).await?;
        return Ok(exit);
    };
    if let Some(since) = request.since.and_then(|since| report.later_than(since)) {
        screen.note(Styled(FAINT, format!("the provider lists nothing from before {since}")));
    }
    if screen.json {
        screen.print_json(&report)?;
        return Ok(exit);
    }
    screen.print(report.sentence())?;
    report.why_lost(client).await?.iter().try_for_each(|line| screen.print(line))?;
    if report.kept > 0 {
        let hint = format!("kept, not delivered; to deliver: `hookmitt sync deliver {}`", report.id);
        screen.note(Styled(FAINT, hint));
    }
    if report.added > 0 {
        let search = format!("source:{source} via:backup_sync");
        screen.note(Styled(FAINT, format!("to see them: `hookmitt events '{}'`", Plain(&search))));
    }
    Ok(exit)
}

/// What a sync is asked for with.
#[derive(Debug, Serialize)]
struct Request {
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    dry_run: bool,
    deliver: Option<bool>,
}

/// Returns the report that a job wrote, if it began one.
async fn report_of(source: &Slug, job: i64, client: &Client) -> Result<Option<Report>, CliError> {
    #[derive(Deserialize)]
    struct Page {
        items: Vec<Report>,
    }
    let address =
        Address::new(["sync-reports"]).with("source", Some(source.as_str())).with("limit", Some("20"));
    let page: Page = client.get(&address).await?;
    Ok(page.items.into_iter().find(|report| report.job == job))
}
