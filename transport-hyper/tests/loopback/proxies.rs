//! Proxies: which one is used, and the way through it.
use std::net::SocketAddr;

use crate::rig::certificates::{Authority, server_tls};
use crate::rig::folder::Folder;
use crate::rig::hand::{Hand, list};
use crate::rig::proxies::{Proxy, Speaks};
use crate::rig::relay::proxy;
use crate::rig::server::{Cluster, Listen, Server};
use informer_core::Failure;
use informer_transport_hyper::{Client, Config, ConfigError, Environment, HttpVersion, Settings};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// A server that is not on loopback, as far as anyone can see: loopback addresses are never proxied.
const ELSEWHERE: &str = "https://kube.example.org:6443";

/// Writes a kubeconfig for `cluster` under another name.
fn written(cluster: &Cluster, more: &str) -> std::path::PathBuf {
    let text = format!(
        "current-context: c\ncontexts: [{{name: c, context: {{cluster: c, namespace: web}}}}]\n\
         clusters: [{{name: c, cluster: {{server: '{ELSEWHERE}', tls-server-name: localhost, \
         certificate-authority: ca.crt{more}}}}}]\n"
    );
    cluster.folder.write("config", &text)
}

fn environment(cluster: &Cluster, more: &str) -> Environment {
    let mut environment = Environment::default();
    environment.kubeconfig = Some(written(cluster, more).into());
    environment
}

/// A web server that is no proxy, and that does not wait for a request.
async fn web_server() -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let answer = b"HTTP/1.1 400 Bad Request\r\n\r\n";
            client.write_all(answer).await.unwrap();
            let _ = client.read_to_end(&mut Vec::new()).await;
        }
    });
    address
}

/// Reads a list, whose answer has come all the way.
async fn lists(client: &Client, server: &mut Server) {
    let mut hand = Hand::new(client);
    hand.open(list());
    server.call().await.json("{}");
    hand.opened().await;
    hand.text("{}").await;
    hand.closed().await;
}

async fn fails(config: Config) -> String {
    let client = Client::new(config).unwrap();
    let mut hand = Hand::new(&client);
    hand.open(list());
    hand.failed(Failure::Unreachable).await
}

fn connects_to(question: &str, login: bool) {
    assert!(
        question.starts_with("CONNECT kube.example.org:6443 HTTP/1.1\r\n"),
        "{question}"
    );
    let authorization = question.contains("\r\nProxy-Authorization: Basic bWU6cEBzcw==\r\n");
    assert_eq!(authorization, login, "{question}");
}

#[tokio::test]
async fn the_environment_names_the_proxy() {
    for http2 in [false, true] {
        let mut cluster = Cluster::new(http2).await;
        let mut proxy = Proxy::new(cluster.server.address, None, Speaks::Http).await;
        let mut environment = environment(&cluster, "");
        environment.https_proxy = Some(format!("http://me:p%40ss@{}", proxy.address).into());
        environment.http_proxy = Some("http://no.proxy.invalid".into());
        let config = Config::infer_from(&environment).unwrap();
        let url = format!("http://{}", proxy.address);
        assert_eq!(config.proxy_url(), Some(url));
        lists(&Client::new(config).unwrap(), &mut cluster.server).await;
        connects_to(&proxy.asked().await, true);
    }
}

#[tokio::test]
async fn a_proxy_may_be_written_without_its_scheme() {
    let mut cluster = Cluster::new(true).await;
    let mut proxy = Proxy::new(cluster.server.address, None, Speaks::Http).await;
    let mut environment = environment(&cluster, "");
    environment.https_proxy = Some(proxy.address.to_string().into());
    let config = Config::infer_context_from(&environment, "c").unwrap();
    lists(&Client::new(config).unwrap(), &mut cluster.server).await;
    connects_to(&proxy.asked().await, false);
}

