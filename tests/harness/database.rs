//! Databases: one for each installation.
//!
//! Invariants
//! - A PostgreSQL database is made for one test and dropped when it has passed.

use sea_orm::{ConnectionTrait as _, Database as Connector};

/// Names the PostgreSQL server in which databases for tests are made.
pub(crate) const POSTGRES: &str = "ATELIER_TEST_POSTGRES_URL";

/// Where an installation keeps what is true.
#[derive(Debug, Clone)]
pub(crate) enum Database {
    /// A file in the data folder.
    Sqlite,
    /// A database of its own in the server for tests.
    Postgres {
        /// The server, with its default database.
        server: String,
        /// The database's name.
        name: String,
    },
}

impl Database {
    /// Makes a fresh PostgreSQL database; none, with a printed notice, where no server is named.
    pub(crate) async fn postgres() -> Option<Self> {
        let Ok(server) = std::env::var(POSTGRES) else {
            eprintln!("left out: {POSTGRES} names no PostgreSQL");
            return None;
        };
        Some(Self::made_in(server).await)
    }

    /// Makes a fresh database in a PostgreSQL server.
    pub(crate) async fn made_in(server: String) -> Self {
        let name = format!("atelier_{}", uuid::Uuid::new_v4().simple());
        run(&server, &format!("create database {name}")).await;
        Self::Postgres { server, name }
    }

    /// What `ATELIER_DATABASE_URL` has to say; none for the default.
    pub(crate) fn url(&self) -> Option<String> {
        match self {
            Self::Sqlite => None,
            Self::Postgres { server, name } => {
                let (base, options) = server.split_once('?').unwrap_or((server, ""));
                let (base, _) = base.rsplit_once('/').expect("a URL with a database");
                let mark = if options.is_empty() { "" } else { "?" };
                Some(format!("{base}/{name}{mark}{options}"))
            }
        }
    }

    /// Drops it; nothing is connected any more.
    pub(crate) async fn remove(&self) {
        if let Self::Postgres { server, name } = self {
            run(server, &format!("drop database {name} with (force)")).await;
        }
    }
}

async fn run(server: &str, statement: &str) {
    let connection = Connector::connect(server).await;
    let connection = connection.expect("the PostgreSQL for tests answers");
    let done = connection.execute_unprepared(statement).await;
    done.expect("databases can be made and dropped");
    connection.close().await.expect("closes");
}
