//! What becomes of deliveries that wait for a verdict, and of the dedupe keys of their events.

use std::{sync::Arc, time::Duration};

use hookmitt_clock::HandClock;
use hookmitt_event::{DeliveryState, Event, EventId, OnDuplicate, TargetId, TargetKind, Timestamp, Verdict};

use crate::{
    AWAITS, HeldBack, Inbox, KeyTerms, NewEvent, Rejudged, Route, SourceSettings, TargetSettings, samples,
};

const HOUR: Duration = Duration::from_secs(60 * 60);
const DUPLICATE: &str = "a duplicate of an event that this target has or gets";

struct Story {
    inbox: Inbox,
    source: i64,
    target: TargetId,
    now: Timestamp,
    clock: HandClock,
    _folder: tempfile::TempDir,
}

impl Story {
    async fn begin() -> Self {
        let (folder, now) = (tempfile::tempdir().unwrap(), Timestamp::from_seconds(1_800_000_000));
        let clock = HandClock::at(now);
        let inbox = Inbox::open(folder.path(), Arc::new(clock.clone())).unwrap();
        let slug: hookmitt_event::Slug = "one".parse().unwrap();
        let source = inbox.add_source(slug.clone(), SourceSettings::default(), false, now).await.unwrap().row;
        let (url, settings) = ("http://one.example/".to_owned(), TargetSettings::default());
        let target = inbox.add_target(Some(slug), url, settings, TargetKind::Kept, now).await.unwrap().id;
        Self { inbox, source, target, now, clock, _folder: folder }
    }

    fn new_event(&self, verdict: Verdict) -> NewEvent {
        let route = match verdict {
            Verdict::Pending => Route::AwaitsVerdict,
            _ => Route::Targets,
        };
        let may_own = verdict == Verdict::Valid;
        NewEvent { verdict, may_own, route, ..samples::event(self.source, self.now) }
    }

    async fn arrives(&self, verdict: Verdict) -> EventId {
        self.inbox.store(self.new_event(verdict)).await.unwrap().id
    }

    /// Stores a new verdict of an event that waited. Returns the targets that get the event.
    async fn judged(&self, id: EventId, was: Verdict, verdict: Verdict) -> Vec<TargetId> {
        let key = KeyTerms {
            hash: [1; 16],
            may_own: verdict == Verdict::Valid,
            by_content: false,
            single_use: None,
        };
        let held = match verdict {
            Verdict::Valid => HeldBack::Send { on_duplicate: OnDuplicate::Skip },
            Verdict::Unsupported => HeldBack::Wait,
            _ => HeldBack::Reject,
        };
        let rejudged =
            Rejudged { id, was, verdict, causes: Vec::new(), key: Some(key), held, finds_provider: None };
        self.inbox.rejudge(vec![rejudged]).await.unwrap().0
    }

    async fn proved(&self, id: EventId) -> Vec<TargetId> {
        self.judged(id, Verdict::Pending, Verdict::Valid).await
    }

    async fn event(&self, id: EventId) -> Event {
        self.inbox.event(id).await.unwrap()
    }

    async fn delivery(&self, id: EventId) -> (DeliveryState, Option<String>) {
        let delivery = self.inbox.deliveries(id).await.unwrap().remove(0);
        (delivery.state, delivery.last_error)
    }
}

fn skipped(why: &str) -> (DeliveryState, Option<String>) {
    (DeliveryState::Skipped, Some(why.to_owned()))
}

#[tokio::test]
async fn threat_6_what_is_found_valid_goes_out_and_owns_its_key_in_one_commit() {
    let story = Story::begin().await;
    let id = story.arrives(Verdict::Pending).await;
    assert_eq!(story.delivery(id).await, skipped(AWAITS));
    assert!(story.inbox.waiting().await.unwrap().is_empty(), "it stands in no queue");
    assert_eq!(story.proved(id).await, [story.target]);
    assert_eq!(story.delivery(id).await, (DeliveryState::Pending, None));
    let repeat = story.arrives(Verdict::Valid).await;
    assert_eq!(story.event(repeat).await.duplicate_of, Some(id));
    assert_eq!(story.proved(id).await, [], "once");
}