#[tokio::test]
async fn the_kubeconfig_wins_over_the_environment() {
    let mut cluster = Cluster::new(true).await;
    let mut named = Proxy::new(cluster.server.address, None, Speaks::Http).await;
    let other = Proxy::new(cluster.server.address, None, Speaks::Http).await;
    let more = format!(", proxy-url: 'http://{}'", named.address);
    let mut environment = environment(&cluster, &more);
    environment.https_proxy = Some(format!("http://{}", other.address).into());
    // As in client-go, the environment exempts nothing from that proxy.
    environment.no_proxy = Some("*".to_owned());
    let config = Config::infer_from(&environment).unwrap();
    lists(&Client::new(config).unwrap(), &mut cluster.server).await;
    connects_to(&named.asked().await, false);
    assert!(!other.was_asked());
}

#[test]
fn a_pod_reads_the_environment_too() {
    let folder = Folder::new();
    for (name, text) in [("token", "abc"), ("ca.crt", "a certificate")] {
        folder.write(name, text);
    }
    let mut environment = Environment::default();
    environment.service_host = Some("10.96.0.1".to_owned());
    environment.service_port = Some("443".to_owned());
    environment.service_account = folder.path().to_owned();
    environment.https_proxy = Some("http://me:pw@proxy:3128".into());
    let config = Config::infer_from(&environment).unwrap();
    assert_eq!(config.proxy_url().as_deref(), Some("http://proxy:3128"));
    assert_eq!(config.without_proxy().proxy_url(), None);
    environment.no_proxy = Some("10.96.0.0/12".to_owned());
    let config = Config::infer_from(&environment).unwrap();
    assert_eq!(config.proxy_url(), None);
}

/// The tunnel to the server is TLS in TLS, and the proxy gets no client certificate.
#[tokio::test]
async fn an_https_proxy() {
    for http2 in [false, true] {
        let clients = Authority::new("clients");
        let authority = Authority::new("the authority of the cluster");
        let pair = authority.server(&["localhost", "127.0.0.1"]);
        let mut cluster = Cluster::with(authority, &pair, Some(&clients), http2, 100).await;
        let tls = server_tls(&pair, None, &["http/1.1"]);
        let mut proxy = Proxy::new(cluster.server.address, Some(tls), Speaks::Http).await;
        let url = format!("https://me:p%40ss@localhost:{}", proxy.address.port());
        let me = clients.client("me");
        let config = Config::from_kubeconfig(written(&cluster, ""), None)
            .unwrap()
            .with_client_certificate_files(
                cluster.folder.write("me.crt", &me.certificate),
                cluster.folder.write("me.key", &me.key),
            )
            .with_proxy(&url)
            .unwrap();
        lists(&Client::new(config).unwrap(), &mut cluster.server).await;
        connects_to(&proxy.asked().await, true);
    }
}

#[tokio::test]
async fn the_certificate_of_an_https_proxy_is_verified() {
    let cluster = Cluster::new(true).await;
    let through = |proxy: &Proxy, more: &str| {
        let config = Config::from_kubeconfig(written(&cluster, more), None).unwrap();
        let port = proxy.address.port();
        config.with_proxy(&format!("https://localhost:{port}"))
    };
    let of = |tls| Proxy::new(cluster.server.address, Some(tls), Speaks::Http);
    let stranger = Authority::new("another").server(&["localhost"]);
    let stranger = of(server_tls(&stranger, None, &[])).await;
    let message = fails(through(&stranger, "").unwrap()).await;
    let cause = format!(
        "the certificate of the proxy localhost:{} is not signed by the certificate authorities of the \
         system or the cluster",
        stranger.address.port()
    );
    assert!(message.starts_with(&cause), "{message}");
    assert!(!stranger.was_asked());

    let other = cluster.authority.server(&["proxy.example.org"]);
    let other = of(server_tls(&other, None, &[])).await;
    let message = fails(through(&other, "").unwrap()).await;
    assert!(
        message.contains("is not valid for `localhost`"),
        "{message}"
    );
    assert!(message.contains("change its URL to"), "{message}");

    let config = Config::from_kubeconfig(written(&cluster, ""), None).unwrap();
    let config = config.with_proxy(&format!("https://{}", web_server().await));
    let message = fails(config.unwrap()).await;
    assert!(message.contains("does not speak TLS"), "{message}");
}

