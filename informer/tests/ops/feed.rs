//! `/events`: the live feed.

use informer::{InformerBuilder, SharedInformer};
use informer_transport_mock::fault::Fault;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpSocket;
use tokio::time::timeout;

use crate::place::{Events, LONG, address, at, create, get, here, lean, pod, server};

/// Waits until an informer has this many handlers.
async fn handlers<K: Send + Sync + 'static>(informer: &SharedInformer<K>, count: usize) {
    let wait = async {
        loop {
            let status = informer.status();
            if status.handlers.len() == count {
                return;
            }
            informer.status_change(&status).await.unwrap();
        }
    };
    timeout(LONG, wait).await.unwrap();
}

#[tokio::test]
async fn a_page_gets_the_status_at_once_and_every_second() {
    let server = server();
    create(&server, "a");
    let pods = lean(&server, "pods").await;
    let port = here().add(&pods).start().await.unwrap();
    let mut page = Events::open(&port).await;
    let (name, first) = page.next().await.unwrap();
    assert_eq!(
        (&*name, &first["informers"][0]["objects"]),
        ("status", &json!(1))
    );
    let plain = get(&port, "/status").await.json();
    let keys = |it: &Value| it.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&first), keys(&plain));
    assert_eq!(keys(&first["informers"][0]), keys(&plain["informers"][0]));
    let second = page.find("status").await;
    let uptime = |it: &Value| it["program"]["uptime"].as_f64().unwrap();
    assert!(uptime(&second) > uptime(&first) + 0.5, "{second}");
}

#[tokio::test]
async fn changes_are_told_but_not_what_was_there_before() {
    let server = server();
    create(&server, "old");
    let pods = lean(&server, "pods").await;
    let port = here().add(&pods).start().await.unwrap();
    let mut page = Events::open(&port).await;
    page.find("status").await;
    create(&server, "new");
    let mut changed = pod("new");
    changed["spec"]["nodeName"] = "node-2".into();
    server
        .with(|server| server.update("pods", changed))
        .unwrap();
    server
        .with(|server| server.delete("pods", "web/new"))
        .unwrap();
    let mut told = Vec::new();
    while told.len() < 3 {
        told.extend(page.find("changes").await.as_array().unwrap().clone());
    }
    let what: Vec<_> = told.iter().map(|it| it["what"].as_str().unwrap()).collect();
    assert_eq!(what, ["added", "updated", "deleted"]);
    for change in &told {
        assert_eq!(
            (&change["informer"], &change["key"]),
            (&json!("pods.v1"), &json!("web/new"))
        );
        assert_eq!(
            (&change["cause"], &change["initial"]),
            (&json!("watch"), &json!(false))
        );
        assert!(change["version"].as_str().unwrap().parse::<u64>().is_ok());
        assert!(change["at"].as_u64().unwrap() > 1_600_000_000_000);
        assert_eq!(change["note"], Value::Null);
    }
}

#[tokio::test]
async fn an_inferred_deletion_and_its_relist_are_told() {
    let server = server();
    create(&server, "a");
    let pods = lean(&server, "pods").await;
    let port = here().add(&pods).start().await.unwrap();
    let mut page = Events::open(&port).await;
    page.find("status").await;
    server.inject(Fault::Expire);
    server.with(|server| {
        server.restart();
        server.delete("pods", "web/a").unwrap();
        server.forget_changes();
    });
    let mut moments = Vec::new();
    let change = loop {
        let (name, data) = page.next().await.unwrap();
        match name.as_str() {
            "moment" => moments.push(data),
            "changes" => break data[0].clone(),
            _ => {}
        }
    };
    assert_eq!(
        [&change["what"], &change["cause"], &change["note"]],
        [&json!("deleted"), &json!("relist"), &json!("inferred")]
    );
    while !moments.iter().any(|it| it["name"] == "watching") {
        moments.push(page.find("moment").await);
    }
    let expired = |it: &&Value| it["kind"] == "failure" && it["name"] == "expired";
    let failure = moments.iter().find(expired).unwrap();
    assert_eq!(failure["informer"], "pods.v1");
    assert!(failure["at"].as_u64().unwrap() > 1_600_000_000_000);
}

/// The feed tells of the end of an informer, and then of nothing more.
#[tokio::test]
async fn an_informer_that_stops_is_told() {
    let server = server();
    let pods = lean(&server, "pods").await;
    let port = here().add(&pods).start().await.unwrap();
    let mut page = Events::open(&port).await;
    page.find("status").await;
    pods.stop();
    let moment = page.find("moment").await;
    assert_eq!(
        (&moment["kind"], &moment["name"]),
        (&json!("phase"), &json!("stopped"))
    );
    assert_eq!(
        page.find("status").await["informers"][0]["phase"]["name"],
        "stopped"
    );
}

/// It joins the feed of the pages that are open already.
#[tokio::test]
async fn an_informer_that_a_factory_makes_later_is_followed() {
    let server = server();
    let runtime = informer::runtime::Tokio::current().unwrap();
    let factory = informer::SharedInformerFactory::new(server.connect(), runtime);
    let port = here().add(&factory).start().await.unwrap();
    let mut page = Events::open(&port).await;
    page.find("status").await;
    let pods = factory
        .informer(&InformerBuilder::lean_at(at("pods")))
        .unwrap();
    pods.start().unwrap();
    handlers(&pods, 1).await;
    create(&server, "a");
    assert_eq!(page.find("changes").await[0]["key"], "web/a");
}

