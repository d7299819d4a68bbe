//! What drives a window has WebKit, a display and a bus beside us. In CI such a story that fails is played once more,
//! alone; it passes loudly, or has failed for good.

use std::{
    any::Any,
    cell::RefCell,
    io::Write as _,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Once,
};

use tokio::sync::RwLock;

use crate::say;

/// First tries share it, a second one has it alone.
static STAGE: RwLock<()> = RwLock::const_new(());

thread_local! {
    /// Where this thread's last panic was.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Plays a story of a window; where CI is `true`, once more if it fails.
pub async fn with_a_second_try(play: impl AsyncFn()) {
    let name = std::any::type_name_of_val(&play).trim_end_matches("::{{closure}}").to_owned();
    let list = std::env::var_os("HOOKMITT_FLAKY");
    let twice = std::env::var_os("CI").is_some_and(|ci| ci == "true");
    let told = try_twice(&name, twice, play).await;
    let (Some(told), Some(list)) = (told, list) else { return };
    let file = std::fs::OpenOptions::new().append(true).create(true).open(list);
    file.and_then(|mut file| file.write_all(told.as_bytes())).expect("what is flaky is written down");
}

/// What there is to tell of a story that passed at its second try only.
async fn try_twice(name: &str, twice: bool, play: impl AsyncFn()) -> Option<String> {
    let first = {
        let _beside_others = STAGE.read().await;
        if !twice {
            play().await;
            return None;
        }
        failure_of(play()).await?
    };
    say(&format!("{name} failed; it is played once more, alone"));
    let _alone = STAGE.write().await;
    play().await;
    let first = first.replace('\n', "\n  ");
    Some(format!("flaky: {name} passed at its second try, its first failure was: {first}\n"))
}

/// The words of the panic that ends a story, and where it was.
async fn failure_of(story: impl Future<Output = ()>) -> Option<String> {
    remember_places();
    let mut story = pin!(story);
    let ended = std::future::poll_fn(|context| {
        match catch_unwind(AssertUnwindSafe(|| story.as_mut().poll(context))) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => std::task::Poll::Ready(Err(panic)),
        }
    });
    let panic = ended.await.err()?;
    Some(format!("{} ({})", words_of(&*panic), PLACE.take()))
}

fn words_of(panic: &(dyn Any + Send)) -> &str {
    let words = panic.downcast_ref::<String>().map(String::as_str);
    words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words")
}

/// A panic's place is known to the hook alone.
fn remember_places() {
    static HOOKED: Once = Once::new();
    HOOKED.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PLACE.set(panic.location().map(ToString::to_string).unwrap_or_default());
            before(panic);
        }));
    });
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn what_fails_once_is_told_and_what_fails_twice_has_failed() {
        let tries = AtomicUsize::new(0);
        let shaky = async || assert_ne!(tries.fetch_add(1, Ordering::Relaxed), 0, "no window\nat first");
        let told = try_twice("shaky", true, &shaky).await.expect("it is told");
        assert!(told.starts_with("flaky: shaky passed at its second try, its first failure was: "), "{told}");
        assert!(told.contains("no window\n  at first") && told.contains(file!()), "{told}");
        assert_eq!(try_twice("sound now", true, &shaky).await, None);

        let broken = async || panic!("never works");
        assert_eq!(failure_of(try_once(&broken, true)).await.map(|_| ()), Some(()));
        assert_eq!(failure_of(try_once(&broken, false)).await.map(|_| ()), Some(()));
    }

    async fn try_once(play: impl AsyncFn(), twice: bool) {
        try_twice("broken", twice, play).await;
    }
}
