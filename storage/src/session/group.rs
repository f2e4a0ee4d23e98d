//! The commands of one transaction: what they gather, what is undone of one that fails, and what is told when all is committed.
//!
//! Invariants
//! - Rows are written in the order of commands, and before anything else that a command asks of the database could miss them.
//! - What a command among others has only gathered can be forgotten alone; where anything of it was written, the whole transaction is
//!   undone and runs again without it.
//! - Heads of event logs are counted here while this transaction holds their workspaces.

use std::collections::{HashMap, HashSet};

use domain::event::Sequence;
use domain::ids::{TurnId, WorkspaceId};
use domain::turn::{Entered, Epoch, TurnWake};
use domain::{Error, Result};
use sea_orm::Value;
use sea_orm::sea_query::ArrayType;
use uuid::Uuid;

use super::gathered::{GatheredRow, Into, Rule};
use super::{Row, Session, id, lock, number, placeholders};
use crate::link::Link;
use crate::wake::{CHANNEL, Notice};

/// How the statements of a command went, the worst of them. After one that failed PostgreSQL takes no more in the same
/// transaction, and ends it undone even when it is asked to commit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Health {
    /// None failed.
    #[default]
    Sound,
    /// One failed, and would fail again.
    Failed,
    /// One met another transaction, or lost its connection: another run may end better.
    Interrupted,
}

/// What a command will have told when it is committed.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// Heads of the event logs that it wrote to.
    pub(crate) heads: Vec<(WorkspaceId, Sequence)>,
    /// Whether tokens or memberships changed.
    pub(crate) access_changed: bool,
    /// Whether a job may be due.
    pub(crate) has_jobs: bool,
    /// Turns that somebody is to look at.
    pub(crate) turns: Vec<TurnWake>,
}

/// The state of one transaction and of the command that runs in it.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// Whether other commands share the transaction.
    is_shared: bool,
    rows: Vec<GatheredRow>,
    /// Hashes of keys of rows, of some that were forgotten as well.
    keys: HashSet<u64>,
    /// What other processes are told at the commit.
    told: Vec<Notice>,
    held: Vec<(WorkspaceId, Sequence)>,
    ahead: HashMap<TurnId, Entered>,
    /// What stood there as the command began.
    mark: Mark,
    written: Written,
    health: Health,
}

#[derive(Debug, Default)]
struct Mark {
    rows: usize,
    told: usize,
    held: Vec<(WorkspaceId, Sequence)>,
    /// Whether anything of the command itself was written.
    has_written: bool,
    /// Rows of commands before this one could not be written: nothing of the transaction may be kept.
    is_lost: bool,
}

impl Group {
    pub(super) fn note_health(&mut self, health: Health) {
        self.health = health.max(self.health);
    }

    /// The log of a workspace has grown to this head.
    pub(super) fn move_head(&mut self, workspace: WorkspaceId, head: Sequence) {
        if let Some(held) = self.held.iter_mut().find(|(held, _)| *held == workspace) {
            held.1 = head;
        }
        self.written.heads.push((workspace, head));
    }

    pub(super) fn tell_turn(&mut self, wake: TurnWake) {
        self.written.turns.push(wake);
        self.told.push(Notice::Turn(wake));
    }

    pub(super) fn tell_jobs(&mut self) {
        if !self.written.has_jobs {
            self.written.has_jobs = true;
            self.told.push(Notice::Jobs);
        }
    }

    pub(super) fn tell_access(&mut self) {
        self.written.access_changed = true;
        self.told.push(Notice::Access);
    }

    pub(super) fn keep_ahead(&mut self, ahead: Vec<Entered>) {
        self.ahead = ahead
            .into_iter()
            .map(|entered| (entered.turn.id, entered))
            .collect();
    }

    pub(super) fn take_ahead(&mut self, turn: TurnId) -> Option<Entered> {
        self.ahead.remove(&turn)
    }

    /// What was read ahead about the turn or task that a row belongs to no longer holds.
    fn forget_ahead(&mut self, row: &GatheredRow) {
        let owner = match row.into {
            // The journal goes with its task, and events with what they tell of.
            Into::Journal | Into::Events => return,
            Into::Tasks | Into::Turns | Into::Steps | Into::Projections | Into::Calls => 1,
            Into::Messages => 3,
        };
        if let Some(owner) = uuid_of(&row.values[owner]) {
            self.ahead
                .retain(|turn, entered| turn.uuid() != owner && entered.task.id.uuid() != owner);
        }
    }

