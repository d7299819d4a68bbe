//! Replacing the sealing key (Threat 12): who is told the new key, how letters wait for it, and what happens with a
//! forged note or an old relay.

use bytes::Bytes;
use hookmitt_seal::Sealer;
use hookmitt_tunnel::{Credentials, Line, NoKey, Options, TunnelError, Turn};
use hookmitt_wire::{AppFrame, RelayFrame, TunnelDevice};

use crate::support::{App, Caller, Relay, Told, Tunnel, letter, parcel, whole};

/// A tunnel, a device that was invited to it, and a key replaced for that device.
struct Set {
    relay: Relay,
    owner: Tunnel,
    mate: Credentials,
    turn: Turn,
}

fn listed(key: [u8; 32]) -> TunnelDevice {
    let name = "laptop".to_owned();
    TunnelDevice { key, name, joined_at: 0, seen_at: 0, is_connected: false, is_owner: false, proof: None }
}

async fn set() -> Set {
    let relay = Relay::start().await;
    let owner = Tunnel::at(&relay);
    let mate = Credentials::invited(&owner.credentials.invite("code".to_owned())).expect("an invite");
    let devices = [listed(mate.device_key()), listed([9; 32])];
    let turn = Turn::new(&owner.credentials, [0; 32], &devices, [9; 32], |_| true);
    Set { relay, owner, mate, turn }
}

impl Set {
    fn note(&self) -> Bytes {
        self.turn.notes[0].1.clone()
    }

    fn key(&self, note: Bytes) -> RelayFrame {
        RelayFrame::SealingKey { sealing_key: self.turn.pair.public, note }
    }

    fn letter(&self, position: u64, text: &'static str) -> RelayFrame {
        let sealer = Sealer::new(self.turn.pair.public, "acme-dev").expect("a key");
        whole(position, parcel(&sealer, &letter(text).to_bytes()))
    }
}

#[tokio::test]
async fn threat_12_a_device_that_nothing_can_be_sealed_to_does_not_keep_others_in() {
    let set = set().await;
    let mut weak = [0; 32];
    weak[0] = 1; // the neutral element
    let mate = set.mate.device_key();
    let devices = [listed(mate), listed(weak), listed([9; 32])];
    let turn = Turn::new(&set.owner.credentials, [0; 32], &devices, [9; 32], |_| true);
    assert!(turn.tells(&mate) && !turn.tells(&weak) && !turn.tells(&[9; 32]));
}

async fn asks_for_the_key(caller: &mut Caller) {
    loop {
        match caller.hear().await {
            AppFrame::SealingKey => return,
            AppFrame::Ack { .. } => {}
            frame => panic!("{frame:?}"),
        }
    }
}

#[tokio::test]
async fn threat_12_a_letter_that_comes_before_the_new_key_waits_for_it_and_keeps_its_order() {
    let set = set().await;
    let mut app = App::start(set.mate.clone(), App::options()).stores_by_itself();
    let (mut caller, introduced) = set.relay.lets_in_knowing(2).await;
    assert!(matches!(introduced, AppFrame::Introduce { letters: 2, .. }), "{introduced:?}");
    caller.say(set.owner.says(1, "by the old key")).await;
    caller.acknowledged(1).await;
    caller.say(set.letter(2, "by the new key")).await;
    asks_for_the_key(&mut caller).await;
    caller.say(set.letter(3, "and one more")).await;
    caller.say(set.key(set.note())).await;
    assert_eq!(app.stores(3).await, [1, 2, 3]);
    assert_eq!(app.not_read(), []);
    let keys = vec![set.turn.pair.secret.clone(), set.mate.sealing.clone()];
    assert_eq!(app.told_keys(), Told::Keys(keys));
}

#[tokio::test]
async fn threat_12_without_a_key_of_the_owner_a_letter_is_lost_and_said_and_blocks_nothing() {
    let set = set().await;
    let mut app = App::start(set.mate.clone(), App::options()).stores_by_itself();
    let (mut caller, _) = set.relay.lets_in_knowing(2).await;
    caller.say(set.owner.says(1, "by the old key")).await;
    caller.acknowledged(1).await;
    caller.say(set.letter(2, "by a key of the relay's own")).await;
    asks_for_the_key(&mut caller).await;
    caller.say(set.key(Bytes::from_static(b"made up"))).await;
    caller.say(set.letter(3, "and again")).await;
    caller.say(set.owner.says(4, "by the old key")).await;
    assert_eq!(app.stores(2).await, [1, 4]);
    assert_eq!(app.told_keys(), Told::None(NoKey::Forged));
    let lost: Vec<_> = app.not_read().into_iter().map(|(position, _, lost)| (position, lost)).collect();
    assert_eq!(lost, [(2, true), (3, true)]);
}

#[tokio::test]
async fn an_old_relay_is_told_no_new_words_and_says_that_it_is_old() {
    let set = set().await;
    let line = Line::new();
    let mut app = App::start(set.mate.clone(), Options { line: line.clone(), ..App::options() });
    let mut caller = set.relay.lets_in().await;
    app.connected().await;
    assert_eq!(line.devices().await, Err(TunnelError::OldRelay("devices")));
    assert_eq!(line.revoke(set.turn.clone()).await, Err(TunnelError::OldRelay("revoking devices")));
    caller.say(set.owner.says(1, "x")).await;
    app.given().await.stored();
    caller.acknowledged(1).await; // and nothing else was acknowledged
}
