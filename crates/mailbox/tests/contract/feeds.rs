//! The contract about feeds.

use std::{collections::HashSet, time::Duration};

use hookmitt_mailbox::{DeviceKey, Fed, Feed, Mailbox, Quota};

use super::{DESKTOP, LAPTOP, Maker, TUNNEL, drain, holds, join, parcel, put, with_tunnel};

pub(crate) async fn a_feed_wakes_at_once(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    let mut feed = store.feed(TUNNEL, 0).await.unwrap();
    for number in 0..50 {
        let (woken, position) = tokio::join!(feed.next(10, 1_000), async {
            tokio::task::yield_now().await;
            store.put(TUNNEL, parcel(number, 100), &Quota::default()).await.unwrap()
        });
        let woken = woken.unwrap();
        assert_eq!((woken.len(), woken[0].position, woken[0].parcel.number), (1, position, number));
    }
}

pub(crate) async fn a_feed_begins_where_it_is_told(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    let positions = put(&store, 0..10).await;
    let mut feed = store.feed(TUNNEL, positions[2]).await.unwrap();
    let mut numbers = Vec::new();
    while numbers.len() < 7 {
        let next = feed.next(2, usize::MAX).await.unwrap();
        assert!((1..=2).contains(&next.len()), "{} letters", next.len());
        numbers.extend(next.iter().map(|letter| letter.parcel.number));
    }
    assert_eq!(numbers, (3..10).collect::<Vec<_>>());

    // A letter larger than the limit on bytes comes alone.
    let mut feed = store.feed(TUNNEL, 0).await.unwrap();
    assert_eq!(feed.next(10, 1).await.unwrap().len(), 1);
    let next = feed.next(10, 250).await.unwrap();
    assert!((1..=3).contains(&next.len()), "{} letters of 100 bytes where 250 may come", next.len());
    assert!(store.feed("nobody", 0).await.is_err());
}

pub(crate) async fn a_letter_that_is_too_large_for_now_is_left_and_its_size_said(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    let mut feed = store.feed(TUNNEL, 0).await.unwrap();
    assert_eq!(feed.take(10, 1_000, 1_000).await.unwrap(), Fed::Letters(Vec::new()), "nothing is there");
    let mut positions = put(&store, 0..2).await;
    positions.push(store.put(TUNNEL, parcel(2, 5_000), &Quota::default()).await.unwrap());
    positions.extend(put(&store, 3..4).await);
    let mut take = async |bytes: usize, limit: usize| {
        feed.wait().await.unwrap();
        feed.take(10, bytes, limit).await.unwrap()
    };
    let came = |fed: Fed| match fed {
        Fed::Letters(letters) => letters.iter().map(|letter| letter.position).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(take(1, 99).await, Fed::TooLarge(100));
    assert_eq!(came(take(1, 100).await), positions[..1], "about so many bytes, and at least one letter");
    assert_eq!(came(take(1_000, 1_000).await), positions[1..2]);
    for _again in 0..2 {
        assert_eq!(take(1_000, 1_000).await, Fed::TooLarge(5_000));
    }
    assert_eq!(came(take(1_000, 5_000).await), positions[2..3]);
    assert_eq!(came(take(1_000, 1_000).await), positions[3..]);
}

pub(crate) async fn a_feed_may_be_dropped_and_asked_again(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    let mut feed = store.feed(TUNNEL, 0).await.unwrap();
    let mut numbers = Vec::new();
    for number in 0..30_u64 {
        // Cancelled at a different point each time, mostly in the middle of something.
        let limit = Duration::from_micros(number * 20);
        if let Ok(next) = tokio::time::timeout(limit, feed.next(1, 1_000)).await {
            numbers.extend(next.unwrap().iter().map(|letter| letter.parcel.number));
        }
        put(&store, u32::try_from(number).unwrap()..u32::try_from(number).unwrap() + 1).await;
    }
    while numbers.len() < 30 {
        numbers.extend(feed.next(7, 10_000).await.unwrap().iter().map(|letter| letter.parcel.number));
    }
    assert_eq!(numbers, (0..30).collect::<Vec<_>>());
}

pub(crate) async fn three_devices_each_get_every_letter(maker: &impl Maker) {
    let devices: [DeviceKey; 3] = [LAPTOP, DESKTOP, [3; 32]];
    let store = with_tunnel(maker).await;
    join(&store, devices[1]).await;
    join(&store, devices[2]).await;
    let consume = async |device: DeviceKey, most: usize| {
        let mut feed = store.feed(TUNNEL, 0).await.unwrap();
        let mut numbers = Vec::new();
        while numbers.len() < 300 {
            let next = feed.next(most, 1 << 20).await.unwrap();
            numbers.extend(next.iter().map(|letter| letter.parcel.number));
            store.ack(TUNNEL, &device, next[next.len() - 1].position).await.unwrap();
        }
        assert_eq!(numbers, (0..300).collect::<Vec<_>>());
    };
    let (_, (), (), ()) =
        tokio::join!(put(&store, 0..300), consume(devices[0], 1), consume(devices[1], 10), async {
            // The third feed starts late.
            drain(&store, TUNNEL, 0, 300).await;
        });
    let usage = store.usage().await.unwrap();
    assert_eq!(usage.letters, 300);
    consume(devices[2], 100).await;
    holds(&store, 0).await;
}

pub(crate) async fn putting_and_draining_at_once_loses_nothing(maker: &impl Maker) {
    const SENDERS: u32 = 20;
    const EACH: u32 = 50;
    let store = with_tunnel(maker).await;
    let mut senders = tokio::task::JoinSet::new();
    for sender in 0..SENDERS {
        let store = store.clone();
        senders.spawn(async move {
            let mut positions = Vec::new();
            for number in sender * EACH..(sender + 1) * EACH {
                let size = usize::try_from(number % 3_000).unwrap();
                positions.push(store.put(TUNNEL, parcel(number, size), &Quota::default()).await.unwrap());
            }
            assert!(positions.is_sorted_by(|one, other| one < other), "{positions:?}");
            positions
        });
    }
    let wanted = usize::try_from(SENDERS * EACH).unwrap();
    let drained = drain(&store, TUNNEL, 0, wanted).await;
    let put: HashSet<u64> = senders.join_all().await.into_iter().flatten().collect();
    assert_eq!(drained.iter().map(|(position, _)| *position).collect::<HashSet<_>>(), put);
    let numbers: HashSet<u32> = drained.iter().map(|(_, parcel)| parcel.number).collect();
    assert_eq!(numbers.len(), wanted);
    for (_, got) in &drained {
        assert!(*got == parcel(got.number, usize::try_from(got.number % 3_000).unwrap()), "{}", got.number);
    }
}
