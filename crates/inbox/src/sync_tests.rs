//! Copies from backup sync: what a provider's API lists, and the webhooks that come before, after and meanwhile.

use std::sync::Arc;

use hookmitt_clock::MachineClock;
use hookmitt_event::{
    DedupeKey, DeliveryState, EventId, Slug, TargetId, TargetKind, Timestamp, Verdict, Via,
};

use crate::{
    Claiming, Copied, DayPart, Inbox, KEPT_BY_SYNC, Known, ListedItem, NewEvent, NewReport, Next, Outcome,
    Route, SourceSettings, SyncReport, TargetSettings, object_hash, samples,
};

const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000);
const KEY: [u8; 16] = [1; 16];

struct Story {
    inbox: Inbox,
    source: i64,
    target: TargetId,
    report: SyncReport,
    _folder: tempfile::TempDir,
}

fn minutes(minutes: i64) -> Timestamp {
    Timestamp::from_micros(NOW.as_micros() + minutes * 60_000_000)
}

impl Story {
    async fn begin() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let inbox = Inbox::open(folder.path(), Arc::new(MachineClock)).unwrap();
        let slug: Slug = "s".parse().unwrap();
        let source = inbox.add_source(slug.clone(), SourceSettings::default(), false, NOW).await.unwrap().row;
        let (url, settings) = ("http://one.example/".to_owned(), TargetSettings::default());
        let target = inbox.add_target(Some(slug), url, settings, TargetKind::Kept, NOW).await.unwrap().id;
        let report = Self::report(&inbox, source, 1).await;
        Self { inbox, source, target, report, _folder: folder }
    }

    async fn report(inbox: &Inbox, source: i64, job: i64) -> SyncReport {
        let new = NewReport { source, job, since: minutes(-60), until: minutes(0), dry_run: false };
        inbox.begin_report(new).await.unwrap()
    }

    fn item(key: [u8; 16], outcome: Outcome) -> ListedItem {
        ListedItem {
            key,
            object: false,
            id: "evt_1".to_owned(),
            at: minutes(-30),
            kind: Some("a.b".to_owned()),
            outcome,
            event: None,
            why: None,
        }
    }

    fn copy(&self, route: Route) -> NewEvent {
        let new = samples::with_body(samples::event(self.source, minutes(1)), "from the API");
        NewEvent { via: Via::BackupSync, verdict: Verdict::Unsigned, route, ..new }
    }

    fn webhook(&self, verdict: Verdict) -> NewEvent {
        let may_own = verdict == Verdict::Valid;
        let new = samples::with_body(samples::event(self.source, minutes(2)), "as it was sent");
        NewEvent { verdict, may_own, ..new }
    }

    async fn add(&self, copy: NewEvent) -> Copied {
        self.inbox.store_copy(self.report.id, Self::item(KEY, Outcome::Added), copy, 0).await.unwrap()
    }

    async fn added(&self, copy: NewEvent) -> EventId {
        let id = copy.id;
        assert!(matches!(self.add(copy).await, Copied::Stored(_)));
        id
    }

    async fn states(&self, id: EventId) -> Vec<DeliveryState> {
        self.inbox.deliveries(id).await.unwrap().iter().map(|delivery| delivery.state).collect()
    }

    async fn first_of(&self, id: EventId) -> Option<EventId> {
        self.inbox.event(id).await.unwrap().duplicate_of
    }

    async fn counts(&self) -> (u64, u64, u64) {
        let report = self.inbox.report(self.report.id).await.unwrap();
        (report.checked, report.here, report.added)
    }
}

#[tokio::test]
async fn the_webhook_takes_over_from_its_copy_what_the_copy_has_not_sent() {
    let story = Story::begin().await;
    let copy = story.added(story.copy(Route::Targets)).await;
    assert_eq!(story.states(copy).await, [DeliveryState::Pending]);
    let webhook = story.inbox.store(story.webhook(Verdict::Valid)).await.unwrap();
    assert_eq!(webhook.duplicate_of, None);
    assert_eq!(story.states(webhook.id).await, [DeliveryState::Pending]);
    assert_eq!(story.states(copy).await, [DeliveryState::Skipped], "one delivery");
    assert_eq!(story.first_of(copy).await, Some(webhook.id));
    let event = story.inbox.event(copy).await.unwrap();
    assert!(!event.conflict && event.folds, "other bytes are no conflict");
    let again = story.inbox.store(story.webhook(Verdict::Valid)).await.unwrap();
    assert_eq!(again.duplicate_of, Some(webhook.id));
    let stats = story.inbox.stats().await.unwrap();
    assert_eq!((stats.events, stats.duplicates), (3, 2));
}

