//! Verifies stored events again, and explains their verdicts.

use std::sync::Arc;

use axum::{Json, extract::State};
use hookmitt_engine::{Engine, JudgeBy};
use hookmitt_event::{Cause, Explanation, Timestamp, Verdict};
use serde::{Deserialize, Serialize};

use crate::{
    Problem,
    events::named,
    input::{Asked, Body, Path},
};

/// What verification finds with the present secrets, as of the time when the event was received.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct VerdictJson {
    verdict: Verdict,
    provider: Option<String>,
    scheme: Option<String>,
    /// The scheme for people, such as `v1, HMAC-SHA256`.
    scheme_name: Option<String>,
    secret_label: Option<String>,
    /// The timestamp that was signed.
    #[schema(value_type = Option<String>, format = "date-time")]
    signed_at: Option<Timestamp>,
    /// The maximum difference between the signed timestamp and the time of receipt, in seconds.
    tolerance_s: Option<u64>,
    /// Which part of the body a valid signature does not cover, in a sentence.
    uncovered: Option<String>,
    /// Whether the secret that verified it is hookmitt's public test secret, which everybody knows.
    public_secret: bool,
    causes: Vec<Cause>,
}

/// Verifies an event again with its source's secrets. Values in the body, such as the URL or the provider, replace
/// those that are known of the event. Nothing is stored.
#[utoipa::path(post, operation_id = "verify_event", path = "/api/events/{id}/verify", params(("id" = String, Path)), request_body = JudgeBy, responses((status = 200, body = VerdictJson), (status = 404, body = Problem)))]
pub(crate) async fn verify(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
    Body(by): Body<JudgeBy>,
) -> Result<Json<VerdictJson>, Problem> {
    let set = by.provider.clone();
    let (event, judgement, evidence) = engine.verdicts.verify(named(&engine, &id).await?, by).await?;
    Ok(Json(VerdictJson {
        verdict: judgement.verdict,
        provider: set.or(event.provider),
        scheme: judgement.scheme.map(str::to_owned),
        scheme_name: evidence.scheme_name,
        secret_label: judgement.secret_label,
        signed_at: evidence.signed_at,
        tolerance_s: evidence.tolerance.map(|tolerance| tolerance.as_secs()),
        uncovered: evidence.uncovered,
        public_secret: evidence.public_secret,
        causes: judgement.causes,
    }))
}

/// Options of an explanation.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Chosen {
    /// The label of the secret whose signature is shown as the expected one. By default the first secret.
    secret: Option<String>,
}

/// Explains an event's verdict, with the present secrets of its source.
#[utoipa::path(get, operation_id = "explain_event", path = "/api/events/{id}/explanation", params(("id" = String, Path), Chosen), responses((status = 200, body = Explanation), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn explanation(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
    Asked(chosen): Asked<Chosen>,
) -> Result<Json<Explanation>, Problem> {
    Ok(Json(engine.verdicts.explanation(named(&engine, &id).await?, chosen.secret).await?))
}
