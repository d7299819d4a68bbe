//! Says where senders that wait for the local server stand in a queue, because of a target's order.

use hookmitt_event::{OrderMode, Plain};
use serde_json::Value;

use crate::{
    client::{Address, Client},
    failure::CliError,
    terminal::{ODD, Screen, Styled},
};

/// Says so for the targets of a source that was set just now, if its senders wait.
pub(crate) async fn of_source(source: &Value, client: &Client, screen: &Screen) -> Result<(), CliError> {
    if source["answer"]["respond"] == "app" {
        let all: Vec<Value> = client.all(&Address::new(["targets"])).await?;
        let its =
            all.iter().filter(|target| target["source"].is_null() || target["source"] == source["slug"]);
        its.for_each(|target| say(target, screen));
    }
    Ok(())
}

/// Says so for a target that was set just now, if the senders of one of its sources wait.
pub(crate) async fn of_target(target: &Value, client: &Client, screen: &Screen) -> Result<(), CliError> {
    let sources: Vec<Value> = client.all(&Address::new(["sources"])).await?;
    let is_its = |source: &&Value| target["source"].is_null() || target["source"] == source["slug"];
    if sources.iter().filter(is_its).any(|source| source["answer"]["respond"] == "app") {
        say(target, screen);
    }
    Ok(())
}

fn say(target: &Value, screen: &Screen) {
    let order = target["order"].as_str().unwrap_or_default();
    if order.parse::<OrderMode>().is_ok_and(|order| !order.lets_pass()) {
        let note = format!(
            "with the order {}, an event whose sender waits stands in the queue like the others; \
             `hookmitt target edit {} --order sequential` lets it pass",
            Plain(order),
            target["id"]
        );
        screen.note(Styled(ODD, note));
    }
}
