//! One request and its answer over HTTP/1.1.

use std::error::Error;

use http::{Request, Response};
use hyper::{
    body::{Body, Incoming},
    client::conn::http1,
};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

/// Sends one request over a new connection, and returns what `read` makes of the answer. Neither time nor size is
/// limited here.
///
/// # Errors
/// Returns hyper's error if no answer begins. `read` has to report what goes wrong after that.
pub async fn exchange<B, T>(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    request: Request<B>,
    read: impl AsyncFnOnce(Response<Incoming>) -> T,
) -> hyper::Result<T>
where
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let talk = async {
        let response = sender.send_request(request).await?;
        Ok(read(response).await)
    };
    tokio::pin!(connection);
    tokio::pin!(talk);
    tokio::select! {
        biased;
        answer = &mut talk => return answer,
        // The connection may end before `read` has taken the whole answer from it.
        _ = &mut connection => {}
    }
    talk.await
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;
    use http_body_util::{BodyExt as _, Full};
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::{TcpListener, TcpStream},
        sync::oneshot,
        time::timeout,
    };

    use super::*;

    /// Returns both ends of a connection over loopback.
    async fn connected() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (client, server) =
            tokio::join!(TcpStream::connect(listener.local_addr().unwrap()), listener.accept());
        (client.unwrap(), server.unwrap().0)
    }

    fn question() -> Request<Full<Bytes>> {
        let request = Request::post("/key?id=1").header("host", "example.com");
        request.body(Full::new(Bytes::from_static(b"please"))).unwrap()
    }

    /// Reads the question and returns it as it arrived.
    async fn taken(server: &mut TcpStream) -> String {
        let mut asked = Vec::new();
        while !asked.ends_with(b"please") {
            assert_ne!(server.read_buf(&mut asked).await.unwrap(), 0, "{asked:?}");
        }
        String::from_utf8(asked).unwrap()
    }

    async fn whole(response: Response<Incoming>) -> (u16, Bytes) {
        (response.status().as_u16(), response.into_body().collect().await.unwrap().to_bytes())
    }

    /// Runs both sides at once, for a minute at most.
    async fn both<A, B>(one: impl Future<Output = A>, other: impl Future<Output = B>) -> (A, B) {
        let ended = timeout(Duration::from_secs(60), async { tokio::join!(one, other) }).await;
        ended.expect("an end within a minute")
    }

    #[tokio::test]
    async fn a_question_is_sent_whole_and_an_answer_in_many_pieces_is_read() {
        let (client, mut server) = connected().await;
        let body = vec![b'x'; 1 << 20];
        let serve = async {
            let asked = taken(&mut server).await;
            let head = format!("HTTP/1.1 203 Well\r\nContent-Length: {}\r\n\r\n", body.len());
            server.write_all(head.as_bytes()).await.unwrap();
            server.write_all(&body).await.unwrap();
            asked
        };
        let (answer, asked) = both(exchange(client, question(), whole), serve).await;
        let (status, read) = answer.unwrap();
        assert!(status == 203 && read == body, "{status}, {} bytes", read.len());
        assert_eq!(asked, "POST /key?id=1 HTTP/1.1\r\nhost: example.com\r\ncontent-length: 6\r\n\r\nplease");
    }

    #[tokio::test]
    async fn an_answer_is_taken_though_the_connection_ended_before() {
        let (client, mut server) = connected().await;
        let (ended, when_ended) = oneshot::channel();
        let serve = async {
            taken(&mut server).await;
            let answer = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nlater";
            server.write_all(answer).await.unwrap();
            // At the end of the stream, hyper has shut the connection down.
            server.read_to_end(&mut Vec::new()).await.unwrap();
            ended.send(()).unwrap();
        };
        let patient = async |response| {
            when_ended.await.unwrap();
            whole(response).await
        };
        let (answer, ()) = both(exchange(client, question(), patient), serve).await;
        assert_eq!(answer.unwrap(), (200, Bytes::from_static(b"later")));
    }

    #[tokio::test]
    async fn a_connection_without_an_answer_is_hypers_error_and_nothing_is_read() {
        let (client, mut server) = connected().await;
        let serve = async {
            taken(&mut server).await;
            server.write_all(b"SSH-2.0-OpenSSH\r\n\r\n").await.unwrap();
        };
        let unread = async |response: Response<Incoming>| panic!("{response:?}");
        let (answer, ()) = both(exchange(client, question(), unread), serve).await;
        let error = answer.map(|()| "no error").unwrap_err();
        assert!(error.is_parse(), "{error:?}");
    }
}
