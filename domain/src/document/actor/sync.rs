//! Frames of editors: synchronisation, changes, awareness.

use bytes::Bytes;

use crate::actor::Actor;
use crate::document::presence::Source;
use crate::document::recorder::remove_hanging_edges;
use crate::document::replica::{Applied, Failure, Replica};
use crate::document::room::{Access, Inbound, Outbound};
use crate::document::validate::decode_state_vector;
use crate::ids::ConnectionId;

use super::DocumentActor;
use super::batch::Output;
use super::unplaced::Held;

impl DocumentActor {
    pub(super) async fn frame(&mut self, connection: ConnectionId, frame: Inbound) {
        if !self.peers.contains_key(&connection) {
            return;
        }
        match frame {
            Inbound::SyncStep1(state_vector) => self.sync_step_1(connection, &state_vector),
            Inbound::SyncStep2(update) => self.update(connection, &update, true).await,
            Inbound::Update(update) => self.update(connection, &update, false).await,
            Inbound::Awareness(update) => self.awareness(connection, &update),
            Inbound::QueryAwareness => {
                if let Some(everybody) = self.presence.everybody() {
                    self.send(connection, Outbound::Awareness(everybody));
                }
            }
        }
    }

    /// Answers with what the editor lacks, and asks for what the server lacks: offline edits arrive that way.
    fn sync_step_1(&mut self, connection: ConnectionId, state_vector: &Bytes) {
        let held = self
            .peers
            .get_mut(&connection)
            .map_or(Held::No, |peer| peer.unplaced.hold(state_vector));
        match held {
            Held::No => {}
            Held::Yes => return,
            Held::TooMany => {
                let reason = "the editor does not answer what it is asked";
                return self.close(connection, 4400, reason);
            }
        }
        let known = match decode_state_vector(state_vector) {
            Ok(known) => known,
            Err(rejection) => return self.reject(connection, state_vector, &rejection.to_string()),
        };
        match self
            .replica
            .get()
            .and_then(|replica| replica.difference(&known))
        {
            Ok(difference) => {
                if let Some(peer) = self.peers.get(&connection) {
                    peer.outbox.asked();
                }
                self.send_after_commit(connection, Outbound::SyncStep2(difference));
                self.ask(connection);
            }
            Err(failure) => self.fail(&failure),
        }
    }

    /// Asks the editor for what the server lacks.
    fn ask(&mut self, connection: ConnectionId) {
        if let Some(peer) = self.peers.get_mut(&connection) {
            peer.unplaced.ask();
        }
        match self.replica.get().map(Replica::state_vector) {
            Ok(known) => self.send_after_commit(connection, Outbound::SyncStep1(known)),
            Err(failure) => self.fail(&failure),
        }
    }

    async fn update(&mut self, connection: ConnectionId, update: &Bytes, is_reply: bool) {
        if let Some(peer) = self.peers.get_mut(&connection).filter(|_| is_reply) {
            peer.unplaced.answer();
        }
        if self.access_of(connection) != Some(Access::Write) {
            return self.refuse_write(connection, update);
        }
        if let Err(reason) = self.check_growth(update.len()) {
            return self.close(connection, 1009, &reason);
        }
        match self.apply(update, is_reply).await {
            Ok(Applied::Changed(update, recorded)) => {
                let actor = self.actor_of(connection);
                self.pending.add(
                    Some(connection),
                    &actor,
                    self.shared.now(),
                    update,
                    recorded.touched,
                );
                self.remove_hanging_edges(recorded.has_hanging_edges);
                self.acknowledge(connection, is_reply);
            }
            Ok(Applied::Nothing) => self.acknowledge(connection, is_reply),
            Ok(Applied::Missing) => self.not_placed(connection, update, is_reply),
            Err(Failure::TooLarge(reason)) => self.close(connection, 1009, &reason),
            Err(failure) => {
                self.reject(connection, update, &failure.to_string());
                self.recover(&failure).await;
            }
        }
    }

