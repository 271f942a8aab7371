//! Addresses, hosts, origins and tokens.

use informer::ops::{OpsError, serve};
use tokio::net::TcpListener;

use crate::place::{address, get, get_with, here, lean, send, server};

const TOKEN: &str = "correct-horse-battery-staple";

#[tokio::test]
async fn an_address_that_others_can_reach_needs_a_token() {
    for open in ["0.0.0.0:0", "[::]:0"] {
        let error = serve(open).start().await.unwrap_err();
        assert!(matches!(error, OpsError::NeedsToken { .. }), "{error:?}");
        let said = error.to_string();
        assert!(
            said.contains("set a `token`") && said.contains("127.0.0.1"),
            "{said}"
        );
    }
    let port = serve("0.0.0.0:0").token(TOKEN).start().await.unwrap();
    assert_eq!(port.address().unwrap().ip().to_string(), "0.0.0.0");
    for unfit in ["", "two words", "caf\u{e9}"] {
        let error = here().token(unfit).start().await.unwrap_err();
        assert!(matches!(error, OpsError::BadToken), "{error:?}");
    }
}

#[tokio::test]
async fn an_address_that_cannot_be_used_says_why() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let error = serve(taken.local_addr().unwrap())
        .start()
        .await
        .unwrap_err();
    assert!(matches!(error, OpsError::Bind { .. }), "{error:?}");
    assert!(error.to_string().contains("choose another port"), "{error}");
    for wrong in ["9090", "127.0.0.1", "127.0.0.1:99999"] {
        let error = serve(wrong).start().await.unwrap_err();
        assert!(matches!(error, OpsError::Address { .. }), "{error:?}");
        assert!(
            error.to_string().contains("write it as 127.0.0.1:9090"),
            "{error}"
        );
    }
}

#[test]
fn a_runtime_without_io_or_none_at_all_is_an_error() {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let bare = builder.enable_time().build().unwrap();
    let error = bare.block_on(here().start()).unwrap_err();
    assert!(error.to_string().contains("has no I/O"), "{error}");
    let mut none = std::pin::pin!(here().start());
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(Err(error)) = none.as_mut().poll(&mut cx) else {
        panic!("it waits");
    };
    assert!(matches!(error, OpsError::Runtime(_)), "{error:?}");
}

#[tokio::test]
async fn a_token_opens_all_and_without_it_only_probes_and_the_page_are_open() {
    let server = server();
    let pods = lean(&server, "pods").await;
    let builder = here().add(&pods).token(TOKEN);
    assert!(!format!("{builder:?}").contains(TOKEN));
    let port = builder.start().await.unwrap();
    assert!(!format!("{port:?}").contains(TOKEN));
    for open in ["/", "/livez", "/readyz", "/readyz?within=100"] {
        assert_eq!(get(&port, open).await.status, 200, "{open}");
    }
    let closed = [
        "/status",
        "/metrics",
        "/timeline",
        "/events",
        "/dump/pods.v1",
        "/nothing",
        "//",
    ];
    for path in closed {
        for header in [
            String::new(),
            "authorization: Bearer wrong\r\n".to_owned(),
            format!("authorization: Basic {TOKEN}\r\n"),
            format!("authorization: {TOKEN}\r\n"),
            format!("authorization: Bearer {TOKEN}x\r\n"),
            format!("authorization: Bearer {TOKEN}\r\nauthorization: Bearer {TOKEN}\r\n"),
        ] {
            let answer = get_with(&port, path, &header).await;
            assert_eq!(answer.status, 401, "{path} {header}");
            assert!(
                answer.has_header("www-authenticate: bearer"),
                "{}",
                answer.head
            );
            assert!(!answer.body.contains(TOKEN));
        }
    }
    for scheme in ["Bearer", "bearer", "Bearer "] {
        let header = format!("authorization: {scheme} {TOKEN}\r\n");
        assert_eq!(
            get_with(&port, "/status", &header).await.status,
            200,
            "{scheme}"
        );
        assert_eq!(get_with(&port, "/nothing", &header).await.status, 404);
    }
}

/// DNS rebinding: a name of a stranger that leads here.
#[tokio::test]
async fn only_addresses_and_allowed_names_are_answered() {
    let port = here().host("shop.example").start().await.unwrap();
    let ask = async |hosts: &str| {
        let request = format!("GET /livez HTTP/1.1\r\n{hosts}connection: close\r\n\r\n");
        send(&port, &request).await
    };
    let port_number = address(&port).port();
    for good in [
        "127.0.0.1",
        "10.1.2.3",
        "[::1]",
        "localhost",
        "LOCALHOST",
        "shop.example",
    ] {
        for host in [good.to_owned(), format!("{good}:{port_number}")] {
            let answer = ask(&format!("host: {host}\r\n")).await;
            assert_eq!(answer.status, 200, "{host}");
        }
    }
    for bad in [
        "host: evil.example\r\n",
        "host: evil.example:80\r\n",
        "host: localhost.evil.example\r\n",
        "host: 127.0.0.1.evil.example\r\n",
        "host: localhost.\r\n",
        "host: shop.example.evil\r\n",
        "host: [::1\r\n",
        "host: 127.0.0.1:80@evil\r\n",
        "host: \r\n",
        "",
        "host: localhost\r\nhost: evil.example\r\n",
    ] {
        let answer = ask(bad).await;
        // hyper itself refuses some.
        assert!(
            matches!(answer.status, 421 | 400),
            "{bad}: {}",
            answer.status
        );
        assert!(!answer.body.contains("ok\n"), "{bad}");
    }
    let answer = ask("host: evil.example\r\n").await;
    assert_eq!(answer.status, 421);
    assert!(answer.error().contains("`host`"), "{}", answer.error());
}

#[tokio::test]
async fn pages_of_other_sites_may_not_ask() {
    let port = here().start().await.unwrap();
    let own = format!("origin: http://{}\r\n", address(&port));
    let answer = get_with(&port, "/status", &own).await;
    assert_eq!(answer.status, 200);
    assert!(
        !answer.head.contains("access-control-allow"),
        "{}",
        answer.head
    );
    for other in [
        "http://evil.example",
        "null",
        "http://127.0.0.1:1",
        "",
        "file://",
    ] {
        for path in ["/status", "/livez", "/events"] {
            let answer = get_with(&port, path, &format!("origin: {other}\r\n")).await;
            assert_eq!(answer.status, 403, "{other} {path}");
        }
    }
}

#[tokio::test]
async fn the_port_is_read_only() {
    let port = here().start().await.unwrap();
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"] {
        let request =
            format!("{method} /status HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        let answer = send(&port, &request).await;
        assert_eq!(answer.status, 405, "{method}");
        assert!(answer.has_header("allow: get, head"), "{}", answer.head);
        assert!(answer.error().contains("read-only"));
    }
}
