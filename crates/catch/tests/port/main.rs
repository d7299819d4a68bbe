//! Sends hostile streams to the whole port (Threats 1 and 7). What is stored must be what an independent reading of RFC
//! 9112 finds in the stream, and nothing that only imitates a request in a body. `fuzz/fuzz_targets/port.rs` plays
//! other streams.

mod oracle;
mod play;

use play::{play, stream};

/// Returns the next number of a fixed sequence (xorshift64*).
fn next(state: &mut u64) -> u64 {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    state.wrapping_mul(0x2545_F491_4F6C_DD1D)
}

/// Returns the seeds of the fuzz target.
fn seeds() -> Vec<Vec<u8>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/port");
    let files = std::fs::read_dir(folder).expect("the seeds").map(|file| file.expect("a seed").path());
    files.map(|path| std::fs::read(path).expect("a seed")).collect()
}

#[test]
fn threat_7_the_seeds_are_stored_as_they_are_sent_however_they_are_cut() {
    let seeds = seeds();
    assert!(seeds.len() >= 20, "{} seeds", seeds.len());
    for seed in seeds {
        let (sent, _) = stream(&seed);
        for cut in [1, 2, 3, 7, 16, 64, 255, 100_000] {
            play(&sent, cut);
        }
    }
}

#[test]
fn the_reading_that_the_port_is_held_against_finds_requests_and_stops_where_it_must() {
    let found = |sent: &[u8]| {
        let stream = oracle::read(sent);
        (stream.requests.len(), stream.sure)
    };
    let post = b"POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi";
    assert_eq!(found(post), (1, 1));
    assert_eq!(found(&post.repeat(3)), (3, 3));
    assert_eq!(found(&post[..post.len() - 1]), (0, 0));
    let chunks = b"POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2;a=\"\\\"\"\r\nhi\r\n0\r\nX: y\r\n\r\n";
    assert_eq!(found(&[&chunks[..], post].concat()), (2, 2));
    assert_eq!(oracle::read(chunks).requests[0].body, b"hi");
    for stop in ["2;\r\nhi\r\n0\r\n\r\n", "2 \r\nhi\r\n0\r\n\r\n", "2\nhi\r\n0\r\n\r\n", "0\r\n\n"] {
        let head = "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(found(&[head.as_bytes(), stop.as_bytes(), post].concat()), (0, 0), "{stop:?}");
    }
    assert_eq!(found(b"GET / HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n"), (1, 1));
    assert_eq!(found(b"GET /b HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n"), (0, 0));
}

#[test]
fn threat_7_nothing_is_stored_that_does_not_stand_in_the_stream() {
    let mut state = 0x9E37_79B9_7F4A_7C15;
    let mut requests = 0;
    for _ in 0..4_000 {
        let mut sent = Vec::new();
        for _ in 0..=next(&mut state) % 3 {
            sent.extend(whole(&mut state));
        }
        // A few bytes are changed, left out or sent twice, so that what follows may be read differently.
        for _ in 0..next(&mut state) % 4 {
            let at = below(&mut state, sent.len());
            match next(&mut state) % 3 {
                0 => sent[at] = b"\r\n\0 ;:05a/@,\x80\"\\\t"[below(&mut state, 16)],
                1 => drop(sent.remove(at)),
                _ => sent.insert(at, sent[at]),
            }
        }
        requests += oracle::read(&sent).requests.len();
        play(&sent, 1 + below(&mut state, 97));
    }
    assert!(requests > 2_000, "the streams are not all refused at once: {requests}");
}

fn below(state: &mut u64, bound: usize) -> usize {
    usize::try_from(next(state) % bound.max(1) as u64).expect("less than the bound")
}

/// Returns one request whose body looks like another request.
fn whole(state: &mut u64) -> Vec<u8> {
    let decoy = "POST /decoy HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n";
    let body = &decoy[..below(state, decoy.len() + 1)];
    let lines = ["", "X: y\r\n", "Expect: 100-continue\r\n", "Connection: keep-alive\r\n"][below(state, 4)];
    let target = ["/a", "/b//c?d", "http://h.example/e", "/f/%00"][below(state, 4)];
    let head = format!("POST {target} HTTP/1.1\r\nHost: h\r\n{lines}");
    let whole = match next(state) % 3 {
        0 => format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()),
        1 if !body.is_empty() => {
            let extension = ["", ";a", " ; a=\"b\\\"\"", ";a=b;c"][below(state, 4)];
            let trailer = ["", "X: y\r\n", "Content-Length: 9\r\n"][below(state, 3)];
            let chunk = format!("{:x}{extension}\r\n{body}\r\n", body.len());
            format!("{head}Transfer-Encoding: chunked\r\n\r\n{chunk}0\r\n{trailer}\r\n")
        }
        _ => format!("{head}\r\n"),
    };
    whole.into_bytes()
}
