//! Two relays on one cluster: each sees what the other does.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use hookmitt_mailbox::{
    Feed as _, Held as _, MOST_DEVICES, MOST_TUNNELS, Mailbox as _, MailboxError, NewTunnel, Quota, Reply,
};

use crate::{
    contract::{
        A_MINUTE, DESKTOP, LAPTOP, Maker as _, TUNNEL, drain, eventually, holds, join, new_device,
        new_tunnel, parcel, put, with_tunnel, within,
    },
    place::Place,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_is_put_at_one_relay_and_delivered_by_the_other() {
    let Some(place) = Place::on_three_nodes() else { return };
    let here = with_tunnel(&place).await;
    let there = place.open().await;
    let mut feed = there.feed(TUNNEL, 0).await.unwrap();
    for number in 0..20 {
        // Long letters, too: their parts are read from where the manifest is.
        let size = if number % 5 == 4 { 700_000 } else { 100 };
        let position = here.put(TUNNEL, parcel(number, size), &Quota::default()).await.unwrap();
        let next = within("the letter", feed.next(10, 10_000)).await.unwrap();
        assert_eq!((next.len(), next[0].position), (1, position));
        assert!(next[0].parcel == parcel(number, size), "letter {number} came out as another");
        there.ack(TUNNEL, &LAPTOP, position).await.unwrap();
    }
    holds(&there, 0).await;
    holds(&here, 0).await;
    eventually("nothing is left in the streams", async || (place.messages().await == 0).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_of_both_relays_come_out_of_either_in_one_order() {
    const EACH: u32 = 200;
    let Some(place) = Place::on_three_nodes() else { return };
    let (here, there) = (with_tunnel(&place).await, place.open().await);
    let put_all = async |store: &hookmitt_mailbox::NatsMailbox, first: u32| {
        for number in first..first + EACH {
            store.put(TUNNEL, parcel(number, 100), &Quota::default()).await.unwrap();
        }
    };
    let wanted = usize::try_from(2 * EACH).unwrap();
    let ((), (), one, other) = tokio::join!(
        put_all(&here, 0),
        put_all(&there, EACH),
        drain(&here, TUNNEL, 0, wanted),
        drain(&there, TUNNEL, 0, wanted)
    );
    assert!(one == other, "the relays hand out different letters, or in another order");
    for sent in [0..EACH, EACH..2 * EACH] {
        let numbers: Vec<_> =
            one.iter().map(|(_, parcel)| parcel.number).filter(|number| sent.contains(number)).collect();
        assert_eq!(numbers, sent.collect::<Vec<_>>());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_finds_the_relay_that_holds_the_sender() {
    let Some(place) = Place::on_three_nodes() else { return };
    let (here, there) = (place.open().await, place.open().await);
    for event in 0..20 {
        let reply = Reply {
            status: 401,
            headers: vec![("x-odd".to_owned(), Bytes::from_static(b"\xff"))],
            body: Bytes::from(vec![event; 500_000]),
        };
        let held = here.hold([event; 16]).await.unwrap();
        let (answer, passed) =
            tokio::join!(held.answer(Duration::from_secs(50)), there.answer([event; 16], reply.clone()));
        passed.unwrap();
        assert!(answer == Some(reply), "the answer to event {event} came out as another");
    }
    // Nobody waits, and that is no failure.
    there.answer([99; 16], Reply { status: 200, headers: Vec::new(), body: Bytes::new() }).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_at_one_relay_is_known_at_the_other_until_it_goes() {
    let Some(place) = Place::on_three_nodes() else { return };
    let (here, there) = (place.open().await, place.open().await);
    assert!(!there.is_attended_elsewhere(TUNNEL).await);
    let (one, other) = (here.attend(TUNNEL).await, here.attend(TUNNEL).await);
    let known = async |wanted: bool| {
        eventually("it is known", async || {
            (there.is_attended_elsewhere(TUNNEL).await == wanted).then_some(())
        })
        .await;
    };
    known(true).await;
    assert!(!there.is_attended_elsewhere("another").await);
    drop(one);
    known(true).await;
    drop(other);
    known(false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_relays_never_give_out_the_same_thing() {
    let Some(place) = Place::on_three_nodes() else { return };
    let (here, there) = (with_tunnel(&place).await, place.open().await);
    here.add_token("other", [8; 32], None, MOST_TUNNELS).await.unwrap();
    for round in 0..10_u8 {
        let name = format!("round-{round}");
        let (one, other) = tokio::join!(
            here.open_tunnel(new_tunnel(&name, LAPTOP)),
            there.open_tunnel(NewTunnel { token: "other".to_owned(), ..new_tunnel(&name, DESKTOP) })
        );
        let taken = |outcome: &Result<(), MailboxError>| matches!(outcome, Err(MailboxError::NameTaken(_)));
        assert!(one.is_ok() && taken(&other) || other.is_ok() && taken(&one), "{one:?}, {other:?}");

        let code = [round; 32];
        here.add_invite(&name, code, A_MINUTE).await.unwrap();
        let (one, other) = tokio::join!(
            here.join(&name, code, new_device([100; 32]), MOST_DEVICES),
            there.join(&name, code, new_device([101; 32]), MOST_DEVICES)
        );
        assert!(one.is_ok() != other.is_ok(), "{one:?}, {other:?}");
        assert_eq!(there.devices(&name).await.unwrap().len(), 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_is_given_up_leaves_no_lock_behind() {
    let Some(place) = Place::on_three_nodes() else { return };
    let (here, there) = (with_tunnel(&place).await, place.open().await);
    for round in 0..60_u8 {
        // Cancelled at a different point each time, mostly in the middle of something.
        let limit = Duration::from_micros(u64::from(round) * 250);
        let _given_up = tokio::time::timeout(limit, here.add_invite(TUNNEL, [round; 32], A_MINUTE)).await;
    }
    eventually("no lock is left", async || (place.locks().await == 0).then_some(())).await;
    there.add_invite(TUNNEL, [99; 32], A_MINUTE).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_joins_at_one_relay_loses_nothing_to_the_other() {
    let Some(place) = Place::on_three_nodes() else { return };
    let (here, there) = (with_tunnel(&place).await, place.open().await);
    let mut number = 0;
    for round in 2..12_u8 {
        let device = [round; 32];
        let first = put(&here, number..number + 5).await;
        // The laptop acknowledges everything at one relay while another device joins at the other.
        let (joined, ()) = tokio::join!(join(&there, device), async {
            here.ack(TUNNEL, &LAPTOP, first[4]).await.unwrap();
        });
        let () = joined;
        let after = put(&here, number + 5..number + 10).await;
        here.ack(TUNNEL, &LAPTOP, after[4]).await.unwrap();
        let cursor =
            there.devices(TUNNEL).await.unwrap().iter().find(|known| known.key == device).unwrap().cursor;
        let drained = drain(&there, TUNNEL, cursor.max(first[4]), 5).await;
        assert_eq!(drained.iter().map(|(position, _)| *position).collect::<Vec<_>>(), after);
        there.ack(TUNNEL, &device, after[4]).await.unwrap();
        there.leave(TUNNEL, &device).await.unwrap();
        number += 10;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_two_devices_acknowledge_at_two_relays_goes() {
    let Some(place) = Place::on_three_nodes() else { return };
    let (here, there) = (with_tunnel(&place).await, place.open().await);
    join(&here, DESKTOP).await;
    for round in 0..10 {
        let positions = put(&here, round * 3..round * 3 + 3).await;
        let (one, other) = tokio::join!(here.ack(TUNNEL, &LAPTOP, positions[2]), async {
            // The desktop gets the letters from its own relay as soon as that relay knows of them.
            drain(&there, TUNNEL, positions[0] - 1, 3).await;
            there.ack(TUNNEL, &DESKTOP, positions[2]).await
        });
        one.and(other).unwrap();
    }
    holds(&here, 0).await;
    holds(&there, 0).await;
    eventually("nothing is left in the streams", async || (place.messages().await == 0).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_that_starts_while_letters_are_deleted_is_ready_all_the_same() {
    let Some(place) = Place::on_three_nodes() else { return };
    let store = with_tunnel(&place).await;
    for round in 0..3 {
        let letters = (round * 1_000..(round + 1) * 1_000).map(|number| {
            let store = store.clone();
            async move { store.put(TUNNEL, parcel(number, 100), &Quota::default()).await.unwrap() }
        });
        let positions: Vec<u64> = stream::iter(letters).buffer_unordered(200).collect().await;
        store.ack(TUNNEL, &LAPTOP, *positions.iter().max().unwrap()).await.unwrap();
        let other = within("the other relay is ready", Box::pin(place.open())).await;
        holds(&other, 0).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_of_another_layout_or_without_servers_is_refused_in_words() {
    let Some(place) = Place::on_three_nodes() else { return };
    let store = with_tunnel(&place).await;
    assert!(store.power_cut().contains("2.9"), "{}", store.power_cut());
    place.set_settings(r#"{"version":2,"shards":2}"#).await;
    let refused = place.try_open().await.unwrap_err().to_string();
    assert!(refused.contains("newer hookmitt"), "{refused}");
    // A port on which no server listens.
    let refused = Place::on("nats://me:secret@127.0.0.1:1").try_open().await.unwrap_err().to_string();
    assert!(refused.contains("127.0.0.1:1") && !refused.contains("secret"), "{refused}");
}
