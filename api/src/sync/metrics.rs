//! What sockets count: how many are open, frames in and out, frames and sockets that were refused.

use metrics::{Counter, Gauge, counter, gauge};

/// The counters of one open socket; dropping them counts it as closed.
pub(crate) struct SocketMetrics {
    protocol: &'static str,
    open: Gauge,
    /// Frames that came.
    pub(crate) received: Counter,
    /// Frames that went.
    pub(crate) sent: Counter,
}

impl SocketMetrics {
    /// Counts a socket of this protocol as open.
    pub(crate) fn open(protocol: &'static str) -> Self {
        let open = gauge!("atelier_sockets_open", "protocol" => protocol);
        open.increment(1.0);
        Self {
            protocol,
            open,
            received: counter!("atelier_socket_frames_total", "protocol" => protocol, "direction" => "in"),
            sent: counter!("atelier_socket_frames_total", "protocol" => protocol, "direction" => "out"),
        }
    }

    /// Counts a socket that the server has ended, by close code.
    pub(crate) fn closed(&self, code: u16) {
        counter!("atelier_socket_closes_total", "protocol" => self.protocol, "code" => code.to_string()).increment(1);
    }
}

impl Drop for SocketMetrics {
    fn drop(&mut self) {
        self.open.decrement(1.0);
    }
}

/// Counts a frame that was not taken.
pub(crate) fn refused(protocol: &'static str, reason: &'static str) {
    counter!("atelier_socket_frames_refused_total", "protocol" => protocol, "reason" => reason)
        .increment(1);
}
