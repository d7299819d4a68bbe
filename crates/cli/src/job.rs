//! A job as the commands show it, and the way to its end: progress, Ctrl-C, and what came of it.

use std::time::{Duration, Instant};

use hookmitt_event::{JobResult, JobState, Plain, Timestamp, counted};
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    client::{Address, Client, Items},
    failure::{CliError, Exit},
    shown::{self, grouped},
    stop::Stop,
    terminal::{BAD, FAINT, GOOD, ODD, Screen, Style, Styled},
};

/// How often a job is gone on with that another command left.
const MOST_RESUMED: u32 = 10;

/// How often a job is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// A job.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Job {
    pub(crate) id: i64,
    pub(crate) kind: String,
    pub(crate) asked: Meant,
    pub(crate) asked_by: String,
    pub(crate) state: JobState,
    pub(crate) done: u64,
    pub(crate) total: Option<u64>,
    pub(crate) failed: u64,
    pub(crate) result: JobResult,
    pub(crate) why: Option<String>,
    pub(crate) created_at: Timestamp,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) ended_at: Option<Timestamp>,
}

/// Which events a job is about.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Meant {
    pub(crate) q: Option<String>,
    pub(crate) events: Option<u64>,
    #[serde(default)]
    pub(crate) file: Option<String>,
    #[serde(default)]
    becomes: Option<String>,
    #[serde(default)]
    pub(crate) source: Option<String>,
    #[serde(default)]
    pub(crate) until: Option<Timestamp>,
    #[serde(default)]
    pub(crate) synced_by: Option<i64>,
    #[serde(default)]
    pub(crate) dry_run: bool,
}

/// The answer to an order that became a job.
#[derive(Debug, Deserialize)]
pub(crate) struct Begun {
    pub(crate) job: Job,
}

/// Reads an answer that says that an order became a job.
pub(crate) fn begun(answer: Value) -> Result<Job, CliError> {
    let begun: Begun = serde_json::from_value(answer).map_err(|error| CliError::Answer(error.to_string()))?;
    Ok(begun.job)
}

/// Something of a job that failed.
#[derive(Debug, Deserialize)]
pub(crate) struct Failure {
    pub(crate) event_id: String,
    pub(crate) seq: Option<i64>,
    pub(crate) why: String,
}

impl Job {
    /// Returns the address of the job.
    pub(crate) fn address(id: i64) -> Address {
        Address::new(["jobs", &id.to_string()])
    }

    /// Says what the job does, for example `delete "push"`.
    pub(crate) fn title(&self) -> String {
        let Meant { q, events, file, becomes, source, until, synced_by, dry_run } = &self.asked;
        let which = match (q, events, becomes.as_ref().or(file.as_ref())) {
            (Some(typed), ..) => format!("{:?}", Plain(typed).to_string()),
            (None, Some(count), _) => counted(*count, "event"),
            (None, None, Some(file)) => Plain(file).to_string(),
            (None, None, None) => {
                let source = source.as_ref().map(|source| Plain(source).to_string());
                let until = until.map(|until| format!("before {until}"));
                let report = synced_by.map(|report| format!("what sync {report} added"));
                let dry = dry_run.then(|| "(only show)".to_owned());
                [source, until, report, dry].into_iter().flatten().collect::<Vec<_>>().join(" ")
            }
        };
        let kind = if self.kind == "empty" { "empty the trash" } else { &self.kind };
        format!("{} {which}", Plain(kind)).trim_end().to_owned()
    }

    /// Says how far the job is, for example `412 of 10,000`.
    pub(crate) fn progress(&self) -> String {
        match self.total {
            Some(total) if self.is_backup() => {
                format!("{} of {}", shown::size(self.done), shown::size(total))
            }
            Some(total) => format!("{} of {}", grouped(self.done), grouped(total)),
            None if self.state.is_open() && self.done == 0 => "counting".to_owned(),
            None => grouped(self.done),
        }
    }

    /// Whether the job makes a backup. It counts bytes, and begins anew if it is asked for again.
    fn is_backup(&self) -> bool {
        self.kind == "backup"
    }

