//! A way to PostgreSQL that can lose the answer to a commit: the server has done it, and nobody is told.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// A listener in front of a database. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Proxy {
    url: url::Url,
    loses_answer: Arc<AtomicBool>,
}

impl Proxy {
    /// Starts one in front of the database with this address.
    pub(crate) async fn start(database_url: &str) -> Self {
        let mut url: url::Url = database_url.parse().expect("an address");
        let server = format!(
            "{}:{}",
            url.host_str().expect("a host"),
            url.port().unwrap_or(5432)
        );
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let SocketAddr::V4(address) = listener.local_addr().expect("an address") else {
            panic!("it listens on IPv4");
        };
        url.set_host(Some("127.0.0.1")).expect("takes a host");
        url.set_port(Some(address.port())).expect("takes a port");
        let loses_answer = Arc::new(AtomicBool::new(false));
        let proxy = Self { url, loses_answer };
        let flag = proxy.loses_answer.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&server).await.expect("connects");
                tokio::spawn(pass(client, server, flag.clone()));
            }
        });
        proxy
    }

    /// The database's address through here.
    pub(crate) fn url(&self) -> String {
        self.url.to_string()
    }

    /// The next commit arrives, and its answer does not.
    pub(crate) fn lose_the_next_answer_to_a_commit(&self) {
        self.loses_answer.store(true, Ordering::SeqCst);
    }
}

/// Passes bytes both ways until one side ends, or the answer to a commit is to be lost.
async fn pass(mut client: TcpStream, mut server: TcpStream, loses_answer: Arc<AtomicBool>) {
    let (mut asked, mut answered) = ([0; 8_192], [0; 8_192]);
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(count @ 1..) = read else { return };
                let question = &asked[..count];
                if server.write_all(question).await.is_err() {
                    return;
                }
                let is_commit = question.windows(6).any(|bytes| bytes == b"COMMIT");
                if is_commit && loses_answer.swap(false, Ordering::SeqCst) {
                    // The server has committed when it answers.
                    let answer = server.read(&mut answered).await.expect("an answer");
                    assert!(answer > 0, "the server answers");
                    return;
                }
            }
            read = server.read(&mut answered) => {
                let Ok(count @ 1..) = read else { return };
                if client.write_all(&answered[..count]).await.is_err() {
                    return;
                }
            }
        }
    }
}
