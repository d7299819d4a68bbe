//! The contract about tunnels.

use std::sync::Arc;

use bytes::Bytes;
use hookmitt_mailbox::{
    DeviceKey, Feed as _, MOST_DEVICES, MOST_TUNNELS, Mailbox, MailboxError, NewDevice, NewTunnel, Tunnel,
};
use hookmitt_wire::{Hold, SourceOffer};

use super::{A_MINUTE, DESKTOP, LAPTOP, Maker, NOW, TUNNEL, eventually, holds, new_tunnel, put, with_tunnel};

fn offer(slug: &str) -> SourceOffer {
    SourceOffer {
        slug: slug.to_owned(),
        provider: Some("stripe".to_owned()),
        hold: Hold::Always,
        status: Some(204),
        headers: vec![("x-odd".to_owned(), Bytes::from_static(b"\xff\0"))],
        body: Some("böd".to_owned()),
        delay_ms: 5,
    }
}

pub(crate) async fn a_tunnel_is_there_after_a_restart(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    let expected = Arc::new(Tunnel {
        name: TUNNEL.to_owned(),
        token: "tk".to_owned(),
        sealing_key: [7; 32],
        sources: Vec::new(),
        devices: vec![LAPTOP],
        letters: 1,
        revoked: false,
    });
    assert_eq!(store.tunnel(TUNNEL).await.unwrap(), Some(expected.clone()));
    assert_eq!(store.tunnel("acme").await.unwrap(), None);
    store.close().await;
    let store = maker.open().await;
    assert_eq!(store.tunnel(TUNNEL).await.unwrap(), Some(expected));
    let devices = store.devices(TUNNEL).await.unwrap();
    assert_eq!(devices.len(), 1);
    assert_eq!((devices[0].key, devices[0].name.as_str()), (LAPTOP, "device 1"));
    assert_eq!((devices[0].cursor, devices[0].seen_at), (0, NOW));
}

pub(crate) async fn a_name_is_never_given_out_again(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    store.seen(TUNNEL, &LAPTOP).await.unwrap();
    assert!(is_taken(store.open_tunnel(new_tunnel(TUNNEL, DESKTOP)).await));
    store.leave(TUNNEL, &LAPTOP).await.unwrap();
    eventually("the tunnel is gone", async || store.tunnel(TUNNEL).await.unwrap().is_none().then_some(()))
        .await;
    assert!(is_taken(store.open_tunnel(new_tunnel(TUNNEL, DESKTOP)).await));
    store.close().await;
    let store = maker.open().await;
    assert!(is_taken(store.open_tunnel(new_tunnel(TUNNEL, LAPTOP)).await));
    assert_eq!(store.tunnel(TUNNEL).await.unwrap(), None);
    assert_eq!(store.usage().await.unwrap().tunnels, 0);
}

fn is_taken(outcome: Result<(), MailboxError>) -> bool {
    matches!(outcome, Err(MailboxError::NameTaken(name)) if name == TUNNEL)
}

pub(crate) async fn threat_12_a_name_that_was_never_used_is_for_its_own_token_alone(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    store.add_token("other", [8; 32], None, MOST_TUNNELS).await.unwrap();
    let others = || NewTunnel { token: "other".to_owned(), ..new_tunnel(TUNNEL, DESKTOP) };
    assert!(is_taken(store.open_tunnel(others()).await));

    // For example, because the answer to its first request was lost.
    let again = NewTunnel { sealing_key: [6; 32], ..new_tunnel(TUNNEL, DESKTOP) };
    store.open_tunnel(again).await.unwrap();
    let key = async || (store.tunnel(TUNNEL).await.unwrap()?.sealing_key == [6; 32]).then_some(());
    eventually("it has the new key", key).await;
    let keys: Vec<_> = store.devices(TUNNEL).await.unwrap().iter().map(|device| device.key).collect();
    assert_eq!(keys, [DESKTOP], "the one before it is not let in");
    assert!(store.seen(TUNNEL, &LAPTOP).await.is_err());

    // Shut and opened again, the tunnel delivers letters like any other.
    store.leave(TUNNEL, &DESKTOP).await.unwrap();
    assert!(is_taken(store.open_tunnel(others()).await));
    let other = maker.open().await;
    other.open_tunnel(new_tunnel(TUNNEL, LAPTOP)).await.unwrap();
    let is_there = async || store.tunnel(TUNNEL).await.unwrap().map(drop);
    eventually("it is there for the other relay, too", is_there).await;
    put(&store, 0..1).await;
    let mut feed = store.feed(TUNNEL, 0).await.unwrap();
    assert_eq!(feed.next(9, 1_000).await.unwrap().len(), 1);
    assert!(is_taken(store.open_tunnel(new_tunnel(TUNNEL, LAPTOP)).await), "it took a letter");
    assert_eq!(store.usage().await.unwrap().tunnels, 1);
}

