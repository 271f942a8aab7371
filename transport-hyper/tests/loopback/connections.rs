//! How connections are opened, shared, lost and replaced.
use std::num::NonZeroUsize;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::rig::hand::{Hand, Seen, list, stream, watch};
use crate::rig::relay::{Mood, Relay, proxy};
use crate::rig::server::{Cluster, Feed, Listen, Server};
use informer_core::Failure;
use informer_transport_hyper::{Client, Config, HttpVersion, HyperTransport, Settings};

/// Opens `count` watches, and returns them with their answers, in another order.
async fn watches(cluster: &mut Cluster, client: &Client, count: usize) -> (Vec<Hand>, Vec<Feed>) {
    let mut hands: Vec<_> = (0..count).map(|_| Hand::new(client)).collect();
    for hand in &mut hands {
        hand.open(watch());
    }
    let mut feeds = Vec::new();
    for _ in 0..count {
        feeds.push(cluster.server.call().await.stream());
    }
    for hand in &mut hands {
        hand.opened().await;
    }
    (hands, feeds)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_watches_share_six_connections_with_lists() {
    let mut cluster = Cluster::with_max_streams(true, 100).await;
    let client = Client::new(cluster.config()).unwrap();
    let (mut hands, feeds) = watches(&mut cluster, &client, 500).await;
    assert_eq!(cluster.server.connections(), 5);
    let mut lister = Hand::new(&client);
    for round in 0..3 {
        for (number, feed) in feeds.iter().enumerate() {
            feed.send(format!("{round}:{number}\n")).await;
        }
        lister.open(list());
        cluster.server.call().await.json("{}");
        lister.opened().await;
        lister.text("{}").await;
        lister.closed().await;
        let mut seen = Vec::new();
        for hand in &mut hands {
            let Seen::Bytes(bytes) = hand.next().await else {
                panic!("an event was lost");
            };
            seen.push(String::from_utf8(bytes).unwrap());
        }
        let mut sent: Vec<_> = (0..500)
            .map(|number| format!("{round}:{number}\n"))
            .collect();
        seen.sort();
        sent.sort();
        assert_eq!(seen, sent);
    }
    assert_eq!(cluster.server.connections(), 6);
}

#[tokio::test]
async fn a_list_does_not_share_a_connection_with_watches() {
    let mut cluster = Cluster::new(true).await;
    let client = Client::new(cluster.config()).unwrap();
    let (_hands, _feeds) = watches(&mut cluster, &client, 3).await;
    let mut lister = Hand::new(&client);
    lister.open(list());
    assert_eq!(cluster.server.call().await.connection, 2);
}

#[tokio::test]
async fn the_stream_limit_of_the_peer_is_respected() {
    let mut cluster = Cluster::with_max_streams(true, 3).await;
    let client = Client::new(cluster.config()).unwrap();
    let (hands, feeds) = watches(&mut cluster, &client, 10).await;
    assert_eq!(cluster.server.connections(), 4);
    // Free streams are reused.
    drop(hands);
    for feed in &feeds {
        feed.gone().await;
    }
    let (_hands, _feeds) = watches(&mut cluster, &client, 3).await;
    assert_eq!(cluster.server.connections(), 4);
}

#[tokio::test]
async fn our_own_stream_limit_applies_if_the_peer_allows_more() {
    let mut cluster = Cluster::with_max_streams(true, 1000).await;
    let settings = Settings {
        max_streams: NonZeroUsize::new(5).unwrap(),
        ..Settings::new()
    };
    let client = Client::new(cluster.config().with_settings(settings)).unwrap();
    let (_hands, _feeds) = watches(&mut cluster, &client, 20).await;
    assert_eq!(cluster.server.connections(), 4);
}

#[tokio::test]
async fn stalled_informers_do_not_block_the_others() {
    let mut cluster = Cluster::new(true).await;
    let client = Client::new(cluster.config()).unwrap();
    let (mut hands, feeds) = watches(&mut cluster, &client, 100).await;
    assert_eq!(cluster.server.connections(), 1);
    let mut reader = hands.pop().unwrap();
    let more = bytes::Bytes::from(vec![b'x'; 64 << 10]);
    // Fill all streams until they block; only one of them is read.
    let mut filling = Vec::new();
    for feed in feeds {
        let more = more.clone();
        filling.push(tokio::spawn(async move {
            while feed.try_send(more.clone()).await {}
        }));
    }
    let mut read = 0;
    while read < 16 << 20 {
        match reader.next().await {
            Seen::Bytes(bytes) => read += bytes.len(),
            other => panic!("{other:?}"),
        }
    }
    for task in filling {
        task.abort();
    }
}

#[tokio::test]
async fn a_connection_that_goes_away_is_replaced_and_its_streams_finish() {
    let mut cluster = Cluster::new(true).await;
    let client = Client::new(cluster.config()).unwrap();
    let (mut hands, feeds) = watches(&mut cluster, &client, 1).await;
    cluster.server.go_away();
    // Until the client sees the GOAWAY, it may still use the connection.
    let (mut more, more_feeds) = loop {
        let opened = watches(&mut cluster, &client, 1).await;
        if cluster.server.connections() == 2 {
            break opened;
        }
    };
    for (hand, feed) in [(&mut hands[0], &feeds[0]), (&mut more[0], &more_feeds[0])] {
        feed.send("event\n").await;
        hand.text("event\n").await;
    }
    drop(feeds);
    hands[0].closed().await;
}

#[tokio::test]
async fn a_dead_peer_is_detected() {
    let mut cluster = Cluster::new(true).await;
    let relay = Relay::new(cluster.server.address).await;
    let settings = Settings {
        keep_alive_interval: Duration::from_millis(100),
        keep_alive_timeout: Duration::from_millis(400),
        ..Settings::new()
    };
    let config = cluster.config_at(&format!("https://{}", relay.address));
    let client = Client::new(config.with_settings(settings)).unwrap();
    let (mut hands, _feeds) = watches(&mut cluster, &client, 2).await;
    relay.set(Mood::Frozen);
    for hand in &mut hands {
        hand.failed(Failure::Broken).await;
    }
    relay.set(Mood::Forward);
    let (_hands, _feeds) = watches(&mut cluster, &client, 1).await;
}

#[tokio::test]
async fn a_reset_is_detected_and_the_connection_replaced() {
    for http2 in [false, true] {
        let mut cluster = Cluster::new(http2).await;
        let relay = Relay::new(cluster.server.address).await;
        let config = cluster.config_at(&format!("https://{}", relay.address));
        let client = Client::new(config).unwrap();
        let (mut hands, _feeds) = watches(&mut cluster, &client, 1).await;
        relay.set(Mood::Cut);
        hands[0].failed(Failure::Broken).await;
        relay.set(Mood::Forward);
        let (_hands, _feeds) = watches(&mut cluster, &client, 1).await;
        assert_eq!(relay.connections.load(Ordering::SeqCst), 2);
    }
}

#[tokio::test]
async fn a_closed_idle_connection_is_not_reused() {
    for http2 in [false, true] {
        let mut cluster = Cluster::new(http2).await;
        let client = Client::new(cluster.config()).unwrap();
        let mut hand = Hand::new(&client);
        for _ in 0..20 {
            hand.open(list());
            cluster.server.call().await.json("{}");
            hand.opened().await;
            hand.text("{}").await;
            hand.closed().await;
            // The next request may come before, during or after the close.
            cluster.server.go_away();
        }
    }
}

#[tokio::test]
async fn a_refused_connection_is_explained() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let client = Client::new(Config::new(&url).unwrap()).unwrap();
    let mut hand = Hand::new(&client);
    hand.open(list());
    let message = hand.failed(Failure::Unreachable).await;
    assert_eq!(
        message,
        format!("connection refused by {url}; is it running at this address?")
    );
}

