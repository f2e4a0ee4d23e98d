//! Tasks: what people write, what is to be done, who does it, and what came of it.
//!
//! Invariants
//! - Journals, changes and exchanges of lines are only ever appended: below the API too, for whoever writes SQL by hand.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

use crate::execute_all;

/// Tables of tasks.
#[derive(Debug, DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        execute_all(manager, &TABLES).await?;
        execute_all(manager, &EVENTS).await?;
        for table in APPENDED {
            refuse_rewriting(manager, table).await?;
        }
        Ok(())
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

/// Tables whose rows neither change nor go.
const APPENDED: [&str; 3] = ["changes", "journal", "line_exchanges"];

/// What PostgreSQL's triggers call.
const REFUSAL: &str = "create or replace function refuse_rewriting() returns trigger language plpgsql as \
     $$ begin raise exception 'rows of % are only ever appended', tg_table_name; end $$";

/// Lets the database itself refuse to change or delete rows of a table.
pub(crate) async fn refuse_rewriting(
    manager: &SchemaManager<'_>,
    table: &str,
) -> Result<(), DbErr> {
    if manager.get_database_backend() == DbBackend::Postgres {
        let rows = format!(
            "create trigger {table}_keep_rows before update or delete on {table} for each row execute function refuse_rewriting()"
        );
        let whole = format!(
            "create trigger {table}_keep_all before truncate on {table} for each statement execute function refuse_rewriting()"
        );
        return execute_all(manager, &[REFUSAL, &rows, &whole]).await;
    }
    for act in ["update", "delete"] {
        let trigger = format!(
            "create trigger {table}_refuse_{act} before {act} on {table} \
             begin select raise(abort, 'rows of {table} are only ever appended'); end"
        );
        manager
            .get_connection()
            .execute_unprepared(&trigger)
            .await?;
    }
    Ok(())
}

const EVENTS: [&str; 4] = [
    "alter table events add column task_id BYTES",
    "alter table events add column message_id BYTES",
    "alter table events add column card_id BYTES",
    "create index events_by_task on events (workspace_id, task_id, sequence) where task_id is not null",
];

