//! Presence: what people see of the awareness of those at a document (y-protocols awareness, update format v1).
//!
//! Invariants
//! - A client id belongs to the connection that showed it first; another connection can not speak for it.
//! - `user.name` and `user.id` of a state are those of the connection, whatever the editor sent.
//! - An entry that is not renewed for 30 s goes, and so does every entry of a connection that closes.
//!
//! Not here: what is kept of presence over a restart (nothing).

use std::collections::HashMap;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::actor::Actor;
use crate::document::lib0::{MAX_SAFE_INTEGER, Reader, write_var, write_var_string};
use crate::document::room::Presence;
use crate::ids::ConnectionId;
use crate::time::Timestamp;

/// How long an entry lives without being renewed, as in y-protocols.
const ENTRY_TTL: std::time::Duration = std::time::Duration::from_secs(30);
/// Clients that one awareness update may speak of.
const CLIENT_LIMIT: u64 = 1_024;
/// Bytes of a state that the server makes itself: the id of a node and little more.
const OWN_STATE_BYTES: usize = 4 << 10;
/// Clients that one connection may show, and the bytes of their states. An editor is one, but some repeat what they heard
/// of others who have gone since.
const SHOWN_CLIENTS: usize = 1_024;
const SHOWN_BYTES: usize = 1 << 20;
/// The state of a client that has gone.
const GONE: &str = "null";

/// Who shows an awareness state.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Source {
    /// A connection of this process.
    Connection {
        /// Which one.
        connection: ConnectionId,
        /// Who.
        actor: Actor,
        /// The name that others see.
        label: String,
    },
    /// Another process, which has checked and rewritten the states.
    Process(uuid::Uuid),
}

/// Awareness that can not be taken: malformed or over a limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("awareness {0}")]
pub(crate) struct AwarenessRejected(String);

/// Everybody at one document.
#[derive(Debug, Default)]
pub(crate) struct PresenceMap {
    entries: HashMap<u64, Entry>,
}

#[derive(Debug)]
struct Entry {
    clock: u64,
    state: Map<String, Value>,
    text: String,
    source: Source,
    since: Timestamp,
    renewed_at: Timestamp,
}

impl PresenceMap {
    /// Takes an awareness update; returns the accepted part of it, rewritten, to be sent to everybody (the sender too).
    pub(crate) fn apply(
        &mut self,
        update: &[u8],
        source: &Source,
        limit: usize,
        now: Timestamp,
    ) -> Result<Option<Bytes>, AwarenessRejected> {
        let mut accepted = Vec::new();
        let (mut clients, mut bytes) = self.shown_by(source);
        for (client, clock, text) in decode(update, limit)? {
            let known = self.entries.get(&client);
            if known.is_some_and(|entry| !same_speaker(&entry.source, source)) {
                continue;
            }
            let is_gone = text == GONE;
            let is_newer =
                known.is_none_or(|entry| clock > entry.clock || (is_gone && clock == entry.clock));
            if !is_newer {
                continue;
            }
            if is_gone {
                self.entries.remove(&client);
                accepted.push((client, clock, GONE.to_owned()));
            } else {
                let entry = Entry::try_new(
                    clock,
                    &text,
                    source,
                    known.map_or(now, |entry| entry.since),
                    now,
                )?;
                accepted.push((client, clock, entry.text.clone()));
                bytes += entry.text.len();
                let former = self.entries.insert(client, entry);
                bytes -= former.as_ref().map_or(0, |entry| entry.text.len());
                clients += usize::from(former.is_none());
                let is_much = clients > SHOWN_CLIENTS || bytes > SHOWN_BYTES;
                if is_much && matches!(source, Source::Connection { .. }) {
                    return Err(AwarenessRejected(format!(
                        "shows more than {SHOWN_CLIENTS} clients or {SHOWN_BYTES} bytes on one connection"
                    )));
                }
            }
        }
        Ok((!accepted.is_empty()).then(|| encode(&accepted)))
    }

    /// Shows somebody without an editor at a node; returns what to tell the others.
    pub(crate) fn show(
        &mut self,
        client: u64,
        node: Option<&str>,
        source: &Source,
        now: Timestamp,
    ) -> Result<Option<Bytes>, AwarenessRejected> {
        let text = json!({"nodeId": node}).to_string();
        // Editors remember the clock of somebody who went: whoever comes back must have a later one.
        let earliest = now.micros().unsigned_abs().min(MAX_SAFE_INTEGER / 2);
        let known = self.entries.get(&client);
        let clock = known.map_or(earliest, |entry| earliest.max(entry.clock + 1));
        self.apply(
            &encode(&[(client, clock, text)]),
            source,
            OWN_STATE_BYTES,
            now,
        )
    }

    /// Everybody's state, for somebody who has just come; none where nobody is there.
    pub(crate) fn everybody(&self) -> Option<Bytes> {
        let all: Vec<_> = self
            .entries
            .iter()
            .map(|(client, entry)| (*client, entry.clock, entry.text.clone()))
            .collect();
        (!all.is_empty()).then(|| encode(&all))
    }