    /// Says what the job has changed, for example `1,204 events deleted, 3 waiting deliveries ended`.
    pub(crate) fn changed(&self) -> String {
        let JobResult { events, deliveries } = self.result;
        let (done, with) = match self.kind.as_str() {
            "delete" => ("deleted", "ended"),
            "restore" => ("restored", "wait again"),
            "retry" => ("retried", "wait again"),
            "prune" | "empty" => ("deleted for good", "deleted"),
            "backup" => ("backed up", "backed up"),
            "sync" => ("added", "wait"),
            _ => ("changed", "changed"),
        };
        let of = |count: u64, noun: &str| {
            if count == 1 { format!("1 {noun}") } else { format!("{} {}", grouped(count), plural(noun)) }
        };
        let failed = match self.failed {
            0 => String::new(),
            failed => format!(", {} failed", grouped(failed)),
        };
        let deliveries = match deliveries {
            0 => String::new(),
            count => format!(", {} {with}", of(count, "delivery")),
        };
        format!("{} {done}{deliveries}{failed}", of(events, "event"))
    }

    /// Returns the style of the job's state.
    pub(crate) const fn style(&self) -> Style {
        match self.state {
            JobState::Waiting | JobState::Running => FAINT,
            JobState::Done => GOOD,
            JobState::Failed => BAD,
            JobState::Cancelled | JobState::Stopped => ODD,
        }
    }

    /// Returns how a command ends after the job: with success only if all was done.
    const fn exit(&self) -> Exit {
        match self.state {
            JobState::Done if self.failed == 0 => Exit::Success,
            JobState::Done | JobState::Failed => Exit::No,
            JobState::Waiting | JobState::Running | JobState::Stopped => Exit::Unreached,
            JobState::Cancelled => Exit::Interrupted,
        }
    }
}

/// Follows a job to its end and says what came of it. Ctrl-C cancels the job.
pub(crate) async fn follow(job: Job, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let mut stop = Stop::watch().map_err(CliError::signals)?;
    follow_until(&mut stop, job, client, screen).await
}

/// Like [`follow`], but leaves it to the caller to say what came of the job.
pub(crate) async fn follow_quietly(job: Job, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let mut stop = Stop::watch().map_err(CliError::signals)?;
    Ok(to_the_end(&mut stop, job, client, screen).await?.exit())
}

/// Like [`follow`], for a command that has something to end afterwards, too.
pub(crate) async fn follow_until(
    stop: &mut Stop,
    job: Job,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, CliError> {
    let job = to_the_end(stop, job, client, screen).await?;
    conclude(&job, client, screen).await?;
    Ok(job.exit())
}

async fn to_the_end(stop: &mut Stop, job: Job, client: &Client, screen: &Screen) -> Result<Job, CliError> {
    let line = ProgressLine::of(&job);
    let (mut job, mut resumed) = (job, 0);
    while job.state.is_open() {
        screen.progress(&line.text(&job));
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {
                job = client.get(&Job::address(job.id)).await?;
                if job.state == JobState::Stopped && !client.is_attached() && resumed < MOST_RESUMED {
                    // It ran in another command, which has ended: it goes on in this one.
                    resumed += 1;
                    let address = Address::new(["jobs", &job.id.to_string(), "resume"]);
                    job = begun(client.send(Method::POST, &address, &serde_json::json!({})).await?)?;
                }
            }
            () = stop.asked() => {
                let cancelled = client.order(Method::DELETE, &Job::address(job.id), None).await?;
                job = serde_json::from_value(cancelled).map_err(|error| CliError::Answer(error.to_string()))?;
            }
        }
    }
    screen.progress("");
    Ok(job)
}

/// How many failures are printed.
const SHOWN: usize = 10;

