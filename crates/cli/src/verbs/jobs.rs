//! `hookmitt jobs`: lists, shows, resumes, cancels and undoes jobs.

use hookmitt_event::{JobState, Timestamp};
use http::Method;
use serde_json::{Value, json};

use crate::{
    client::{Address, Client},
    event_words::ago,
    failure::{CliError, Exit},
    job::{self, Begun, Failure, Job, result_of},
    terminal::{FAINT, STRONG, Screen, Styled},
};

/// What `jobs` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
}

/// What is done with jobs.
#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// List the jobs of the last 7 days, newest first
    List {
        /// Only jobs in this state
        #[arg(long)]
        state: Option<JobState>,
    },
    /// Show a job and what of it failed
    Show {
        /// Its number, as `jobs list` shows it
        id: i64,
    },
    /// Go on with a job that was stopped or cancelled, or that failed
    Resume {
        /// Its number
        id: i64,
    },
    /// Cancel a job; what it has done stays
    Cancel {
        /// Its number
        id: i64,
    },
    /// Restore what a job has deleted and is still in the trash
    Undo {
        /// Its number
        id: i64,
    },
}

/// Runs the command. Without a verb, lists.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    match args.verb.as_ref().unwrap_or(&Verb::List { state: None }) {
        Verb::List { state } => list(*state, client, screen).await,
        Verb::Show { id } => show(*id, client, screen).await,
        Verb::Resume { id } => begin("resume", *id, client, screen).await,
        Verb::Undo { id } => begin("undo", *id, client, screen).await,
        Verb::Cancel { id } => cancel(*id, client, screen).await,
    }
}

/// Asks for what is done with a job by another one, and follows that.
async fn begin(what: &str, id: i64, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let address = Address::new(["jobs", &id.to_string(), what]);
    let Begun { job } = client.send(Method::POST, &address, &json!({})).await?;
    job::follow(job, client, screen).await
}

async fn list(state: Option<JobState>, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let jobs: Vec<Job> =
        client.all(&Address::new(["jobs"]).with("state", state.map(JobState::as_str))).await?;
    for job in &jobs {
        if screen.json {
            screen.print_json(job)?;
        } else {
            screen.print(line(job))?;
        }
    }
    if jobs.is_empty() && !screen.json {
        screen.note(Styled(FAINT, "no jobs"));
    }
    Ok(Exit::Success)
}

fn line(job: &Job) -> String {
    let id = Styled(STRONG, job.id);
    let state = Styled(job.style(), format!("{:<9}", job.state));
    let when = Styled(FAINT, ago(job.created_at, Timestamp::now()));
    format!("{id}  {state}  {}  {}  {when}", job.progress(), job.title())
}

async fn show(id: i64, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let job: Job = client.get(&Job::address(id)).await?;
    if screen.json {
        let failures: Vec<Value> = client.all(&result_of(id)).await?;
        let mut shown = serde_json::to_value(&job).map_err(|error| CliError::Answer(error.to_string()))?;
        shown["failures"] = failures.into();
        screen.print_json(&shown)?;
        return Ok(Exit::Success);
    }
    screen.print(line(&job))?;
    screen.print(format_args!("{}, by {}", job.changed(), hookmitt_event::Plain(&job.asked_by)))?;
    if let Some(why) = &job.why {
        screen.print(hookmitt_event::Plain(why))?;
    }
    for failure in client.all::<Failure>(&result_of(id)).await? {
        screen.print(failure.line())?;
    }
    if job.state.can_go_on() {
        screen.note(format_args!("to go on: `hookmitt jobs resume {id}`"));
    }
    Ok(Exit::Success)
}

async fn cancel(id: i64, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let cancelled = client.order(Method::DELETE, &Job::address(id), None).await?;
    let job: Job = serde_json::from_value(cancelled).map_err(|error| CliError::Answer(error.to_string()))?;
    if job.state != JobState::Cancelled {
        return Err(CliError::bad_input("job-ended", format!("job {id} is {} already", job.state)));
    }
    if screen.json {
        screen.print_json(&job)?;
    } else {
        screen.note(format_args!("cancelled at {}; {}", job.progress(), job.changed()));
    }
    Ok(Exit::Success)
}