    /// The states of this process's own connections, for another process.
    pub(crate) fn own(&self) -> Option<Bytes> {
        let own = self
            .entries
            .iter()
            .filter(|(_, entry)| matches!(entry.source, Source::Connection { .. }));
        let own: Vec<_> = own
            .map(|(client, entry)| (*client, entry.clock, entry.text.clone()))
            .collect();
        (!own.is_empty()).then(|| encode(&own))
    }

    /// Removes what a connection showed; returns what to tell the others.
    pub(crate) fn leave(&mut self, connection: ConnectionId) -> Option<Bytes> {
        self.remove(|entry| matches!(&entry.source, Source::Connection { connection: owner, .. } if *owner == connection))
    }

    /// Removes what was not renewed; returns what to tell the others.
    pub(crate) fn expire(&mut self, now: Timestamp) -> Option<Bytes> {
        self.remove(|entry| now.since(entry.renewed_at) >= ENTRY_TTL)
    }

    /// Who is there, in the order they came.
    pub(crate) fn list(&self) -> Vec<Presence> {
        let mut list: Vec<_> = self.entries.values().map(Entry::presence).collect();
        list.sort_by(|a, b| (a.since, &a.label).cmp(&(b.since, &b.label)));
        list
    }

    /// How many clients a source shows, and in how many bytes.
    fn shown_by(&self, source: &Source) -> (usize, usize) {
        let own = self.entries.values();
        own.filter(|entry| same_speaker(&entry.source, source))
            .fold((0, 0), |(count, bytes), entry| {
                (count + 1, bytes + entry.text.len())
            })
    }

    fn remove(&mut self, is_gone: impl Fn(&Entry) -> bool) -> Option<Bytes> {
        let gone: Vec<_> = self
            .entries
            .iter()
            .filter(|(_, entry)| is_gone(entry))
            .map(|(client, entry)| (*client, entry.clock, GONE.to_owned()))
            .collect();
        for (client, ..) in &gone {
            self.entries.remove(client);
        }
        (!gone.is_empty()).then(|| encode(&gone))
    }
}