/// `insecure-skip-tls-verify` is about the server.
#[tokio::test]
async fn a_proxy_is_verified_even_if_the_server_is_not() {
    let cluster = Cluster::new(true).await;
    let pair = cluster.authority.server(&["localhost"]);
    let tls = server_tls(&pair, None, &[]);
    let proxy = Proxy::new(cluster.server.address, Some(tls), Speaks::Http).await;
    let text = format!(
        "current-context: c\ncontexts: [{{name: c, context: {{cluster: c}}}}]\n\
         clusters: [{{name: c, cluster: {{server: '{ELSEWHERE}', insecure-skip-tls-verify: true, \
         proxy-url: 'https://localhost:{}'}}}}]\n",
        proxy.address.port()
    );
    let file = cluster.folder.write("config", &text);
    let message = fails(Config::from_kubeconfig(file, None).unwrap()).await;
    assert!(
        message.starts_with("the certificate of the proxy "),
        "{message}"
    );
    assert!(!proxy.was_asked());
}

#[tokio::test]
async fn socks5_proxies() {
    for (scheme, login, given) in [
        ("socks5", None, ""),
        ("socks5h", None, ""),
        // The proxy does not ask for the login.
        ("socks5", None, "me:p%40ss@"),
        ("socks5h", Some(("me", "p@ss")), "me:p%40ss@"),
    ] {
        let mut cluster = Cluster::new(true).await;
        let mut proxy = Proxy::new(cluster.server.address, None, Speaks::Socks(login)).await;
        let mut environment = environment(&cluster, "");
        let url = format!("{scheme}://{given}{}", proxy.address);
        environment.https_proxy = Some(url.into());
        let config = Config::infer_from(&environment).unwrap();
        let client = Client::new(config).unwrap();
        lists(&client, &mut cluster.server).await;
        let printed = format!("{client:?} {environment:?}");
        assert!(
            !printed.contains("p@ss") && !printed.contains("p%40ss"),
            "{printed}"
        );
        // The proxy looks up the name.
        assert_eq!(proxy.asked().await, "name kube.example.org port 6443");
    }
}

#[tokio::test]
async fn a_socks5_proxy_is_told_addresses_as_such() {
    for (host, said) in [
        ("192.0.2.7", "192.0.2.7 port 6443"),
        ("[2001:db8::7]", "2001:db8::7 port 6443"),
    ] {
        let mut server = Server::new(Listen {
            tls: None,
            http2: false,
            max_streams: 100,
        })
        .await;
        let mut proxy = Proxy::new(server.address, None, Speaks::Socks(None)).await;
        let config = Config::new(&format!("http://{host}:6443")).unwrap();
        let config = config.with_proxy(&format!("socks5://{}", proxy.address));
        lists(&Client::new(config.unwrap()).unwrap(), &mut server).await;
        assert_eq!(proxy.asked().await, said);
    }
}

/// Like client-go: the proxy gets the requests themselves, and may see them, since there is no TLS.
#[tokio::test]
async fn plain_http_is_forwarded() {
    let mut server = Server::new(Listen {
        tls: None,
        http2: false,
        max_streams: 100,
    })
    .await;
    let authority = Authority::new("proxies");
    let tls = server_tls(&authority.server(&["localhost"]), None, &[]);
    let folder = Folder::new();
    let ca = folder.write("ca.crt", &authority.pem());
    for tls in [None, Some(tls)] {
        let scheme = if tls.is_some() { "https" } else { "http" };
        let mut proxy = Proxy::new(server.address, tls, Speaks::Http).await;
        let mut environment = Environment::default();
        let port = proxy.address.port();
        environment.http_proxy = Some(format!("{scheme}://me:p%40ss@localhost:{port}").into());
        environment.https_proxy = Some("http://no.proxy.invalid".into());
        let config = Config::new("http://kube.example.org:8080/prefix").unwrap();
        let config = config.with_ca_file(&ca).with_proxy_from(&environment);
        let client = Client::new(config.unwrap()).unwrap();
        lists(&client, &mut server).await;
        let question = proxy.asked().await;
        assert!(
            question.starts_with("GET http://kube.example.org:8080/prefix/api/v1/pods?"),
            "{question}"
        );
        let question = question.to_lowercase();
        assert!(
            question.contains("\r\nhost: kube.example.org:8080\r\n"),
            "{question}"
        );
        let authorization = "\r\nproxy-authorization: basic bwu6cebzcw==\r\n";
        assert!(question.contains(authorization), "{question}");
    }
}

