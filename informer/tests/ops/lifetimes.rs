//! What a port keeps alive: nothing.

use informer::ObjectKey;
use informer::controller::Controller;
use informer::election::ElectionBuilder;
use informer::runtime::Tokio;
use serde_json::json;

use crate::logged::{Line, logged};
use crate::place::{Events, LONG, create, get, here, lean, server};

#[tokio::test]
async fn what_is_dropped_disappears() {
    let server = server();
    create(&server, "a");
    let (pods, others) = (lean(&server, "pods").await, lean(&server, "pods").await);
    let controller = Controller::<String>::new(Tokio::current().unwrap());
    let election = ElectionBuilder::new(ObjectKey::new("web", "shop"))
        .start(&server)
        .unwrap();
    let port = here()
        .add_with_bodies(&pods)
        .add(&others)
        .add(&controller)
        .add(&election)
        .history(5);
    let port = port.start().await.unwrap();
    // An open page does not keep it alive either.
    let mut page = Events::open(&port).await;
    page.find("status").await;
    drop((pods, controller));
    election.stop().await;
    drop(election);
    let status = page
        .status_where(|status| {
            status["informers"].as_array().unwrap().len() == 1
                && status["controllers"] == json!([])
                && status["elections"] == json!([])
        })
        .await;
    // The one that is left keeps its name, and its bodies are not allowed.
    assert_eq!(status["informers"][0]["id"], "pods.v1 #2");
    assert_eq!(status["informers"][0]["bodies"], false);
    create(&server, "b");
    assert_eq!(page.find("changes").await[0]["informer"], "pods.v1 #2");
    let object = get(&port, "/object/pods.v1%20%232?key=web/b").await;
    assert_eq!(object.status, 200);
}

/// The port's own listener is not a handler that somebody relies on, so nobody is warned.
#[tokio::test]
async fn an_informer_that_only_the_port_follows_ends_quietly() {
    let server = server();
    let pods = lean(&server, "pods").await;
    let relied_on = lean(&server, "pods").await;
    relied_on.on(|_| ()).unwrap();
    let port = here().add(&pods).add(&relied_on).start().await.unwrap();
    let mut page = Events::open(&port).await;
    page.find("status").await;
    assert_eq!(pods.status().handlers.len(), 1);
    let warnings = |lines: Vec<Line>| -> usize {
        let about = lines.iter().filter(|line| line.get("handlers").is_some());
        about.count()
    };
    assert_eq!(warnings(logged(|| drop(pods))), 0);
    let said = logged(|| drop(relied_on));
    assert_eq!(said.iter().find_map(|line| line.get("handlers")), Some("1"));
    page.status_where(|status| status["informers"] == json!([]))
        .await;
}

#[tokio::test]
async fn a_port_that_is_dropped_or_stopped_is_closed() {
    let server = server();
    let pods = lean(&server, "pods").await;
    let port = here().add(&pods).start().await.unwrap();
    let address = port.address().unwrap();
    let mut page = Events::open(&port).await;
    page.find("status").await;
    drop(port);
    let ended = async { while page.next().await.is_some() {} };
    tokio::time::timeout(LONG, ended).await.unwrap();
    let port = informer::ops::serve(address).start().await.unwrap();
    assert_eq!(get(&port, "/livez").await.status, 200);
    port.stop().await;
    tokio::net::TcpStream::connect(address).await.unwrap_err();
    // An informer goes on without it.
    create(&server, "a");
    let mut changes = pods.stream().unwrap();
    assert!(changes.next().await.is_some());
}

/// One request per connection: a client cannot keep others out by holding connections open.
#[tokio::test]
async fn a_connection_serves_one_request() {
    let port = here().start().await.unwrap();
    let request = "GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let answer = crate::place::send(&port, &format!("{request}{request}")).await;
    let all = format!("{}\r\n\r\n{}", answer.head, answer.body).to_lowercase();
    assert_eq!(all.matches("200 ok").count(), 1, "{all}");
    assert!(all.contains("connection: close"), "{all}");
}