#[tokio::test]
async fn an_unknown_host_name_is_explained() {
    let client = Client::new(Config::new("http://no-such-host.invalid:6443").unwrap()).unwrap();
    let mut hand = Hand::new(&client);
    hand.open(list());
    let message = hand.failed(Failure::Unreachable).await;
    assert!(
        message.starts_with("the name `no-such-host.invalid` of "),
        "{message}"
    );
}

#[tokio::test]
async fn a_server_that_does_not_speak_tls_is_recognised() {
    let listen = Listen {
        tls: None,
        http2: false,
        max_streams: 100,
    };
    let server = Server::new(listen).await;
    let cluster = Cluster::new(true).await;
    let config = cluster.config_at(&format!("https://{}", server.address));
    let client = Client::new(config).unwrap();
    let mut hand = Hand::new(&client);
    hand.open(list());
    let message = hand.failed(Failure::Unreachable).await;
    assert!(message.contains("does not speak TLS"), "{message}");
}

#[tokio::test]
async fn a_silent_server_times_out() {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
        .await
        .unwrap();
    let cluster = Cluster::new(true).await;
    let url = format!("https://{}", listener.local_addr().unwrap());
    let settings = Settings {
        connect_timeout: Duration::from_millis(100),
        ..Settings::new()
    };
    let client = Client::new(cluster.config_at(&url).with_settings(settings)).unwrap();
    let mut hands: Vec<_> = (0..50).map(|_| Hand::new(&client)).collect();
    for hand in &mut hands {
        hand.open(watch());
    }
    for hand in &mut hands {
        let message = hand.failed(Failure::Unreachable).await;
        let expected = format!("connecting to {url} took longer than 100ms; is there a firewall");
        assert!(message.starts_with(&expected), "{message}");
    }
    // Requests that waited for the same connection share its failure.
    let listener = listener.into_std().unwrap();
    assert!(listener.accept().is_ok(), "one attempt");
    assert!(listener.accept().is_err(), "and only one");
}

