//! PostgreSQL, through the driver of sea-orm.

use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, Statement,
    TransactionTrait, Value,
};

use super::{Begin, DatabaseRow, Link, OpenTransaction};
use crate::error::Fault;

impl<C: ConnectionTrait + Send> Link for C {
    fn is_postgres(&self) -> bool {
        true
    }

    async fn rows(&self, sql: &str, values: Vec<Value>) -> Result<Vec<DatabaseRow>, Fault> {
        let statement = Statement::from_sql_and_values(DbBackend::Postgres, sql, values);
        let rows = self.query_all_raw(statement).await?;
        Ok(rows.into_iter().map(DatabaseRow::Postgres).collect())
    }

    async fn execute(&self, sql: &str, values: Vec<Value>) -> Result<u64, Fault> {
        let statement = Statement::from_sql_and_values(DbBackend::Postgres, sql, values);
        Ok(self.execute_raw(statement).await?.rows_affected())
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "lanes of the store begin transactions here"
)]
impl Begin for DatabaseConnection {
    type Transaction = DatabaseTransaction;

    async fn gather(&self, _: impl Fn() -> bool + Send) {
        // Each statement is a journey, on which others arrive.
    }

    async fn begin(&self) -> Result<DatabaseTransaction, Fault> {
        Ok(TransactionTrait::begin(self).await?)
    }
}

impl OpenTransaction for DatabaseTransaction {
    async fn commit(self) -> Result<(), Fault> {
        Ok(Self::commit(self).await?)
    }

    async fn rollback(self) -> Result<(), Fault> {
        Ok(Self::rollback(self).await?)
    }
}
