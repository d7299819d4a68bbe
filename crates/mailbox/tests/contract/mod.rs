//! The promises of every kind of store, as tests that any store can run: [`contract!`](crate::contract).

mod clocks;
mod devices;
mod feeds;
mod letters;
mod limits;
mod model;
mod tokens;
mod tunnels;

use std::{future::Future, time::Duration};

use bytes::Bytes;
use hookmitt_clock::HandClock;
use hookmitt_event::Timestamp;
use hookmitt_mailbox::{DeviceKey, MOST_DEVICES, MOST_TUNNELS, Mailbox, NewDevice, NewTunnel, Quota};
use hookmitt_wire::Parcel;

pub(crate) use self::{
    clocks::*, devices::*, feeds::*, letters::*, limits::*, model::*, tokens::*, tunnels::*,
};

/// Opens stores of one kind for one test.
pub(crate) trait Maker: Send + Sync {
    /// The kind of store.
    type Store: Mailbox;
    /// The clock of this test's stores.
    fn clock(&self) -> &HandClock;
    /// Opens this test's own store. A second call opens it as another process would, or as the same process after a
    /// restart.
    fn open(&self) -> impl Future<Output = Self::Store> + Send;
}

/// Generates a test for each promise: `contract!(Some(maker))`. `None` means that a tool which the tests need is
/// missing, which has been reported.
#[macro_export]
macro_rules! contract {
    ($maker:expr) => {
        $crate::contract! { $maker;
            threat_9_a_token_is_known_by_its_hash_alone
            a_token_gets_another_secret_and_keeps_its_tunnels
            a_revoked_token_shuts_its_tunnels_for_good
            a_token_has_as_many_open_tunnels_as_it_may
            threat_12_a_tunnel_that_was_closed_counts_for_another_day
            a_token_that_is_unknown_or_revoked_opens_nothing
            a_tunnel_is_there_after_a_restart
            a_name_is_never_given_out_again
            threat_12_a_name_that_was_never_used_is_for_its_own_token_alone
            threat_12_a_name_that_took_a_letter_or_had_a_device_stays_taken
            sources_are_replaced_and_kept
            each_device_takes_sources_of_its_own
            another_process_changes_are_seen_soon
            a_code_lets_one_device_in_once
            a_code_is_good_for_its_tunnel_and_its_time
            threat_12_a_device_that_takes_nothing_keeps_no_letters_from_the_others
            threat_12_a_code_changes_nothing_of_a_device_that_takes_part
            of_too_many_codes_the_oldest_gives_way
            a_device_that_joins_gets_what_comes_from_then_on
            a_device_that_joins_again_keeps_its_place
            what_waited_for_a_device_that_leaves_goes
            threat_9_an_idle_device_is_forgotten
            a_tunnel_whose_last_device_was_idle_is_shut
            threat_9_a_tunnel_has_no_more_devices_than_it_may
            threat_12_a_revoked_device_is_out_and_the_key_turned_over
            threat_12_only_the_owner_revokes_and_only_those_it_knows
            what_devices_say_of_themselves_is_kept
            letters_come_out_as_they_went_in
            letters_are_there_after_a_restart
            positions_grow_even_where_all_was_delivered
            a_letter_goes_once_every_device_has_it
            threat_9_a_cursor_never_goes_back
            threat_9_a_device_moves_its_own_cursor_only
            letters_of_25_mib_come_out_whole
            what_waits_is_reckoned_for_each_device
            mailboxes_do_not_mix
            a_feed_wakes_at_once
            a_feed_begins_where_it_is_told
            a_letter_that_is_too_large_for_now_is_left_and_its_size_said
            a_feed_may_be_dropped_and_asked_again
            three_devices_each_get_every_letter
            putting_and_draining_at_once_loses_nothing
            a_quota_of_letters_is_kept
            a_quota_of_bytes_is_kept
            letters_that_are_too_old_are_deleted_and_said
            what_became_too_old_is_lost_to_those_alone_that_lack_it
            what_was_refused_is_counted
            no_step_of_the_wall_clock_deletes_a_letter_or_forgets_a_device
            a_pause_of_45_days_counts_as_one_day
            letters_of_31_days_are_deleted_whatever_the_wall_clock_says
            a_device_may_come_back_to_a_relay_that_was_away_itself
            a_code_ends_by_whichever_clock_is_first
            a_shut_tunnel_counts_for_a_day_whatever_the_wall_clock_says
            a_held_sender_gets_the_answer
            a_closed_store_says_so
            a_long_random_life_goes_as_a_model_says
        }
    };
    ($maker:expr; $($promise:ident)*) => {
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $promise() {
                let Some(maker) = $maker else { return };
                $crate::contract::within(stringify!($promise), $crate::contract::$promise(&maker)).await;
            }
        )*
    };
}