#[tokio::test]
async fn what_the_copy_has_sent_or_is_sending_is_not_sent_again() {
    let story = Story::begin().await;
    let copy = story.added(story.copy(Route::Targets)).await;
    let claiming = Claiming {
        target: story.target,
        order: hookmitt_event::OrderMode::Sequential,
        longest: std::time::Duration::from_secs(60),
    };
    let claimed = story.inbox.claim(claiming).await.unwrap();
    assert!(matches!(claimed, Next::Claimed(_)), "{claimed:?}");
    let webhook = story.inbox.store(story.webhook(Verdict::Valid)).await.unwrap();
    assert_eq!(webhook.duplicate_of, None);
    assert_eq!(story.states(webhook.id).await, [DeliveryState::Skipped]);
    assert_eq!(story.states(copy).await, [DeliveryState::Processing]);
    assert_eq!(story.first_of(copy).await, Some(webhook.id));
}

#[tokio::test]
async fn a_copy_that_was_only_kept_does_not_keep_its_webhook_back() {
    let story = Story::begin().await;
    for (verdict, duplicate) in [(Verdict::Unsigned, true), (Verdict::Valid, false)] {
        let copy = story.copy(Route::Withheld(KEPT_BY_SYNC));
        let copy = match story.add(copy).await {
            Copied::Stored(stored) => stored.id,
            Copied::Here(_) => story.inbox.reports(None, None, 1).await.map(|_| EventId::fresh()).unwrap(),
        };
        let webhook = story.inbox.store(story.webhook(verdict)).await.unwrap();
        assert_eq!(webhook.duplicate_of.is_some(), duplicate, "{verdict:?}");
        let sent = story.states(webhook.id).await;
        assert_eq!(sent.len(), 1);
        if duplicate {
            assert_eq!(sent, [DeliveryState::Pending], "what proves nothing repeats the copy, but is sent");
            assert_eq!(story.first_of(copy).await, None);
        }
    }
}

#[tokio::test]
async fn what_is_here_is_not_copied() {
    let story = Story::begin().await;
    let webhook = story.inbox.store(story.webhook(Verdict::Valid)).await.unwrap();
    let known = story.inbox.known_keys(story.source, vec![KEY, [9; 16]]).await.unwrap();
    assert_eq!(known, [Some(Known { event: Some(webhook.seq) }), None]);
    assert_eq!(story.add(story.copy(Route::Targets)).await, Copied::Here(webhook.seq), "it came meanwhile");
    assert_eq!(story.counts().await, (1, 1, 0));
    assert_eq!(story.inbox.stats().await.unwrap().events, 1);
}

#[tokio::test]
async fn a_forged_webhook_does_not_hide_what_is_missing() {
    let story = Story::begin().await;
    let forged = NewEvent { may_own: false, ..story.webhook(Verdict::Invalid) };
    story.inbox.store(forged).await.unwrap();
    let copy = story.added(story.copy(Route::Targets)).await;
    assert_eq!(story.first_of(copy).await, None);
    assert_eq!(story.states(copy).await, [DeliveryState::Pending]);
}