pub(crate) async fn threat_12_a_name_that_took_a_letter_or_had_a_device_stays_taken(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    put(&store, 0..1).await;
    assert!(is_taken(store.open_tunnel(new_tunnel(TUNNEL, DESKTOP)).await));
    store.leave(TUNNEL, &LAPTOP).await.unwrap();
    holds(&store, 0).await;
    store.open_tunnel(new_tunnel("had-a-device", LAPTOP)).await.unwrap();
    store.seen("had-a-device", &LAPTOP).await.unwrap();
    store.leave("had-a-device", &LAPTOP).await.unwrap();
    store.close().await;
    let store = maker.open().await;
    assert!(is_taken(store.open_tunnel(new_tunnel(TUNNEL, LAPTOP)).await));
    let refused = store.open_tunnel(new_tunnel("had-a-device", LAPTOP)).await;
    assert!(matches!(refused, Err(MailboxError::NameTaken(_))), "{refused:?}");
}

pub(crate) async fn sources_are_replaced_and_kept(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    let says = async |store: &_, sources: &[SourceOffer]| {
        let says = async || (sources_of(store).await == sources).then_some(());
        eventually("the tunnel says its sources", says).await;
    };
    let first = vec![offer("stripe"), offer("github")];
    store.set_sources(TUNNEL, &LAPTOP, first.clone()).await.unwrap();
    says(&store, &first).await;
    let second = vec![SourceOffer { hold: Hold::Never, status: None, provider: None, ..offer("slack") }];
    store.set_sources(TUNNEL, &LAPTOP, second.clone()).await.unwrap();
    says(&store, &second).await;
    let refused = store.set_sources("nobody", &LAPTOP, second.clone()).await.unwrap_err();
    assert!(matches!(refused, MailboxError::Unknown { what: "tunnel", .. }), "{refused}");
    store.close().await;
    says(&maker.open().await, &second).await;
}

pub(crate) async fn each_device_takes_sources_of_its_own(maker: &impl Maker) {
    const MATE: DeviceKey = [0; 32];
    let store = with_tunnel(maker).await;
    let named = |slug: &str, status| SourceOffer { status: Some(status), ..offer(slug) };
    let takes = async |store: &_, wanted: &[(&str, u16)]| {
        let takes = async || {
            let sources = sources_of(store).await;
            let told = sources.iter().map(|offer| (offer.slug.as_str(), offer.status.unwrap_or_default()));
            told.eq(wanted.iter().copied()).then_some(())
        };
        eventually(&format!("the tunnel takes {wanted:?}"), takes).await;
    };
    store.set_sources(TUNNEL, &LAPTOP, vec![named("stripe", 201), named("github", 201)]).await.unwrap();
    maker.clock().pass(A_MINUTE);
    store.add_invite(TUNNEL, [7; 32], A_MINUTE).await.unwrap();
    let mate = NewDevice { key: MATE, name: "mate".to_owned() };
    store.join(TUNNEL, [7; 32], mate, MOST_DEVICES).await.unwrap();
    store.set_sources(TUNNEL, &MATE, Vec::new()).await.unwrap();
    takes(&store, &[("stripe", 201), ("github", 201)]).await;
    store.set_sources(TUNNEL, &MATE, vec![named("slack", 204), named("github", 204)]).await.unwrap();
    takes(&store, &[("stripe", 201), ("github", 201), ("slack", 204)]).await;
    store.set_sources(TUNNEL, &LAPTOP, vec![named("stripe", 202)]).await.unwrap();
    takes(&store, &[("stripe", 202), ("slack", 204), ("github", 204)]).await;
    let refused = store.set_sources(TUNNEL, &DESKTOP, Vec::new()).await.unwrap_err();
    assert!(matches!(refused, MailboxError::Unknown { what: "device", .. }), "{refused}");

    let other = maker.open().await;
    takes(&other, &[("stripe", 202), ("slack", 204), ("github", 204)]).await;
    store.leave(TUNNEL, &LAPTOP).await.unwrap();
    takes(&store, &[("slack", 204), ("github", 204)]).await;
    takes(&other, &[("slack", 204), ("github", 204)]).await;
}

async fn sources_of(store: &impl Mailbox) -> Vec<SourceOffer> {
    store.tunnel(TUNNEL).await.unwrap().unwrap().sources.clone()
}

pub(crate) async fn another_process_changes_are_seen_soon(maker: &impl Maker) {
    let relay = with_tunnel(maker).await;
    let other = maker.open().await;
    assert!(!relay.tunnel(TUNNEL).await.unwrap().unwrap().revoked);
    other.add_token("new", [4; 32], None, MOST_TUNNELS).await.unwrap();
    let known = async || relay.token([4; 32]).await.unwrap().filter(|id| id == "new");
    eventually("a new token is known", known).await;
    other.revoke_token("tk").await.unwrap();
    let revoked = async || relay.tunnel(TUNNEL).await.unwrap().unwrap().revoked.then_some(());
    eventually("the tunnel is known to be revoked", revoked).await;
    assert!(relay.put(TUNNEL, super::parcel(0, 10), &hookmitt_mailbox::Quota::default()).await.is_err());
}
