//! The y-websocket protocol as bytes: y-protocols messages, one or more to a frame.
//!
//! Invariants
//! - Decoding is exact: what is cut short, left over or unknown is malformed.
//! - One message is sent per frame, because version 3 of the client reads only the first.
//! - Payloads are slices of the frame; nothing is copied on the way in.
//!
//! Not here: what the payloads mean (`domain::document`), sockets (`plain`).

use bytes::Bytes;
use domain::document::lib0::{self, Reader};
use domain::document::{Inbound, Outbound};

pub(super) const SYNC: u64 = 0;
pub(super) const AWARENESS: u64 = 1;
pub(super) const QUERY_AWARENESS: u64 = 3;

const SYNC_STEP_1: u64 = 0;
const SYNC_STEP_2: u64 = 1;
const UPDATE: u64 = 2;

/// A frame that is cut short, has bytes left over, or says what the protocol does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

impl From<lib0::Malformed> for Malformed {
    fn from(_: lib0::Malformed) -> Self {
        Self
    }
}

/// An awareness update that speaks of nobody: something to hear for a client that would else believe the server dead.
pub(super) const EMPTY_AWARENESS: &[u8] = &[0];

/// The messages of a frame, in order.
#[derive(Debug)]
pub(crate) struct Messages<'a> {
    frame: &'a Bytes,
    reader: Reader<'a>,
}

impl<'a> Messages<'a> {
    /// Reads a frame.
    pub(crate) fn new(frame: &'a Bytes) -> Self {
        let reader = Reader::new(frame);
        Self { frame, reader }
    }

    /// The next message, or none at the frame's end.
    pub(crate) fn next_message(&mut self) -> Result<Option<Inbound>, Malformed> {
        if self.reader.remaining() == 0 {
            return Ok(None);
        }
        let kind = self.reader.var_u53()?;
        read_message(kind, &mut self.reader, self.frame).map(Some)
    }
}

/// Reads what follows the type of a message that both protocols have.
pub(super) fn read_message(
    kind: u64,
    reader: &mut Reader<'_>,
    frame: &Bytes,
) -> Result<Inbound, Malformed> {
    match kind {
        SYNC => {
            let step = reader.var_u53()?;
            let payload = frame.slice_ref(reader.var_bytes()?);
            match step {
                SYNC_STEP_1 => Ok(Inbound::SyncStep1(payload)),
                SYNC_STEP_2 => Ok(Inbound::SyncStep2(payload)),
                UPDATE => Ok(Inbound::Update(payload)),
                _ => Err(Malformed),
            }
        }
        AWARENESS => Ok(Inbound::Awareness(frame.slice_ref(reader.var_bytes()?))),
        QUERY_AWARENESS => Ok(Inbound::QueryAwareness),
        _ => Err(Malformed),
    }
}

/// The frame that carries this, if the protocol has one.
pub(crate) fn encode(outbound: &Outbound) -> Option<Bytes> {
    let mut frame = Vec::with_capacity(message_bytes(outbound));
    write_message(&mut frame, outbound).then(|| frame.into())
}

/// A frame that says nothing.
pub(crate) fn keep_alive() -> Bytes {
    let mut frame = Vec::new();
    lib0::write_var(&mut frame, AWARENESS);
    lib0::write_var_bytes(&mut frame, EMPTY_AWARENESS);
    frame.into()
}

/// Writes type and payload of a message that both protocols have; false where there is none.
pub(super) fn write_message(frame: &mut Vec<u8>, outbound: &Outbound) -> bool {
    let (step, payload) = match outbound {
        Outbound::SyncStep1(payload) => (SYNC_STEP_1, payload),
        Outbound::SyncStep2(payload) => (SYNC_STEP_2, payload),
        Outbound::Update(payload) => (UPDATE, payload),
        Outbound::Awareness(payload) => {
            lib0::write_var(frame, AWARENESS);
            lib0::write_var_bytes(frame, payload);
            return true;
        }
        Outbound::Acknowledged(_) | Outbound::AccessChanged(_) | Outbound::Closed(..) => {
            return false;
        }
    };
    lib0::write_var(frame, SYNC);
    lib0::write_var(frame, step);
    lib0::write_var_bytes(frame, payload);
    true
}

/// How many bytes `write_message` writes. Exact, so that the frame is one allocation.
pub(super) fn message_bytes(outbound: &Outbound) -> usize {
    match outbound {
        Outbound::SyncStep1(payload) | Outbound::SyncStep2(payload) | Outbound::Update(payload) => {
            2 + var_bytes(payload.len())
        }
        Outbound::Awareness(payload) => 1 + var_bytes(payload.len()),
        Outbound::Acknowledged(_) | Outbound::AccessChanged(_) | Outbound::Closed(..) => 0,
    }
}

/// The size of this many bytes with their length in front.
pub(super) fn var_bytes(length: usize) -> usize {
    let bits = usize::BITS - length.leading_zeros();
    length + bits.div_ceil(7).max(1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(frame: &[u8]) -> Result<Vec<Inbound>, Malformed> {
        let frame = Bytes::copy_from_slice(frame);
        let mut messages = Messages::new(&frame);
        let mut decoded = Vec::new();
        while let Some(message) = messages.next_message()? {
            decoded.push(message);
        }
        Ok(decoded)
    }

    #[test]
    fn several_messages_of_one_frame_are_read_in_order() {
        let decoded = decode(&[0, 0, 1, 9, 3, 0, 2, 2, 7, 8, 1, 1, 0]).expect("well formed");
        let expected = [
            Inbound::SyncStep1(Bytes::from_static(&[9])),
            Inbound::QueryAwareness,
            Inbound::Update(Bytes::from_static(&[7, 8])),
            Inbound::Awareness(Bytes::from_static(&[0])),
        ];
        assert_eq!(decoded, expected);
    }

    #[test]
    fn frames_that_are_cut_short_or_unknown_are_malformed() {
        let frames: [&[u8]; 7] = [
            &[0],
            &[0, 0],
            &[0, 0, 2, 1],
            &[0, 3, 0],
            &[2, 0, 0],
            &[9],
            &[0x80],
        ];
        for frame in frames {
            assert_eq!(decode(frame), Err(Malformed), "{frame:?}");
        }
    }

    #[test]
    fn what_is_sent_is_read_as_the_same_by_the_other_side() {
        let payload = Bytes::from(vec![5; 20_000]);
        let sent = [
            Outbound::SyncStep1(payload.clone()),
            Outbound::SyncStep2(payload.clone()),
            Outbound::Update(payload.clone()),
            Outbound::Awareness(payload.clone()),
        ];
        let read = [
            Inbound::SyncStep1(payload.clone()),
            Inbound::SyncStep2(payload.clone()),
            Inbound::Update(payload.clone()),
            Inbound::Awareness(payload),
        ];
        for (sent, read) in sent.iter().zip(read) {
            let frame = encode(sent).expect("a frame");
            assert_eq!(frame.len(), message_bytes(sent));
            assert_eq!(decode(&frame), Ok(vec![read]));
        }
        assert_eq!(encode(&Outbound::Acknowledged(true)), None);
    }
}
