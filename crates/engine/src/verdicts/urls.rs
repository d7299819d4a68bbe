//! Guesses the URL that a provider called: some providers sign it, and a proxy in front of us may have changed it.

use hookmitt_event::{Event, HeaderLines, Via};

/// Returns every URL that is worth trying, likeliest first.
pub(crate) fn called(event: &Event, own: &[String]) -> Vec<String> {
    let headers = &event.request.headers;
    let tail = event.request.path_and_query();
    let paths = [format!("/{}{tail}", event.source), tail];
    let mut found = vec![event.url.clone()];
    let mut add = |url: String| {
        if !found.contains(&url) {
            found.push(url);
        }
    };
    let hosts = ["x-forwarded-host", "x-original-host", "host"];
    let hosts = hosts.iter().filter_map(|name| first(headers, name));
    let proto = first(headers, "x-forwarded-proto").unwrap_or("https");
    let port = first(headers, "x-forwarded-port");
    for host in hosts {
        for path in &paths {
            add(format!("{proto}://{host}{path}"));
            add(format!("https://{host}{path}"));
            add(format!("http://{host}{path}"));
            if let Some(port) = port {
                add(format!("{proto}://{}:{port}{path}", without_port(host)));
            }
            add(format!("{proto}://{}{path}", without_port(host)));
        }
    }
    for base in own {
        add(format!("{base}{}", paths[0]));
    }
    found
}

/// Returns a sentence that says where the host in an event's URL comes from. Path and query are always those that were
/// called.
pub(crate) fn who_says(event: &Event, public_url: Option<&str>) -> &'static str {
    let is_public = public_url.is_some_and(|base| event.url.starts_with(base.trim_end_matches('/')));
    match event.via {
        Via::Direct if is_public => "The host comes from the source's public URL.",
        Via::Direct => {
            "The host comes from the request itself: nobody vouches for it. Set the source's public URL to use that \
             instead."
        }
        Via::Tunnel => "The host comes from the tunnel.",
        Via::BackupSync | Via::Import | Via::Send | Via::Edit => "It was stored with the event.",
    }
}

/// Returns the first value of a list, which the proxy farthest from us wrote.
fn first<'a>(headers: &'a HeaderLines, name: &str) -> Option<&'a str> {
    let value = headers.get_str(name)?.split(',').next()?.trim();
    (!value.is_empty()).then_some(value)
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}
