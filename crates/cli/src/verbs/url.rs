//! `hookmitt url`: prints the URLs to give to providers.

use hookmitt_event::{Plain, Slug};
use http::Method;
use serde::{Deserialize, Serialize};

use crate::{
    client::{Address, Client},
    failure::{CliError, Exit},
    terminal::{FAINT, Screen, Styled},
};

/// What `url` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this source's
    source: Option<Slug>,
    /// Print the web page's URL instead, with a code that opens it once, within a minute
    #[arg(long, conflicts_with = "source")]
    ui: bool,
}

#[derive(Debug, Deserialize)]
struct Urls {
    capture: Vec<String>,
    items: Vec<SourceUrl>,
}

#[derive(Debug, Deserialize, Serialize)]
struct SourceUrl {
    /// `None` if there is no source yet: then the URL is the one below which any name becomes a source.
    source: Option<String>,
    url: String,
    #[serde(default)]
    public: Vec<String>,
}

/// Prints one URL a line; for each source, those of tunnels first. If no source was named, the source stands before
/// each URL. As JSON, prints one object a source.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    if args.ui {
        return page(client, screen).await;
    }
    let address = Address::new(["urls"]).with("source", args.source.as_ref().map(Slug::as_str));
    let urls: Urls = client.get(&address).await?;
    for item in &urls.items {
        if screen.json {
            screen.print_json(item)?;
            continue;
        }
        for url in item.public.iter().chain([&item.url]) {
            match &args.source {
                Some(_) => screen.print(Plain(url))?,
                None => {
                    let source = item.source.as_deref().unwrap_or_default();
                    screen.print(format_args!("{}  {}", Plain(source), Plain(url)))?;
                }
            }
        }
    }
    if urls.items.is_empty() {
        let base = urls.capture.first().map_or("http://127.0.0.1:4400", String::as_str);
        if screen.json {
            screen.print_json(&SourceUrl { source: None, url: base.to_owned(), public: Vec::new() })?;
        } else {
            let note = format!("no sources yet: post to {}/NAME, and NAME becomes one", Plain(base));
            screen.note(Styled(FAINT, note));
        }
    }
    if !client.is_attached() {
        screen.note(Styled(FAINT, "nothing is listening there now: run `hookmitt serve`"));
    }
    Ok(Exit::Success)
}

#[derive(Debug, Deserialize, Serialize)]
struct PageUrl {
    url: String,
}

async fn page(client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let page: PageUrl =
        client.send(Method::POST, &Address::new(["session", "code"]), &serde_json::json!({})).await?;
    if screen.json {
        screen.print_json(&page)?;
    } else {
        screen.print(Plain(&page.url))?;
    }
    Ok(Exit::Success)
}
