//! The bytes of both protocols of editors, as far as a peer needs them.

/// Message types that both protocols have.
pub(crate) const SYNC: u8 = 0;
pub(crate) const AWARENESS: u8 = 1;
pub(crate) const AUTH: u8 = 2;
/// Message types of Hocuspocus.
pub(crate) const CLOSE: u8 = 7;
pub(crate) const SYNC_STATUS: u8 = 8;

/// Kinds of sync messages.
pub(crate) const STEP_1: u8 = 0;
pub(crate) const STEP_2: u8 = 1;
pub(crate) const UPDATE: u8 = 2;

/// Appends a number of variable length.
pub(crate) fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends bytes with their length in front.
pub(crate) fn put_bytes(bytes: &mut Vec<u8>, payload: &[u8]) {
    put_number(bytes, payload.len() as u64);
    bytes.extend_from_slice(payload);
}

/// A sync message without an address.
pub(crate) fn sync(step: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![SYNC, step];
    put_bytes(&mut bytes, payload);
    bytes
}

/// An awareness message without an address.
pub(crate) fn awareness(client: u64, clock: u64, state: &str) -> Vec<u8> {
    let mut update = vec![1];
    put_number(&mut update, client);
    put_number(&mut update, clock);
    put_bytes(&mut update, state.as_bytes());
    let mut bytes = vec![AWARENESS];
    put_bytes(&mut bytes, &update);
    bytes
}

/// A message with the address of a document in front.
pub(crate) fn addressed(address: &str, message: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_bytes(&mut bytes, address.as_bytes());
    bytes.extend_from_slice(message);
    bytes
}

/// The Hocuspocus message that shows a token.
pub(crate) fn token(address: &str, secret: &str) -> Vec<u8> {
    let mut message = vec![AUTH, 0];
    put_bytes(&mut message, secret.as_bytes());
    put_bytes(&mut message, b"4.0.0");
    addressed(address, &message)
}

/// Reads from the front of bytes; fails the test where they end too early.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    /// Whether all was read.
    pub(crate) fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    /// A number of variable length.
    pub(crate) fn number(&mut self) -> u64 {
        let mut number = 0;
        for place in 0.. {
            let (byte, rest) = self.0.split_first().expect("the server's bytes are whole");
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                break;
            }
        }
        number
    }

    /// Bytes with their length in front.
    pub(crate) fn bytes(&mut self) -> &'a [u8] {
        let length = self.number() as usize;
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        bytes
    }

    /// A text with its length in front.
    pub(crate) fn text(&mut self) -> String {
        String::from_utf8(self.bytes().to_vec()).expect("UTF-8")
    }
}
