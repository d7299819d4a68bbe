//! The smallest of load balancers.

use std::net::SocketAddr;

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// One address before several: each connection goes to the next of them that is there.
pub struct Balancer {
    /// Whom to call.
    pub address: SocketAddr,
    _tasks: JoinSet<()>,
}

impl Balancer {
    /// Stands before these.
    pub async fn before(addresses: Vec<SocketAddr>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            for first in (0..addresses.len()).cycle() {
                let Ok((caller, _)) = listener.accept().await else { return };
                let mut order = addresses.clone();
                order.rotate_left(first);
                connections.spawn(join(caller, order));
            }
        });
        Self { address, _tasks: tasks }
    }
}

async fn join(mut caller: TcpStream, addresses: Vec<SocketAddr>) {
    for address in addresses {
        if let Ok(mut called) = TcpStream::connect(address).await {
            let _broken = copy_bidirectional(&mut caller, &mut called).await;
            return;
        }
    }
}
