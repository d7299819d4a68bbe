//! The contract about tokens.

use std::time::Duration;

use hookmitt_mailbox::{MOST_TUNNELS, Mailbox, MailboxError, NewTunnel, Quota};

use super::{
    A_DAY, A_MINUTE, LAPTOP, MINUTE, Maker, NOW, TUNNEL, eventually, holds, live, new_tunnel, parcel, put,
    with_tunnel,
};

pub(crate) async fn threat_9_a_token_is_known_by_its_hash_alone(maker: &impl Maker) {
    let store = maker.open().await;
    store.add_token("tk_1", [1; 32], Some("Acme"), MOST_TUNNELS).await.unwrap();
    maker.clock().pass(Duration::from_micros(1));
    store.add_token("tk_2", [2; 32], None, MOST_TUNNELS).await.unwrap();
    assert_eq!(store.token([2; 32]).await.unwrap().as_deref(), Some("tk_2"));
    assert_eq!(store.token([3; 32]).await.unwrap(), None);

    store.open_tunnel(NewTunnel { token: "tk_1".to_owned(), ..new_tunnel("one", LAPTOP) }).await.unwrap();
    store.open_tunnel(NewTunnel { token: "tk_1".to_owned(), ..new_tunnel("two", LAPTOP) }).await.unwrap();
    let tokens = store.tokens().await.unwrap();
    assert_eq!(tokens.iter().map(|token| token.id.as_str()).collect::<Vec<_>>(), ["tk_1", "tk_2"]);
    assert_eq!((tokens[0].name.as_deref(), tokens[1].name.as_deref()), (Some("Acme"), None));
    assert_eq!((tokens[0].created_at, tokens[0].used_at), (NOW, Some(NOW + 1)));
    assert_eq!((tokens[1].created_at, tokens[1].used_at), (NOW + 1, None));
    let mut tunnels = tokens[0].tunnels.clone();
    tunnels.sort();
    assert_eq!((tunnels, tokens[1].tunnels.len()), (vec!["one".to_owned(), "two".to_owned()], 0));
}

/// Returns the token whose secret has this hash.
async fn known(store: &impl Mailbox, hash: u8) -> Option<String> {
    store.token([hash; 32]).await.unwrap()
}

pub(crate) async fn a_token_gets_another_secret_and_keeps_its_tunnels(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    put(&store, 0..3).await;
    store.add_token("other", [8; 32], None, MOST_TUNNELS).await.unwrap();
    store.rotate_token("tk", [7; 32]).await.unwrap();
    store.rotate_token("tk", [7; 32]).await.unwrap();
    assert_eq!((known(&store, 9).await, known(&store, 7).await.as_deref()), (None, Some("tk")));
    assert_eq!(known(&store, 8).await.as_deref(), Some("other"));
    assert!(!store.tunnel(TUNNEL).await.unwrap().unwrap().revoked);
    holds(&store, 3).await;
    store.open_tunnel(new_tunnel("late", LAPTOP)).await.unwrap();

    store.close().await;
    let store = maker.open().await;
    assert_eq!((known(&store, 9).await, known(&store, 7).await.as_deref()), (None, Some("tk")));
    let tokens = store.tokens().await.unwrap();
    let token = tokens.iter().find(|token| token.id == "tk").unwrap();
    assert_eq!((token.name.as_deref(), token.created_at, token.tunnels.len()), (Some("Acme"), NOW, 2));

    store.revoke_token("tk").await.unwrap();
    let refused = store.rotate_token("tk", [6; 32]).await.unwrap_err();
    assert!(matches!(&refused, MailboxError::TokenRevoked(id) if id == "tk"), "{refused}");
    let refused = store.rotate_token("nobody", [5; 32]).await.unwrap_err();
    assert!(matches!(refused, MailboxError::Unknown { what: "token", .. }), "{refused}");
    for hash in [5, 6, 7, 9] {
        assert_eq!(known(&store, hash).await, None, "{hash}");
    }
}

