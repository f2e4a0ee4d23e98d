//! Tools over real storage and documents: each call goes its whole way, from a stored decision to a stored result.

mod asking;
mod conflicts;
mod delegating;
mod deleting;
mod house;
mod people;
mod planning;
mod reading;
mod remembering;
mod seeing;
mod undoing;
mod writing;

use house::House;

/// Makes of each `async fn name(house: House)` a test on `SQLite` and one on `PostgreSQL`.
macro_rules! on_both_databases {
    ($($name:ident),* $(,)?) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                crate::tools::tests::house::on_sqlite(super::$name).await;
            })*
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                crate::tools::tests::house::on_postgres(super::$name).await;
            })*
        }
    };
}
use on_both_databases;