#[tokio::test]
async fn a_report_that_goes_on_counts_nothing_twice() {
    let story = Story::begin().await;
    story.added(story.copy(Route::Withheld(KEPT_BY_SYNC))).await;
    let items = vec![Story::item([2; 16], Outcome::Here), Story::item([3; 16], Outcome::Lost)];
    story.inbox.note_listed(story.report.id, items.clone()).await.unwrap();
    assert_eq!(story.counts().await, (3, 1, 1));
    let again = Story::report(&story.inbox, story.source, 1).await;
    assert_eq!(again.id, story.report.id, "it is the same job");
    story.inbox.note_listed(again.id, items).await.unwrap();
    let here = Story::item(KEY, Outcome::Here);
    story.inbox.note_listed(again.id, vec![here.clone()]).await.unwrap();
    assert_eq!(story.counts().await, (3, 1, 1));
    assert_eq!(story.inbox.synced(story.source).await.unwrap().until, None);
    let ended = story.inbox.end_report(again.id, None).await.unwrap();
    assert_eq!((ended.checked, ended.added, ended.lost, ended.kept), (3, 1, 1, 1));
    assert_eq!(story.inbox.synced(story.source).await.unwrap().until, Some(minutes(0)));

    let next = Story::report(&story.inbox, story.source, 2).await;
    story.inbox.note_listed(next.id, vec![here]).await.unwrap();
    let next = story.inbox.end_report(next.id, Some("it broke off".to_owned())).await.unwrap();
    assert_eq!((next.checked, next.here, next.added), (1, 1, 0), "an earlier sync added it");
    let pages = story.inbox.reports(Some(story.source), None, 1).await.unwrap();
    assert_eq!((pages.items[0].id, pages.next), (next.id, Some(next.id)));
}

#[tokio::test]
async fn the_copy_of_an_object_yields_to_the_webhook_about_it() {
    let story = Story::begin().await;
    let key = object_hash("asset.ready", "asset/7");
    let about = |mut new: NewEvent, id: &str, hash: u8| {
        new.facts.event_type = Some("asset.ready".to_owned());
        new.facts.object = Some("asset/7".to_owned());
        (new.dedupe_key, new.key_hash) = (DedupeKey::Id(id.to_owned()), [hash; 16]);
        new.object_key = Some(key);
        new
    };
    let item = || ListedItem { object: true, ..Story::item(key, Outcome::Added) };
    let copy = about(story.copy(Route::Targets), "copy", 5);
    let stored = story.inbox.store_copy(story.report.id, item(), copy.clone(), 0).await.unwrap();
    assert!(matches!(stored, Copied::Stored(_)));
    let webhook = about(story.webhook(Verdict::Valid), "webhook", 6);
    let webhook = story.inbox.store(webhook).await.unwrap();
    assert_eq!(story.states(copy.id).await, [DeliveryState::Skipped]);
    assert_eq!(story.states(webhook.id).await, [DeliveryState::Pending]);
    assert_eq!(story.first_of(copy.id).await, Some(webhook.id));

    let other = object_hash("asset.ready", "asset/8");
    let mut late = about(story.webhook(Verdict::Valid), "late", 7);
    (late.facts.object, late.object_key) = (Some("asset/8".to_owned()), Some(other));
    let late = story.inbox.store(late).await.unwrap();
    let mut copy = about(story.copy(Route::Targets), "copy 8", 8);
    (copy.facts.object, copy.object_key) = (Some("asset/8".to_owned()), Some(other));
    let item = ListedItem { key: other, ..item() };
    let here = story.inbox.store_copy(story.report.id, item, copy, webhook.seq).await.unwrap();
    assert_eq!(here, Copied::Here(late.seq), "it came after the sync had looked");
}

#[tokio::test]
async fn a_day_is_told_by_what_is_there_and_here() {
    let story = Story::begin().await;
    let mut only_here = story.webhook(Verdict::Valid);
    (only_here.dedupe_key, only_here.key_hash) = (DedupeKey::Id("here".to_owned()), [7; 16]);
    only_here.received_at = minutes(-20);
    story.inbox.store(only_here).await.unwrap();
    story.added(story.copy(Route::Targets)).await;
    let missing = ListedItem { id: "evt_2".to_owned(), ..Story::item([2; 16], Outcome::Missing) };
    story.inbox.note_listed(story.report.id, vec![missing]).await.unwrap();
    let days = vec![(minutes(-60), minutes(-40)), (minutes(-40), minutes(0))];
    let days = story.inbox.reconciled(story.source, days).await.unwrap();
    let told: Vec<_> = days.iter().map(|day| (day.both, day.only_there, day.only_here)).collect();
    assert_eq!(told, [(0, 0, 0), (1, 1, 1)]);
    for (part, id) in [(DayPart::Both, "evt_1"), (DayPart::OnlyThere, "evt_2"), (DayPart::OnlyHere, "here")] {
        let span = (minutes(-40), minutes(0));
        let page = story.inbox.listed_between(story.source, span, part, None, 10).await.unwrap();
        let ids: Vec<_> = page.items.iter().map(|line| line.id.as_str()).collect();
        assert_eq!((ids, page.next), (vec![id], None));
        assert_eq!(page.items[0].event.is_some(), part != DayPart::OnlyThere);
    }
}

