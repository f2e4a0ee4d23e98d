//! The Hocuspocus protocol as bytes: an address before each message, so that many documents share one socket.
//!
//! Invariants
//! - Decoding is exact: what is cut short, left over or unknown is malformed.
//! - An address is answered as it was received, byte for byte; the client finds its document by it.
//! - `Ping` and `Pong` are single bytes without an address.
//!
//! Not here: who may join what (`collab`).

use bytes::Bytes;
use domain::document::lib0::{self, Reader};
use domain::document::{Access, Inbound, Outbound};

use super::y_websocket::{self, EMPTY_AWARENESS, Malformed};

const AUTH: u64 = 2;
const STATELESS: u64 = 5;
const BROADCAST_STATELESS: u64 = 6;
const CLOSE: u64 = 7;
const SYNC_STATUS: u64 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

const AUTH_TOKEN: u64 = 0;
const AUTH_PERMISSION_DENIED: u64 = 1;
const AUTH_AUTHENTICATED: u64 = 2;

/// What a client sent.
#[derive(Debug, PartialEq)]
pub(crate) enum Frame<'a> {
    /// The answer to a ping.
    Pong,
    /// A message about one document.
    Addressed(&'a str, Message),
}

/// A message about one document.
#[derive(Debug, PartialEq)]
pub(crate) enum Message {
    /// What the document takes.
    Document(Inbound),
    /// Who asks; the version of the client since version 4 of it.
    Token {
        /// What the client was configured with; may be empty.
        token: String,
        /// Whether the client told its version.
        tells_version: bool,
    },
    /// A text for the server's own use.
    Stateless,
    /// A text for all others; only servers may send it.
    BroadcastStateless,
    /// The client leaves the document and keeps the socket.
    Leave,
}

/// Reads a frame.
pub(crate) fn decode(frame: &Bytes) -> Result<Frame<'_>, Malformed> {
    if frame.as_ref() == [PONG] {
        return Ok(Frame::Pong);
    }
    let mut reader = Reader::new(frame);
    let address = reader.var_string()?;
    let message = read_message(&mut reader, frame)?;
    if reader.remaining() > 0 {
        return Err(Malformed);
    }
    Ok(Frame::Addressed(address, message))
}

fn read_message(reader: &mut Reader<'_>, frame: &Bytes) -> Result<Message, Malformed> {
    match reader.var_u53()? {
        AUTH => read_token(reader),
        STATELESS => Ok(reader.var_string().map(|_| Message::Stateless)?),
        BROADCAST_STATELESS => Ok(reader.var_string().map(|_| Message::BroadcastStateless)?),
        CLOSE => Ok(Message::Leave),
        kind => y_websocket::read_message(kind, reader, frame).map(Message::Document),
    }
}

fn read_token(reader: &mut Reader<'_>) -> Result<Message, Malformed> {
    if reader.var_u53()? != AUTH_TOKEN {
        return Err(Malformed);
    }
    let token = reader.var_string()?.to_owned();
    let tells_version = reader.remaining() > 0;
    if tells_version {
        reader.var_string()?;
    }
    Ok(Message::Token {
        token,
        tells_version,
    })
}

/// The document that an address means: what follows a NUL tells apart several editors of one document on one socket.
pub(crate) fn document_name(address: &str) -> &str {
    address.split('\0').next().unwrap_or(address)
}

/// The frame that carries this, if the protocol has one.
pub(crate) fn encode(address: &str, outbound: &Outbound) -> Option<Bytes> {
    match outbound {
        Outbound::Acknowledged(is_stored) => {
            let mut frame = start(address, SYNC_STATUS);
            lib0::write_var(&mut frame, u64::from(*is_stored));
            Some(frame.into())
        }
        Outbound::AccessChanged(access) => Some(authenticated(address, *access)),
        Outbound::Closed(..) => None,
        other => {
            let address_bytes = y_websocket::var_bytes(address.len());
            let mut frame = Vec::with_capacity(address_bytes + y_websocket::message_bytes(other));
            lib0::write_var_string(&mut frame, address);
            y_websocket::write_message(&mut frame, other).then(|| frame.into())
        }
    }
}

/// Tells a client what it may do.
pub(crate) fn authenticated(address: &str, access: Access) -> Bytes {
    let scope = match access {
        Access::Read => "readonly",
        Access::Write => "read-write",
    };
    let mut frame = start(address, AUTH);
    lib0::write_var(&mut frame, AUTH_AUTHENTICATED);
    lib0::write_var_string(&mut frame, scope);
    frame.into()
}

/// Refuses a document to a client, or takes it away; the socket stays.
pub(crate) fn permission_denied(address: &str, reason: &str) -> Bytes {
    let mut frame = start(address, AUTH);
    lib0::write_var(&mut frame, AUTH_PERMISSION_DENIED);
    lib0::write_var_string(&mut frame, reason);
    frame.into()
}