    fn take(&mut self) -> (Vec<GatheredRow>, Vec<Notice>) {
        (self.mark.rows, self.mark.told) = (0, 0);
        self.keys.clear();
        (
            std::mem::take(&mut self.rows),
            std::mem::take(&mut self.told),
        )
    }

    /// Takes what commands before this one have gathered.
    fn take_earlier(&mut self) -> (Vec<GatheredRow>, Vec<Notice>) {
        let own = self.rows.split_off(self.mark.rows);
        let own_told = self.told.split_off(self.mark.told);
        let earlier = self.take();
        self.keys = own.iter().filter_map(GatheredRow::key).collect();
        (self.rows, self.told) = (own, own_told);
        earlier
    }
}

impl<C: Link> Session<C> {
    /// Reads of what is committed.
    pub(crate) fn of_reads(connection: C) -> Self {
        Self::new(connection, "reads")
    }

    /// The transaction of commands; `is_shared` where it is more than one.
    pub(crate) fn of_commands(connection: C, is_shared: bool) -> Self {
        let session = Self::new(connection, "command");
        lock(&session.group).is_shared = is_shared;
        session
    }

    /// Ends the session.
    pub(crate) fn into_connection(self) -> C {
        self.connection
    }

    /// Takes the rows of workspaces on PostgreSQL, so that commands of one workspace run one after the other; SQLite has one writer.
    /// Reads ahead what commands enter.
    pub(crate) async fn open(&self, workspaces: &[WorkspaceId], turns: &[TurnId]) -> Result<()> {
        self.hold_all(workspaces).await?;
        self.read_ahead(turns).await
    }

    /// Another command begins.
    pub(crate) fn begin_command(&self) {
        let mut group = lock(&self.group);
        group.mark = Mark {
            rows: group.rows.len(),
            told: group.told.len(),
            held: group.held.clone(),
            has_written: false,
            is_lost: false,
        };
        group.written = Written::default();
        group.health = Health::Sound;
    }

    /// How the statements of the command went so far.
    pub(crate) fn health(&self) -> Health {
        lock(&self.group).health
    }

    /// Whether other commands share the transaction.
    pub(crate) fn is_shared(&self) -> bool {
        lock(&self.group).is_shared
    }

    /// Whether nothing of the transaction can be kept, and it is not this command's fault.
    pub(crate) fn is_lost(&self) -> bool {
        lock(&self.group).mark.is_lost
    }

    /// Whether forgetting does not undo the command: something of it was written, or the database refused a statement.
    pub(crate) fn has_written(&self) -> bool {
        let group = lock(&self.group);
        group.mark.has_written || group.health != Health::Sound
    }

    /// Ends a command that is done; what it will have told at the commit.
    pub(crate) async fn end_command(&self) -> Result<Written> {
        // PostgreSQL takes the rows of all commands at once; with SQLite nothing is gained by waiting for the others.
        if !self.is_postgres() {
            self.write_gathered().await?;
        }
        Ok(std::mem::take(&mut lock(&self.group).written))
    }

    /// Forgets what a command has gathered.
    pub(crate) fn forget_command(&self) {
        let mut guard = lock(&self.group);
        let group = &mut *guard;
        group.rows.truncate(group.mark.rows);
        group.told.truncate(group.mark.told);
        group.held.clone_from(&group.mark.held);
        group.written = Written::default();
        group.health = Health::Sound;
    }

    /// Takes the workspace's row; the head of its log, if it exists.
    pub(super) async fn hold(&self, workspace: WorkspaceId) -> Result<Option<Sequence>> {
        if let Some(held) = self.held(workspace) {
            return Ok(Some(held));
        }
        self.hold_all(&[workspace]).await?;
        Ok(self.held(workspace))
    }

    /// The head of the log of a workspace that this transaction holds.
    pub(crate) fn held(&self, workspace: WorkspaceId) -> Option<Sequence> {
        let group = lock(&self.group);
        let held = group.held.iter().find(|(held, _)| *held == workspace);
        held.map(|(_, head)| *head)
    }

