//! Params that a source knows and that no request contains: stored, shown and removed again.

use hookmitt_stories::App;
use serde_json::{Value, json};

use super::listen::{folder, run};

#[tokio::test(flavor = "multi_thread")]
async fn parameters_are_set_one_by_one_and_an_empty_one_is_unset() {
    let folder = folder();
    let dir = folder.path();
    let shown = async |name: &str| {
        let source = run(dir, &["source", "show", name, "--json"]).await.exits(0).json().remove(0);
        source["params"].clone()
    };
    let typed = ["source", "add", "pay", "--param", "webhook_id=1=2", "--param", "topic=a"];
    let made = run(dir, &typed).await.exits(0).text();
    assert!(made.contains("params.webhook_id") && made.contains("1=2"), "{made}");
    run(dir, &["source", "edit", "pay", "--param", "topic=", "--param", "audience=x y"]).await.exits(0);
    assert_eq!(shown("pay").await, json!({ "audience": "x y", "webhook_id": "1=2" }));
    run(dir, &["source", "edit", "pay", "--on-invalid", "reject"]).await.exits(0);
    assert_eq!(
        shown("pay").await,
        json!({ "audience": "x y", "webhook_id": "1=2" }),
        "what isn't named stays"
    );
    run(dir, &["source", "edit", "pay", "--param", "no-value"]).await.exits(2);
}

#[tokio::test(flavor = "multi_thread")]
async fn null_unsets_one_parameter_or_all_of_them() {
    let app = App::start().await;
    app.source("a", json!({ "params": { "one": "1", "two": "2" } })).await;
    let changed = app.ask("PATCH", "/api/sources/a", json!({ "params": { "one": null } })).await;
    assert_eq!(changed["params"], json!({ "two": "2" }));
    let changed = app.ask("PATCH", "/api/sources/a", json!({ "params": null })).await;
    assert_eq!(changed["params"], json!({}));
    let many: serde_json::Map<String, Value> = (0..33).map(|n| (n.to_string(), json!("x"))).collect();
    for params in [json!({ "": "x" }), json!({ "a": "x".repeat(5_000) }), json!(many)] {
        let (status, answer) = app.call("PATCH", "/api/sources/a", json!({ "params": params })).await;
        assert_eq!((status, &answer["code"]), (400, &json!("bad-input")), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_to_the_answer_leaves_what_it_does_not_name() {
    let app = App::start().await;
    app.source("a", json!({ "answer": { "status": 201, "body": "x", "fail_next": 3 } })).await;
    let changed =
        app.ask("PATCH", "/api/sources/a", json!({ "answer": { "delay_ms": 5, "body": null } })).await;
    let expected =
        json!({ "status": 201, "headers": [], "body": null, "delay_ms": 5, "fail_next": 3, "respond": null });
    assert_eq!(changed["answer"], expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_s_parameters_are_known_by_name() {
    let app = App::start().await;
    let asked = json!({ "slug": "pay", "provider": "paypal", "params": { "webhook": "1" } });
    let (status, answer) = app.call("POST", "/api/sources", asked).await;
    assert_eq!((status, &answer["code"]), (400, &json!("unknown-param")), "{answer}");
    assert!(answer["hint"].as_str().unwrap().contains("webhook_id"), "{answer}");
    app.source("pay", json!({ "provider": "paypal", "params": { "webhook_id": "1" } })).await;
    let none = json!({ "provider": "stripe", "params": { "webhook_id": "1" } });
    let answer = app.call("PATCH", "/api/sources/pay", none).await.1;
    assert!(answer["hint"].as_str().unwrap().contains("in its requests"), "{answer}");
    let own = json!({ "generic": { "signature_header": "X-Sig" }, "params": { "anything": "goes" } });
    app.ask("PATCH", "/api/sources/pay", own).await;
}