#[tokio::test]
async fn both_http_versions_work_without_tls() {
    for http2 in [false, true] {
        let listen = Listen {
            tls: None,
            http2,
            max_streams: 100,
        };
        let mut server = Server::new(listen).await;
        let settings = Settings {
            http: if http2 {
                HttpVersion::Http2
            } else {
                HttpVersion::Negotiated
            },
            ..Settings::new()
        };
        let config = Config::new(&format!("http://{}/below", server.address)).unwrap();
        let client = Client::new(config.with_settings(settings)).unwrap();
        let mut hand = Hand::new(&client);
        hand.open(watch());
        let call = server.call().await;
        assert!(
            call.target
                .starts_with("/below/api/v1/pods?allowWatchBookmarks=true"),
            "{}",
            call.target
        );
        let feed = call.stream();
        hand.opened().await;
        feed.send("x").await;
        hand.text("x").await;
    }
}

#[tokio::test]
async fn either_http_version_can_be_chosen() {
    for (http, server_speaks_http2) in [(HttpVersion::Http1, false), (HttpVersion::Http2, true)] {
        let mut cluster = Cluster::new(server_speaks_http2).await;
        let settings = Settings {
            http,
            ..Settings::new()
        };
        let client = Client::new(cluster.config().with_settings(settings)).unwrap();
        let (_hands, _feeds) = watches(&mut cluster, &client, 2).await;
        let expected = if server_speaks_http2 { 1 } else { 2 };
        assert_eq!(cluster.server.connections(), expected);
    }
}

#[tokio::test]
async fn an_http_version_that_the_server_does_not_speak_is_explained() {
    let cluster = Cluster::new(false).await;
    let settings = Settings {
        http: HttpVersion::Http2,
        ..Settings::new()
    };
    let client = Client::new(cluster.config().with_settings(settings)).unwrap();
    let mut hand = Hand::new(&client);
    hand.open(watch());
    let message = hand.failed(Failure::Unreachable).await;
    assert!(
        message.contains("the version of HTTP that `Settings::http` requires; change it"),
        "{message}"
    );
}

