use std::{cell::RefCell, future::pending, rc::Rc};

use tokio::{
    net::{TcpListener, TcpSocket},
    time::{sleep, timeout},
};

use super::*;

/// How an address behaves: after so many milliseconds it accepts or fails, or it never answers.
#[derive(Clone, Copy)]
enum Does {
    Answer(u64),
    Fail(u64, io::ErrorKind),
    Hang,
}
use Does::{Answer, Fail, Hang};

const REFUSE: Does = Fail(0, io::ErrorKind::ConnectionRefused);

/// The addresses to which a name resolves, and how each of them behaves.
#[derive(Default)]
struct Net {
    does: Vec<(SocketAddr, Does)>,
    /// The addresses that were tried, each with the time in milliseconds.
    tried: RefCell<Vec<(u128, String)>>,
    /// Held by each attempt that is under way.
    held: Rc<()>,
}

impl Net {
    fn new(does: &[(&str, Does)]) -> Self {
        let does = does.iter().map(|(ip, does)| (SocketAddr::new(ip.parse().unwrap(), 80), *does));
        Self { does: does.collect(), ..Self::default() }
    }

    /// Connects within so many milliseconds. Returns the outcome, and after how many milliseconds it came.
    async fn connect(&self, limit: u64) -> (Result<String, String>, u128) {
        let begun = Instant::now();
        let addresses: Vec<_> = self.does.iter().map(|(address, _)| *address).collect();
        let answer = race(&addresses, begun + Duration::from_millis(limit), |address| {
            self.tried.borrow_mut().push((begun.elapsed().as_millis(), address.ip().to_string()));
            let (_, does) = *self.does.iter().find(|(own, _)| *own == address).unwrap();
            let held = Rc::clone(&self.held);
            async move {
                let _held = held;
                match does {
                    Answer(after) => sleep(Duration::from_millis(after)).await,
                    Fail(after, kind) => {
                        sleep(Duration::from_millis(after)).await;
                        return Err(kind.into());
                    }
                    Hang => pending().await,
                }
                Ok(address.ip().to_string())
            }
        });
        let answer = answer.await.map_err(|error| error.to_string());
        assert_eq!(Rc::strong_count(&self.held), 1, "nothing tries on");
        (answer, begun.elapsed().as_millis())
    }

    fn tried(&self) -> Vec<(u128, String)> {
        self.tried.take()
    }
}

fn tries(tries: &[(u128, &str)]) -> Vec<(u128, String)> {
    tries.iter().map(|(at, ip)| (*at, (*ip).to_owned())).collect()
}