const TABLES: [&str; 26] = [
    "create table messages (workspace_id BYTES not null references workspaces (id), id BYTES not null unique, main_of BYTES, \
     task_id BYTES, author text not null, text text not null, language text, created_at bigint not null, state text not null, \
     taken_turn bigint, taken_step bigint, replaced_by BYTES, reply_to BYTES, attachments text not null, routing text, \
     primary key (workspace_id, id))",
    "create index messages_by_main on messages (workspace_id, main_of, created_at, id) where main_of is not null",
    "create index messages_by_task on messages (workspace_id, task_id, created_at, id) where task_id is not null",
    "create index messages_in_inbox on messages (workspace_id, task_id) where state = 'DELIVERED'",
    "create index messages_by_step on messages (workspace_id, task_id, taken_turn, taken_step) where taken_turn is not null",
    "create table tasks (workspace_id BYTES not null references workspaces (id), id BYTES not null unique, kind text not null, \
     status text not null, status_reason text, title text not null, goal text not null, brief text not null, \
     language text not null, created_by BYTES not null, origin BYTES, autonomy text not null, budget_micros bigint, \
     created_at bigint not null, updated_at bigint not null, journal_head bigint not null, news_head bigint not null, \
     active_turn BYTES, course text not null, usage text not null, primary key (workspace_id, id))",
    "create index tasks_by_age on tasks (workspace_id, created_at, id)",
    "create table projections (workspace_id BYTES not null, task_id BYTES not null, summary text not null, \
     short_line text not null, checklist text not null, rewritten_at bigint, journal_sequence bigint not null, \
     primary key (workspace_id, task_id), foreign key (workspace_id, task_id) references tasks (workspace_id, id))",
    // A turn and linked works of a new task are written before the task itself, in the same transaction.
    "create table task_works (workspace_id BYTES not null, task_id BYTES not null, work_id BYTES not null, place bigint not null, \
     seen_version bigint not null, last_read_at bigint, last_written_at bigint, primary key (workspace_id, task_id, work_id))",
    "create index task_works_by_work on task_works (workspace_id, work_id)",
    "create table change_notices (workspace_id BYTES not null, task_id BYTES not null, work_id BYTES not null, \
     from_version bigint not null, to_version bigint not null, touched text not null, changed_by text not null, \
     created_at bigint not null, primary key (workspace_id, task_id, work_id))",
    "create table turns (workspace_id BYTES not null references workspaces (id), id BYTES not null unique, task_id BYTES not null, \
     number bigint not null, state text not null, epoch bigint not null, lease_owner text, lease_expires_at bigint, \
     queued_at bigint not null, not_before bigint, started_at bigint, ended_at bigint, settled_steps bigint not null, \
     moved_at bigint not null, idle_claims bigint not null, has_progress boolean not null, \
     primary key (workspace_id, id), unique (workspace_id, task_id, number))",
    "create index turns_under_way on turns (workspace_id, queued_at, id) where state in ('QUEUED', 'RUNNING', 'SUSPENDED')",
    "create table steps (workspace_id BYTES not null, turn_id BYTES not null, number bigint not null, task_id BYTES not null, \
     turn_number bigint not null, state text not null, epoch bigint not null, opened_at bigint not null, decided_at bigint, \
     rationale text not null, seen text not null, context text, primary key (workspace_id, turn_id, number), \
     foreign key (workspace_id, turn_id) references turns (workspace_id, id))",
    "create table calls (workspace_id BYTES not null, turn_id BYTES not null, step_number bigint not null, call_index bigint not null, \
     task_id BYTES not null, tool text not null, risk text not null, idempotent boolean not null, arguments text not null, \
     equal_key BYTES not null, state text not null, attempts bigint not null, epoch bigint not null, result text, error text, \
     started_at bigint, ended_at bigint, primary key (workspace_id, turn_id, step_number, call_index), \
     foreign key (workspace_id, turn_id, step_number) references steps (workspace_id, turn_id, number))",
    "create index calls_by_key on calls (workspace_id, task_id, equal_key)",
    "create table results (workspace_id BYTES not null, turn_id BYTES not null, step_number bigint not null, \
     call_index bigint not null, body text not null, primary key (workspace_id, turn_id, step_number, call_index), \
     foreign key (workspace_id, turn_id, step_number, call_index) \
     references calls (workspace_id, turn_id, step_number, call_index))",
    "create table journal (workspace_id BYTES not null, task_id BYTES not null, sequence bigint not null, kind text not null, \
     at bigint not null, actor text not null, turn_number bigint, step_number bigint, text text not null, data text not null, \
     primary key (workspace_id, task_id, sequence), foreign key (workspace_id, task_id) references tasks (workspace_id, id))",
    "create index journal_prompts on journal (workspace_id, task_id, turn_number, step_number) where kind = 'PROMPT'",
    "create table lines (workspace_id BYTES not null, id BYTES not null unique, task_id BYTES not null, executor text not null, \
     purpose text not null, opened_at bigint not null, primary key (workspace_id, id), \
     foreign key (workspace_id, task_id) references tasks (workspace_id, id))",
    "create index lines_by_task on lines (workspace_id, task_id, opened_at, id)",
    "create table line_exchanges (workspace_id BYTES not null, line_id BYTES not null, number bigint not null, \
     prompt text not null, answer text not null, at bigint not null, turn_number bigint not null, step_number bigint not null, \
     primary key (workspace_id, line_id, number), foreign key (workspace_id, line_id) references lines (workspace_id, id))",
    "create table context_segments (workspace_id BYTES not null, task_id BYTES not null, number bigint not null, \
     from_sequence bigint not null, to_sequence bigint not null, summary text not null, tokens bigint not null, \
     primary key (workspace_id, task_id, number), foreign key (workspace_id, task_id) references tasks (workspace_id, id))",
    "create table cards (workspace_id BYTES not null references workspaces (id), id BYTES not null unique, kind text not null, \
     task_id BYTES, message_id BYTES, call_id text, item text, prompt text not null, options text not null, recommended text, \
     works text not null, raised_by text not null, state text not null, answer text, created_at bigint not null, \
     primary key (workspace_id, id))",
    "create index cards_by_task on cards (workspace_id, task_id, created_at, id) where task_id is not null",
    "create index cards_open on cards (workspace_id, created_at, id) where state = 'OPEN'",
];
