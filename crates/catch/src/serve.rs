//! Accepts connections and runs each one to its end.

use std::{future::Future, net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use crate::Breather;

/// Limits for connections.
#[derive(Clone, Copy, Debug)]
pub struct Connections {
    /// How many are open at once; further ones wait in the system's queue.
    pub most: usize,
    /// How long open connections may go on after the stop.
    pub grace: Duration,
}

impl Default for Connections {
    fn default() -> Self {
        Self { most: 1_024, grace: Duration::from_secs(10) }
    }
}

/// Accepts on every listener until `stop`, and then waits for the open connections to end.
///
/// A connection that is still in the system's queue at the stop was never accepted, so its sender sees a reset.
pub async fn accept<F, S>(
    listeners: Vec<TcpListener>,
    connections: Connections,
    stop: CancellationToken,
    serve: S,
) where
    S: Fn(TcpStream, SocketAddr) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(connections.most));
    let mut doors = JoinSet::new();
    for listener in listeners {
        let (places, stop, serve) = (Arc::clone(&places), stop.clone(), serve.clone());
        doors.spawn(door(listener, places, connections.grace, stop, serve));
    }
    while doors.join_next().await.is_some() {}
}

async fn door<F, S>(
    listener: TcpListener,
    places: Arc<Semaphore>,
    grace: Duration,
    stop: CancellationToken,
    serve: S,
) where
    S: Fn(TcpStream, SocketAddr) -> F,
    F: Future<Output = ()> + Send + 'static,
{
    let (mut open, mut breather) = (JoinSet::new(), Breather::new("a port"));
    let next = async || {
        let place = Arc::clone(&places).acquire_owned().await;
        (listener.accept().await, place)
    };
    loop {
        let (accepted, place) = tokio::select! {
            () = stop.cancelled() => break,
            Some(_) = open.join_next() => continue,
            accepted = next() => accepted,
        };
        if let Some((stream, remote)) = breather.accepted(accepted).await {
            let _ = stream.set_nodelay(true); // an answer is one small write
            let served = serve(stream, remote);
            open.spawn(async move {
                let _place = place;
                served.await;
            });
        }
    }
    drop(listener);
    let _out_of_time = tokio::time::timeout(grace, async { while open.join_next().await.is_some() {} }).await;
}
