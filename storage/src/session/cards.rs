//! Cards.

use async_trait::async_trait;
use domain::Result;
use domain::card::{Card, CardKind, CardOrigin, CardReads, CardState, CardWrites};
use domain::ids::{CardId, JobId, MessageId, TaskId, WorkspaceId};

use super::tasks::task_ids;
use super::{
    Row, Session, at, id, json, optional_id, optional_json, optional_number, placeholders,
};
use crate::link::{DatabaseRow, Link};

/// Cards that wait for a person; the words are those of an index.
const IS_OPEN: &str = "state = 'OPEN'";

fn card(row: &DatabaseRow) -> Result<Card> {
    let row = Row::of("cards", row);
    Ok(Card {
        id: CardId::from_uuid(row.uuid("id")?),
        workspace: WorkspaceId::from_uuid(row.uuid("workspace_id")?),
        kind: row.named("kind", CardKind::from_name)?,
        task: row.optional_uuid("task_id")?.map(TaskId::from_uuid),
        message: row.optional_uuid("message_id")?.map(MessageId::from_uuid),
        call: row.get("call_id")?,
        item: row.get("item")?,
        prompt: row.get("prompt")?,
        options: row.json("options")?,
        recommended: row.get("recommended")?,
        works: row.json("works")?,
        cost: row.optional_number("cost_micros")?,
        job: row.optional_uuid("job_id")?.map(JobId::from_uuid),
        raised_by: row.named("raised_by", CardOrigin::from_name)?,
        state: row.named("state", CardState::from_name)?,
        answer: row.optional_json("answer")?,
        created_at: row.time("created_at")?,
    })
}

#[async_trait]
impl<C: Link> CardReads for Session<C> {
    async fn list_cards_by_id(&self, ids: &[CardId]) -> Result<Vec<Card>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select * from cards where id in ({})",
            placeholders(1, ids.len())
        );
        let values = ids.iter().map(|card| id(card.uuid())).collect();
        let rows = self.rows(&sql, values).await?;
        rows.iter().map(card).collect()
    }

    async fn list_cards(&self, tasks: &[TaskId], is_open: Option<bool>) -> Result<Vec<Card>> {
        if tasks.is_empty() {
            return Ok(Vec::new());
        }
        let chosen = match is_open {
            Some(true) => format!(" and c.{IS_OPEN}"),
            Some(false) => format!(" and not c.{IS_OPEN}"),
            None => String::new(),
        };
        let sql = format!(
            "select c.* from tasks t join cards c on c.workspace_id = t.workspace_id and c.task_id = t.id \
             where t.id in ({}){chosen} order by c.created_at, c.id",
            placeholders(1, tasks.len())
        );
        let rows = self.rows(&sql, task_ids(tasks)).await?;
        rows.iter().map(card).collect()
    }

    async fn list_open_cards_about(
        &self,
        workspace: WorkspaceId,
        message: MessageId,
    ) -> Result<Vec<Card>> {
        let sql = format!(
            "select * from cards where workspace_id = $1 and {IS_OPEN} and message_id = $2 order by created_at, id"
        );
        let values = vec![id(workspace.uuid()), id(message.uuid())];
        let rows = self.rows(&sql, values).await?;
        rows.iter().map(card).collect()
    }

    async fn list_open_cards(&self, workspace: WorkspaceId) -> Result<Vec<Card>> {
        let sql = format!(
            "select * from cards where workspace_id = $1 and {IS_OPEN} order by created_at, id limit 100"
        );
        let rows = self.rows(&sql, vec![id(workspace.uuid())]).await?;
        rows.iter().map(card).collect()
    }
}

#[async_trait]
impl<C: Link> CardWrites for Session<C> {
    async fn insert_card(&self, card: &Card) -> Result<()> {
        let columns = "cards (workspace_id, id, kind, task_id, message_id, call_id, item, prompt, options, recommended, works, \
                       raised_by, state, answer, created_at, cost_micros, job_id)";
        let values = vec![
            id(card.workspace.uuid()),
            id(card.id.uuid()),
            card.kind.name().into(),
            optional_id(card.task.map(TaskId::uuid)),
            optional_id(card.message.map(MessageId::uuid)),
            card.call.clone().into(),
            card.item.clone().into(),
            card.prompt.as_str().into(),
            json(&card.options)?,
            card.recommended.clone().into(),
            json(&card.works)?,
            card.raised_by.name().into(),
            card.state.name().into(),
            optional_json(card.answer.as_ref())?,
            at(card.created_at),
            optional_number(card.cost),
            optional_id(card.job.map(JobId::uuid)),
        ];
        self.upsert(columns, 17, values, "on conflict do nothing")
            .await
    }

    async fn close_card(&self, card: &Card) -> Result<bool> {
        let sql = format!(
            "update cards set state = $3, answer = $4 where workspace_id = $1 and id = $2 and {IS_OPEN}"
        );
        let values = vec![
            id(card.workspace.uuid()),
            id(card.id.uuid()),
            card.state.name().into(),
            optional_json(card.answer.as_ref())?,
        ];
        Ok(self.execute(&sql, values).await? == 1)
    }
}
