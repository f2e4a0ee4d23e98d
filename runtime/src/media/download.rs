//! Fetching what an upstream has made: from wherever it says, and not from everywhere.
//!
//! Invariants
//! - Each address, the first and those of redirects, is resolved here, looked at, and connected to as it was looked at: no private,
//!   loopback or link-local one is asked, but the upstream's own configured origin.
//! - Credentials go to that origin alone.
//! - Bytes are counted as they come; time is limited in the whole and between two pieces.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use domain::blob::BlobWriter;
use reqwest::header::{AUTHORIZATION, LOCATION};
use reqwest::{Client, Response, redirect};
use tokio::time::timeout;
use url::{Host, Url};

use super::FetchLimits;
use super::sniff::HEAD;

/// Redirects that are followed.
const REDIRECTS: usize = 5;
/// How long a server may be silent.
const SILENCE: Duration = Duration::from_secs(30);

/// Why a file can not be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// It will not be had.
    Final(String),
    /// It may be had later.
    Passing(String),
}

/// What came.
pub(super) struct Fetched {
    /// The beginning of its bytes.
    pub(super) head: Vec<u8>,
    /// How many they are.
    pub(super) bytes: u64,
    /// SHA-256 of them.
    pub(super) hash: aws_lc_rs::digest::Digest,
}

/// Where a file is, and what is allowed on the way.
pub(super) struct Request<'a> {
    pub(super) url: Url,
    pub(super) authorization: Option<String>,
    /// The origin that may be private.
    pub(super) home: Option<&'a Url>,
    pub(super) limits: FetchLimits,
}

/// Writes a file's bytes.
pub(super) async fn fetch(
    request: Request<'_>,
    writer: &mut Box<dyn BlobWriter>,
) -> Result<Fetched, Failure> {
    let time = request.limits.time;
    let fetched = timeout(time, fetch_slowly(request, writer)).await;
    fetched.unwrap_or_else(|_| {
        let seconds = time.as_secs();
        Err(Failure::Final(format!(
            "its file did not come within {seconds} s"
        )))
    })
}

async fn fetch_slowly(
    request: Request<'_>,
    writer: &mut Box<dyn BlobWriter>,
) -> Result<Fetched, Failure> {
    let mut url = request.url.clone();
    for _ in 0..=REDIRECTS {
        let response = ask(&request, &url).await?;
        let status = response.status();
        if status.is_redirection() {
            let location = response.headers().get(LOCATION);
            let location = location.and_then(|location| location.to_str().ok());
            let next = location.and_then(|location| url.join(location).ok());
            url = next.ok_or_else(|| Failure::Final("a redirect leads nowhere".to_owned()))?;
            continue;
        }
        if status.is_success() {
            return write(response, request.limits.bytes, writer).await;
        }
        let why = format!("its file's server answered {status}");
        let is_passing = status.is_server_error() || status.as_u16() == 429;
        return Err(if is_passing {
            Failure::Passing(why)
        } else {
            Failure::Final(why)
        });
    }
    Err(Failure::Final(format!("more than {REDIRECTS} redirects")))
}

