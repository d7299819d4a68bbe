//! `hookmitt listen`: forwards events to a local server and shows them. If no hookmitt runs, it serves, too.

use std::{path::Path, pin::pin, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_api::StartError;
use hookmitt_event::{Plain, Slug, Timestamp};
use http::Method;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    client::{Address, Client},
    destination::Destination,
    failure::{CliError, Exit},
    line_log::LineLog,
    live::{Listening, Message, News},
    path_hint::PathHint,
    provider_name,
    seat::{Flags, Seat},
    secret_variable,
    stop::Stop,
    tail::Tail,
    target_view,
    terminal::{ODD, STRONG, Screen, Styled},
    verbs::{
        events::newest,
        public_url::{self, Opened},
        tunnel_add,
    },
};

/// How many times `listen` tries again to take over after the running hookmitt has ended, and the pause between tries.
const TAKE_OVER: (u32, Duration) = (40, Duration::from_millis(250));

/// What `listen` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Your server: a port, or a URL
    #[arg(value_name = "PORT|URL")]
    target: Destination,
    /// Only this source's events; a provider's id creates that provider's source
    #[arg(long, value_name = "S")]
    source: Option<Slug>,
    /// Create the source if it doesn't exist
    #[arg(long, requires = "source")]
    create: bool,
    /// A path appended to the target's URL
    #[arg(long, value_name = "P")]
    path: Option<String>,
    /// The provider's id, such as github
    #[arg(long, value_name = "P")]
    provider: Option<String>,
    /// Verify with the secret in this environment variable
    #[arg(long, value_name = "NAME")]
    secret_env: Option<String>,
    /// Also receive events from this relay; a new tunnel needs a token from HOOKMITT_RELAY_TOKEN or standard input
    #[arg(long, value_name = "URL", conflicts_with = "public")]
    relay: Option<String>,
    #[command(flatten)]
    public: public_url::Flags,
    #[command(flatten)]
    flags: Flags,
}

/// Why the tail ended.
enum Ended {
    /// The command was told to end.
    Asked,
    /// The stream ended.
    Stream,
}

/// Listens until the command is told to end.
pub(crate) async fn run(args: &Args, data_dir: &Path, screen: &Screen) -> Result<Exit, CliError> {
    let order = args.order()?;
    let mut stop = Stop::watch().map_err(CliError::signals)?;
    let mut seat = Seat::take(&args.flags, data_dir).await?;
    let seen = newest(&seat.client).await; // no `?` here, because the seat has to be left properly
    let mut view = View {
        log: LineLog::default(),
        tail: Tail::new(TimeZone::system(), seen.unwrap_or(0)),
        path: PathHint::new(&args.target, args.path.is_some()),
    };
    let mut public = Opened::default();
    if let Some(ended) = open_tunnel(args, &seat, &mut stop, &mut public, screen).await {
        public.close(&seat.client, screen).await;
        seat.leave(&mut stop).await;
        return ended;
    }
    loop {
        let ended = follow(&seat, &order, data_dir, &mut view, &mut stop, screen).await;
        if !(seat.is_attached() && owner_ended(&ended)) {
            public.close(&seat.client, screen).await;
            seat.leave(&mut stop).await;
            return match ended? {
                Ended::Asked => Ok(Exit::Success),
                Ended::Stream => Err(CliError::BrokenOff),
            };
        }
        seat.leave(&mut stop).await;
        if ended.is_ok() {
            screen.note(Styled(ODD, "the running hookmitt has stopped; this one takes over"));
        } else {
            tokio::time::sleep(TAKE_OVER.1).await; // the former owner was still ending when we attached to it
        }
        seat = match take_over(args, data_dir, &mut stop).await {
            Ok(Some(taken)) => taken,
            ended => {
                public.close_later(data_dir, screen).await;
                return ended.map(|_| Exit::Success);
            }
        };
    }
}

/// Opens the tunnel that was asked for, if any. Returns how the command ends if it ends here.
async fn open_tunnel(
    args: &Args,
    seat: &Seat,
    stop: &mut Stop,
    public: &mut Opened,
    screen: &Screen,
) -> Option<Result<Exit, CliError>> {
    let ending = CancellationToken::new();
    let mut opening = pin!(args.open_tunnel(seat, &ending, public, screen));
    let (opened, is_ending) = tokio::select! {
        opened = &mut opening => (opened, false),
        () = stop.asked() => {
            ending.cancel();
            (stop.finish(opening).await, true)
        }
    };
    (is_ending || opened.is_err()).then(|| opened.map(|()| Exit::Success))
}

/// Whether the hookmitt to which we were attached has ended or is ending: then it takes no more requests.
fn owner_ended(ended: &Result<Ended, CliError>) -> bool {
    matches!(ended, Ok(Ended::Stream) | Err(CliError::Gone | CliError::Start(StartError::Unreachable(_))))
}

/// Finds a new seat after the owner has ended. Returns `None` if the command is told to end meanwhile. The ports may
/// still be taken for a moment, and another command may be quicker.
async fn take_over(args: &Args, data_dir: &Path, stop: &mut Stop) -> Result<Option<Seat>, CliError> {
    let (times, pause) = TAKE_OVER;
    let mut left = times;
    loop {
        let taken = tokio::select! {
            () = stop.asked() => return Ok(None),
            taken = Box::pin(Seat::take(&args.flags, data_dir)) => taken,
        };
        match taken {
            Err(_) if left > 0 => left -= 1,
            taken => return taken.map(Some),
        }
        tokio::time::sleep(pause).await;
    }
}

