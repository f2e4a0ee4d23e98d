//! Tables that only grow are kept by their key on SQLite: one tree for each in place of a tree of rows and a tree of keys that points
//! into it. A commit writes every page that it touches to the write-ahead log, and so each row of history cost two pages.
//!
//! Invariants
//! - Columns, keys, indexes and triggers stay as they were; `PostgreSQL` stores rows in its own way and changes nothing.
//!
//! Not here: tables that others refer to, which can not be replaced while foreign keys are looked after.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend, Statement};

/// Keeps the tables by their keys.
#[derive(Debug, DeriveMigrationName)]
pub(crate) struct Migration;

const TABLES: [&str; 5] = ["events", "changes", "node_versions", "revisions", "journal"];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        if manager.get_database_backend() != DbBackend::Sqlite {
            return Ok(());
        }
        for table in TABLES {
            keep_by_key(manager, table).await?;
        }
        Ok(())
    }

    fn use_transaction(&self) -> Option<bool> {
        // A process that dies halfway leaves the former tables.
        Some(true)
    }
}

async fn keep_by_key(manager: &SchemaManager<'_>, table: &str) -> Result<(), DbErr> {
    let connection = manager.get_connection();
    let definitions = definitions(manager, table).await?;
    let Some((definition, others)) = definitions.split_first() else {
        return Err(DbErr::Migration(format!("there is no table {table}")));
    };
    let Some((_, columns)) = definition.split_once('(') else {
        return Err(DbErr::Migration(format!("table {table} has no columns")));
    };
    for statement in [
        format!("create table {table}_by_key ({columns} without rowid"),
        format!("insert into {table}_by_key select * from {table}"),
        format!("drop table {table}"),
        format!("alter table {table}_by_key rename to {table}"),
    ] {
        connection.execute_unprepared(&statement).await?;
    }
    for statement in others {
        connection.execute_unprepared(statement).await?;
    }
    Ok(())
}

/// How a table was made, and after it each of its indexes and triggers.
async fn definitions(manager: &SchemaManager<'_>, table: &str) -> Result<Vec<String>, DbErr> {
    let sql = "select sql from sqlite_master where tbl_name = $1 and sql is not null order by type <> 'table', name";
    let statement = Statement::from_sql_and_values(DbBackend::Sqlite, sql, [table.into()]);
    let rows = manager.get_connection().query_all_raw(statement).await?;
    rows.iter().map(|row| row.try_get("", "sql")).collect()
}

#[cfg(test)]
mod tests {
    use sea_orm_migration::sea_orm::{ConnectOptions, Database, DatabaseConnection};

    use super::*;
    use crate::Migrator;

    const ROWS: [&str; 7] = [
        "insert into workspaces (id, name, created_at, event_sequence) values (x'01', 'w', 1, 1)",
        "insert into tasks (workspace_id, id, kind, status, title, goal, brief, language, created_by, autonomy, created_at, updated_at, journal_head, news_head, course, usage) \
         values (x'01', x'03', 'PERSISTENT', 'QUEUED', 't', 'g', '', 'en', x'04', 'CHECKPOINTS', 1, 1, 1, 0, '{}', '{}')",
        "insert into events (workspace_id, sequence, kind, actor, at, data, task_id) values (x'01', 1, 'TASK_CREATED', 'system', 7, '{}', x'03')",
        "insert into changes (workspace_id, work_id, version, actor, at, body, touched) values (x'01', x'02', 1, 'system', 7, x'00ff', '{}')",
        "insert into node_versions (workspace_id, work_id, path, version, actor) values (x'01', x'02', 'nodes/a', 7, 'system')",
        "insert into revisions (workspace_id, work_id, from_version, to_version, at, actor, touched) values (x'01', x'02', 1, 2, 7, 'system', '{}')",
        "insert into journal (workspace_id, task_id, sequence, kind, at, actor, text, data) values (x'01', x'03', 1, 'PROMPT', 7, 'system', 'words', '{}')",
    ];

    async fn text(connection: &DatabaseConnection, sql: &str) -> String {
        let statement = Statement::from_string(DbBackend::Sqlite, sql);
        let row = connection.query_one_raw(statement).await.expect("is read");
        row.expect("a row").try_get_by_index(0).expect("a text")
    }

    #[tokio::test]
    async fn an_older_database_keeps_its_history_its_indexes_and_its_guards() {
        let mut options = ConnectOptions::new("sqlite::memory:");
        options.max_connections(1);
        let connection = Database::connect(options).await.expect("opens");
        Migrator::up(&connection, Some(8))
            .await
            .expect("the former schema");
        for row in ROWS {
            connection.execute_unprepared(row).await.expect(row);
        }
        let others = "select group_concat(name) from (select name from sqlite_master where type in ('index', 'trigger') and sql is not null order by name)";
        let before = text(&connection, others).await;
        Migrator::up(&connection, None)
            .await
            .expect("the present schema");
        assert_eq!(text(&connection, others).await, before);
        for table in TABLES {
            let kept = format!("select sql from sqlite_master where name = '{table}'");
            assert!(
                text(&connection, &kept).await.ends_with("without rowid"),
                "{table}"
            );
        }
        let kept = "select (select kind || at || hex(task_id) from events) || (select hex(body) || at from changes) || \
                    (select path || version from node_versions) || (select to_version || touched from revisions) || \
                    (select text || kind from journal)";
        assert_eq!(
            text(&connection, kept).await,
            "TASK_CREATED70300FF7nodes/a72{}wordsPROMPT"
        );
        for act in ["update journal set text = ''", "delete from changes"] {
            let refused = connection.execute_unprepared(act).await.expect_err(act);
            assert!(
                refused.to_string().contains("only ever appended"),
                "{refused}"
            );
        }
    }
}
