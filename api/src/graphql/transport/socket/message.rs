//! The messages of graphql-transport-ws, and its close codes.
//!
//! Invariants
//! - A close reason has at most 123 bytes; longer ones break the close frame.

use std::borrow::Cow;

use async_graphql::ServerError;
use axum::extract::ws::{CloseFrame, Utf8Bytes};
use serde::Serialize;
use serde_json::{Map, Value};

use super::super::answer::Answer;
use super::super::request::Parameters;
use crate::auth::bearer;

/// Longer ids are refused; they stand in every message.
const MAX_ID_LENGTH: usize = 256;
const MAX_REASON_LENGTH: usize = 123;

/// What a client says.
pub(super) enum ClientMessage {
    /// Who it is: the bearer secret, if any.
    ConnectionInit(Option<String>),
    Ping,
    Pong,
    Subscribe {
        id: String,
        parameters: Box<Parameters>,
    },
    Complete {
        id: String,
    },
}

/// What the server says.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ServerMessage<'a> {
    ConnectionAck,
    Pong,
    Next {
        id: &'a str,
        payload: &'a Answer,
    },
    Error {
        id: &'a str,
        payload: &'a [ServerError],
    },
    Complete {
        id: &'a str,
    },
}

impl ServerMessage<'_> {
    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("values of GraphQL are JSON")
    }
}

/// Why the server closes a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Closing {
    Malformed(Cow<'static, str>),
    SubscribedTooEarly,
    Forbidden(Cow<'static, str>),
    InitTimeout,
    IdInUse(String),
    InitTwice,
    TooLarge,
    Restart,
    TryLater(&'static str),
}

impl Closing {
    pub(super) fn frame(&self) -> CloseFrame {
        let (code, reason): (u16, Cow<'_, str>) = match self {
            Self::TooLarge => (1009, "Message too large".into()),
            Self::Restart => (1012, "Service restart".into()),
            Self::TryLater(reason) => (1013, (*reason).into()),
            Self::Malformed(reason) => (4400, reason.as_ref().into()),
            Self::SubscribedTooEarly => (4401, "Unauthorized".into()),
            Self::Forbidden(reason) => (4403, reason.as_ref().into()),
            Self::InitTimeout => (4408, "Connection initialisation timeout".into()),
            Self::IdInUse(id) => (4409, format!("Subscriber for {id} already exists").into()),
            Self::InitTwice => (4429, "Too many initialisation requests".into()),
        };
        CloseFrame {
            code,
            reason: Utf8Bytes::from(shortened(&reason)),
        }
    }
}

fn shortened(reason: &str) -> String {
    reason[..reason.floor_char_boundary(MAX_REASON_LENGTH)].to_owned()
}

/// Reads a message of a client.
pub(super) fn parse(text: &str) -> Result<ClientMessage, Closing> {
    let malformed = |reason: &'static str| Closing::Malformed(reason.into());
    let Ok(Value::Object(mut message)) = serde_json::from_str(text) else {
        return Err(malformed("Message must be a JSON object"));
    };
    let Some(Value::String(kind)) = message.remove("type") else {
        return Err(malformed("Message is missing the 'type' property"));
    };
    match kind.as_str() {
        "connection_init" => Ok(ClientMessage::ConnectionInit(secret(
            payload(&mut message)?.unwrap_or_default(),
        ))),
        "ping" => payload(&mut message).map(|_| ClientMessage::Ping),
        "pong" => payload(&mut message).map(|_| ClientMessage::Pong),
        "subscribe" => {
            let id = id(&mut message)?;
            let payload = payload(&mut message)?.unwrap_or_default();
            let parameters = Parameters::from_json(Value::Object(payload)).map_err(|refusal| {
                Closing::Malformed(format!("Invalid payload: {}", refusal.message).into())
            })?;
            Ok(ClientMessage::Subscribe {
                id,
                parameters: Box::new(parameters),
            })
        }
        "complete" => Ok(ClientMessage::Complete {
            id: id(&mut message)?,
        }),
        _ => Err(malformed("Unexpected message of this type")),
    }
}

fn id(message: &mut Map<String, Value>) -> Result<String, Closing> {
    match message.remove("id") {
        Some(Value::String(id)) if (1..=MAX_ID_LENGTH).contains(&id.len()) => Ok(id),
        _ => Err(Closing::Malformed(
            "Message needs an 'id': a string of 1 to 256 bytes".into(),
        )),
    }
}

fn payload(message: &mut Map<String, Value>) -> Result<Option<Map<String, Value>>, Closing> {
    match message.remove("payload") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(payload)) => Ok(Some(payload)),
        Some(_) => Err(Closing::Malformed("The 'payload' must be an object".into())),
    }
}

/// The secret of `authorization`; clients differ in how they write that name.
fn secret(payload: Map<String, Value>) -> Option<String> {
    let (_, value) = payload
        .into_iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("authorization"))?;
    bearer(value.as_str()?).map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_close_reason_fits_its_frame_whatever_is_in_it() {
        let frame = Closing::IdInUse("ж".repeat(128)).frame();
        assert!(
            frame.code == 4409
                && frame.reason.len() <= 123
                && frame.reason.starts_with("Subscriber for ж")
        );
    }

    #[test]
    fn the_secret_is_found_in_the_payload() {
        for name in ["authorization", "Authorization"] {
            let text =
                serde_json::json!({"type": "connection_init", "payload": {name: "Bearer s3"}})
                    .to_string();
            let Ok(ClientMessage::ConnectionInit(Some(secret))) = parse(&text) else {
                panic!("not read: {text}")
            };
            assert_eq!(secret, "s3");
        }
    }
}