/// HTTP/2 without TLS needs a tunnel.
#[tokio::test]
async fn plain_http2_is_tunnelled() {
    let mut server = Server::new(Listen {
        tls: None,
        http2: true,
        max_streams: 100,
    })
    .await;
    let mut proxy = Proxy::new(server.address, None, Speaks::Http).await;
    let settings = Settings {
        http: HttpVersion::Http2,
        ..Settings::new()
    };
    let config = Config::new("http://kube.example.org:6443").unwrap();
    let config = config.with_settings(settings);
    let config = config.with_proxy(&format!("http://{}", proxy.address));
    lists(&Client::new(config.unwrap()).unwrap(), &mut server).await;
    connects_to(&proxy.asked().await, false);
}

#[tokio::test]
async fn a_forwarding_proxy_that_refuses_is_named() {
    for (answer, failure, expected) in [
        (
            "HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n",
            Failure::Unreachable,
            "requires credentials (HTTP 407); add them to with_proxy",
        ),
        (
            "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 4\r\n\r\ngone",
            Failure::Unavailable,
            "HTTP 502: gone",
        ),
        ("", Failure::Broken, "did not answer"),
    ] {
        let (address, _questions) = proxy(answer).await;
        let config = Config::new("http://kube.example.org:8080").unwrap();
        let config = config.with_proxy(&format!("http://{address}")).unwrap();
        let client = Client::new(config).unwrap();
        let mut hand = Hand::new(&client);
        hand.open(list());
        let message = hand.failed(failure).await;
        assert!(
            message.contains(&format!("the proxy {address}")),
            "{message}"
        );
        assert!(message.contains(expected), "{message}");
    }
}

#[tokio::test]
async fn a_tunnelling_proxy_that_refuses_is_named() {
    let cluster = Cluster::new(true).await;
    for (answer, expected) in [
        (
            "HTTP/1.1 407 No\r\n\r\n",
            "requires credentials (HTTP 407); correct those in HTTPS_PROXY",
        ),
        (
            "HTTP/1.1 502 Bad Gateway\r\n\r\n",
            "could not connect to kube.example.org:6443: HTTP 502; can it reach this server?",
        ),
        (
            "",
            "closed the connection without an answer; is HTTPS_PROXY correct?",
        ),
    ] {
        let (address, _questions) = proxy(answer).await;
        let mut environment = environment(&cluster, "");
        environment.https_proxy = Some(format!("http://me:s3cret@{address}").into());
        let message = fails(Config::infer_from(&environment).unwrap()).await;
        assert_eq!(message, format!("the proxy {address} {expected}"));
    }
}

