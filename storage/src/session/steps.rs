//! Steps of turns.

use domain::Result;
use domain::ids::{TaskId, TurnId, WorkspaceId};
use domain::time::Timestamp;
use domain::turn::{Epoch, Step, StepRef, StepState};

use super::each::Each;
use super::gathered::{Into, Rule};
use super::turns::turn_ids;
use super::{Row, Session, at, id, json, number, optional_json, placeholders, step_key};
use crate::link::{DatabaseRow, Link};

fn step(row: &DatabaseRow) -> Result<Step> {
    step_in(&Row::of("steps", row))
}

pub(super) fn step_in(row: &Row<'_>) -> Result<Step> {
    Ok(Step {
        workspace: WorkspaceId::from_uuid(row.uuid("workspace_id")?),
        task: TaskId::from_uuid(row.uuid("task_id")?),
        turn: TurnId::from_uuid(row.uuid("turn_id")?),
        at: StepRef {
            turn: row.integer("turn_number")?,
            step: row.integer("number")?,
        },
        state: row.named("state", StepState::from_name)?,
        epoch: Epoch(row.integer("epoch")?),
        opened_at: row.time("opened_at")?,
        decided_at: row.optional_time("decided_at")?,
        rationale: row.get("rationale")?,
        seen: row.json("seen")?,
        context: row.optional_json("context")?,
    })
}

impl<C: Link> Session<C> {
    pub(super) async fn steps(&self, turns: &[TurnId]) -> Result<Vec<Step>> {
        if turns.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select s.* from turns n join steps s on s.workspace_id = n.workspace_id and s.turn_id = n.id \
             where n.id in ({}) order by s.turn_id, s.number",
            placeholders(1, turns.len())
        );
        let rows = self.rows(&sql, turn_ids(turns)).await?;
        rows.iter().map(step).collect()
    }

    pub(super) async fn steps_by_number(&self, steps: &[(TaskId, StepRef)]) -> Result<Vec<Step>> {
        let each = Each {
            sql: "select s.* from turns n join steps s on s.workspace_id = n.workspace_id and s.turn_id = n.id \
                  where n.workspace_id = (select workspace_id from tasks where id = #1) and n.task_id = #1 and n.number = #2 \
                  and s.number = #3"
                .to_owned(),
            shared: Vec::new(),
            order: "task_id, turn_number, number",
        };
        let keys: Vec<_> = steps.iter().map(step_key).collect();
        self.each(each, &keys, step).await
    }

    pub(super) async fn step(&self, turn: TurnId, place: u32) -> Result<Option<Step>> {
        let sql = "select * from steps where workspace_id = (select workspace_id from turns where id = $1) and turn_id = $1 \
                   and number = $2";
        let values = vec![id(turn.uuid()), number(place.into())];
        let row = self.row(sql, values).await?;
        row.as_ref().map(step).transpose()
    }

    pub(super) async fn put_step_row(&self, step: &Step) -> Result<()> {
        let values = vec![
            id(step.workspace.uuid()),
            id(step.turn.uuid()),
            number(step.at.step.into()),
            step.state.name().into(),
            number(step.epoch.0.into()),
            at(step.opened_at),
            step.decided_at.map(Timestamp::micros).into(),
            step.rationale.as_str().into(),
            json(&step.seen)?,
            optional_json(step.context.as_ref())?,
            id(step.task.uuid()),
            number(step.at.turn.into()),
        ];
        self.gather(Into::Steps, Rule::Put, values).await
    }
}