/// Asks one address, after looking at where it leads.
async fn ask(request: &Request<'_>, url: &Url) -> Result<Response, Failure> {
    let is_home = request
        .home
        .is_some_and(|home| home.origin() == url.origin());
    let may_be_private = is_home || request.limits.allows_private;
    if url.scheme() != "https" && !(url.scheme() == "http" && may_be_private) {
        return Err(Failure::Final(format!(
            "its file is at an address that is not https: {}",
            place(url)
        )));
    }
    let addresses = resolve(url).await?;
    if !may_be_private && addresses.iter().any(|address| !is_public(address.ip())) {
        return Err(Failure::Final(format!(
            "its file is at {}, which is no public address; `media-private-addresses` allows such",
            place(url)
        )));
    }
    let mut http = Client::builder()
        .user_agent(concat!("atelier/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(Duration::from_secs(10))
        // A proxy would resolve the name once more, and otherwise.
        .no_proxy();
    if let Some(host) = url.host_str() {
        http = http.resolve_to_addrs(host, &addresses);
    }
    let http = http
        .build()
        .map_err(|error| Failure::Passing(error.to_string()))?;
    let mut get = http.get(url.clone());
    if let Some(authorization) = request.authorization.as_ref().filter(|_| is_home) {
        get = get.header(AUTHORIZATION, authorization);
    }
    let answer = timeout(SILENCE, get.send()).await;
    answer
        .map_err(|_| Failure::Passing("its file's server is silent".to_owned()))?
        .map_err(|_| Failure::Passing("its file's server can not be reached".to_owned()))
}

/// The address without what may be secret in it.
fn place(url: &Url) -> String {
    format!("{}://{}", url.scheme(), url.host_str().unwrap_or_default())
}

async fn resolve(url: &Url) -> Result<Vec<SocketAddr>, Failure> {
    let port = url.port_or_known_default().unwrap_or(443);
    let found = match url.host() {
        Some(Host::Ipv4(address)) => vec![SocketAddr::new(address.into(), port)],
        Some(Host::Ipv6(address)) => vec![SocketAddr::new(address.into(), port)],
        Some(Host::Domain(name)) => {
            let looked_up = timeout(SILENCE, tokio::net::lookup_host((name, port))).await;
            match looked_up {
                Ok(Ok(found)) => found.collect(),
                _ => Vec::new(),
            }
        }
        None => Vec::new(),
    };
    if found.is_empty() {
        return Err(Failure::Passing(format!("{} has no address", place(url))));
    }
    Ok(found)
}

/// Whether an address belongs to the public internet.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let [one, two, three, _] = address.octets();
            let is_shared = one == 100 && (64..128).contains(&two);
            let is_benchmark = one == 198 && (two == 18 || two == 19);
            let is_protocol = one == 192 && two == 0 && three == 0;
            !(address.is_private()
                || address.is_loopback()
                || address.is_link_local()
                || address.is_broadcast()
                || address.is_documentation()
                || address.is_multicast()
                || one == 0
                || one >= 240
                || is_shared
                || is_benchmark
                || is_protocol)
        }
        IpAddr::V6(address) => {
            if let Some(inner) = address.to_ipv4_mapped() {
                return is_public(inner.into());
            }
            let [first, second, third, ..] = address.segments();
            // Only what is global unicast, without what embeds IPv4 addresses or is for documentation.
            first & 0xe000 == 0x2000
                && first != 0x2002
                && !(first == 0x2001 && (second == 0 || second == 0x0db8))
                && !(first == 0x64 && second == 0xff9b && third == 0)
        }
    }
}

async fn write(
    mut response: Response,
    most: u64,
    writer: &mut Box<dyn BlobWriter>,
) -> Result<Fetched, Failure> {
    let too_large = || Failure::Final(format!("its file is larger than {most} bytes"));
    let promised = response.content_length();
    if promised.is_some_and(|length| length > most) {
        return Err(too_large());
    }
    let mut hash = aws_lc_rs::digest::Context::new(&aws_lc_rs::digest::SHA256);
    let (mut head, mut count) = (Vec::new(), 0_u64);
    loop {
        let chunk = timeout(SILENCE, response.chunk())
            .await
            .map_err(|_| Failure::Passing("its file's server is silent".to_owned()))?
            .map_err(|_| Failure::Passing("its file broke off".to_owned()))?;
        let Some(chunk) = chunk else { break };
        count += chunk.len() as u64;
        if count > most {
            return Err(too_large());
        }
        let room = HEAD.saturating_sub(head.len());
        head.extend_from_slice(&chunk[..room.min(chunk.len())]);
        hash.update(&chunk);
        writer
            .write(chunk)
            .await
            .map_err(|_| Failure::Passing("its file can not be stored now".to_owned()))?;
    }
    if promised.is_some_and(|length| length != count) {
        return Err(Failure::Passing("its file broke off".to_owned()));
    }
    Ok(Fetched {
        head,
        bytes: count,
        hash: hash.finish(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_network_are_not_public() {
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "192.168.0.1",
            "172.16.0.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "2002:7f00:1::",
            "64:ff9b::7f00:1",
            "2001:db8::1",
        ] {
            assert!(
                !is_public(private.parse().expect("an address")),
                "{private}"
            );
        }
        for public in ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111"] {
            assert!(is_public(public.parse().expect("an address")), "{public}");
        }
    }
}