/// Adds the target and shows what comes, and says that it listens only once the target and the secret are there: whatever
/// is sent after that is verified and forwarded.
async fn follow(
    seat: &Seat,
    order: &Value,
    data_dir: &Path,
    view: &mut View,
    stop: &mut Stop,
    screen: &Screen,
) -> Result<Ended, CliError> {
    let mut live = seat.client.stream(Method::POST, &Address::new(["listen"]), Some(order)).await?;
    seat.announce(data_dir, screen);
    let only = order["source"].as_str();
    let mut is_noted = false;
    loop {
        let message = tokio::select! {
            () = stop.asked() => return Ok(Ended::Asked),
            message = live.next() => message,
        };
        let Some(message) = message else { return Ok(Ended::Stream) };
        if only.is_none() || message.source().is_none_or(|source| Some(source) == only) {
            view.show(&message, screen)?;
        }
        if !is_noted {
            is_noted = true; // the first message says that the target is there
            let _unread = target_view::note_silent(only, &seat.client, screen).await;
        }
    }
}

/// What is shown of the stream, and what was shown before.
struct View {
    tail: Tail,
    log: LineLog,
    path: PathHint,
}

impl View {
    fn show(&mut self, message: &Message, screen: &Screen) -> Result<(), CliError> {
        let news = message.read().unwrap_or(News::Other);
        if let News::Listening(listening) = &news {
            announce(listening, screen);
        }
        if screen.json {
            self.log.add(screen, || screen.print_json(message))?;
        } else if let Some(line) = self.tail.line(&news, Timestamp::now()) {
            self.log.add(screen, || screen.print(line))?;
        }
        if let Some(hint) = self.path.of(&news) {
            screen.note(format_args!("{} {hint}", Styled(STRONG, "hint:")));
        }
        Ok(())
    }
}

fn announce(listening: &Listening, screen: &Screen) {
    let from = listening.capture_urls.iter().map(|url| Plain(url).to_string()).collect::<Vec<_>>().join("  ");
    screen.note(format_args!("{from} {} {}", Styled(STRONG, "->"), Plain(&listening.url)));
}

impl Args {
    /// With `--relay` or `--public`, makes sure that a tunnel delivers the source's events, and prints its public URL.
    /// What has to be closed at the end stands in `public`.
    async fn open_tunnel(
        &self,
        seat: &Seat,
        ending: &CancellationToken,
        public: &mut Opened,
        screen: &Screen,
    ) -> Result<(), CliError> {
        if self.public.public {
            self.make_source(&seat.client).await?;
            let terms = (&seat.client, screen);
            return self.public.open(self.source.as_ref(), terms, ending, public).await;
        }
        let Some(relay) = &self.relay else { return Ok(()) };
        self.make_source(&seat.client).await?;
        let tunnel = tokio::select! {
            () = ending.cancelled() => return Ok(()),
            tunnel = tunnel_add::at_relay(relay, self.source.as_ref(), &seat.client, screen) => tunnel?,
        };
        let source = self.source.as_ref().map_or("<source>", Slug::as_str);
        let public_url = tunnel.public_url.unwrap_or_default();
        screen.note(format_args!("  {:<8} {}", "public", Plain(&format!("{public_url}/{source}"))));
        Ok(())
    }

    /// Makes the source that the tunnel will serve, if there is none of that name and the name isn't taken for a typo.
    async fn make_source(&self, client: &Client) -> Result<(), CliError> {
        let Some(source) = &self.source else { return Ok(()) };
        let named = hookmitt_verify::provider(source.as_str());
        if named.is_none() && !self.create {
            let _known: Value = client.get(&Address::new(["sources", source.as_str()])).await?;
            return Ok(());
        }
        let provider = self.provider.as_deref().map(provider_name::find).transpose()?.or(named);
        let order = json!({ "slug": source, "provider": provider.map(|provider| &provider.id) });
        let made: Result<Value, _> = client.send(Method::POST, &Address::new(["sources"]), &order).await;
        match made {
            Err(error) if error.code() != "source-exists" => Err(error),
            _ => Ok(()),
        }
    }

    fn order(&self) -> Result<Value, CliError> {
        let provider = self.provider.as_deref().map(provider_name::find).transpose()?;
        let secret = self.secret_env.as_deref().map(secret_variable::secret_of).transpose()?;
        let target = match &self.path {
            Some(path) => self.target.below(path),
            None => self.target.clone(),
        };
        Ok(json!({
            "source": self.source,
            "create": self.create,
            "url": target.as_str(),
            "provider": provider.map(|provider| &provider.id),
            "secret_base64": secret.map(|secret| STANDARD.encode(secret)),
            "secret_label": self.secret_env.as_deref().map(secret_variable::label_of),
        }))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Typed {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn what_is_typed_becomes_the_order() {
        let typed = [
            "listen",
            "3000",
            "--path",
            "/hooks",
            "--source",
            "gh",
            "--provider",
            "github",
            "--secret-env",
            "PATH",
        ];
        let order = Typed::parse_from(typed).args.order().unwrap();
        assert_eq!(order["url"], "http://localhost:3000/hooks");
        assert_eq!((&order["source"], &order["provider"]), (&json!("gh"), &json!("github")));
        assert_eq!(order["secret_label"], "env:PATH");
        let order = Typed::parse_from(["listen", "3000"]).args.order().unwrap();
        assert_eq!(
            order,
            json!({
                "source": null, "create": false, "url": "http://localhost:3000", "provider": null,
                "secret_base64": null, "secret_label": null
            })
        );
    }
}