    /// A connection that may not write: nothing of it is taken, and it is told whether anything was lost by that.
    fn refuse_write(&mut self, connection: ConnectionId, update: &[u8]) {
        let brings_nothing = self
            .replica
            .get()
            .is_ok_and(|replica| replica.knows_all(update));
        let Some(peer) = self.peers.get_mut(&connection) else {
            return;
        };
        let (waiting, questions) = peer.unplaced.give_up();
        for _ in 0..waiting {
            self.send_after_commit(connection, Outbound::Acknowledged(false));
        }
        self.send_after_commit(connection, Outbound::Acknowledged(brings_nothing));
        for question in questions {
            self.sync_step_1(connection, &question);
        }
    }

    /// An update builds on what is not here: nothing of it is stored, and the editor is asked for all that is lacking.
    fn not_placed(&mut self, connection: ConnectionId, update: &[u8], is_reply: bool) {
        let Some(peer) = self.peers.get_mut(&connection) else {
            return;
        };
        if peer.unplaced.add(is_reply) {
            self.ask(connection);
        } else {
            let reason = "the editor builds on changes that it can not bring";
            self.reject(connection, update, reason);
        }
    }

    /// Acknowledges one frame, and after an answer what waited for it.
    fn acknowledge(&mut self, connection: ConnectionId, is_reply: bool) {
        let Some(peer) = self.peers.get_mut(&connection) else {
            return;
        };
        let mut placed = 1;
        let mut questions = Vec::new();
        if is_reply {
            placed += peer.unplaced.place();
            questions = peer.unplaced.take_questions();
        }
        for _ in 0..placed {
            self.send_after_commit(connection, Outbound::Acknowledged(true));
        }
        for question in questions {
            self.sync_step_1(connection, &question);
        }
    }

    /// Edges whose ends went elsewhere are removed at once, by the system.
    pub(super) fn remove_hanging_edges(&mut self, has_hanging_edges: bool) {
        if !has_hanging_edges {
            return;
        }
        let removed = self.replica.get_mut().and_then(|replica| {
            replica.change(|txn, roots| {
                Ok::<_, std::convert::Infallible>(remove_hanging_edges(txn, roots))
            })
        });
        match removed {
            Ok(Ok((_, Some((update, touched))))) => {
                self.pending
                    .add(None, &Actor::System, self.shared.now(), update, touched);
            }
            Ok(Ok((_, None))) => {}
            Ok(Err(never)) => match never {},
            Err(failure) => self.fail(&failure),
        }
    }

    fn awareness(&mut self, connection: ConnectionId, update: &[u8]) {
        let Some(peer) = self.peers.get(&connection) else {
            return;
        };
        let source = Source::Connection {
            connection,
            actor: peer.actor.clone(),
            label: peer.label.clone(),
        };
        match self.presence.apply(
            update,
            &source,
            self.shared.options.awareness_bytes,
            self.shared.now(),
        ) {
            Ok(accepted) => self.tell_presence(accepted),
            Err(rejected) => self.reject(connection, update, &rejected.to_string()),
        }
    }

    /// Refuses bytes: they are kept with actor and reason, and their sender is told and closed.
    fn reject(&mut self, connection: ConnectionId, bytes: &[u8], reason: &str) {
        let actor = self.actor_of(connection);
        self.shared.quarantine(&self.work, actor, bytes, reason);
        self.close(connection, 4400, reason);
    }

    fn close(&mut self, connection: ConnectionId, code: u16, reason: &str) {
        if let Some(peer) = self.peers.get(&connection) {
            peer.outbox.close(code, reason);
        }
        self.leave(connection);
    }

    fn actor_of(&self, connection: ConnectionId) -> Actor {
        self.peers
            .get(&connection)
            .map_or(Actor::System, |peer| peer.actor.clone())
    }

    fn send(&self, connection: ConnectionId, frame: Outbound) {
        if let Some(peer) = self.peers.get(&connection) {
            peer.outbox.push(frame);
        }
    }

    fn send_after_commit(&mut self, connection: ConnectionId, frame: Outbound) {
        if let Some(outbox) = self.peers.get(&connection).map(|peer| peer.outbox.clone()) {
            self.after_commit(Output::Frame(outbox, frame));
        }
    }
}