#[test]
fn a_client_can_be_polled_from_outside_its_runtime() {
    const fn goes_anywhere<T: Send>() {}
    goes_anywhere::<Client>();
    goes_anywhere::<HyperTransport>();
    outlives_its_runtime(false);
    outlives_its_runtime(true);
}

/// Nobody waits for its answer any more.
#[tokio::test]
async fn a_request_ends_with_the_call_that_waits_for_it() {
    for http2 in [false, true] {
        let mut cluster = Cluster::new(http2).await;
        let client = Client::new(cluster.config()).unwrap();
        let mut answer = Box::pin(client.get("/version"));
        let feed = tokio::select! {
            answer = &mut answer => panic!("{answer:?}"),
            call = cluster.server.call() => call.stream(),
        };
        drop(answer);
        feed.gone().await;
    }
}

/// A client that is created outside of tokio has its own runtime, which serves callers in any other.
#[test]
fn a_client_may_have_its_own_runtime() {
    for http2 in [false, true] {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let mut cluster = runtime.block_on(Cluster::new(http2));
        let client = Client::new(cluster.config()).unwrap();
        runtime.block_on(async {
            let answer = client.get("/version");
            let said = async { cluster.server.call().await.json("{}") };
            let (answer, ()) = tokio::join!(answer, said);
            assert_eq!(answer.unwrap(), "{}");
            let mut hand = Hand::new(&client);
            hand.open(watch());
            let feed = cluster.server.call().await.stream();
            hand.opened().await;
            // The transport keeps the runtime running.
            drop(client);
            feed.send("x").await;
            hand.text("x").await;
            drop(hand);
            feed.gone().await;
        });
    }
}

fn outlives_its_runtime(http2: bool) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut cluster = runtime.block_on(Cluster::new(http2));
    let client = runtime.block_on(async { Client::new(cluster.config()).unwrap() });
    let mut hand = Hand::new(&client);
    hand.open(watch());
    let feed = runtime.block_on(cluster.server.call()).stream();
    runtime.block_on(async { hand.opened().await });
    drop(feed);
    drop(runtime);
    // Its exchanges have ended with the runtime.
    let end = poll_until_ready(&mut hand);
    assert!(
        matches!(end, Seen::Closed | Seen::Failed(Failure::Broken, _)),
        "{end:?}"
    );
    hand.open(watch());
    let end = poll_until_ready(&mut hand);
    assert!(matches!(end, Seen::Failed(Failure::Broken, _)), "{end:?}");
    let mut get = std::pin::pin!(client.get("/version"));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(Err(error)) = get.as_mut().poll(&mut cx) else {
        panic!("no runtime is left to answer");
    };
    assert_eq!(
        error.to_string(),
        "the runtime of the client has ended; create a client in another runtime"
    );
}

/// The signal that is ready now.
fn poll_until_ready(hand: &mut Hand) -> Seen {
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    match hand.poll(&mut cx) {
        std::task::Poll::Ready(seen) => seen,
        std::task::Poll::Pending => panic!("no signal is ready"),
    }
}

/// A configuration with a proxy.
fn through(cluster: &Cluster, proxy: &str) -> Config {
    let text = format!(
        "current-context: c\ncontexts: [{{name: c, context: {{cluster: c}}}}]\n\
         clusters: [{{name: c, cluster: {{server: '{}', certificate-authority: ca.crt, proxy-url: '{proxy}'}}}}]\n",
        cluster.url()
    );
    Config::from_kubeconfig(cluster.folder.write("config", &text), None).unwrap()
}

