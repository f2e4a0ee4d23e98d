//! The bytes of both protocols of editors, as far as a load of editors needs them.
//!
//! Invariants
//! - A message of Hocuspocus is one of y-websocket with the address of its document in front.
//! - What can not be read is an error: a server that answers something else is not measured as if it had worked.

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;

const SYNC: u64 = 0;
const AWARENESS: u64 = 1;
const AUTH: u64 = 2;
/// A sync message of Hocuspocus that asks for no answer.
const SYNC_REPLY: u64 = 4;

const STEP_1: u64 = 0;
const STEP_2: u64 = 1;
const UPDATE: u64 = 2;

const AUTH_DENIED: u64 = 1;
const AUTH_GRANTED: u64 = 2;

/// How editors speak with a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// One document on a socket.
    YWebsocket,
    /// Many documents on a socket, each message with its address.
    Hocuspocus,
}

/// Where a document is found.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    /// The address of its socket.
    pub(crate) url: String,
    /// The name of the document in messages.
    pub(crate) address: String,
    /// What a message of authentication says.
    pub(crate) token: String,
    /// How it is spoken with.
    pub(crate) protocol: Protocol,
}

/// What a server says.
#[derive(Debug, PartialEq)]
pub(crate) enum Said {
    /// It asks for what it lacks.
    Step1(Bytes),
    /// What the asker lacked.
    Step2(Bytes),
    /// A change.
    Update(Bytes),
    /// The token was accepted.
    Granted,
    /// Everything else.
    Other,
}

impl Room {
    /// Asks for what somebody with this state vector lacks.
    pub(crate) fn step_1(&self, state_vector: &[u8]) -> Vec<u8> {
        self.sync(STEP_1, state_vector)
    }

    /// Answers a server that asked.
    pub(crate) fn step_2(&self, update: &[u8]) -> Vec<u8> {
        self.sync(STEP_2, update)
    }

    /// A change.
    pub(crate) fn update(&self, update: &[u8]) -> Vec<u8> {
        self.sync(UPDATE, update)
    }

    /// The awareness state of one client.
    pub(crate) fn awareness(&self, client: u64, clock: u64, state: &str) -> Vec<u8> {
        let mut update = vec![1];
        put_number(&mut update, client);
        put_number(&mut update, clock);
        put_bytes(&mut update, state.as_bytes());
        let mut frame = self.start(AWARENESS);
        put_bytes(&mut frame, &update);
        frame
    }

    /// Shows the token, where the protocol has a message for it.
    pub(crate) fn authentication(&self) -> Option<Vec<u8>> {
        if self.protocol == Protocol::YWebsocket {
            return None;
        }
        let mut frame = self.start(AUTH);
        put_number(&mut frame, 0);
        put_bytes(&mut frame, self.token.as_bytes());
        Some(frame)
    }

    /// Reads a frame.
    pub(crate) fn read(&self, frame: &Bytes) -> Result<Said> {
        let mut reader = Reader { frame, at: 0 };
        if self.protocol == Protocol::Hocuspocus {
            // Pings have no address; a keep-alive of an address that is not ours says nothing either.
            if frame.len() < 3 || reader.bytes()? != self.address.as_bytes() {
                return Ok(Said::Other);
            }
        }
        match (reader.number()?, self.protocol) {
            (SYNC, _) | (SYNC_REPLY, Protocol::Hocuspocus) => match reader.number()? {
                STEP_1 => Ok(Said::Step1(reader.bytes()?)),
                STEP_2 => Ok(Said::Step2(reader.bytes()?)),
                UPDATE => Ok(Said::Update(reader.bytes()?)),
                kind => bail!("no sync message has the kind {kind}"),
            },
            (AUTH, _) => match reader.number()? {
                AUTH_DENIED => bail!("the server refuses the document"),
                AUTH_GRANTED => Ok(Said::Granted),
                _ => Ok(Said::Other),
            },
            _ => Ok(Said::Other),
        }
    }

    fn sync(&self, step: u64, payload: &[u8]) -> Vec<u8> {
        let mut frame = self.start(SYNC);
        put_number(&mut frame, step);
        put_bytes(&mut frame, payload);
        frame
    }

    fn start(&self, kind: u64) -> Vec<u8> {
        let mut frame = Vec::with_capacity(96);
        if self.protocol == Protocol::Hocuspocus {
            put_bytes(&mut frame, self.address.as_bytes());
        }
        put_number(&mut frame, kind);
        frame
    }
}

fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn put_bytes(bytes: &mut Vec<u8>, payload: &[u8]) {
    put_number(bytes, payload.len() as u64);
    bytes.extend_from_slice(payload);
}

struct Reader<'a> {
    frame: &'a Bytes,
    at: usize,
}

impl Reader<'_> {
    fn number(&mut self) -> Result<u64> {
        let mut number = 0;
        for place in (0..63).step_by(7) {
            let byte = *self.frame.get(self.at).context("a frame is cut short")?;
            self.at += 1;
            number |= u64::from(byte & 0x7f) << place;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        bail!("a number is too long")
    }

    fn bytes(&mut self) -> Result<Bytes> {
        let end = self.number()? as usize + self.at;
        ensure!(end <= self.frame.len(), "a frame is cut short");
        let bytes = self.frame.slice(self.at..end);
        self.at = end;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(protocol: Protocol) -> Room {
        Room {
            url: String::new(),
            address: "work".into(),
            token: "secret".into(),
            protocol,
        }
    }

    #[test]
    fn what_is_written_can_be_read_in_both_protocols() {
        for protocol in [Protocol::YWebsocket, Protocol::Hocuspocus] {
            let room = room(protocol);
            let long = Bytes::from(vec![7; 300]);
            let read = |frame: Vec<u8>| room.read(&frame.into()).expect("it is whole");
            assert_eq!(read(room.update(&long)), Said::Update(long.clone()));
            assert_eq!(read(room.step_2(&long)), Said::Step2(long.clone()));
            assert_eq!(
                read(room.step_1(&[0])),
                Said::Step1(Bytes::from_static(&[0]))
            );
            assert_eq!(read(room.awareness(300, 7, "{}")), Said::Other);
        }
    }

    #[test]
    fn a_frame_that_is_cut_short_is_an_error() {
        let room = room(Protocol::YWebsocket);
        let mut frame = room.update(&[1, 2, 3]);
        frame.pop();
        assert!(room.read(&frame.into()).is_err());
    }
}
