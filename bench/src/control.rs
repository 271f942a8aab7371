//! Tells the load server to change its pods, without the client under test.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;

use tokio::task::spawn_blocking;

use crate::options::Options;

/// Requests `churn` events at full speed and waits until they are sent.
pub(crate) async fn churn(options: &Options) -> io::Result<()> {
    let (events, kind) = (options.churn, options.churn_kind.name());
    let target = format!("/bench/churn?events={events}&rate=0&kind={kind}");
    post(options, target).await
}

/// Requests events at a steady rate and waits until they are sent.
pub(crate) async fn trickle(options: &Options) -> io::Result<()> {
    let (events, rate) = (options.lat_events, options.lat_rate);
    post(options, format!("/bench/churn?events={events}&rate={rate}")).await
}

async fn post(options: &Options, target: String) -> io::Result<()> {
    let host = options.control().to_owned();
    spawn_blocking(move || post_now(&host, &target)).await?
}

fn post_now(host: &str, target: &str) -> io::Result<()> {
    let unreachable = |error| {
        let what = format!("cannot control the load server at {host}: {error}");
        io::Error::other(what)
    };
    let mut stream = TcpStream::connect(host).map_err(unreachable)?;
    write!(
        stream,
        "POST {target} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    if answer.starts_with("HTTP/1.1 200") {
        return Ok(());
    }
    let first = answer.lines().next().unwrap_or("nothing");
    let what = format!("the load server at {host} answered `{first}` to POST {target}");
    Err(io::Error::other(what))
}