#[tokio::test(start_paused = true)]
async fn the_first_address_is_preferred_where_it_answers() {
    let net = Net::new(&[("127.0.0.1", Answer(200)), ("::1", Answer(0))]);
    assert_eq!(net.connect(1_000).await, (Ok("127.0.0.1".to_owned()), 200));
    assert_eq!(net.tried(), tries(&[(0, "127.0.0.1")]));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_leads_to_the_next_address_at_once() {
    let net = Net::new(&[("127.0.0.1", REFUSE), ("::1", Answer(3))]);
    assert_eq!(net.connect(1_000).await, (Ok("::1".to_owned()), 3));
    let net = Net::new(&[("127.0.0.1", Fail(40, io::ErrorKind::Other)), ("::1", Answer(3))]);
    assert_eq!(net.connect(1_000).await, (Ok("::1".to_owned()), 43));
}

#[tokio::test(start_paused = true)]
async fn beside_a_silent_address_the_next_is_tried_and_the_first_to_answer_wins() {
    let net = Net::new(&[("192.0.2.1", Hang), ("2001:db8::1", Answer(20))]);
    assert_eq!(net.connect(10_000).await, (Ok("2001:db8::1".to_owned()), 270));
    let net = Net::new(&[("192.0.2.1", Answer(300)), ("2001:db8::1", Answer(100))]);
    assert_eq!(net.connect(10_000).await, (Ok("192.0.2.1".to_owned()), 300));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_does_not_wait_for_the_silent_one_before() {
    let net = Net::new(&[("::1", Hang), ("127.0.0.1", REFUSE), ("::2", Answer(0))]);
    assert_eq!(net.connect(10_000).await, (Ok("::2".to_owned()), 250));
}

#[tokio::test(start_paused = true)]
async fn families_take_turns_in_the_order_of_the_resolver() {
    let all = ["2001:db8::1", "2001:db8::2", "2001:db8::3", "192.0.2.1", "192.0.2.2"];
    let net = Net::new(&all.map(|ip| (ip, REFUSE)));
    let (answer, took) = net.connect(1_000).await;
    let words = "[2001:db8::1]:80: connection refused; 192.0.2.1:80: connection refused; \
                 [2001:db8::2]:80: connection refused; 192.0.2.2:80: connection refused; \
                 [2001:db8::3]:80: connection refused";
    assert_eq!((answer, took), (Err(words.to_owned()), 0));
}

#[tokio::test(start_paused = true)]
async fn ten_silent_addresses_take_no_longer_than_one() {
    let all: Vec<_> = (1..=10).map(|number| format!("192.0.2.{number}")).collect();
    let net = Net::new(&all.iter().map(|ip| (ip.as_str(), Hang)).collect::<Vec<_>>());
    let (answer, took) = net.connect(1_100).await;
    assert_eq!((answer.unwrap_err().matches("no connection in time").count(), took), (10, 1_100));
    assert_eq!(net.tried().len(), 5, "one more each quarter of a second");
    let (_, took) = net.connect(5_000).await;
    assert_eq!((took, net.tried().len()), (5_000, 10));
    assert_eq!(net.connect(0).await.1, 0);
}

#[tokio::test(start_paused = true)]
async fn what_each_address_came_to_is_told_apart() {
    let kinds = [
        (io::ErrorKind::ConnectionRefused, "connection refused"),
        (io::ErrorKind::HostUnreachable, "no route"),
        (io::ErrorKind::NetworkUnreachable, "no route"),
        (io::ErrorKind::NetworkDown, "no route"),
        (io::ErrorKind::TimedOut, "no connection in time"),
        (io::ErrorKind::PermissionDenied, "permission denied"),
    ];
    for (kind, words) in kinds {
        let (answer, _) = Net::new(&[("::1", Fail(5, kind)), ("127.0.0.1", Hang)]).connect(100).await;
        assert_eq!(answer, Err(format!("[::1]:80: {words}; 127.0.0.1:80: no connection in time")));
    }
    let error = ConnectError(vec![(([127, 0, 0, 1], 80).into(), AddressError::Refused)]);
    assert_eq!((error.why(), error.is_slow()), (NoConnection::ConnectionRefused, false));
    assert_eq!(error.in_words("localhost"), "connection refused by localhost");
    assert_eq!(Net::new(&[]).connect(100).await, (Err(String::new()), 0));
}

#[test]
fn of_several_reasons_the_one_that_explains_most_is_told() {
    use AddressError::{NoRoute, Other, Refused, Slow};
    let why = |reasons: Vec<AddressError>| {
        let error = ConnectError(reasons.into_iter().map(|why| (([192, 0, 2, 1], 80).into(), why)).collect());
        (error.why(), error.in_words("a.test:80"))
    };
    let other = || Other(io::Error::from(io::ErrorKind::AddrNotAvailable));
    let said = |why, words: &str| (why, words.to_owned());
    let refused = said(NoConnection::ConnectionRefused, "connection refused by a.test:80");
    assert_eq!(why(vec![NoRoute, Slow, Refused]), refused);
    assert_eq!(why(vec![NoRoute, Slow]), said(NoConnection::NoAnswer, "no answer from a.test:80 in time"));
    assert_eq!(why(vec![other(), NoRoute]), said(NoConnection::NoRoute, "no route to a.test:80"));
    let words = "no connection to a.test:80 (192.0.2.1:80: address not available)";
    assert_eq!(why(vec![other()]), said(NoConnection::BrokenOff, words));
}

#[cfg(unix)]
#[test]
fn a_machine_without_handles_is_told_apart() {
    let why = AddressError::from(io::Error::from_raw_os_error(24));
    assert!(matches!(&why, AddressError::NoHandle(_)) && why.to_string().contains("(os error 24)"), "{why}");
}

/// Returns a port whose queue is full, so that the system drops new connections, and the connections that fill it.
#[cfg(unix)]
async fn swallowing(address: &str) -> Option<(TcpListener, Vec<TcpStream>)> {
    let address: SocketAddr = address.parse().unwrap();
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }.ok()?;
    socket.bind(address).ok()?; // a machine without IPv6
    let listener = socket.listen(1).unwrap();
    let mut filling = Vec::new();
    let patience = Duration::from_millis(500);
    while let Ok(next) = timeout(patience, TcpStream::connect(listener.local_addr().unwrap())).await {
        filling.push(next.unwrap());
    }
    Some((listener, filling))
}

#[cfg(unix)]
#[tokio::test]
async fn a_real_port_that_swallows_holds_nobody_up() {
    for (silent, open) in [("[::1]:0", "127.0.0.1:0"), ("127.0.0.1:0", "[::1]:0")] {
        let (Some((full, _filling)), Ok(there)) = (swallowing(silent).await, TcpListener::bind(open).await)
        else {
            continue;
        };
        let (silent, there) = (full.local_addr().unwrap(), there.local_addr().unwrap());
        let begun = Instant::now();
        let stream = connect(&[silent, there], begun + Duration::from_secs(60)).await.unwrap();
        assert!(stream.peer_addr().unwrap() == there && stream.nodelay().unwrap());
        assert!(begun.elapsed() >= ATTEMPT_DELAY && begun.elapsed() < Duration::from_secs(5));
        let error = connect(&[silent], Instant::now() + Duration::from_millis(300)).await.unwrap_err();
        assert_eq!(error.to_string(), format!("{silent}: no connection in time"));
    }
}