#[tokio::test]
async fn threat_6_what_is_found_to_be_anything_else_stays_where_it_is() {
    for verdict in [Verdict::Invalid, Verdict::Unsigned, Verdict::NoSecret] {
        let story = Story::begin().await;
        let id = story.arrives(Verdict::Pending).await;
        assert_eq!(story.judged(id, Verdict::Pending, verdict).await, []);
        assert_eq!(story.delivery(id).await, skipped(crate::REJECTED), "{verdict}");
        assert!(story.inbox.retry(id).await.unwrap().is_empty(), "{verdict}: no retry sends it");
        assert_eq!(story.judged(id, verdict, Verdict::Valid).await, [], "{verdict}: nor a new secret");
        assert_eq!(story.inbox.retry(id).await.unwrap().len(), 1, "{verdict}: but a person, now");
    }
    let story = Story::begin().await;
    let id = story.arrives(Verdict::Pending).await;
    story.judged(id, Verdict::Pending, Verdict::Unsupported).await;
    assert_eq!(story.delivery(id).await, skipped(AWAITS), "its key may still come");
    assert_eq!(story.judged(id, Verdict::Unsupported, Verdict::Valid).await, [story.target]);
}

#[tokio::test]
async fn threat_6_what_is_found_valid_after_a_day_is_sent_by_hand_only() {
    for (hours, goes) in [(23, true), (25, false)] {
        let story = Story::begin().await;
        let id = story.arrives(Verdict::Pending).await;
        story.clock.pass(HOUR * hours);
        let sent = story.judged(id, Verdict::Pending, Verdict::Valid).await;
        assert_eq!(sent.len(), usize::from(goes), "{hours} h");
        if !goes {
            assert_eq!(story.delivery(id).await, skipped("its verdict came after more than a day"));
            assert_eq!(story.inbox.retry(id).await.unwrap().len(), 1);
        }
        let repeat = story.arrives(Verdict::Valid).await;
        assert_eq!(story.event(repeat).await.duplicate_of, Some(id), "{hours} h: the key is its own");
    }
}

#[tokio::test]
async fn threat_6_what_waited_for_a_target_that_is_gone_goes_nowhere() {
    let story = Story::begin().await;
    let id = story.arrives(Verdict::Pending).await;
    story.inbox.remove_target(story.target, story.now).await.unwrap();
    assert_eq!(story.proved(id).await, []);
    let gone = (DeliveryState::Failed, Some("the target was removed".to_owned()));
    assert_eq!(story.delivery(id).await, gone);
}

#[tokio::test]
async fn what_waits_in_the_bin_goes_nowhere() {
    let story = Story::begin().await;
    let id = story.arrives(Verdict::Pending).await;
    story.inbox.set_deleted(id, Some(story.now)).await.unwrap();
    assert_eq!(story.proved(id).await, []);
    assert_eq!(story.delivery(id).await, skipped(AWAITS));
    story.inbox.set_deleted(id, None).await.unwrap();
    assert_eq!(story.proved(id).await, [story.target], "once it is restored and judged again, it is sent");
}

#[tokio::test]
async fn whoever_is_valid_first_is_the_first_and_gets_delivered() {
    for forged in [Verdict::Pending, Verdict::Invalid] {
        let story = Story::begin().await;
        let early = story.arrives(Verdict::Pending).await;
        let between =
            story.inbox.store(samples::with_body(story.new_event(forged), "other")).await.unwrap().id;
        let later = story.arrives(Verdict::Valid).await;
        assert_eq!(story.event(later).await.duplicate_of, None, "nobody owned the key");
        assert_eq!(story.proved(early).await, []);
        let event = story.event(early).await;
        assert_eq!((event.duplicate_of, event.conflict), (Some(later), false));
        assert_eq!(story.delivery(early).await, skipped(DUPLICATE));
        if forged == Verdict::Pending {
            story.judged(between, forged, Verdict::Invalid).await;
        }
        let between = story.event(between).await;
        assert_eq!((between.duplicate_of, between.conflict), (None, false), "it came before the first");
    }
}

