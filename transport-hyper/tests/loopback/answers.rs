//! Answers of a server, over HTTP/1.1 and HTTP/2.
use std::io::Write as _;
use std::time::Duration;

use crate::rig::hand::{Hand, Seen, list, pods, stream, watch};
use crate::rig::server::Cluster;
use crate::rig::soon;
use flate2::Compression;
use flate2::write::GzEncoder;
use informer_core::Failure;
use informer_core::transport::{Content, Signal, Transport};
use informer_transport_hyper::{Client, Secret, Settings};

const EVENT: &str = "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}\n";

/// Runs a test with a server for HTTP/1.1 and with one for HTTP/2.
macro_rules! over_both {
    ($($(#[$attribute:meta])* async fn $name:ident($cluster:ident: Cluster) $body:block)*) => {$(
        $(#[$attribute])*
        mod $name {
            use super::*;

            async fn test(mut $cluster: Cluster) {
                let _ = &mut $cluster;
                $body
            }

            #[tokio::test]
            async fn over_http1() {
                test(Cluster::new(false).await).await;
            }

            #[tokio::test]
            async fn over_http2() {
                test(Cluster::new(true).await).await;
            }
        }
    )*};
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

over_both! {
    async fn a_list_is_opened_read_and_closed(cluster: Cluster) {
        let client = Client::new(cluster.config()).unwrap();
        let mut hand = Hand::new(&client);
        for _ in 0..3 {
            hand.open(list());
            let call = cluster.server.call().await;
            assert_eq!(call.target, "/api/v1/pods?resourceVersion=0");
            assert_eq!(call.header("accept"), Some("application/json"));
            assert_eq!(call.header("accept-encoding"), Some("gzip"));
            let agent = concat!("informer/", env!("CARGO_PKG_VERSION"));
            assert_eq!(call.header("user-agent"), Some(agent));
            assert_eq!(call.header("authorization"), None);
            call.json("{\"items\":[]}");
            hand.opened().await;
            hand.text("{\"items\":[]}").await;
            hand.closed().await;
        }
        assert_eq!(cluster.server.connections(), 1, "the connection is reused");
    }

    async fn a_watch_delivers_each_event_as_it_comes(cluster: Cluster) {
        let client = Client::new(cluster.config()).unwrap();
        let mut hand = Hand::of(&client, &pods().in_namespace("web").with_content(Content::Metadata));
        hand.open(watch());
        let call = cluster.server.call().await;
        assert_eq!(
            call.target,
            "/api/v1/namespaces/web/pods?allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=300&watch=true"
        );
        let form = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
        assert_eq!(call.header("accept"), Some(form));
        let feed = call.stream();
        hand.opened().await;
        for _ in 0..5 {
            feed.send(EVENT).await;
            hand.text(EVENT).await;
        }
        drop(feed);
        hand.closed().await;
    }

    async fn single_bytes_are_delivered(cluster: Cluster) {
        let client = Client::new(cluster.config()).unwrap();
        let mut hand = Hand::new(&client);
        hand.open(watch());
        let feed = cluster.server.call().await.stream();
        hand.opened().await;
        for byte in EVENT.bytes() {
            feed.send(vec![byte]).await;
            assert_eq!(hand.next().await, Seen::Bytes(vec![byte]));
        }
    }

    async fn a_chain_of_gzip_members_comes_out_member_by_member(cluster: Cluster) {
        let client = Client::new(cluster.config()).unwrap();
        let mut hand = Hand::new(&client);
        hand.open(stream());
        let head = [("content-type", "application/json"), ("content-encoding", "gzip")];
        let feed = cluster.server.call().await.stream_with(&head);
        hand.opened().await;
        for number in 0..20 {
            let line = EVENT.replace("\"a\"", &format!("\"pod-{number}\""));
            feed.send(gzip(&line)).await;
            hand.text(&line).await;
        }
        drop(feed);
        hand.closed().await;
    }

    async fn a_truncated_gzip_is_broken(cluster: Cluster) {
        let client = Client::new(cluster.config()).unwrap();
        let mut hand = Hand::new(&client);
        hand.open(list());
        let head = [("content-type", "application/json"), ("content-encoding", "gzip")];
        let packed = gzip(EVENT);
        cluster.server.call().await.reply(200, &head, packed[..packed.len() - 3].to_vec());
        hand.opened().await;
        hand.text(EVENT).await;
        hand.failed(Failure::Broken).await;
    }

    async fn a_body_that_is_not_gzip_is_undecodable(cluster: Cluster) {
        let client = Client::new(cluster.config()).unwrap();
        let mut hand = Hand::new(&client);
        hand.open(list());
        let head = [("content-type", "application/json"), ("content-encoding", "gzip")];
        cluster.server.call().await.reply(200, &head, "{\"items\":[]}");
        hand.opened().await;
        hand.failed(Failure::Undecodable).await;
    }

    async fn a_truncated_body_is_broken(cluster: Cluster) {
        let client = Client::new(cluster.config()).unwrap();
        for request in [list(), watch()] {
            let mut hand = Hand::new(&client);
            hand.open(request);
            let feed = cluster.server.call().await.stream();
            hand.opened().await;
            feed.send("{\"type\":\"ADD").await;
            hand.text("{\"type\":\"ADD").await;
            feed.cut().await;
            let message = hand.failed(Failure::Broken).await;
            assert!(message.starts_with("the answer broke off: "), "{message}");
        }
    }

    async fn a_stalled_list_times_out_and_a_watch_does_not(cluster: Cluster) {
        let settings = Settings {
            list_timeout: Duration::from_millis(500),
            ..Settings::new()
        };
        let client = Client::new(cluster.config().with_settings(settings)).unwrap();
        let mut watching = Hand::new(&client);
        watching.open(watch());
        let events = cluster.server.call().await.stream();
        watching.opened().await;
        let mut listing = Hand::new(&client);
        listing.open(list());
        let feed = cluster.server.call().await.stream();
        listing.opened().await;
        feed.send("{").await;
        listing.text("{").await;
        listing.failed(Failure::TimedOut).await;
        feed.gone().await;
        events.send(EVENT).await;
        watching.text(EVENT).await;
    }

    async fn a_full_state_without_an_answer_times_out(cluster: Cluster) {
        let settings = Settings {
            head_timeout: Duration::from_millis(50),
            connect_timeout: Duration::from_secs(2),
            ..Settings::new()
        };
        let client = Client::new(cluster.config().with_settings(settings)).unwrap();
        for request in [list(), stream()] {
            let mut hand = Hand::new(&client);
            hand.open(request);
            let _call = cluster.server.call().await;
            hand.failed(Failure::TimedOut).await;
        }
    }

    async fn an_abort_ends_the_exchange(cluster: Cluster) {
        let client = Client::new(cluster.config()).unwrap();
        let mut hand = Hand::new(&client);
        hand.open(watch());
        let feed = cluster.server.call().await.stream();
        hand.opened().await;
        hand.abort();
        feed.gone().await;
        hand.open(watch());
        let feed = cluster.server.call().await.stream();
        hand.opened().await;
        // Dropping the transport does, too.
        drop(hand);
        feed.gone().await;
    }

    /// The server offers 10 GB and the client does not read: only windows and buffers fill up.
    async fn what_is_not_consumed_is_not_read(cluster: Cluster) {
        const CHUNK: usize = 1 << 20;
        const OFFERED: usize = 10 << 30;
        let client = Client::new(cluster.config()).unwrap();
        let mut hand = Hand::new(&client);
        hand.open(list());
        let feed = cluster.server.call().await.stream();
        hand.opened().await;
        let (taken, mut most) = tokio::sync::watch::channel(0);
        let chunk = bytes::Bytes::from(vec![b'x'; CHUNK]);
        let offering = tokio::spawn(async move {
            while *taken.borrow() < OFFERED && feed.try_send(chunk.clone()).await {
                taken.send_modify(|sum| *sum += CHUNK);
            }
        });
        // Stop when nothing has been taken for a while.
        let mut before = 0;
        loop {
            let still = tokio::time::timeout(Duration::from_millis(300), most.changed()).await;
            if still.is_err() {
                break;
            }
            before = *most.borrow();
            assert!(before < 64 << 20, "{before} bytes were taken without a reader");
        }
        assert!(before >= CHUNK, "something was taken: {before}");
        // Reading again delivers the rest.
        let mut read = 0;
        while read < 2 * before {
            match hand.next().await {
                Seen::Bytes(bytes) => read += bytes.len(),
                other => panic!("{other:?}"),
            }
        }
        offering.abort();
    }

    async fn unsuccessful_answers_with_and_without_a_status(cluster: Cluster) {
        let client = Client::new(cluster.config()).unwrap();
        let wait = |seconds| Some(Duration::from_secs(seconds));
        let rows = [
            (400, "BadRequest", Failure::Invalid, Failure::Invalid),
            (401, "Unauthorized", Failure::Unauthorized, Failure::Unauthorized),
            (403, "Forbidden", Failure::Forbidden, Failure::Forbidden),
            (404, "NotFound", Failure::NotFound, Failure::NotFound),
            (410, "Expired", Failure::Expired, Failure::Expired),
            (
                429,
                "TooManyRequests",
                Failure::Throttled { retry_after: wait(3) },
                Failure::Throttled { retry_after: wait(3) },
            ),
            (500, "InternalError", Failure::Internal, Failure::Internal),
            (503, "ServiceUnavailable", Failure::Unavailable, Failure::Unavailable),
            (504, "Timeout", Failure::TimedOut, Failure::TimedOut),
        ];
        // A server that fails may say how long to wait, as one that is busy does.
        let asks_to_wait = [500, 501, 502, 503, 504, 507].map(|code| {
            let asked = Failure::Throttled { retry_after: wait(3) };
            (code, "ServerTimeout", asked, asked, "3")
        });
        let rows = rows.map(|(code, reason, with, without)| {
            let header = if code < 500 { "3" } else { "0" };
            (code, reason, with, without, header)
        });
        for (code, reason, with, without, header) in rows.into_iter().chain(asks_to_wait) {
            for request in [list(), watch()] {
                let head = [("content-type", "application/json"), ("retry-after", header)];
                let mut hand = Hand::new(&client);
                hand.open(request);
                let body = format!(
                    r#"{{"kind":"Status","message":"it is {reason}","reason":"{reason}","code":{code}}}"#
                );
                cluster.server.call().await.reply(code, &head, body);
                let message = hand.failed(with).await;
                assert!(message.ends_with(&format!("it is {reason}")), "{message}");

                hand.open(request);
                cluster.server.call().await.reply(code, &head, "");
                let message = hand.failed(without).await;
                assert!(message.ends_with(&format!("HTTP {code}")), "{message}");

                hand.open(request);
                cluster.server.call().await.reply(code, &[("retry-after", header)], "<h1>no</h1>");
                let message = hand.failed(without).await;
                assert!(message.ends_with(&format!("HTTP {code}: <h1>no</h1>")), "{message}");
            }
        }
    }

    async fn the_missing_permission_is_named(cluster: Cluster) {
        let client = Client::new(cluster.config()).unwrap();
        let mut hand = Hand::new(&client);
        hand.open(list());
        cluster.server.call().await.reply(403, &[], "");
        assert_eq!(
            hand.failed(Failure::Forbidden).await,
            "missing permission to list pods in the whole cluster (grant it with RBAC): HTTP 403"
        );
        let mut hand = Hand::of(&client, &pods().in_namespace("web"));
        hand.open(stream());
        cluster.server.call().await.reply(403, &[], "");
        assert_eq!(
            hand.failed(Failure::Forbidden).await,
            "missing permission to watch pods in namespace `web` (grant it with RBAC): HTTP 403"
        );
    }

    async fn an_error_body_is_read_up_to_a_limit(cluster: Cluster) {
        let client = Client::new(cluster.config()).unwrap();
        let mut hand = Hand::new(&client);
        hand.open(list());
        // The body is far larger than the limit, and the failure is reported all the same.
        let call = cluster.server.call().await;
        let endless = bytes::Bytes::from(vec![b'x'; 1 << 20]);
        call.reply(500, &[], endless);
        let message = hand.failed(Failure::Internal).await;
        assert!(message.len() < 600, "{message}");
    }

    async fn a_login_page_is_not_an_answer(cluster: Cluster) {
        let client = Client::new(cluster.config()).unwrap();
        for request in [list(), watch()] {
            let mut hand = Hand::new(&client);
            hand.open(request);
            let head = [("content-type", "text/html; charset=utf-8")];
            cluster.server.call().await.reply(200, &head, "<html>please log in</html>");
            let message = hand.failed(Failure::Undecodable).await;
            assert!(message.contains("text/html"), "{message}");
        }
    }

    async fn a_long_header_does_not_hide_the_remedy(cluster: Cluster) {
        let client = Client::new(cluster.config()).unwrap();
        let mut hand = Hand::new(&client);
        hand.open(list());
        let long = "x".repeat(4_000);
        let head = [("content-type", long.as_str())];
        cluster.server.call().await.reply(200, &head, "");
        let message = hand.failed(Failure::Undecodable).await;
        assert!(message.len() < 200 && message.ends_with("does something other than the API server answer?"), "{message}");

        hand.open(list());
        let to = format!("https://{long}/");
        cluster.server.call().await.reply(301, &[("location", &to)], "");
        let message = hand.failed(Failure::Other).await;
        assert!(message.len() < 200 && message.ends_with("name the right server"), "{message}");
    }

    async fn credentials_do_not_follow_a_redirect(cluster: Cluster) {
        let mut elsewhere = Cluster::new(cluster.http2).await;
        let config = cluster.config().with_token(Secret::from("t0ken".to_owned()));
        let client = Client::new(config).unwrap();
        for code in [301, 302, 303, 307, 308] {
            let mut hand = Hand::new(&client);
            hand.open(list());
            let call = cluster.server.call().await;
            assert_eq!(call.header("authorization"), Some("Bearer t0ken"));
            let to = format!("{}/api/v1/pods", elsewhere.url());
            call.reply(code, &[("location", &to)], "");
            let message = hand.failed(Failure::Other).await;
            assert!(message.contains("redirects to `127.0.0.1`"), "{message}");
        }
        assert_eq!(elsewhere.server.connections(), 0);
        assert!(!elsewhere.server.is_called());
        let _ = &mut elsewhere;
    }

    async fn no_compression_where_it_is_switched_off(cluster: Cluster) {
        let kubeconfig = format!(
            "current-context: c\ncontexts: [{{name: c, context: {{cluster: c}}}}]\n\
             clusters: [{{name: c, cluster: {{server: '{}', certificate-authority: ca.crt, disable-compression: true}}}}]\n",
            cluster.url()
        );
        let file = cluster.folder.write("config", &kubeconfig);
        let config = informer_transport_hyper::Config::from_kubeconfig(file, None).unwrap();
        let client = Client::new(config).unwrap();
        let mut hand = Hand::new(&client);
        hand.open(list());
        let call = cluster.server.call().await;
        assert_eq!(call.header("accept-encoding"), None);
        call.json("{}");
        hand.opened().await;
    }
}

#[tokio::test]
async fn signals_are_shown_until_they_are_consumed() {
    let mut cluster = Cluster::new(true).await;
    let client = Client::new(cluster.config()).unwrap();
    let mut hand = Hand::new(&client);
    hand.open(list());
    cluster.server.call().await.json("0123456789");
    hand.opened().await;
    for (shown, used) in [
        ("0123456789", 0),
        ("0123456789", 4),
        ("456789", 0),
        ("456789", 6),
    ] {
        let bytes = std::future::poll_fn(|cx| {
            let shown = hand.transport.poll_signal(cx);
            shown.map(|(_, signal)| match signal {
                Signal::Bytes(bytes) => bytes.to_vec(),
                other => panic!("{other:?}"),
            })
        });
        assert_eq!(soon("bytes", bytes).await, shown.as_bytes());
        hand.transport.consume(used);
    }
    hand.closed().await;
}
