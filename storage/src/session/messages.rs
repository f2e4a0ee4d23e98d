//! Messages, and the inboxes of tasks.
//!
//! Invariants
//! - What a step takes, consumes and gives back is told by the step that stands in the row, never by times.

use async_trait::async_trait;
use domain::Result;
use domain::ids::{CardId, MessageId, TaskId, UserId, WorkspaceId};
use domain::message::{Message, MessagePosition, MessageReads, MessageState, MessageWrites};
use domain::page::{End, Page, Window};
use domain::turn::StepRef;
use sea_orm::Value;

use super::each::{Each, OF_TASK, at_end};
use super::gathered::{Into, Rule};
use super::tasks::{task_ids, task_keys};
use super::window::List;
use super::{
    Row, Session, among, at, id, json, number, optional_id, optional_json, placeholders, step_key,
};
use crate::link::{DatabaseRow, Link};

/// What no decision has read yet; the words are those of an index.
pub(super) const IN_INBOX: &str = "state in ('DELIVERED', 'RECEIVED', 'ROUTING')";
/// What people wrote; what the agent writes stands in the same table.
const BY_PEOPLE: &str = "author like 'person:%'";
/// The order of every list of messages.
const KEY: &[&str] = &["created_at", "id"];

pub(super) fn message(row: &DatabaseRow) -> Result<Message> {
    let row = Row::of("messages", row);
    Ok(Message {
        id: MessageId::from_uuid(row.uuid("id")?),
        workspace: WorkspaceId::from_uuid(row.uuid("workspace_id")?),
        main_of: row.optional_uuid("main_of")?.map(UserId::from_uuid),
        task: row.optional_uuid("task_id")?.map(TaskId::from_uuid),
        author: row.parsed("author")?,
        text: row.get("text")?,
        language: row.get("language")?,
        created_at: row.time("created_at")?,
        state: row.named("state", MessageState::from_name)?,
        taken_by: row.step("taken_turn", "taken_step")?,
        replaced_by: row.optional_uuid("replaced_by")?.map(MessageId::from_uuid),
        reply_to: row.optional_uuid("reply_to")?.map(CardId::from_uuid),
        attachments: row.json("attachments")?,
        by_program: row.get("by_program")?,
        routing: row.optional_json("routing")?,
    })
}

fn position(position: MessagePosition) -> Vec<Value> {
    vec![at(position.at), id(position.id)]
}

/// Workspace, id, and then everything that can change: state, task, who took it, what replaced it, routing.
fn changing_values(message: &Message) -> Result<Vec<Value>> {
    let taken = message.taken_by;
    Ok(vec![
        id(message.workspace.uuid()),
        id(message.id.uuid()),
        message.state.name().into(),
        optional_id(message.task.map(TaskId::uuid)),
        taken.map(|step| i64::from(step.turn)).into(),
        taken.map(|step| i64::from(step.step)).into(),
        optional_id(message.replaced_by.map(MessageId::uuid)),
        optional_json(message.routing.as_ref())?,
    ])
}

/// Workspace, task and step, for what one step does to its task's inbox.
fn step_values(workspace: WorkspaceId, task: TaskId, step: StepRef) -> Vec<Value> {
    vec![
        id(workspace.uuid()),
        id(task.uuid()),
        number(step.turn.into()),
        number(step.step.into()),
    ]
}

#[async_trait]
impl<C: Link> MessageReads for Session<C> {
    async fn list_messages_by_id(&self, ids: &[MessageId]) -> Result<Vec<Message>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select * from messages where id in ({})",
            placeholders(1, ids.len())
        );
        let values = ids.iter().map(|message| id(message.uuid())).collect();
        let rows = self.rows(&sql, values).await?;
        rows.iter().map(message).collect()
    }

    async fn list_main_thread(
        &self,
        workspace: WorkspaceId,
        user: UserId,
        window: Window<MessagePosition>,
    ) -> Result<Page<Message>> {
        let list = List {
            sql: "select * from messages where workspace_id = $1 and main_of = $2",
            values: vec![id(workspace.uuid()), id(user.uuid())],
            key: KEY,
        };
        self.window(list, window, position, message).await
    }

    async fn list_thread(
        &self,
        task: TaskId,
        window: Window<MessagePosition>,
    ) -> Result<Page<Message>> {
        let list = List {
            sql: "select * from messages where workspace_id = (select workspace_id from tasks where id = $1) and task_id = $1",
            values: vec![id(task.uuid())],
            key: KEY,
        };
        self.window(list, window, position, message).await
    }

    async fn list_threads(&self, tasks: &[TaskId], limit: u32, end: End) -> Result<Vec<Message>> {
        let each = Each {
            sql: format!(
                "select * from messages where {OF_TASK} {}",
                at_end(KEY, end, 1)
            ),
            shared: vec![number(limit.into())],
            order: "task_id, created_at, id",
        };
        self.each(each, &task_keys(tasks), message).await
    }

    async fn list_consumed(&self, steps: &[(TaskId, StepRef)]) -> Result<Vec<Message>> {
        let each = Each {
            sql: format!(
                "select * from messages where {OF_TASK} and taken_turn = #2 and taken_step = #3 and state = 'CONSUMED'"
            ),
            shared: Vec::new(),
            order: "task_id, taken_turn, taken_step, created_at, id",
        };
        let keys: Vec<_> = steps.iter().map(step_key).collect();
        self.each(each, &keys, message).await
    }

    async fn is_consumed_after(&self, task: TaskId, step: StepRef) -> Result<bool> {
        let sql = "select 1 from messages where workspace_id = (select workspace_id from tasks where id = $1) and task_id = $1 \
                   and state = 'CONSUMED' and (taken_turn, taken_step) > ($2, $3) limit 1";
        let values = vec![
            id(task.uuid()),
            number(step.turn.into()),
            number(step.step.into()),
        ];
        Ok(self.row(sql, values).await?.is_some())
    }

    async fn list_inbox(&self, tasks: &[TaskId], states: &[MessageState]) -> Result<Vec<Message>> {
        if tasks.is_empty() {
            return Ok(Vec::new());
        }
        let mut values = task_ids(tasks);
        let chosen = if states.is_empty() {
            " and m.state = 'DELIVERED'".to_owned()
        } else {
            among(
                "m.state",
                states.iter().map(|state| state.name()),
                &mut values,
            )
        };
        let sql = format!(
            "select m.* from tasks t join messages m on m.workspace_id = t.workspace_id and m.task_id = t.id \
             where t.id in ({}) and m.{BY_PEOPLE}{chosen} order by m.created_at, m.id",
            placeholders(1, tasks.len())
        );
        let rows = self.rows(&sql, values).await?;
        rows.iter().map(message).collect()
    }
}