#[tokio::test]
async fn requests_go_through_a_proxy() {
    let mut cluster = Cluster::new(true).await;
    let (address, mut questions) = proxy("HTTP/1.1 200 Connection established\r\n\r\n").await;
    let client = Client::new(through(&cluster, &format!("http://me:pw@{address}"))).unwrap();
    let (mut hands, feeds) = watches(&mut cluster, &client, 1).await;
    feeds[0].send("x").await;
    hands[0].text("x").await;
    let question = questions.recv().await.unwrap();
    let expected = format!("CONNECT {} HTTP/1.1\r\n", cluster.server.address);
    assert!(question.starts_with(&expected), "{question}");
    assert!(
        question.contains("Proxy-Authorization: Basic bWU6cHc=\r\n"),
        "{question}"
    );
}

#[tokio::test]
async fn a_proxy_that_refuses_is_explained() {
    let cluster = Cluster::new(true).await;
    for (answer, expected) in [
        ("HTTP/1.1 403 Forbidden\r\n\r\n", "HTTP 403"),
        (
            "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
            "requires credentials (HTTP 407); add them to proxy-url",
        ),
        (
            "SSH-2.0-OpenSSH\r\n\r\n",
            "does not speak HTTP; is proxy-url correct?",
        ),
    ] {
        let (address, _questions) = proxy(answer).await;
        let client = Client::new(through(&cluster, &format!("http://{address}"))).unwrap();
        let mut hand = Hand::new(&client);
        hand.open(list());
        let message = hand.failed(Failure::Unreachable).await;
        assert!(
            message.starts_with(&format!("the proxy {address} ")),
            "{message}"
        );
        assert!(message.contains(expected), "{message}");
    }
}

#[tokio::test]
async fn the_number_of_concurrent_lists_is_limited() {
    let mut cluster = Cluster::new(true).await;
    let settings = Settings {
        max_lists: NonZeroUsize::new(2).unwrap(),
        ..Settings::new()
    };
    let client = Client::new(cluster.config().with_settings(settings)).unwrap();
    let mut hands: Vec<_> = (0..6).map(|_| Hand::new(&client)).collect();
    for (number, hand) in hands.iter_mut().enumerate() {
        hand.open(if number % 2 == 0 { list() } else { stream() });
    }
    // Watches do not wait.
    let mut running = vec![cluster.server.call().await, cluster.server.call().await];
    let mut watching = Hand::new(&client);
    watching.open(watch());
    let call = cluster.server.call().await;
    assert!(call.target.contains("resourceVersion=7"), "{}", call.target);
    let mut streams = Vec::new();
    for _ in 0..4 {
        let call = running.remove(0);
        if call.target.contains("watch=true") {
            let feed = call.stream();
            // From here on it is a watch.
            feed.send("{\"k8s.io/initial-events-end\":\"true\"}\n")
                .await;
            streams.push(feed);
        } else {
            call.json("{}");
        }
        running.push(drained(&mut cluster, &mut hands).await);
    }
    assert_eq!(running.len(), 2);
    assert!(!cluster.server.is_called());
}

#[tokio::test]
async fn a_silent_stream_does_not_block_lists() {
    let mut cluster = Cluster::new(true).await;
    let settings = Settings {
        max_lists: NonZeroUsize::MIN,
        ..Settings::new()
    };
    let client = Client::new(cluster.config().with_settings(settings)).unwrap();
    let mut silent = Hand::new(&client);
    silent.open(stream());
    let feed = cluster.server.call().await.stream();
    silent.opened().await;
    let mut waiting = Hand::new(&client);
    waiting.open(list());
    cluster.server.call().await.json("{}");
    waiting.opened().await;
    feed.send("x").await;
    silent.text("x").await;
}

/// The next call, while all hands consume their signals.
async fn drained(cluster: &mut Cluster, hands: &mut [Hand]) -> crate::rig::server::Call {
    use informer_core::transport::Transport;

    let draining = std::future::poll_fn(|cx| {
        for hand in hands.iter_mut() {
            while hand.transport.poll_signal(cx).is_ready() {
                hand.transport.consume(usize::MAX);
            }
        }
        std::task::Poll::<()>::Pending
    });
    tokio::select! {
        call = cluster.server.call() => call,
        () = draining => unreachable!(),
    }
}
