//! Jobs: what takes long. Shows, cancels and resumes them.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use hookmitt_engine::{Engine, Job, JobFailure, JobKind, Which};
use hookmitt_event::{Actor, EventId, JobResult, JobState, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Problem,
    events::{Items, named},
    input::{Asked, Path},
    wanted::{cursor, limit},
};

/// A job.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct JobJson {
    /// The job's number.
    id: i64,
    /// What it does: `delete`, `restore`, `retry`, `prune`, `empty`, `backup` or `sync`.
    kind: String,
    /// What was asked for.
    asked: AskedJson,
    /// Who asked for it.
    asked_by: Actor,
    /// How far it is.
    state: JobState,
    /// How many events are done, those that failed included; of a backup, how many bytes.
    done: u64,
    /// How many there are; null while they are being counted.
    total: Option<u64>,
    /// How many failed.
    failed: u64,
    /// What it has changed so far.
    result: JobResult,
    /// Why the job as a whole failed.
    why: Option<String>,
    #[schema(value_type = String, format = "date-time")]
    created_at: Timestamp,
    /// When it began to run, the last time that it did.
    #[schema(value_type = Option<String>, format = "date-time")]
    started_at: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = "date-time")]
    ended_at: Option<Timestamp>,
}

/// What a job was asked for.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct AskedJson {
    /// The search whose events are meant; null if they are meant otherwise.
    q: Option<String>,
    /// How many events were named; null if they are meant otherwise, or if the job is about none in particular.
    events: Option<usize>,
    /// The job that is undone: what it deleted is meant.
    deleted_by: Option<i64>,
    /// The file that a backup is written into; null for any other job.
    file: Option<String>,
    /// The name that the file gets once the backup is complete; null if that isn't known, or for any other job.
    becomes: Option<String>,
    /// The source whose events are deleted, or that is synced; null if it is about something else.
    source: Option<String>,
    /// The report of the sync whose events are meant; null if they are meant otherwise.
    synced_by: Option<i64>,
    /// Whether a sync only shows what is missing.
    dry_run: bool,
    /// Only events received before this time are deleted; null if they are meant otherwise.
    #[schema(value_type = Option<String>, format = "date-time")]
    until: Option<Timestamp>,
    /// Only what was deleted before this time is deleted for good; null: everything in the trash, or any other job.
    #[schema(value_type = Option<String>, format = "date-time")]
    before: Option<Timestamp>,
}

impl From<Job> for JobJson {
    fn from(job: Job) -> Self {
        let time = |time: &Value| time.as_str().and_then(|time| time.parse().ok());
        let asked = AskedJson {
            q: job.asked["q"].as_str().map(str::to_owned),
            events: job.asked["events"].as_array().map(Vec::len),
            deleted_by: job.asked["deleted_by"]["job"].as_i64(),
            file: job.asked["file"].as_str().map(str::to_owned),
            becomes: job.asked["becomes"].as_str().map(str::to_owned),
            source: job.asked["clear"]["source"].as_str().or(job.asked["source"].as_str()).map(str::to_owned),
            synced_by: job.asked["synced_by"]["report"].as_i64(),
            dry_run: job.asked["dry_run"] == true,
            until: time(&job.asked["clear"]["until"]),
            before: time(&job.asked["before"]),
        };
        Self {
            id: job.id,
            kind: job.kind,
            asked,
            asked_by: job.asked_by,
            state: job.state,
            done: job.done,
            total: job.total,
            failed: job.failed,
            result: job.result,
            why: job.why,
            created_at: job.created_at,
            started_at: job.started_at,
            ended_at: job.ended_at,
        }
    }
}

/// A job that was asked for.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Begun {
    job: JobJson,
}

impl From<Job> for Begun {
    fn from(job: Job) -> Self {
        Self { job: job.into() }
    }
}

impl IntoResponse for Begun {
    fn into_response(self) -> Response {
        let location = format!("/api/jobs/{}", self.job.id);
        (StatusCode::ACCEPTED, [(header::LOCATION, location)], Json(self)).into_response()
    }
}

/// An answer at once, or a job.
pub(crate) enum NowOrJob<T> {
    Now(T),
    Job(Box<Begun>),
}

impl<T: Serialize> IntoResponse for NowOrJob<T> {
    fn into_response(self) -> Response {
        match self {
            Self::Now(answer) => Json(answer).into_response(),
            Self::Job(begun) => (*begun).into_response(),
        }
    }
}

/// The maximum number of events that are named in one request.
const MOST_NAMED: usize = 1_000;

/// How many named events are changed at once. More become a job.
pub(crate) const AT_ONCE: usize = 10;

/// Finds the events that are named in a request, all of them before any is changed.
pub(crate) async fn all_named(engine: &Engine, names: &[String]) -> Result<Vec<EventId>, Problem> {
    if names.len() > MOST_NAMED {
        return Err(Problem::bad_input("too many events", "name at most 1000"));
    }
    let mut ids = Vec::with_capacity(names.len());
    for name in names {
        ids.push(named(engine, name).await?);
    }
    Ok(ids)
}

/// Asks for a job, and makes this process the one that runs it if no other does.
pub(crate) async fn begun<T>(engine: &Engine, kind: JobKind, which: Which) -> Result<NowOrJob<T>, Problem> {
    engine.deliver_if_alone().await?;
    let job = engine.jobs.ask(kind, &which).await?;
    Ok(NowOrJob::Job(Box::new(job.into())))
}

