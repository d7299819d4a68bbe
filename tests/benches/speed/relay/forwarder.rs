//! The server that a relay is compared with if each request has its own connection. It does the least that a pipe can
//! do.

use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::TaskTracker;

/// Accepts connections, opens one to `address` for each, and copies in both directions.
pub(crate) fn forwarder(address: &str) -> anyhow::Result<()> {
    let address: SocketAddr = address.parse()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        #[expect(clippy::print_stdout, reason = "the parent reads the address here")]
        {
            println!("http://{}", listener.local_addr()?);
        }
        let copying = TaskTracker::new();
        loop {
            let (stream, _) = listener.accept().await?;
            copying.spawn(async move {
                // Either side may end the connection at any moment.
                let _ended = forward(stream, address).await;
            });
        }
    })
}

async fn forward(mut stream: TcpStream, address: SocketAddr) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut onward = TcpStream::connect(address).await?;
    onward.set_nodelay(true)?;
    tokio::io::copy_bidirectional(&mut stream, &mut onward).await?;
    Ok(())
}
