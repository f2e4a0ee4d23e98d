//! The shape of a fresh schema.

use sea_orm::{ConnectionTrait, Database, Statement};

use crate::databases::{TestDatabase, on_both_databases};

on_both_databases!(
    each_table_of_a_workspace_has_the_workspace_first_in_its_key,
    opening_again_finds_nothing_to_migrate,
);

/// Tables whose rows belong to no workspace.
const OF_THE_INSTALLATION: [&str; 6] = [
    "idempotency",
    "installation",
    "seaql_migrations",
    "tokens",
    "users",
    "workspaces",
];

const SQLITE: &str = "select m.name as name, i.name as first from sqlite_master m, pragma_table_info(m.name) i \
                      where m.type = 'table' and m.name not like 'sqlite_%' and i.pk = 1";
const POSTGRES: &str = "select c.relname::text as name, a.attname::text as first from pg_index i \
                        join pg_class c on c.oid = i.indrelid join pg_namespace n on n.oid = c.relnamespace \
                        join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0] \
                        where i.indisprimary and n.nspname = 'public'";

async fn each_table_of_a_workspace_has_the_workspace_first_in_its_key(database: TestDatabase) {
    let storage = database.open().await;
    let connection = Database::connect(&database.url).await.expect("connects");
    let sql = if database.is_postgres() {
        POSTGRES
    } else {
        SQLITE
    };
    let statement = Statement::from_string(connection.get_database_backend(), sql);
    let rows = connection.query_all_raw(statement).await.expect("reads");
    let mut tables = Vec::new();
    for row in rows {
        let name: String = row.try_get("", "name").expect("a name");
        let first: String = row.try_get("", "first").expect("a column");
        if !OF_THE_INSTALLATION.contains(&name.as_str()) {
            assert_eq!(first, "workspace_id", "the key of table {name}");
            tables.push(name);
        }
    }
    tables.sort();
    let expected = [
        "budgets",
        "calls",
        "cards",
        "change_notices",
        "changes",
        "context_segments",
        "derivations",
        "embedding_marks",
        "embeddings",
        "events",
        "evidence",
        "extractions",
        "files",
        "forgotten_messages",
        "job_notices",
        "jobs",
        "journal",
        "ledger",
        "left_out",
        "line_exchanges",
        "lines",
        "members",
        "memories",
        "memory_rejections",
        "memory_versions",
        "messages",
        "node_versions",
        "profiles",
        "projections",
        "quarantine",
        "results",
        "revisions",
        "snapshots",
        "steps",
        "task_works",
        "tasks",
        "tombstones",
        "turns",
        "uploads",
        "works",
    ];
    assert_eq!(tables, expected);
    connection.close().await.expect("closes");
    storage.close().await;
}

async fn opening_again_finds_nothing_to_migrate(database: TestDatabase) {
    for _ in 0..2 {
        let storage = database.open().await;
        storage.ready().await.expect("ready");
        storage.close().await;
    }
}
