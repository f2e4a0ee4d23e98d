//! WebSockets as the peers of the tests open them.

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// An open socket.
pub(crate) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;
/// What is sent.
pub(crate) type Sending = SplitSink<Socket, Message>;
/// What is received.
pub(crate) type Receiving = SplitStream<Socket>;

/// Opens a socket with further headers; an error where the server can not be reached or refuses.
pub(crate) async fn connect(
    url: &str,
    headers: &[(&'static str, &str)],
) -> Result<Socket, Box<Error>> {
    let mut request = url.into_client_request().map_err(Box::new)?;
    for (name, value) in headers {
        request
            .headers_mut()
            .insert(*name, value.parse().expect("a header's value"));
    }
    let (socket, _) = connect_async(request).await.map_err(Box::new)?;
    Ok(socket)
}

/// Sends frames as they are, and returns the code with which the server closes; fails where it closes without one.
pub(crate) async fn close_code_after(url: &str, frames: Vec<Vec<u8>>) -> u16 {
    let mut socket = connect(url, &[]).await.expect("the socket opens");
    for frame in frames {
        if socket.send(Message::Binary(frame.into())).await.is_err() {
            break;
        }
    }
    close_code(&mut socket)
        .await
        .expect("it is closed with a code")
}

/// Reads until the server closes; the code, if it gave one.
pub(crate) async fn close_code(socket: &mut Socket) -> Option<u16> {
    let closing = async {
        while let Some(message) = socket.next().await {
            match message {
                Ok(Message::Close(frame)) => return frame.map(|frame| frame.code.into()),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
        None
    };
    let closed = tokio::time::timeout(super::SOON, closing).await;
    closed.expect("the server closes the socket")
}