#[async_trait]
impl<C: Link> MessageWrites for Session<C> {
    async fn insert_message(&self, message: &Message) -> Result<()> {
        let mut values = changing_values(message)?;
        values.extend([
            optional_id(message.main_of.map(UserId::uuid)),
            message.author.to_string().into(),
            message.text.as_str().into(),
            message.language.clone().into(),
            at(message.created_at),
            optional_id(message.reply_to.map(CardId::uuid)),
            json(&message.attachments)?,
            message.by_program.into(),
        ]);
        self.gather(Into::Messages, Rule::Insert, values).await
    }

    async fn update_message(&self, message: &Message) -> Result<()> {
        let sql = "update messages set state = $3, task_id = $4, taken_turn = $5, taken_step = $6, replaced_by = $7, routing = $8 \
                   where workspace_id = $1 and id = $2";
        self.execute(sql, changing_values(message)?).await.map(drop)
    }

    async fn take_inbox(
        &self,
        workspace: WorkspaceId,
        task: TaskId,
        step: StepRef,
        most: Option<u32>,
    ) -> Result<Vec<Message>> {
        let mut values = step_values(workspace, task, step);
        let waiting = format!(
            "workspace_id = $1 and task_id = $2 and {IN_INBOX} and {BY_PEOPLE} \
             and (taken_turn is null or (taken_turn = $3 and taken_step = $4))"
        );
        let chosen = match most {
            None => waiting,
            Some(most) => {
                values.push(number(most.into()));
                // What the same step took before comes first: it must not take others instead.
                format!(
                    "workspace_id = $1 and id in (select id from messages where {waiting} \
                     order by case when taken_turn is null then 1 else 0 end, created_at, id limit $5)"
                )
            }
        };
        let sql = format!(
            "update messages set taken_turn = $3, taken_step = $4, \
             state = case when state = 'RECEIVED' then 'ROUTING' else state end where {chosen} returning *"
        );
        let rows = self.rows_written(&sql, values).await?;
        let mut taken: Vec<_> = rows.iter().map(message).collect::<Result<_>>()?;
        taken.sort_by_key(|message| (message.created_at, message.id));
        Ok(taken)
    }

    async fn consume_inbox(
        &self,
        workspace: WorkspaceId,
        task: TaskId,
        step: StepRef,
    ) -> Result<Vec<MessageId>> {
        let sql = format!(
            "update messages set state = 'CONSUMED' where workspace_id = $1 and task_id = $2 and {IN_INBOX} \
             and taken_turn = $3 and taken_step = $4 returning *"
        );
        let values = step_values(workspace, task, step);
        let rows = self.rows_written(&sql, values).await?;
        let mut consumed: Vec<_> = rows.iter().map(message).collect::<Result<_>>()?;
        consumed.sort_by_key(|message| (message.created_at, message.id));
        Ok(consumed.iter().map(|message| message.id).collect())
    }

    async fn release_inbox(
        &self,
        workspace: WorkspaceId,
        task: TaskId,
        step: StepRef,
    ) -> Result<()> {
        let sql = format!(
            "update messages set taken_turn = null, taken_step = null, \
             state = case when state = 'ROUTING' then 'RECEIVED' else state end where workspace_id = $1 and task_id = $2 and {IN_INBOX} \
             and taken_turn = $3 and taken_step = $4"
        );
        self.execute(&sql, step_values(workspace, task, step))
            .await
            .map(drop)
    }

    async fn count_unread(&self, workspace: WorkspaceId, task: TaskId) -> Result<u64> {
        let sql = format!(
            "select count(*) as n from messages where workspace_id = $1 and task_id = $2 and {IN_INBOX} and {BY_PEOPLE} \
             and taken_turn is null"
        );
        self.count(&sql, vec![id(workspace.uuid()), id(task.uuid())])
            .await
    }
}