    async fn hold_all(&self, workspaces: &[WorkspaceId]) -> Result<()> {
        if workspaces.is_empty() {
            return Ok(());
        }
        // In one order, so that two transactions do not wait for each other.
        let lock_rows = if self.is_postgres() {
            " for update"
        } else {
            ""
        };
        let sql = format!(
            "select id, event_sequence from workspaces where id in ({}) order by id{lock_rows}",
            placeholders(1, workspaces.len())
        );
        let values = workspaces.iter().map(|workspace| id(workspace.uuid()));
        let rows = self.rows_beside(&sql, values.collect()).await?;
        for row in &rows {
            let row = Row::of("workspaces", row);
            let workspace = WorkspaceId::from_uuid(row.uuid("id")?);
            let head = Sequence(row.number("event_sequence")?);
            lock(&self.group).held.push((workspace, head));
        }
        Ok(())
    }

    /// Gathers a row. One that is gathered already is written first, for the order of the two matters.
    pub(super) async fn gather(&self, into: Into, rule: Rule, values: Vec<Value>) -> Result<()> {
        let row = GatheredRow { into, rule, values };
        let key = row.key();
        if key.is_some_and(|key| lock(&self.group).keys.contains(&key)) {
            self.write_gathered().await?;
        }
        let mut group = lock(&self.group);
        group.keys.extend(key);
        group.forget_ahead(&row);
        group.rows.push(row);
        Ok(())
    }

    /// Writes what is gathered, before something is read that it could be part of.
    pub(super) async fn write_gathered(&self) -> Result<()> {
        let earlier = {
            let mut group = lock(&self.group);
            if group.rows.is_empty() && group.told.is_empty() {
                return Ok(());
            }
            group.take_earlier()
        };
        if let Err(error) = self.write(earlier).await {
            lock(&self.group).mark.is_lost = true;
            return Err(error);
        }
        let own = {
            let mut group = lock(&self.group);
            group.mark.has_written |= !group.rows.is_empty() || !group.told.is_empty();
            group.take()
        };
        self.write(own).await
    }

    /// Writes what is gathered, before a command writes something else.
    pub(super) async fn write_directly(&self) -> Result<()> {
        self.write_gathered().await?;
        let mut group = lock(&self.group);
        group.mark.has_written = true;
        group.ahead.clear();
        Ok(())
    }

    /// Writes what all commands have gathered, before the commit.
    pub(crate) async fn write_all(&self) -> Result<()> {
        let all = lock(&self.group).take();
        self.write(all).await
    }

    async fn write(&self, (mut rows, told): (Vec<GatheredRow>, Vec<Notice>)) -> Result<()> {
        if rows.is_empty() && told.is_empty() {
            return Ok(());
        }
        let heads = heads_of(&rows);
        let expected = (rows.len() + heads.len()) as u64;
        let fences: Vec<_> = rows.iter().filter_map(fence_of).collect();
        rows.sort_by_key(|row| (row.into, row.rule));
        let written = if self.is_postgres() {
            self.write_arrays(rows, heads, told).await?
        } else {
            self.write_rows(rows, heads).await?
        };
        if written == expected {
            return Ok(());
        }
        Err(self.refusal(&fences).await?)
    }

    /// Fewer rows were written than gathered: a turn has another epoch, or is over. A command writes one turn.
    async fn refusal(&self, fences: &[(TurnId, Epoch)]) -> Result<Error> {
        let Some((turn, presented)) = fences.first() else {
            return Ok(Error::internal("fewer rows were written than gathered"));
        };
        let sql = "select epoch from turns where id = $1";
        let rows = self.rows_beside(sql, vec![id(turn.uuid())]).await?;
        let row = rows.first().ok_or_else(|| Error::not_found("turn", turn))?;
        Ok(Error::Fenced {
            turn: *turn,
            presented: *presented,
            current: Epoch(Row::of("turns", row).integer("epoch")?),
        })
    }

    /// A statement for each row.
    async fn write_rows(&self, rows: Vec<GatheredRow>, heads: Vec<(Value, u64)>) -> Result<u64> {
        let mut written = 0;
        for row in rows {
            written += self.execute_beside(row.write_row(), row.values).await?;
        }
        for (workspace, head) in heads {
            let sql = "update workspaces set event_sequence = $1 where id = $2";
            let values = vec![number(head), workspace];
            written += self.execute_beside(sql, values).await?;
        }
        Ok(written)
    }

