//! What the commands of turns begin with, for many at once.
//!
//! Invariants
//! - What was read ahead is used once, and not after anything was written that it could tell of.

use std::fmt::Write as _;
use std::sync::LazyLock;

use domain::Result;
use domain::ids::TurnId;
use domain::memory::MemoryMark;
use domain::turn::{Call, Entered, StepState};

use super::calls::call;
use super::gathered::Into;
use super::group::Health;
use super::messages::IN_INBOX;
use super::steps::step_in;
use super::tasks::{projections_in, task_in};
use super::turns::{turn_ids, turn_in};
use super::{Row, Session, lock, placeholders};
use crate::link::{DatabaseRow, Link};

/// What precedes the columns of each table in a row.
const TURN: &str = "n_";
const TASK: &str = "t_";
const STEP: &str = "s_";
const PROJECTIONS: &str = "p_";

/// The turn with its task, its first step that is not settled, projections, and whether there is more to read.
static ENTERED: LazyLock<String> = LazyLock::new(|| {
    let mut columns = String::new();
    for (table, alias, prefix) in [
        (Into::Turns, "n", TURN),
        (Into::Tasks, "t", TASK),
        (Into::Steps, "s", STEP),
        (Into::Projections, "p", PROJECTIONS),
    ] {
        for (name, _) in table.table().columns {
            // Writing to a text does not fail.
            let _ = write!(columns, "{alias}.{name} as {prefix}{name}, ");
        }
    }
    let of_task = |table: &str, condition: &str| {
        format!(
            "exists (select 1 from {table} x where x.workspace_id = n.workspace_id and x.task_id = n.task_id{condition})"
        )
    };
    format!(
        "select {columns}{} as has_inbox, {} as has_notices, {} as has_open_cards, {} as has_works, {} as has_jobs, \
         coalesce((select cast(sum(x.version) as bigint) from profiles x where x.workspace_id = n.workspace_id \
         and x.owner in (n.workspace_id, t.created_by)), 0) as profile_version, \
         coalesce((select x.forgets from profiles x where x.workspace_id = n.workspace_id and x.owner = n.workspace_id), 0) as forgets \
         from turns n \
         join tasks t on t.workspace_id = n.workspace_id and t.id = n.task_id \
         left join steps s on s.workspace_id = n.workspace_id and s.turn_id = n.id and s.number = n.settled_steps + 1 \
         left join projections p on p.workspace_id = n.workspace_id and p.task_id = n.task_id where n.id in ",
        of_task("messages", &format!(" and x.{IN_INBOX}")),
        of_task("change_notices", ""),
        of_task("cards", " and x.state = 'OPEN'"),
        of_task("task_works", ""),
        of_task("jobs", " and x.is_under_way"),
    )
});

fn entered(row: &DatabaseRow) -> Result<Entered> {
    let part = |table, prefix| Row { table, row, prefix };
    let flags = part("turns", "");
    let step = part("steps", STEP);
    let projections = part("projections", PROJECTIONS);
    Ok(Entered {
        turn: turn_in(&part("turns", TURN))?,
        task: task_in(&part("tasks", TASK))?,
        step: step.has("turn_id")?.then(|| step_in(&step)).transpose()?,
        projections: projections
            .has("task_id")?
            .then(|| projections_in(&projections))
            .transpose()?,
        calls: Vec::new(),
        has_inbox: flags.get("has_inbox")?,
        has_notices: flags.get("has_notices")?,
        has_open_cards: flags.get("has_open_cards")?,
        has_works: flags.get("has_works")?,
        has_jobs: flags.get("has_jobs")?,
        memory: MemoryMark {
            profile: flags.number("profile_version")?,
            forgets: flags.number("forgets")?,
        },
    })
}

impl<C: Link> Session<C> {
    /// A turn as a command of it finds it.
    pub(super) async fn entered(&self, turn: TurnId) -> Result<Option<Entered>> {
        let ahead = lock(&self.group).take_ahead(turn);
        if ahead.is_some() {
            return Ok(ahead);
        }
        self.write_gathered().await?;
        Ok(self.read_entered(&[turn]).await?.pop())
    }

    /// Reads ahead what commands will enter.
    pub(super) async fn read_ahead(&self, turns: &[TurnId]) -> Result<()> {
        if turns.len() < 2 {
            // Its command reads it itself.
            return Ok(());
        }
        match self.read_entered(turns).await {
            Ok(ahead) => lock(&self.group).keep_ahead(ahead),
            // A row that can not be read is an error of the command that enters it: that one reads it itself, and fails alone.
            Err(error) if self.health() == Health::Sound => {
                tracing::debug!(%error, "nothing is read ahead");
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    async fn read_entered(&self, turns: &[TurnId]) -> Result<Vec<Entered>> {
        let sql = format!("{}{}", *ENTERED, among_turns(turns.len()));
        let rows = self.rows_beside(&sql, repeated(turns)).await?;
        let mut found: Vec<_> = rows.iter().map(entered).collect::<Result<_>>()?;
        let is_decided = |entered: &&Entered| {
            let step = entered.step.as_ref();
            step.is_some_and(|step| step.state == StepState::Decided)
        };
        let decided: Vec<_> = found
            .iter()
            .filter(is_decided)
            .map(|entered| entered.turn.id)
            .collect();
        for call in self.open_calls(&decided).await? {
            let of_turn = found
                .iter_mut()
                .find(|entered| entered.turn.id == call.id.turn);
            if let Some(entered) = of_turn {
                entered.calls.push(call);
            }
        }
        Ok(found)
    }

    /// Calls of the first steps of these turns that are not settled, by index.
    async fn open_calls(&self, turns: &[TurnId]) -> Result<Vec<Call>> {
        if turns.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select c.* from turns n join calls c on c.workspace_id = n.workspace_id and c.turn_id = n.id \
             and c.step_number = n.settled_steps + 1 where n.id in {} order by c.turn_id, c.call_index",
            among_turns(turns.len())
        );
        let rows = self.rows_beside(&sql, repeated(turns)).await?;
        rows.iter().map(call).collect()
    }
}

/// Placeholders for this many turns or a few more, so that few texts of statements stand for all numbers of turns.
fn among_turns(count: usize) -> String {
    format!("({})", placeholders(1, count.next_power_of_two()))
}

/// The ids of turns, the last one as often as there are placeholders left.
fn repeated(turns: &[TurnId]) -> Vec<sea_orm::Value> {
    let mut values = turn_ids(turns);
    if let Some(last) = values.last().cloned() {
        values.resize(values.len().next_power_of_two(), last);
    }
    values
}
