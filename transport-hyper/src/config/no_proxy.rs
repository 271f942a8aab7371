//! The servers that `NO_PROXY` exempts, by the rules of Go's `golang.org/x/net/http/httpproxy`.
//!
//! Libraries for Rust follow the rules of curl: there a leading dot means nothing, ports are not known, and
//! loopback addresses are not exempt. A program must reach the same servers as kubectl does.

use std::net::IpAddr;

/// Whether requests to this server bypass the proxy. Localhost and loopback addresses always do.
pub(super) fn is_exempt(no_proxy: &str, host: &str, port: u16) -> bool {
    // An IPv4 address that is written as IPv6 is an IPv4 address.
    let ip = host.parse().ok().map(|ip: IpAddr| ip.to_canonical());
    if host == "localhost" || ip.is_some_and(|ip| ip.is_loopback()) {
        return true;
    }
    let host = host.to_lowercase();
    let entries = no_proxy.split(',').map(|entry| entry.trim().to_lowercase());
    entries
        .filter(|entry| !entry.is_empty())
        .any(|entry| matches(&entry, &host, ip, port))
}

fn matches(entry: &str, host: &str, ip: Option<IpAddr>, port: u16) -> bool {
    if entry == "*" {
        return true;
    }
    if let Some(network) = Network::parse(entry) {
        return ip.is_some_and(|ip| network.contains(ip));
    }
    let (name, wanted) = split_port(entry).unwrap_or((entry, ""));
    if !wanted.is_empty() && wanted != port.to_string() {
        return false;
    }
    match (name.parse::<IpAddr>(), ip) {
        (Ok(address), _) => ip == Some(address.to_canonical()),
        (Err(_), Some(_)) => false,
        (Err(_), None) => is_within(host, name),
    }
}

/// Whether a name is in a domain: `example.org` has itself and all below, `.example.org` and `*.example.org`
/// only what is below.
fn is_within(host: &str, domain: &str) -> bool {
    let domain = match domain.strip_prefix('*') {
        Some(below) if below.starts_with('.') => below,
        _ => domain,
    };
    if domain.is_empty() {
        return false;
    }
    if domain.starts_with('.') {
        return host.ends_with(domain);
    }
    let above = host.strip_suffix(domain);
    above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
}

/// Splits `host:port` and `[address]:port`. `None` for anything else, such as an IPv6 address without
/// brackets.
fn split_port(entry: &str) -> Option<(&str, &str)> {
    let (host, port) = entry.rsplit_once(':')?;
    let host = match host.strip_prefix('[') {
        Some(inside) => inside.strip_suffix(']')?,
        None if host.contains(':') => return None,
        None => host,
    };
    let is_plain = !host.contains(['[', ']']) && !port.contains(['[', ']']);
    is_plain.then_some((host, port))
}

/// Addresses in CIDR notation.
struct Network {
    first: IpAddr,
    bits: u32,
}

impl Network {
    fn parse(text: &str) -> Option<Self> {
        let (address, bits) = text.split_once('/')?;
        let is_number = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
        let bits: u32 = bits.parse().ok().filter(|_| is_number)?;
        let (first, longest) = match address.parse().ok()? {
            IpAddr::V4(address) => (IpAddr::V4(address), 32),
            IpAddr::V6(address) => match (IpAddr::V6(address).to_canonical(), bits) {
                // IPv4 written as IPv6, in a network that is not wider than IPv4.
                (IpAddr::V4(address), 96..=128) => {
                    let bits = bits - 96;
                    let first = IpAddr::V4(address);
                    return Some(Self { first, bits });
                }
                _ => (IpAddr::V6(address), 128),
            },
        };
        (bits <= longest).then_some(Self { first, bits })
    }

    fn contains(&self, ip: IpAddr) -> bool {
        match (self.first, ip) {
            (IpAddr::V4(first), IpAddr::V4(ip)) => {
                let differs = first.to_bits() ^ ip.to_bits();
                differs.leading_zeros() >= self.bits
            }
            (IpAddr::V6(first), IpAddr::V6(ip)) => {
                let differs = first.to_bits() ^ ip.to_bits();
                differs.leading_zeros() >= self.bits
            }
            _ => false,
        }
    }
}