    /// One statement with a part for each table. All parts see the database as it was before it.
    async fn write_arrays(
        &self,
        rows: Vec<GatheredRow>,
        heads: Vec<(Value, u64)>,
        mut told: Vec<Notice>,
    ) -> Result<u64> {
        let (mut parts, mut values) = (Vec::new(), Vec::new());
        for rows in rows.chunk_by(|one, other| (one.into, one.rule) == (other.into, other.rule)) {
            let (table, rule) = (rows[0].into.table(), rows[0].rule);
            let insert = table.write_arrays(rule, values.len() + 1);
            parts.push(format!("w{} as ({insert} returning 1)", parts.len()));
            values.extend(table.arrays(rows.iter().map(|row| row.values.clone()).collect()));
        }
        if !heads.is_empty() {
            let place = values.len() + 1;
            parts.push(format!(
                "w{} as (update workspaces set event_sequence = v.head from unnest(${place}::bytea[], ${}::bigint[]) as v(id, head) \
                 where workspaces.id = v.id returning 1)",
                parts.len(),
                place + 1
            ));
            told.extend(heads.iter().filter_map(notice_of));
            let (workspaces, heads) = heads
                .into_iter()
                .map(|(id, head)| (id, number(head)))
                .unzip();
            values.extend([
                Value::Array(ArrayType::Bytes, Some(Box::new(workspaces))),
                Value::Array(ArrayType::BigInt, Some(Box::new(heads))),
            ]);
        }
        let counts = (0..parts.len()).map(|part| format!(" + (select count(*) from w{part})"));
        let count: String = counts.collect();
        let with = if parts.is_empty() {
            String::new()
        } else {
            format!("with {} ", parts.join(", "))
        };
        let place = values.len() + 1;
        let texts: Vec<String> = told
            .iter()
            .map(serde_json::to_string)
            .collect::<std::result::Result<_, _>>()
            .map_err(|error| Error::Internal(error.into()))?;
        values.extend([CHANNEL.into(), Value::from(texts)]);
        let sql = format!(
            "{with}select 0::bigint{count} as written, '' as told union all \
             select 0, pg_notify(${place}, v.notice)::text from unnest(${}::text[]) as v(notice)",
            place + 1
        );
        let rows = self.rows_beside(&sql, values).await?;
        // Rows of notices count nothing.
        rows.iter()
            .map(|row| Row::of("turns", row).number("written"))
            .sum()
    }
}

/// The new heads of the logs that rows of events belong to.
fn heads_of(rows: &[GatheredRow]) -> Vec<(Value, u64)> {
    let mut heads: Vec<(Value, u64)> = Vec::new();
    for row in rows.iter().filter(|row| row.into == Into::Events) {
        let [workspace, Value::BigInt(Some(sequence)), ..] = row.values.as_slice() else {
            continue;
        };
        match heads.iter_mut().find(|(known, _)| known == workspace) {
            Some((_, head)) => *head = (*head).max(*sequence as u64),
            None => heads.push((workspace.clone(), *sequence as u64)),
        }
    }
    heads
}

/// The turn that a row is written over, and the epoch that was presented.
fn fence_of(row: &GatheredRow) -> Option<(TurnId, Epoch)> {
    let lag = match row.rule {
        Rule::OverSameEpoch => 0,
        Rule::OverFormerEpoch => 1,
        Rule::Insert | Rule::Put => return None,
    };
    let turn = TurnId::from_uuid(uuid_of(&row.values[1])?);
    let Value::BigInt(Some(epoch)) = row.values[3] else {
        return None;
    };
    Some((turn, Epoch(u32::try_from(epoch - lag).ok()?)))
}

fn notice_of((workspace, head): &(Value, u64)) -> Option<Notice> {
    let workspace = WorkspaceId::from_uuid(uuid_of(workspace)?);
    Some(Notice::Events {
        workspace,
        sequence: *head,
    })
}

fn uuid_of(value: &Value) -> Option<Uuid> {
    match value {
        Value::Bytes(Some(bytes)) => Uuid::from_slice(bytes).ok(),
        _ => None,
    }
}
