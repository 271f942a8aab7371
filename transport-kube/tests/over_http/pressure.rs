//! A body is read as fast as its handlers take, and not faster.

use std::time::Duration;

use informer::{Backlog, FirstState, InformerBuilder, InformerConfig, Target};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::client;

const LONG: Duration = Duration::from_secs(60);

/// Far more than the buffers between a server and a handler hold.
const OBJECTS: usize = 4_000;
const NOTE: usize = 16 << 10;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handler_that_does_not_take_stops_the_reading_of_the_body() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (sent, mut progress) = watch::channel(0);
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n\
            {\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[";
        stream.write_all(head.as_bytes()).await.unwrap();
        let note = "x".repeat(NOTE);
        for number in 0..OBJECTS {
            let comma = if number == 0 { "" } else { "," };
            let pod = format!(
                r#"{comma}{{"metadata":{{"namespace":"web","name":"pod-{number}","resourceVersion":"7","uid":"{number}","annotations":{{"note":"{note}"}}}}}}"#
            );
            stream.write_all(pod.as_bytes()).await.unwrap();
            sent.send_replace(number + 1);
        }
        stream.write_all(b"]}").await.unwrap();
        stream.shutdown().await.unwrap();
        // Later requests are not answered.
        listener
    });

    let mut config = InformerConfig::new();
    config.reflector.first_state = FirstState::Listed;
    let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods"))
        .preset(config)
        .backlog(Backlog::Stall { at: 1 });
    let client = client::at(address);
    let runtime = informer::runtime::Tokio::current().unwrap();
    let pods = pods.build(&client, runtime).unwrap();
    let mut told = pods.stream().unwrap();
    pods.start().unwrap();
    assert!(told.next().await.is_some());
    // The server goes on until all buffers are full, and not to the end.
    let stuck = Duration::from_millis(500);
    while let Ok(Ok(())) = tokio::time::timeout(stuck, progress.changed()).await {}
    let stopped = *progress.borrow();
    assert!(
        stopped < OBJECTS / 2,
        "{stopped} objects were read without a reader"
    );

    // As soon as the handler takes, everything comes.
    let all = async {
        let mut count = 1;
        while count < OBJECTS {
            count += usize::from(told.next().await.is_some());
        }
    };
    tokio::time::timeout(LONG, all).await.unwrap();
    assert_eq!(*progress.borrow(), OBJECTS);
    drop(server);
}