/// Says what came of a job.
pub(crate) async fn conclude(job: &Job, client: &Client, screen: &Screen) -> Result<(), CliError> {
    if screen.json {
        return screen.print_json(job);
    }
    let failures: Items<Failure> = match job.failed {
        0 => Items { items: Vec::new(), next_cursor: None },
        _ => client.get(&result_of(job.id).with("limit", Some(SHOWN.to_string()))).await?,
    };
    for failure in &failures.items {
        screen.note(failure.line());
    }
    if failures.next_cursor.is_some() {
        screen.note(Styled(FAINT, format!("`hookmitt jobs show {}` lists all that failed", job.id)));
    }
    match job.state {
        JobState::Done => {
            screen.note(job.changed());
            if job.kind == "delete" && job.result.events > 0 {
                screen.note(format_args!("to undo: `hookmitt jobs undo {}`", job.id));
            }
        }
        state => {
            let why = job.why.as_deref().map_or_else(String::new, |why| format!(": {}", Plain(why)));
            let so_far = format!("{state} at {}{why}; {}", job.progress(), job.changed());
            screen.note(format_args!("{} {so_far}", Styled(job.style(), format!("job {}", job.id))));
            if !job.is_backup() {
                screen.note(format_args!("to go on: `hookmitt jobs resume {}`", job.id));
            }
        }
    }
    Ok(())
}

/// Returns the address of a job's failures.
pub(crate) fn result_of(id: i64) -> Address {
    Address::new(["jobs", &id.to_string(), "result"])
}

impl Failure {
    /// Returns the failure as a line of text.
    pub(crate) fn line(&self) -> String {
        let name = self.seq.map_or_else(|| Plain(&self.event_id).to_string(), |seq| format!("#{seq}"));
        format!("{}  {}", Styled(FAINT, name), Plain(&self.why))
    }
}

/// The line that shows a job's progress: its name, a bar, how much is done, and how fast it goes.
struct ProgressLine {
    title: String,
    begun: Instant,
    done_before: u64,
}

/// The length of the bar in characters.
const BAR: u64 = 20;

impl ProgressLine {
    fn of(job: &Job) -> Self {
        Self { title: job.title(), begun: Instant::now(), done_before: job.done }
    }

    fn text(&self, job: &Job) -> String {
        let (full, rate) = match job.total {
            Some(total) if job.is_backup() => (job.done * BAR / total.max(1), String::new()),
            Some(total) => (job.done * BAR / total.max(1), self.rate(job.done)),
            None => (0, String::new()),
        };
        let bar: String = (0..BAR).map(|place| if place < full { '█' } else { '░' }).collect();
        let state = if job.state == JobState::Waiting { "waiting".to_owned() } else { job.progress() };
        format!("{}  {bar}  {state}{rate}", self.title)
    }

    fn rate(&self, done: u64) -> String {
        let millis = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        match (done.saturating_sub(self.done_before) * 1_000).checked_div(millis) {
            Some(rate @ 1..) => format!("  {}/s", grouped(rate)),
            _ => String::new(),
        }
    }
}

fn plural(noun: &str) -> String {
    noun.strip_suffix('y').map_or_else(|| format!("{noun}s"), |stem| format!("{stem}ies"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn job(state: &str, total: Option<u64>) -> Job {
        serde_json::from_value(json!({
            "id": 7, "kind": "delete", "asked": { "q": "a \u{1b}[2J", "events": null }, "asked_by": "cli",
            "state": state, "done": 5_000, "total": total, "failed": 0,
            "result": { "events": 5_000, "deliveries": 1 }, "why": null,
            "created_at": "2026-11-21T14:00:00Z", "started_at": null, "ended_at": null,
        }))
        .unwrap()
    }

    #[test]
    fn a_job_says_how_far_it_is() {
        let running = job("running", Some(10_000));
        assert_eq!(running.progress(), "5,000 of 10,000");
        assert_eq!(running.changed(), "5,000 events deleted, 1 delivery ended");
        let text = ProgressLine::of(&running).text(&running);
        assert!(text.ends_with("  ██████████░░░░░░░░░░  5,000 of 10,000"), "{text}");
        assert_eq!(Job { done: 0, ..job("running", None) }.progress(), "counting");
        assert_eq!(job("running", None).progress(), "5,000", "nobody knows of how many");
    }

    #[test]
    fn threat_2_a_hostile_search_is_escaped() {
        let title = job("running", None).title();
        assert!(!title.contains('\u{1b}') && title.starts_with("delete \""), "{title}");
    }

    #[test]
    fn only_what_was_done_without_a_failure_is_a_success() {
        let exit = |state: &str| job(state, None).exit() as u8;
        assert_eq!(["done", "failed", "cancelled", "stopped"].map(exit), [0, 1, 130, 3]);
        assert_eq!(Job { failed: 1, ..job("done", None) }.exit() as u8, 1);
    }
}