pub(crate) async fn a_revoked_token_shuts_its_tunnels_for_good(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    store.add_token("other", [8; 32], None, MOST_TUNNELS).await.unwrap();
    let other = NewTunnel { token: "other".to_owned(), ..new_tunnel("other", LAPTOP) };
    store.open_tunnel(other).await.unwrap();
    store.put("other", parcel(0, 10), &Quota::default()).await.unwrap();
    put(&store, 0..3).await;

    maker.clock().pass(A_MINUTE);
    store.revoke_token("tk").await.unwrap();
    assert_eq!(store.token([9; 32]).await.unwrap(), None);
    let revoked =
        async || store.tunnel(TUNNEL).await.unwrap().is_some_and(|tunnel| tunnel.revoked).then_some(());
    eventually("the tunnel is known to be revoked", revoked).await;
    let refused = store.put(TUNNEL, parcel(3, 100), &Quota::default()).await.unwrap_err();
    assert!(matches!(refused, MailboxError::Unknown { what: "tunnel", .. }), "{refused}");
    holds(&store, 1).await;
    assert!(!store.tunnel("other").await.unwrap().unwrap().revoked);

    // Revoking again changes nothing, and everything stays so after a restart.
    maker.clock().pass(A_MINUTE);
    store.revoke_token("tk").await.unwrap();
    store.close().await;
    let store = maker.open().await;
    let tokens = store.tokens().await.unwrap();
    let token = tokens.iter().find(|token| token.id == "tk").unwrap();
    assert_eq!((token.revoked_at, &token.tunnels[..]), (Some(NOW + MINUTE), &[TUNNEL.to_owned()][..]));
    assert!(store.tunnel(TUNNEL).await.unwrap().unwrap().revoked);
    assert_eq!(store.usage().await.unwrap().tunnels, 1);
}

pub(crate) async fn a_token_has_as_many_open_tunnels_as_it_may<M: Maker>(maker: &M) {
    let store = maker.open().await;
    store.add_token("two", [2; 32], None, 2).await.unwrap();
    store.add_token("none", [1; 32], None, 0).await.unwrap();
    let open = async |name: &str, token: &str| {
        store.open_tunnel(NewTunnel { token: token.to_owned(), ..new_tunnel(name, LAPTOP) }).await
    };
    open("one", "two").await.unwrap();
    open("another", "two").await.unwrap();
    store.seen("one", &LAPTOP).await.unwrap();
    for (token, most) in [("two", 2), ("none", 0)] {
        let refused = open("late", token).await.unwrap_err();
        assert!(matches!(refused, MailboxError::TooManyTunnels(count) if count == most), "{refused}");
    }
    assert!(matches!(open("one", "two").await, Err(MailboxError::NameTaken(_))), "that is said first");
    assert_eq!(store.tunnel("late").await.unwrap(), None);
    let most = async |store: &M::Store| {
        let tokens = store.tokens().await.unwrap();
        tokens.iter().find(|token| token.id == "two").map(|token| (token.most_tunnels, token.tunnels.len()))
    };
    assert_eq!(most(&store).await, Some((2, 2)));

    store.close().await;
    let store = maker.open().await;
    assert_eq!(most(&store).await, Some((2, 2)), "it is known after a restart");
    let later = NewTunnel { token: "two".to_owned(), ..new_tunnel("later", LAPTOP) };
    assert!(matches!(store.open_tunnel(later).await, Err(MailboxError::TooManyTunnels(2))));
}

pub(crate) async fn threat_12_a_tunnel_that_was_closed_counts_for_another_day(maker: &impl Maker) {
    let store = maker.open().await;
    store.add_token("two", [2; 32], None, 2).await.unwrap();
    let open = async |store: &_, name: &str| {
        let tunnel = NewTunnel { token: "two".to_owned(), ..new_tunnel(name, LAPTOP) };
        Mailbox::open_tunnel(store, tunnel).await
    };
    for name in ["one", "another"] {
        open(&store, name).await.unwrap();
        store.seen(name, &LAPTOP).await.unwrap();
        store.leave(name, &LAPTOP).await.unwrap();
    }
    maker.clock().pass(A_DAY - A_MINUTE);
    let refused = open(&store, "late").await.unwrap_err();
    assert!(matches!(refused, MailboxError::TooManyTunnels(2)), "{refused}");
    assert!(refused.to_string().contains("closed within a day"), "{refused}");
    store.close().await;
    let store = maker.open().await;
    assert!(open(&store, "late").await.is_err(), "it is known after a restart");
    live(maker.clock(), &store, &Quota::default(), A_MINUTE * 5).await;
    for name in ["late", "later"] {
        open(&store, name).await.unwrap();
    }
    assert!(open(&store, "last").await.is_err());

    // A name that the token opens again counts once.
    open(&store, "late").await.unwrap();
}

pub(crate) async fn a_token_that_is_unknown_or_revoked_opens_nothing(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    store.revoke_token("tk").await.unwrap();
    let refused = store.open_tunnel(new_tunnel("late", LAPTOP)).await.unwrap_err();
    assert!(matches!(refused, MailboxError::Unknown { what: "token", .. }), "{refused}");
    let stranger = NewTunnel { token: "nobody".to_owned(), ..new_tunnel("late", LAPTOP) };
    let refused = store.open_tunnel(stranger).await.unwrap_err();
    assert!(matches!(refused, MailboxError::Unknown { what: "token", .. }), "{refused}");
    let refused = store.revoke_token("nobody").await.unwrap_err();
    assert!(matches!(refused, MailboxError::Unknown { what: "token", .. }), "{refused}");
    assert_eq!(store.tunnel("late").await.unwrap(), None);
}
