//! Tokens.

use domain::Result;
use domain::ids::{TokenId, UserId};
use domain::people::{ApiToken, TokenKind};
use sea_orm::Value;

use super::{Row, Session, at, id};
use crate::link::{DatabaseRow, Link};

fn token(row: &DatabaseRow) -> Result<ApiToken> {
    let row = Row::of("tokens", row);
    Ok(ApiToken {
        id: TokenId::from_uuid(row.uuid("id")?),
        user: UserId::from_uuid(row.uuid("user_id")?),
        label: row.get("label")?,
        kind: row.named("kind", TokenKind::from_name)?,
        secret_hash: row.hash("secret_hash")?,
        created_at: row.time("created_at")?,
        last_used_at: row.optional_time("last_used_at")?,
        expires_at: row.optional_time("expires_at")?,
    })
}

impl<C: Link> Session<C> {
    /// Tokens that a filter picks; the filter is a constant of this crate.
    pub(super) async fn tokens(&self, filter: &str, values: Vec<Value>) -> Result<Vec<ApiToken>> {
        let rows = self
            .rows(&format!("select * from tokens where {filter}"), values)
            .await?;
        rows.iter().map(token).collect()
    }

    pub(super) async fn insert_token_row(&self, token: &ApiToken) -> Result<()> {
        let columns = "tokens (id, user_id, label, kind, hash_prefix, secret_hash, created_at, last_used_at, expires_at)";
        let values = vec![
            id(token.id.uuid()),
            id(token.user.uuid()),
            token.label.as_str().into(),
            token.kind.name().into(),
            token.secret_hash[..8].to_vec().into(),
            token.secret_hash.to_vec().into(),
            at(token.created_at),
            token
                .last_used_at
                .map(domain::time::Timestamp::micros)
                .into(),
            token.expires_at.map(domain::time::Timestamp::micros).into(),
        ];
        self.insert(columns, 9, values).await
    }
}