/// Which jobs are wanted.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WantedJobs {
    /// Only jobs in this state.
    #[param(value_type = Option<JobState>)]
    state: Option<String>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
    /// The number of jobs, 1 to 1000; 100 by default.
    limit: Option<u32>,
}

/// Lists the jobs of the last 7 days, newest first, one page at a time.
#[utoipa::path(get, operation_id = "list_jobs", path = "/api/jobs", params(WantedJobs), responses((status = 200, body = Items<JobJson>), (status = 400, body = Problem)))]
pub(crate) async fn list(
    State(engine): State<Arc<Engine>>,
    Asked(wanted): Asked<WantedJobs>,
) -> Result<Json<Items<JobJson>>, Problem> {
    let state = wanted.state.as_deref().map(str::parse).transpose();
    let state = state.map_err(|error: String| Problem::bad_input(error, ""))?;
    let page = engine.jobs.page(state, cursor(wanted.cursor.as_deref())?, limit(wanted.limit)?).await?;
    let items = page.items.into_iter().map(JobJson::from).collect();
    Ok(Json(Items { items, next_cursor: page.next.map(|next| next.to_string()) }))
}

/// Returns a job.
#[utoipa::path(get, operation_id = "show_job", path = "/api/jobs/{id}", params(("id" = i64, Path)), responses((status = 200, body = JobJson), (status = 404, body = Problem)))]
pub(crate) async fn show(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<i64>,
) -> Result<Json<JobJson>, Problem> {
    let job = engine.jobs.one(id).await?;
    if !job.state.is_open() {
        return Ok(Json(job.into()));
    }
    // The process in which it runs may have been killed: then this one stops it, and it can go on here.
    engine.deliver_if_alone().await?;
    Ok(Json(engine.jobs.one(id).await?.into()))
}

/// Something of a job that failed.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct JobFailureJson {
    #[schema(value_type = String, format = "uuid")]
    event_id: EventId,
    /// The event's number; null if the event is gone.
    seq: Option<i64>,
    /// Why it failed, in words.
    why: String,
}

impl From<JobFailure> for JobFailureJson {
    fn from(failure: JobFailure) -> Self {
        Self { event_id: failure.event, seq: failure.seq, why: failure.why }
    }
}

/// What came of a job so far.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct JobOutcome {
    state: JobState,
    result: JobResult,
    /// What failed, in the order in which it did. Only the first 10,000 of a job are kept.
    items: Vec<JobFailureJson>,
    /// The cursor of the next page; null on the last page.
    next_cursor: Option<String>,
}

/// Which failures are wanted.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WantedFailures {
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
    /// The number of failures, 1 to 1000; 100 by default.
    limit: Option<u32>,
}

/// Returns what came of a job so far, and a page of what failed.
#[utoipa::path(get, operation_id = "job_result", path = "/api/jobs/{id}/result", params(("id" = i64, Path), WantedFailures), responses((status = 200, body = JobOutcome), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn result(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<i64>,
    Asked(wanted): Asked<WantedFailures>,
) -> Result<Json<JobOutcome>, Problem> {
    let (after, limit) = (cursor(wanted.cursor.as_deref())?.unwrap_or(0), limit(wanted.limit)?);
    let mut failures = engine.jobs.failures(id, after, limit + 1).await?;
    let more = failures.len() > limit as usize;
    failures.truncate(limit as usize);
    let next_cursor = failures.last().filter(|_| more).map(|last| last.n.to_string());
    let Job { state, result, .. } = engine.jobs.one(id).await?;
    let items = failures.into_iter().map(JobFailureJson::from).collect();
    Ok(Json(JobOutcome { state, result, items, next_cursor }))
}

/// Cancels a job that waits or runs, and returns it. What it has done stays. A job that has ended stays as it is.
#[utoipa::path(delete, operation_id = "cancel_job", path = "/api/jobs/{id}", params(("id" = i64, Path)), responses((status = 200, body = JobJson), (status = 404, body = Problem)))]
pub(crate) async fn cancel(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<i64>,
) -> Result<Json<JobJson>, Problem> {
    Ok(Json(engine.jobs.cancel(id).await?.into()))
}

/// Restores what a job has deleted, as another job. What was deleted for good meanwhile stays away.
#[utoipa::path(post, operation_id = "undo_job", path = "/api/jobs/{id}/undo", params(("id" = i64, Path)), responses((status = 202, body = Begun), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn undo(State(engine): State<Arc<Engine>>, Path(id): Path<i64>) -> Result<Begun, Problem> {
    engine.deliver_if_alone().await?;
    Ok(Begun { job: engine.jobs.undo(id).await?.into() })
}

/// Goes on with a job that was stopped or cancelled, or that failed, from where it ended.
#[utoipa::path(post, operation_id = "resume_job", path = "/api/jobs/{id}/resume", params(("id" = i64, Path)), responses((status = 202, body = Begun), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn resume(State(engine): State<Arc<Engine>>, Path(id): Path<i64>) -> Result<Begun, Problem> {
    engine.deliver_if_alone().await?;
    Ok(Begun { job: engine.jobs.resume(id).await?.into() })
}
