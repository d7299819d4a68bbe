//! What the shell gives the page besides the API: files, links, and news in the right order.

use std::{os::unix::fs::PermissionsExt, path::Path};

use hookmitt_stories::{eventually, post};
use serde_json::json;

use super::{window::Scene, window_page::Page};

/// A browser that only notes the URLs that it should open.
const BROWSER: &str = "#!/bin/sh\necho \"$1\" >>\"$HOME/opened\"\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_link_opens_in_the_persons_browser() {
    let Some(mut scene) = Scene::start().await else { return };
    let programs = scene.desk.home().join("bin");
    std::fs::create_dir(&programs).expect("a folder");
    std::fs::write(programs.join("xdg-open"), BROWSER).expect("a file");
    std::fs::set_permissions(programs.join("xdg-open"), PermissionsExt::from_mode(0o755)).expect("ours");
    scene.desk.finds_programs_first_in(&programs);
    let page = Page::open(&scene.desk, scene.folder.path()).await;
    let opened = scene.desk.home().join("opened");
    for url in ["file:///etc/passwd", "mailto:a@example.com", "https://example.com/docs#verify"] {
        page.follow(url).await;
    }
    let opened = eventually("the browser has it", async || std::fs::read_to_string(&opened).ok()).await;
    assert_eq!(opened, "https://example.com/docs#verify\n");
    page.close().await;
    scene.desk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_is_saved_byte_for_byte_and_overwrites_nothing() {
    let Some(scene) = Scene::start().await else { return };
    let page = Page::open(&scene.desk, scene.folder.path()).await;
    let bytes: Vec<u8> = (0..=255).cycle().take(3 << 20).collect();
    let reply = post(page.capture().await, "/demo", &[], &bytes).await;
    let path = format!("/api/events/{}/body", reply.json()["id"].as_str().expect("an id"));
    for name in ["push-\u{e4}.bin", "push-\u{e4} (2).bin"] {
        let saved = page.save(&path, "../push-\u{e4}.bin").await.expect("it is saved");
        let saved = Path::new(saved.as_str().expect("a path"));
        assert_eq!(saved.file_name().expect("a name"), name);
        assert!(saved.starts_with(scene.desk.home()), "{}", saved.display());
        assert!(std::fs::read(saved).expect("a file") == bytes, "{name}");
    }
    let refused = page.save("/api/events/unknown/body", "x").await;
    assert!(refused.expect_err("there is no such event").contains("refused"));
    page.close().await;
    scene.desk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_reaches_the_page_whole_and_in_order() {
    const EVENTS: usize = 300;
    let Some(scene) = Scene::start().await else { return };
    let page = Page::open(&scene.desk, scene.folder.path()).await;
    let capture = page.capture().await;
    page.run(
        "const { invoke, transformCallback } = window.__TAURI_INTERNALS__; window.seen = []; window.ended = false; \
         const heard = transformCallback(({ message, index }) => { \
           if (message === null) window.ended = true; \
           if (message?.name === 'event') window.seen[index] = message.data.path; }); \
         invoke('live', { path: '/api/live', channel: `__CHANNEL__:${heard}` }).then((id) => { window.stream = id })",
    )
    .await;
    eventually("the stream is open", async || page.value("window.stream ?? null").await.as_u64()).await;
    // Every second event is too long for a script, so the page fetches it, later than the events that follow.
    for number in 0..EVENTS {
        let long = "x".repeat(if number % 2 == 0 { 20 } else { 9_000 });
        assert_eq!(
            post(capture, &format!("/demo/burst-{number}"), &[("X-Long", &long)], b"{}").await.status,
            202
        );
    }
    let seen = eventually("all have come", async || {
        // Whoever else finds the port may post, too.
        let seen = page.value("[...new Set(window.seen.filter((path) => /burst/.test(path)))]").await;
        (seen.as_array()?.len() == EVENTS).then_some(seen)
    })
    .await;
    let sent = (0..EVENTS).map(|number| format!("/burst-{number}"));
    assert_eq!(seen, json!(sent.collect::<Vec<_>>()));

    let id = page.value("window.stream").await;
    page.invoke("live_stop", json!({ "id": id })).await.expect("it stops");
    let none = page.invoke("live", json!({ "path": "/api/stats", "channel": "__CHANNEL__:1" })).await;
    assert!(none.expect_err("that is no stream").contains("no-stream"));
    page.close().await;
    scene.desk.end().await;
}