/// The time at which the tests begin; any time would do.
pub(crate) const NOW: i64 = 1_790_000_000_000_000;
/// A minute in microseconds.
pub(crate) const MINUTE: i64 = 60_000_000;
/// A day in microseconds.
pub(crate) const DAY: i64 = 24 * 60 * MINUTE;
/// For how long most codes are valid.
pub(crate) const A_MINUTE: Duration = Duration::from_secs(60);
/// A day as a duration.
pub(crate) const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// The tunnel of most tests.
pub(crate) const TUNNEL: &str = "acme-dev";
/// The first device of [`TUNNEL`].
pub(crate) const LAPTOP: DeviceKey = [1; 32];
/// A second device.
pub(crate) const DESKTOP: DeviceKey = [2; 32];

/// Returns a clock that shows [`NOW`].
pub(crate) fn clock() -> HandClock {
    HandClock::at(Timestamp::from_micros(NOW))
}

/// Lets time pass for a relay that runs all the while and sweeps.
pub(crate) async fn live(clock: &HandClock, store: &impl Mailbox, quota: &Quota, span: Duration) {
    const STEP: Duration = Duration::from_secs(5 * 60);
    let mut left = span;
    while !left.is_zero() {
        clock.pass(left.min(STEP));
        left = left.saturating_sub(STEP);
        store.sweep(quota).await.unwrap();
    }
}

/// Returns the output of `future`; panics with `what` after five minutes: three NATS servers and thousands of sweeps take
/// more than one on a busy machine.
pub(crate) async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(Duration::from_secs(300), future).await;
    waited.unwrap_or_else(|_| panic!("it never came to this: {what}"))
}

/// Calls `ask` again and again until it returns `Some`.
pub(crate) async fn eventually<T, F: Future<Output = Option<T>>>(
    what: &str,
    mut ask: impl FnMut() -> F,
) -> T {
    within(what, async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            // Not a guess at how long it takes, only how often to ask.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
}

/// Returns a tunnel with this name and one device, of the token `tk`.
pub(crate) fn new_tunnel(name: &str, device: DeviceKey) -> NewTunnel {
    NewTunnel {
        name: name.to_owned(),
        token: "tk".to_owned(),
        sealing_key: [7; 32],
        device: new_device(device),
    }
}

/// Returns a device with this key.
pub(crate) fn new_device(key: DeviceKey) -> NewDevice {
    NewDevice { key, name: format!("device {}", key[0]) }
}

/// Returns a store with the token `tk` and the tunnel [`TUNNEL`], whose only device is [`LAPTOP`].
pub(crate) async fn with_tunnel<M: Maker>(maker: &M) -> M::Store {
    let store = maker.open().await;
    store.add_token("tk", [9; 32], Some("Acme"), MOST_TUNNELS).await.unwrap();
    store.open_tunnel(new_tunnel(TUNNEL, LAPTOP)).await.unwrap();
    store
}

/// Lets another device join [`TUNNEL`].
pub(crate) async fn join(store: &impl Mailbox, device: DeviceKey) {
    let code = [device[0] ^ 0x80; 32];
    store.add_invite(TUNNEL, code, A_MINUTE).await.unwrap();
    store.join(TUNNEL, code, new_device(device), MOST_DEVICES).await.unwrap();
}

/// Returns a letter that differs from every letter with another number.
pub(crate) fn parcel(number: u32, size: usize) -> Parcel {
    let first = u8::try_from(number % 251).unwrap_or_default();
    let mut data: Vec<u8> = (0..=250).cycle().skip(usize::from(first)).take(size).collect();
    data.iter_mut().zip(number.to_be_bytes()).for_each(|(byte, digit)| *byte ^= digit);
    let received_at = NOW + i64::from(number);
    Parcel {
        epoch: [first; 32],
        number,
        received_at,
        held: number.is_multiple_of(2),
        data: Bytes::from(data),
    }
}

/// Puts letters of 100 bytes with these numbers into [`TUNNEL`], one after the other. Returns their positions.
pub(crate) async fn put(store: &impl Mailbox, numbers: std::ops::Range<u32>) -> Vec<u64> {
    let mut positions = Vec::new();
    for number in numbers {
        positions.push(store.put(TUNNEL, parcel(number, 100), &Quota::default()).await.unwrap());
    }
    positions
}

/// Waits until the store holds this many letters in total.
pub(crate) async fn holds(store: &impl Mailbox, letters: u64) {
    let holds = async || (store.usage().await.unwrap().letters == letters).then_some(());
    eventually(&format!("the store holds {letters} letters"), holds).await;
}