#[tokio::test]
async fn a_socks5_proxy_that_refuses_is_named() {
    let cluster = Cluster::new(true).await;
    let to = cluster.server.address;
    for (speaks, login, expected) in [
        (
            Speaks::Socks(Some(("me", "pw"))),
            "",
            "requires credentials; add them to HTTPS_PROXY",
        ),
        (
            Speaks::Socks(Some(("me", "pw"))),
            "me:s3cret@",
            "did not accept the credentials; correct those in HTTPS_PROXY",
        ),
        (
            Speaks::SocksRefusal(5),
            "",
            "could not connect to kube.example.org:6443: the connection was refused (socks5 code 5); can \
             it reach this server?",
        ),
        (
            Speaks::SocksRefusal(2),
            "me:s3cret@",
            "could not connect to kube.example.org:6443: its rules do not allow it (socks5 code 2); can \
             it reach this server?",
        ),
    ] {
        let proxy = Proxy::new(to, None, speaks).await;
        let mut environment = environment(&cluster, "");
        environment.https_proxy = Some(format!("socks5://{login}{}", proxy.address).into());
        let message = fails(Config::infer_from(&environment).unwrap()).await;
        assert_eq!(message, format!("the proxy {} {expected}", proxy.address));
    }
    let address = web_server().await;
    let mut environment = environment(&cluster, "");
    environment.https_proxy = Some(format!("socks5://{address}").into());
    let message = fails(Config::infer_from(&environment).unwrap()).await;
    assert_eq!(
        message,
        format!("the proxy {address} does not speak socks5; is HTTPS_PROXY correct?")
    );
}

#[test]
fn an_invalid_proxy_names_its_variable() {
    let folder = Folder::new();
    let kubeconfig = |server: &str| {
        let text = format!(
            "current-context: c\ncontexts: [{{name: c, context: {{cluster: c}}}}]\n\
             clusters: [{{name: c, cluster: {{server: '{server}'}}}}]\n"
        );
        Some(folder.write("config", &text).into())
    };
    let mut environment = Environment::default();
    environment.kubeconfig = kubeconfig(ELSEWHERE);
    for (value, complaint) in [
        ("ftp://me:s3cret@proxy", "must begin with http://"),
        ("http://me:s3cret@proxy:99999", "has an invalid port"),
        ("http://me:s3cret@", "is not a URL"),
        ("me:s3cret@a b", "is not a URL"),
    ] {
        environment.https_proxy = Some(value.into());
        let error = Config::infer_from(&environment).unwrap_err();
        assert!(
            matches!(
                &error,
                ConfigError::Invalid {
                    field: "HTTPS_PROXY",
                    ..
                }
            ),
            "{error:?}"
        );
        let said = error.to_string();
        let start = format!("the environment (in upper or lower case): `HTTPS_PROXY` {complaint}");
        assert!(said.starts_with(&start), "{said}");
        assert!(!format!("{said} {error:?} {environment:?}").contains("s3cret"));
    }
    // It does not matter where it is not used.
    environment.no_proxy = Some("example.org".to_owned());
    assert!(Config::infer_from(&environment).is_ok());
    environment.no_proxy = None;
    environment.kubeconfig = kubeconfig("http://kube.example.org");
    assert!(Config::infer_from(&environment).is_ok());
    environment.http_proxy = Some("gopher://x".into());
    let error = Config::infer_from(&environment).unwrap_err().to_string();
    assert!(error.contains("`HTTP_PROXY` must begin with"), "{error}");
    // A blank variable is none.
    environment.http_proxy = Some(" ".into());
    assert_eq!(Config::infer_from(&environment).unwrap().proxy_url(), None);
}

/// The table was written by Go, by the program beside it.
#[test]
fn no_proxy_means_what_it_means_in_go() {
    let mut environment = Environment::default();
    environment.https_proxy = Some("http://proxy:3128".into());
    environment.http_proxy = environment.https_proxy.clone();
    let table = include_str!("../no_proxy/table.tsv");
    let (mut proxied, mut direct) = (0, 0);
    for row in table.lines().filter(|row| !row.starts_with('#')) {
        let cells: Vec<_> = row.split('\t').collect();
        let [no_proxy, url, expected] = cells[..] else {
            panic!("{row}");
        };
        environment.no_proxy = Some(no_proxy.to_owned());
        let config = Config::new(url).unwrap().with_proxy_from(&environment);
        let found = match config.unwrap().proxy_url() {
            Some(_) => "proxy",
            None => "direct",
        };
        assert_eq!(found, expected, "NO_PROXY={no_proxy} {url}");
        match found {
            "proxy" => proxied += 1,
            _ => direct += 1,
        }
    }
    assert!(proxied > 100 && direct > 100, "{proxied} {direct}");
}
