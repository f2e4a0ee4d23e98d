//! Budgets and the ledger. The ledger has neither update nor delete: the database refuses both.

use async_trait::async_trait;
use domain::Result;
use domain::ids::{JobId, LedgerEntryId, TaskId, WorkspaceId};
use domain::money::{LedgerEntry, LedgerKind, MoneyReads, MoneyWrites, WorkspaceBudget};
use domain::page::{Page, PageRequest};
use domain::time::Timestamp;

use super::{Row, Session, at, id, number, optional_number};
use crate::link::{DatabaseRow, Link};

fn entry(row: &DatabaseRow) -> Result<LedgerEntry> {
    let row = Row::of("ledger", row);
    Ok(LedgerEntry {
        id: LedgerEntryId::from_uuid(row.uuid("id")?),
        workspace: WorkspaceId::from_uuid(row.uuid("workspace_id")?),
        sequence: row.number("sequence")?,
        kind: row.named("kind", LedgerKind::from_name)?,
        amount: row.number("amount_micros")?,
        job: JobId::from_uuid(row.uuid("job_id")?),
        task: TaskId::from_uuid(row.uuid("task_id")?),
        at: row.time("at")?,
    })
}

#[async_trait]
impl<C: Link> MoneyReads for Session<C> {
    async fn budget(&self, workspace: WorkspaceId) -> Result<WorkspaceBudget> {
        let sql = "select * from budgets where workspace_id = $1";
        let Some(row) = self.row(sql, vec![id(workspace.uuid())]).await? else {
            return Ok(WorkspaceBudget::default());
        };
        let row = Row::of("budgets", &row);
        Ok(WorkspaceBudget {
            limit: row.optional_number("limit_micros")?,
            per_operation: row.number("per_operation_micros")?,
            daily: row.number("daily_micros")?,
            spent: row.number("spent_micros")?,
            reserved: row.number("reserved_micros")?,
            ledger_head: row.number("ledger_head")?,
        })
    }

    async fn list_ledger(
        &self,
        workspace: WorkspaceId,
        page: PageRequest<u64>,
    ) -> Result<Page<LedgerEntry>> {
        let sql = "select * from ledger where workspace_id = $1 and sequence > $2 order by sequence limit $3";
        let values = vec![
            id(workspace.uuid()),
            number(page.after.unwrap_or_default()),
            number(u64::from(page.first) + 1),
        ];
        let rows = self.rows(sql, values).await?;
        let rows = rows.iter().map(entry).collect::<Result<_>>()?;
        Ok(Page::from_overread(rows, page.first))
    }

    async fn bound_since(&self, workspace: WorkspaceId, since: Timestamp) -> Result<u64> {
        let sql = "select cast(coalesce(sum(case kind when 'RESERVE' then amount_micros when 'CHARGE' then 0 else -amount_micros end), 0) \
                   as bigint) as bound from ledger where workspace_id = $1 and at >= $2";
        let row = self.row(sql, vec![id(workspace.uuid()), at(since)]).await?;
        let bound: i64 = match &row {
            Some(row) => Row::of("ledger", row).get("bound")?,
            None => 0,
        };
        // What comes back today can have been bound before.
        Ok(u64::try_from(bound).unwrap_or_default())
    }
}

#[async_trait]
impl<C: Link> MoneyWrites for Session<C> {
    async fn put_budget(&self, workspace: WorkspaceId, budget: &WorkspaceBudget) -> Result<()> {
        let columns = "budgets (workspace_id, limit_micros, per_operation_micros, daily_micros, spent_micros, reserved_micros, ledger_head)";
        let values = vec![
            id(workspace.uuid()),
            optional_number(budget.limit),
            number(budget.per_operation),
            number(budget.daily),
            number(budget.spent),
            number(budget.reserved),
            number(budget.ledger_head),
        ];
        let conflict = "on conflict (workspace_id) do update set limit_micros = excluded.limit_micros, \
             per_operation_micros = excluded.per_operation_micros, daily_micros = excluded.daily_micros, \
             spent_micros = excluded.spent_micros, reserved_micros = excluded.reserved_micros, ledger_head = excluded.ledger_head";
        self.upsert(columns, 7, values, conflict).await
    }

    async fn append_ledger(&self, entries: &[LedgerEntry]) -> Result<()> {
        let mut values = Vec::with_capacity(entries.len() * 8);
        for entry in entries {
            values.extend([
                id(entry.workspace.uuid()),
                number(entry.sequence),
                id(entry.id.uuid()),
                entry.kind.name().into(),
                number(entry.amount),
                id(entry.job.uuid()),
                id(entry.task.uuid()),
                at(entry.at),
            ]);
        }
        let columns =
            "ledger (workspace_id, sequence, id, kind, amount_micros, job_id, task_id, at)";
        self.insert(columns, 8, values).await
    }
}