#[tokio::test]
async fn a_verdict_that_was_outrun_takes_no_proof_back() {
    let story = Story::begin().await;
    let id = story.arrives(Verdict::Pending).await;
    story.proved(id).await;
    for late in [Verdict::Unsupported, Verdict::Invalid] {
        assert_eq!(story.judged(id, Verdict::Pending, late).await, []);
        assert_eq!(story.event(id).await.verdict, Verdict::Valid, "{late}");
    }
    assert_eq!(story.delivery(id).await.0, DeliveryState::Pending);
}

#[tokio::test]
async fn threat_6_an_owner_that_proves_nothing_gives_way_to_what_does() {
    for (verdict, browser) in [(Verdict::Unsigned, false), (Verdict::NoSecret, false), (Verdict::Valid, true)]
    {
        let story = Story::begin().await;
        // The forged event owns its key, as an earlier version stored it.
        let forged = NewEvent { may_own: true, browser, ..story.new_event(verdict) };
        let forged = story.inbox.store(forged).await.unwrap().id;
        let genuine = story.arrives(Verdict::Valid).await;
        assert_eq!(story.event(genuine).await.duplicate_of, None, "{verdict}");
        assert_eq!(story.delivery(genuine).await.0, DeliveryState::Pending, "{verdict}");
        let again = story.arrives(Verdict::Valid).await;
        assert_eq!(story.event(again).await.duplicate_of, Some(genuine), "{verdict}");
        assert_eq!(story.event(forged).await.duplicate_of, None);
    }
}

#[tokio::test]
async fn keys_that_prove_nothing_are_given_up_once_and_the_genuine_event_takes_its_place() {
    let story = Story::begin().await;
    let forged = story.arrives(Verdict::Valid).await;
    let conflicting = samples::with_body(story.new_event(Verdict::Valid), "other");
    let genuine = story.inbox.store(conflicting.clone()).await.unwrap().id;
    let repeat = story.inbox.store(NewEvent { id: EventId::fresh(), ..conflicting }).await.unwrap().id;
    // As an earlier version left it: the first event proves nothing but owns the key.
    let unsigned = Rejudged {
        id: forged,
        was: Verdict::Valid,
        verdict: Verdict::Unsigned,
        causes: Vec::new(),
        key: None,
        held: HeldBack::Wait,
        finds_provider: None,
    };
    story.inbox.rejudge(vec![unsigned]).await.unwrap();
    assert_eq!(story.event(genuine).await.duplicate_of, Some(forged));

    let mut rounds = 0;
    while let Some(unsettled) = story.inbox.unsettled_keys(vec![story.source]).await.unwrap() {
        let claims = unsettled.events.iter().map(|(id, _)| (*id, [1; 16], false)).collect();
        story.inbox.settle_keys(claims, &unsettled).await.unwrap();
        rounds += 1;
    }
    assert_eq!(rounds, 2, "and the second finds nothing more");
    let (first, second) = (story.event(genuine).await, story.event(repeat).await);
    assert_eq!((first.duplicate_of, first.conflict), (None, false));
    assert_eq!((second.duplicate_of, second.conflict), (Some(genuine), false));
    let told = skipped("it was treated as a duplicate of an unverified event");
    assert_eq!(story.delivery(genuine).await, told, "nothing is sent by itself so late");
    let next = story.arrives(Verdict::Valid).await;
    assert_eq!(story.event(next).await.duplicate_of, Some(genuine));
    let stats = story.inbox.stats().await.unwrap();
    assert_eq!((stats.events, stats.duplicates), (4, 2));
}

#[tokio::test]
async fn keys_of_a_source_that_can_prove_nothing_stay_with_their_owners() {
    let story = Story::begin().await;
    let first =
        story.inbox.store(NewEvent { may_own: true, ..story.new_event(Verdict::NoSecret) }).await.unwrap();
    while let Some(unsettled) = story.inbox.unsettled_keys(Vec::new()).await.unwrap() {
        assert!(unsettled.events.is_empty());
        story.inbox.settle_keys(Vec::new(), &unsettled).await.unwrap();
    }
    let repeat = story.arrives(Verdict::NoSecret).await;
    assert_eq!(story.event(repeat).await.duplicate_of, Some(first.id));
}
