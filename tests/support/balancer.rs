//! A minimal load balancer.

use std::net::SocketAddr;

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// One address for several servers. Each connection starts at the next server in turn and goes to the first that
/// accepts it.
pub struct Balancer {
    /// The address to connect to.
    pub address: SocketAddr,
    _tasks: JoinSet<()>,
}

impl Balancer {
    /// Starts a balancer in front of these servers.
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