/// Who only looks on does not use it.
#[tokio::test]
async fn a_page_does_not_keep_an_informer_of_a_factory() {
    let server = server();
    let runtime = informer::runtime::Tokio::current().unwrap();
    let factory = informer::SharedInformerFactory::new(server.connect(), runtime);
    factory.start().unwrap();
    let port = here().add(&factory).start().await.unwrap();
    let pods = InformerBuilder::lean_at(at("pods"));
    let informer = factory.informer(&pods).unwrap();
    let mut page = Events::open(&port).await;
    page.find("status").await;
    handlers(&informer, 1).await;
    drop(informer);
    assert_eq!(factory.release_unused().len(), 1);
    assert!(factory.status().is_empty());
}

/// The port takes changes ten times a second. In the metrics, that would look like a slow handler.
#[tokio::test]
async fn the_listener_of_the_port_is_in_no_metric() {
    let server = server();
    let pods = lean(&server, "pods").await;
    let port = here().add(&pods).start().await.unwrap();
    // Histograms begin with the first scrape.
    get(&port, "/metrics").await;
    let mut page = Events::open(&port).await;
    page.find("status").await;
    create(&server, "a");
    assert_eq!(page.find("changes").await[0]["key"], "web/a");
    let metrics = get(&port, "/metrics").await.body;
    assert!(!metrics.contains("operations port"), "{metrics}");
    let delivered = r#"informer_delivery_duration_seconds_count{informer="pods.v1"} 0"#;
    assert!(metrics.contains(delivered), "{metrics}");
}

/// Only while a page is open is there a listener, one for all pages.
#[tokio::test]
async fn the_last_page_takes_the_listener_with_it() {
    let server = server();
    create(&server, "a");
    let pods = lean(&server, "pods").await;
    let port = here().add(&pods).start().await.unwrap();
    get(&port, "/status").await;
    assert!(pods.status().handlers.is_empty());
    let (mut first, mut second) = (Events::open(&port).await, Events::open(&port).await);
    first.find("status").await;
    second.find("status").await;
    let handler = pods.status().handlers;
    assert_eq!((handler.len(), handler[0].name), (1, "operations port"));
    // It has not been shown what was there before.
    assert_eq!(handler[0].delivered, 0);
    drop(first);
    create(&server, "b");
    assert_eq!(second.find("changes").await[0]["key"], "web/b");
    assert_eq!(pods.status().handlers.len(), 1);
    drop(second);
    handlers(&pods, 0).await;
    // And it works once more.
    let mut third = Events::open(&port).await;
    third.find("status").await;
    assert_eq!(pods.status().handlers.len(), 1);
    port.stop().await;
    handlers(&pods, 0).await;
}

/// A page that does not read is dropped, and told so when it reads again. Another page notices nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_page_is_dropped_and_told_so() {
    let server = server();
    let pods = InformerBuilder::lean_at(at("pods"))
        .start(&server.connect())
        .unwrap();
    pods.synced(LONG).await.unwrap();
    let port = here().add(&pods).start().await.unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4 * 1024).unwrap();
    let mut stream = socket.connect(address(&port)).await.unwrap();
    let request = format!("GET /events HTTP/1.0\r\nhost: {}\r\n\r\n", address(&port));
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut slow = Events::over(stream);
    let mut quick = Events::open(&port).await;
    quick.find("status").await;
    // More than the system, hyper and the queue hold: each change is told in about 400 bytes.
    let name = "x".repeat(230);
    let mut told = 0;
    for round in 1..=12 {
        server.with(|server| {
            for number in 0..500 {
                let name = format!("{name}-{round}-{number}");
                let pod = json!({"metadata": {"namespace": "web", "name": name}});
                server.create("pods", pod).unwrap();
            }
        });
        while told < round * 500 {
            told += changes(&quick.next().await.unwrap());
        }
    }
    assert!(slow.head().await.starts_with("HTTP/1.0 200"));
    let mut last = None;
    let reading = async {
        while let Some(event) = slow.next().await {
            last = Some(event);
        }
    };
    timeout(LONG, reading).await.unwrap();
    let (name, data) = last.unwrap();
    assert_eq!(name, "dropped");
    assert_eq!(data["reason"], "The page did not keep up with the feed.");
    assert_eq!(pods.status().handlers.len(), 1);
    quick.find("status").await;
}

/// How many changes an event tells of.
fn changes((name, data): &(String, Value)) -> usize {
    match name.as_str() {
        "changes" => data.as_array().unwrap().len(),
        "skipped" => usize::try_from(data["changes"].as_u64().unwrap()).unwrap(),
        _ => 0,
    }
}

#[tokio::test]
async fn there_are_at_most_sixteen_pages() {
    let port = here().start().await.unwrap();
    let mut pages = Vec::new();
    for _ in 0..16 {
        pages.push(Events::open(&port).await);
    }
    let answer = get(&port, "/events").await;
    assert_eq!(answer.status, 503);
    assert!(
        answer.error().contains("Too many pages"),
        "{}",
        answer.error()
    );
    pages.pop();
    // The port notices soon that it is gone.
    while get_status(&port).await != 200 {}
}

/// The status of the answer to one more page, which is closed again.
async fn get_status(port: &informer::ops::Ops) -> u16 {
    let mut stream = tokio::net::TcpStream::connect(address(port)).await.unwrap();
    let request = format!("GET /events HTTP/1.0\r\nhost: {}\r\n\r\n", address(port));
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = Events::over(stream);
    let head = head.head().await;
    head.split(' ').nth(1).unwrap().parse().unwrap()
}
