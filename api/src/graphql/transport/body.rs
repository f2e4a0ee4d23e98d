//! Reads a request's body, with a limit of size and time.
//!
//! Invariants
//! - Keeps at most the limit in memory. A body somewhat over it is read to its end and thrown away, because a client that
//!   is still writing sees a reset connection instead of the refusal.

use std::time::Duration;

use axum::body::Body;
use bytes::BytesMut;
use http_body_util::BodyExt as _;

use crate::graphql::error::{Code, Refusal, Stage};

/// How long a client may take to send its body.
const READ_TIME: Duration = Duration::from_secs(10);
/// How much of a body beyond the limit is read and thrown away.
const DISCARDED: usize = 1024 * 1024;

/// The whole body.
pub(super) async fn read(body: Body, limit: usize) -> Result<BytesMut, Refusal> {
    match tokio::time::timeout(READ_TIME, read_to_end(body, limit)).await {
        Ok(read) => read,
        Err(_) => Err(Refusal {
            stage: Stage::Unreadable,
            ..Refusal::document(
                Code::Timeout,
                format!("the body did not arrive within {} s", READ_TIME.as_secs()),
            )
        }),
    }
}

async fn read_to_end(mut body: Body, limit: usize) -> Result<BytesMut, Refusal> {
    let (mut kept, mut size) = (BytesMut::new(), 0_usize);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Refusal::unreadable("the body ended too early"))?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        size = size.saturating_add(data.len());
        if size <= limit {
            kept.extend_from_slice(&data);
        } else if size > limit.saturating_add(DISCARDED) {
            break;
        }
    }
    if size > limit {
        let message = format!(
            "the body may have {limit} bytes; send large values as uploads or over a document socket"
        );
        return Err(Refusal::service(Code::PayloadTooLarge, message));
    }
    Ok(kept)
}
