//! On whose behalf the inbox is changed.

use hookmitt_event::Actor;

// It accompanies a request through everything that the request does, so that none of that has to hand it on.
tokio::task_local! {
    static ACTOR: Actor;
}

/// Runs a future on somebody's behalf: what it changes in the inbox is put down to them. Tasks that the future spawns
/// act for nobody.
pub fn acting<F: Future>(actor: Actor, future: F) -> impl Future<Output = F::Output> {
    ACTOR.scope(actor, future)
}

/// Returns for whom the running task acts; `None` for what hookmitt does by itself.
pub(crate) fn actor() -> Option<Actor> {
    ACTOR.try_with(|actor| *actor).ok()
}