impl Entry {
    fn try_new(
        clock: u64,
        text: &str,
        source: &Source,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<Self, AwarenessRejected> {
        let value: Value = serde_json::from_str(text)
            .map_err(|_| AwarenessRejected("holds a state that is no JSON".to_owned()))?;
        let Value::Object(mut state) = value else {
            return Err(AwarenessRejected(
                "holds a state that is no JSON object".to_owned(),
            ));
        };
        if let Source::Connection { actor, label, .. } = source {
            let user = state.entry("user").or_insert_with(|| json!({}));
            if !user.is_object() {
                *user = json!({});
            }
            user["name"] = json!(label);
            user["id"] = json!(actor_id(actor));
            state.insert(ACTOR.to_owned(), json!(actor));
        }
        let text = Value::Object(state.clone()).to_string();
        Ok(Self {
            clock,
            state,
            text,
            source: source.clone(),
            since,
            renewed_at: now,
        })
    }

    fn presence(&self) -> Presence {
        let actor = self
            .state
            .get(ACTOR)
            .and_then(|actor| serde_json::from_value(actor.clone()).ok())
            .unwrap_or(Actor::System);
        let label = self
            .state
            .get("user")
            .and_then(|user| user["name"].as_str())
            .unwrap_or_default()
            .to_owned();
        let node_id = self
            .state
            .get("nodeId")
            .and_then(Value::as_str)
            .map(str::to_owned);
        Presence {
            actor,
            label,
            node_id,
            since: self.since,
            state: self.state.clone(),
        }
    }
}

/// Key under which a rewritten state tells other processes who shows it.
const ACTOR: &str = "actor";

fn actor_id(actor: &Actor) -> String {
    match actor {
        Actor::Person(user) => user.to_string(),
        Actor::Program { token, .. } => token.to_string(),
        Actor::Agent { task, .. } => task.to_string(),
        Actor::System | Actor::Provider(_) => actor.to_string(),
    }
}

fn same_speaker(known: &Source, other: &Source) -> bool {
    match (known, other) {
        (Source::Connection { connection: a, .. }, Source::Connection { connection: b, .. }) => {
            a == b
        }
        (Source::Process(a), Source::Process(b)) => a == b,
        _ => false,
    }
}

fn decode(update: &[u8], limit: usize) -> Result<Vec<(u64, u64, String)>, AwarenessRejected> {
    let malformed = |_| AwarenessRejected("is malformed".to_owned());
    let mut reader = Reader::new(update);
    let count = reader.var_u53().map_err(malformed)?;
    if count > CLIENT_LIMIT || count as usize > reader.remaining() {
        return Err(AwarenessRejected(format!(
            "speaks of {count} clients; {CLIENT_LIMIT} are allowed"
        )));
    }
    let mut states = Vec::new();
    for _ in 0..count {
        let client = reader.var_u53().map_err(malformed)?;
        let clock = reader.var_u53().map_err(malformed)?;
        let text = reader.var_string().map_err(malformed)?;
        if text.len() > limit {
            return Err(AwarenessRejected(format!(
                "holds a state of {} bytes; {limit} are allowed",
                text.len()
            )));
        }
        states.push((client, clock, text.to_owned()));
    }
    if reader.remaining() > 0 {
        return Err(AwarenessRejected("has bytes behind its end".to_owned()));
    }
    Ok(states)
}

fn encode(states: &[(u64, u64, String)]) -> Bytes {
    let mut bytes = Vec::new();
    write_var(&mut bytes, states.len() as u64);
    for (client, clock, text) in states {
        write_var(&mut bytes, *client);
        write_var(&mut bytes, *clock);
        write_var_string(&mut bytes, text);
    }
    Bytes::from(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::UserId;

    const NOW: Timestamp = Timestamp::from_micros(1_000_000);

    fn ada() -> Source {
        Source::Connection {
            connection: ConnectionId::new(),
            actor: Actor::Person(UserId::new()),
            label: "Ada".into(),
        }
    }

    fn update(client: u64, clock: u64, text: &str) -> Bytes {
        encode(&[(client, clock, text.to_owned())])
    }

    #[test]
    fn a_state_carries_the_name_of_its_connection_whatever_it_claims() {
        let mut map = PresenceMap::default();
        let state = r##"{"user":{"name":"Somebody else","color":"#f00"},"nodeId":"n1"}"##;
        map.apply(&update(7, 1, state), &ada(), 1_000, NOW)
            .expect("accepted");
        let presence = map.list().pop().expect("one");
        assert_eq!(
            (presence.label.as_str(), presence.node_id.as_deref()),
            ("Ada", Some("n1"))
        );
        assert_eq!(presence.state["user"]["color"], "#f00");
    }

    #[test]
    fn another_connection_can_not_speak_for_a_client() {
        let mut map = PresenceMap::default();
        map.apply(&update(7, 1, "{}"), &ada(), 1_000, NOW)
            .expect("accepted");
        assert_eq!(
            map.apply(&update(7, 2, "null"), &ada(), 1_000, NOW),
            Ok(None)
        );
        assert_eq!(map.list().len(), 1);
    }

    #[test]
    fn an_entry_goes_when_it_is_not_renewed_and_may_come_back_with_an_old_clock() {
        let mut map = PresenceMap::default();
        let ada = ada();
        map.apply(&update(7, 9, "{}"), &ada, 1_000, NOW)
            .expect("accepted");
        assert!(
            map.expire(NOW.plus(std::time::Duration::from_secs(29)))
                .is_none()
        );
        assert!(
            map.expire(NOW.plus(std::time::Duration::from_secs(30)))
                .is_some()
        );
        assert!(
            map.apply(&update(7, 1, "{}"), &ada, 1_000, NOW)
                .expect("accepted")
                .is_some()
        );
    }

    #[test]
    fn somebody_without_an_editor_is_shown_where_they_are_and_goes_as_others_do() {
        let mut map = PresenceMap::default();
        let ada = ada();
        let show = |map: &mut PresenceMap, node, at| {
            map.show(7, Some(node), &ada, at)
                .expect("is no hostile state")
                .is_some()
        };
        assert!(show(&mut map, "n1", NOW));
        // Twice in one microsecond is told twice as well.
        assert!(show(&mut map, "n2", NOW));
        assert_eq!(map.list()[0].node_id.as_deref(), Some("n2"));
        let later = NOW.plus(ENTRY_TTL);
        assert!(map.expire(later).is_some());
        assert!(show(&mut map, "n1", later));
    }

    #[test]
    fn a_connection_shows_so_many_clients_and_others_as_many() {
        let mut map = PresenceMap::default();
        let ada = ada();
        let mut show = |source: &Source, client: u64, text: &str| {
            map.apply(&update(client, 1, text), source, 100_000, NOW)
        };
        for client in 0..SHOWN_CLIENTS as u64 {
            assert!(show(&ada, client, "{}").is_ok());
        }
        assert!(show(&ada, 5_000, "{}").is_err());
        let large = format!("{{\"name\":\"{}\"}}", "x".repeat(90_000));
        let grace = super::tests::ada();
        let shown = (6_000..).take_while(|client| show(&grace, *client, &large).is_ok());
        assert_eq!(shown.count(), SHOWN_BYTES / 90_000);
    }

    #[test]
    fn a_count_that_the_bytes_can_not_hold_is_refused() {
        let hostile = [0xff, 0xff, 0xff, 0x2f];
        assert!(
            PresenceMap::default()
                .apply(&hostile, &ada(), 1_000, NOW)
                .is_err()
        );
        assert!(
            PresenceMap::default()
                .apply(&update(1, 1, "{not json"), &ada(), 1_000, NOW)
                .is_err()
        );
    }
}
