//! Closing to the tray: asked once, remembered; what the tray's menu does. The desktop's own part is simulated.

use std::collections::HashMap;

use hookmitt_stories::{Desk, eventually, post, within};
use serde_json::json;
use tokio::sync::mpsc;
use zbus::{
    Connection, connection, interface,
    message::Header,
    zvariant::{OwnedValue, Str, Value},
};

use super::{window::Scene, window_page::Page};

/// The part of a desktop that shows tray icons.
struct Watcher(mpsc::UnboundedSender<(String, String)>);

#[interface(name = "org.kde.StatusNotifierWatcher")]
impl Watcher {
    /// Registers an icon: its path, and the bus name of the caller.
    fn register_status_notifier_item(&self, path: String, #[zbus(header)] header: Header<'_>) {
        let sender = header.sender().expect("a bus names the sender").to_string();
        let _story_over = self.0.send((sender, path));
    }

    #[zbus(property)]
    fn is_status_notifier_host_registered(&self) -> bool {
        true
    }
}

/// A desktop's tray, with the registered icons.
struct TrayHost {
    bus: Connection,
    icons: mpsc::UnboundedReceiver<(String, String)>,
}

/// The text and the number of each line of a menu.
type Menu = HashMap<String, i32>;

impl TrayHost {
    async fn on(desk: &Desk) -> Self {
        let (came, icons) = mpsc::unbounded_channel();
        let bus = connection::Builder::address(desk.bus()).expect("an address");
        let bus = bus.name("org.kde.StatusNotifierWatcher").expect("a name");
        let bus = bus.serve_at("/StatusNotifierWatcher", Watcher(came)).expect("a path");
        Self { bus: bus.build().await.expect("the bus is there"), icons }
    }

    /// Returns the address of the icon's menu: bus name and path.
    async fn menu(&mut self) -> (String, String) {
        let (sender, path) = within("an icon has come", self.icons.recv()).await.expect("an icon");
        let (properties, asked) = ("org.freedesktop.DBus.Properties", ("org.kde.StatusNotifierItem", "Menu"));
        let call =
            self.bus.call_method(Some(sender.as_str()), path.as_str(), Some(properties), "Get", &asked);
        let answer = call.await.expect("the icon has a menu");
        let menu: OwnedValue = answer.body().deserialize().expect("a variant");
        let menu = zbus::zvariant::OwnedObjectPath::try_from(menu).expect("a path");
        (sender, menu.to_string())
    }

    async fn lines(&self, (sender, path): &(String, String)) -> Menu {
        let menu = Some("com.canonical.dbusmenu");
        let all = (0i32, -1i32, Vec::<&str>::new());
        let call = self.bus.call_method(Some(sender.as_str()), path.as_str(), menu, "GetLayout", &all);
        let answer = call.await.expect("a menu");
        type Line = (i32, HashMap<String, OwnedValue>, Vec<OwnedValue>);
        let (_, (_, _, lines)): (u32, Line) = answer.body().deserialize().expect("a layout");
        let read = |line: OwnedValue| {
            let Value::Structure(line) = Value::from(line) else { panic!("a line of a menu") };
            let (id, properties, _): (i32, HashMap<String, Value<'_>>, Vec<Value<'_>>) =
                line.try_into().expect("a line of a menu");
            let label = properties.get("label").and_then(|label| label.downcast_ref::<Str<'_>>().ok());
            label.map(|label| (label.replace('_', ""), id))
        };
        lines.into_iter().filter_map(read).collect()
    }

    async fn choose(&self, menu: &(String, String), line: &str) {
        let id =
            eventually(&format!("the menu has {line:?}"), async || self.lines(menu).await.get(line).copied())
                .await;
        let (sender, path) = menu;
        let clicked = (id, "clicked", Value::from(0i32), 0u32);
        let of = Some("com.canonical.dbusmenu");
        self.bus
            .call_method(Some(sender.as_str()), path.as_str(), of, "Event", &clicked)
            .await
            .expect("a menu");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_asks_once_and_the_tray_brings_the_window_back() {
    let Some(scene) = Scene::start().await else { return };
    let mut tray = TrayHost::on(&scene.desk).await;
    let page = Page::open(&scene.desk, scene.folder.path()).await;
    let menu = tray.menu().await;
    let capture = page.capture().await;

    scene.close().await;
    page.click("Keep capturing").await;
    scene.unseen().await;
    assert_eq!(post(capture, "/demo", &[], b"{}").await.status, 202, "it goes on catching");

    tray.choose(&menu, "Open Hookmitt").await;
    scene.seen().await;
    tray.choose(&menu, &format!("Listening on http://{capture}")).await; // a line to read, not to choose
    scene.close().await;
    page.run("document.querySelector('[role=checkbox], [type=checkbox]').click()").await;
    page.click("Keep capturing").await;
    scene.unseen().await;
    assert_eq!(page.invoke("desktop_info", json!({})).await.expect("an answer")["onClose"], "keep");
    tray.choose(&menu, "Open Hookmitt").await;
    scene.seen().await;
    scene.close().await;
    scene.unseen().await; // without asking
    assert_eq!(scene.hookmitt(&["events", "--json"]).await.exits(0).json().len(), 1);

    tray.choose(&menu, "Quit").await;
    page.gone().await;
    let ended = scene.hookmitt(&["doctor"]).await.text();
    assert!(!ended.contains("a running hookmitt"), "{ended}");
    scene.desk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_closes_again_while_being_asked_means_it() {
    let Some(scene) = Scene::start().await else { return };
    let mut tray = TrayHost::on(&scene.desk).await;
    let window = scene.opened().await;
    tray.menu().await;
    scene.close().await;
    scene.seen().await;
    scene.close().await;
    assert_eq!(window.end().await.code, 0);
    scene.desk.end().await;
}