/// Asks a client for its token again.
pub(crate) fn token_request(address: &str) -> Bytes {
    let mut frame = start(address, AUTH);
    lib0::write_var(&mut frame, AUTH_TOKEN);
    frame.into()
}

/// Ends a document on this socket.
pub(crate) fn close(address: &str, reason: &str) -> Bytes {
    let mut frame = start(address, CLOSE);
    lib0::write_var_string(&mut frame, reason);
    frame.into()
}

/// A frame that says nothing, for any client.
pub(crate) fn keep_alive(address: &str) -> Bytes {
    let mut frame = start(address, y_websocket::AWARENESS);
    lib0::write_var_bytes(&mut frame, EMPTY_AWARENESS);
    frame.into()
}

/// A frame that says nothing, for clients that have told their version.
pub(crate) fn ping() -> Bytes {
    Bytes::from_static(&[PING])
}

fn start(address: &str, kind: u64) -> Vec<u8> {
    let mut frame = Vec::with_capacity(address.len() + 16);
    lib0::write_var_string(&mut frame, address);
    lib0::write_var(&mut frame, kind);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(parts: &[&[u8]]) -> Bytes {
        parts.concat().into()
    }

    #[test]
    fn messages_are_read_with_the_address_they_came_to() {
        let cases = [
            (
                frame(&[b"\x01d", &[0, 0, 1, 9]]),
                Message::Document(Inbound::SyncStep1(Bytes::from_static(&[9]))),
            ),
            (
                frame(&[b"\x01d", &[1, 1, 0]]),
                Message::Document(Inbound::Awareness(Bytes::from_static(&[0]))),
            ),
            (
                frame(&[b"\x01d", &[3]]),
                Message::Document(Inbound::QueryAwareness),
            ),
            (frame(&[b"\x01d", &[5, 1, b'x']]), Message::Stateless),
            (
                frame(&[b"\x01d", &[6, 1, b'x']]),
                Message::BroadcastStateless,
            ),
            (frame(&[b"\x01d", &[7]]), Message::Leave),
        ];
        for (bytes, message) in cases {
            assert_eq!(decode(&bytes), Ok(Frame::Addressed("d", message)));
        }
    }

    #[test]
    fn a_token_is_read_with_and_without_the_version_of_the_client() {
        for (version, tells_version) in [(&b""[..], false), (&b"\x054.8.0"[..], true)] {
            let bytes = frame(&[b"\x01d", &[2, 0], b"\x03abc", version]);
            let token = Message::Token {
                token: "abc".into(),
                tells_version,
            };
            assert_eq!(decode(&bytes), Ok(Frame::Addressed("d", token)));
        }
    }

    #[test]
    fn a_pong_is_a_single_byte_and_only_that() {
        assert_eq!(decode(&Bytes::from_static(&[10])), Ok(Frame::Pong));
        assert_eq!(decode(&Bytes::from_static(&[10, 1])), Err(Malformed));
    }

    #[test]
    fn frames_that_are_cut_short_left_over_or_of_servers_are_malformed() {
        let frames: [&[u8]; 9] = [
            b"",
            b"\x01",
            b"\x01d",
            b"\x01d\x00\x00\x02\x01",
            b"\x01d\x03\x00",
            b"\x01d\x04\x00\x00",
            b"\x01d\x02\x01\x01x",
            b"\x01d\x08\x01",
            b"\x01d\x09",
        ];
        for bytes in frames {
            assert_eq!(
                decode(&Bytes::from_static(bytes)),
                Err(Malformed),
                "{bytes:?}"
            );
        }
    }

    #[test]
    fn a_session_in_the_address_is_answered_and_does_not_name_the_document() {
        let address = "work_1\0session";
        assert_eq!(document_name(address), "work_1");
        let answer = encode(address, &Outbound::Acknowledged(false)).expect("a frame");
        assert_eq!(answer, frame(&[b"\x0ework_1\0session", &[8, 0]]));
    }

    #[test]
    fn scope_denial_token_request_and_close_have_the_bytes_that_clients_read() {
        assert_eq!(
            authenticated("d", Access::Write),
            frame(&[b"\x01d", &[2, 2], b"\x0aread-write"])
        );
        assert_eq!(
            authenticated("d", Access::Read),
            frame(&[b"\x01d", &[2, 2], b"\x08readonly"])
        );
        assert_eq!(
            permission_denied("d", "no"),
            frame(&[b"\x01d", &[2, 1], b"\x02no"])
        );
        assert_eq!(token_request("d"), frame(&[b"\x01d", &[2, 0]]));
        assert_eq!(close("d", "bye"), frame(&[b"\x01d", &[7], b"\x03bye"]));
        assert_eq!(keep_alive("d"), frame(&[b"\x01d", &[1, 1, 0]]));
    }
}
