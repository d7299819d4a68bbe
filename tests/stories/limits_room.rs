//! A letter occupies its party's room until it is stored (Threat 12).

use std::{net::SocketAddr, sync::Arc};

use hookmitt_catch::{
    Called, Caught, Connections, Head, Limits, Port, Refusal, Reply, Room, Unencrypted, Way, bind, catch_on,
};
use hookmitt_stories::{eventually, post, within};
use tokio::{sync::Semaphore, task::JoinSet};
use tokio_util::sync::CancellationToken;

static BODY: [u8; 60 * 1024] = [b'x'; 60 * 1024];

/// A port with little room per name, and a slow store.
struct Slow {
    rooms: [Room; 2],
    may_be_stored: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

impl Port for Slow {
    type Destination = usize;

    async fn admit(&self, head: &Head, _: &Called<'_>, _: SocketAddr) -> Way<usize> {
        Way::Take(usize::from(head.target == "/other"))
    }

    fn rooms(&self, place: &usize) -> Vec<Room> {
        vec![self.rooms[*place].clone()]
    }

    async fn caught(&self, _: usize, caught: Caught) -> Reply {
        self.waiting.add_permits(1);
        self.may_be_stored.acquire().await.unwrap().forget();
        drop(caught);
        Reply::json(202, "{}".to_owned())
    }

    fn refused(&self, _: Refusal, _: Option<&usize>) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_12_the_room_that_a_letter_takes_counts_until_it_is_stored() {
    let bound = bind(None, 0).expect("a free port");
    let (address, stop) = (bound.addresses()[0], CancellationToken::new());
    let (may_be_stored, waiting) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let rooms = [Room::new(128 * 1024), Room::new(128 * 1024)];
    let port = Slow { rooms, may_be_stored: Arc::clone(&may_be_stored), waiting: Arc::clone(&waiting) };
    let mut running = JoinSet::new();
    let serving =
        catch_on(bound, Arc::new(port), Unencrypted, Connections::default(), Limits::default(), stop.clone());
    running.spawn(serving);
    let mut senders = JoinSet::new();
    for _ in 0..2 {
        senders.spawn(async move { post(address, "/mine", &[], &BODY).await });
    }
    within("both are whole, and wait to be stored", waiting.acquire_many(2)).await.unwrap().forget();
    let refused = post(address, "/mine", &[], &BODY).await;
    assert_eq!((refused.status, refused.json()["code"].as_str()), (503, Some("not-stored")));
    may_be_stored.add_permits(3);
    assert_eq!(within("others have room", post(address, "/other", &[], &BODY)).await.status, 202);
    for sender in within("they are stored", senders.join_all()).await {
        assert_eq!(sender.status, 202);
    }
    may_be_stored.add_permits(100);
    eventually("there is room again", async || {
        (post(address, "/mine", &[], &BODY).await.status == 202).then_some(())
    })
    .await;
    stop.cancel();
    running.join_all().await;
}