#[tokio::test]
async fn nothing_of_a_copy_is_left_to_deliver_once_its_webhook_has_come() {
    let story = Story::begin().await;
    story.added(story.copy(Route::Withheld(KEPT_BY_SYNC))).await;
    assert_eq!(story.inbox.report(story.report.id).await.unwrap().kept, 1);
    story.inbox.store(story.webhook(Verdict::Valid)).await.unwrap();
    assert_eq!(story.inbox.report(story.report.id).await.unwrap().kept, 0);
    assert_eq!(story.inbox.kept_by_sync(story.report.id, 0, 10).await.unwrap(), []);
}

#[tokio::test]
async fn a_repeat_of_a_webhook_is_not_sent_where_its_copy_was() {
    let story = Story::begin().await;
    let copy = story.added(story.copy(Route::Targets)).await;
    let claiming = Claiming {
        target: story.target,
        order: hookmitt_event::OrderMode::Sequential,
        longest: std::time::Duration::from_secs(60),
    };
    assert!(matches!(story.inbox.claim(claiming).await.unwrap(), Next::Claimed(_)));
    for _ in 0..3 {
        let webhook = story.inbox.store(story.webhook(Verdict::Valid)).await.unwrap();
        assert_eq!(story.states(webhook.id).await, [DeliveryState::Skipped]);
    }
    assert_eq!(story.states(copy).await, [DeliveryState::Processing], "one delivery");
}

#[tokio::test]
async fn a_dry_run_s_missing_event_that_comes_is_not_missing_any_more() {
    let story = Story::begin().await;
    story.inbox.note_listed(story.report.id, vec![Story::item(KEY, Outcome::Missing)]).await.unwrap();
    let days = vec![(minutes(-60), minutes(0))];
    let before = story.inbox.reconciled(story.source, days.clone()).await.unwrap();
    assert_eq!((before[0].both, before[0].only_there), (0, 1));
    story.inbox.store(story.webhook(Verdict::Valid)).await.unwrap();
    let after = story.inbox.reconciled(story.source, days).await.unwrap();
    assert_eq!((after[0].both, after[0].only_there), (1, 0));
    let span = (minutes(-60), minutes(0));
    let page = story.inbox.listed_between(story.source, span, DayPart::Both, None, 10).await.unwrap();
    assert!(page.items[0].event.is_some());
}

#[tokio::test]
async fn pages_follow_each_other_though_many_happened_at_once_and_more_come() {
    let story = Story::begin().await;
    let at = |number: u8| minutes(-30 + i64::from(number / 4));
    let item = |number: u8| ListedItem {
        id: format!("evt_{number}"),
        at: at(number),
        ..Story::item([number; 16], Outcome::Missing)
    };
    story.inbox.note_listed(story.report.id, (1..10).map(item).collect()).await.unwrap();
    let (mut ids, mut after) = (Vec::new(), None);
    loop {
        let span = (minutes(-60), minutes(0));
        let part = DayPart::OnlyThere;
        let page = story.inbox.listed_between(story.source, span, part, after, 2).await.unwrap();
        ids.extend(page.items.iter().map(|line| line.id.clone()));
        // One that is earlier pushes nothing along.
        let early = ListedItem {
            id: "early".to_owned(),
            ..Story::item([200 + ids.len() as u8; 16], Outcome::Missing)
        };
        let early = ListedItem { at: minutes(-50), ..early };
        story.inbox.note_listed(story.report.id, vec![early]).await.unwrap();
        let Some(next) = page.next else { break };
        after = Some(next.to_string().parse().unwrap());
    }
    assert_eq!(ids, (1..10).map(|number| format!("evt_{number}")).collect::<Vec<_>>());
}

#[test]
fn a_place_in_a_list_is_written_and_read() {
    use crate::ListedPlace;
    let text = "000000000000000000000000000000ff--7";
    assert_eq!(text.parse::<ListedPlace>().unwrap().to_string(), text);
    for other in ["", "-", "7", "x-7", "1-x", "1ffffffffffffffffffffffffffffffff-7"] {
        assert!(other.parse::<ListedPlace>().is_err(), "{other}");
    }
}
