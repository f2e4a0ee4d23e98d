//! Users, workspaces and members.

use async_trait::async_trait;
use domain::Result;
use domain::ids::{TokenId, UserId, WorkspaceId};
use domain::page::{Page, PageRequest};
use domain::people::{
    ApiToken, CreatedPosition, Member, PeopleReads, PeopleWrites, Role, User, Workspace,
};
use domain::time::Timestamp;
use sea_orm::Value;

use super::{Row, Session, at, id, number, placeholders};
use crate::link::{DatabaseRow, Link};

fn user(row: &DatabaseRow) -> Result<User> {
    let row = Row::of("users", row);
    Ok(User {
        id: UserId::from_uuid(row.uuid("id")?),
        name: row.get("name")?,
        email: row.get("email")?,
        created_in: row.optional_uuid("created_in")?.map(WorkspaceId::from_uuid),
        created_at: row.time("created_at")?,
    })
}

fn workspace(row: &DatabaseRow) -> Result<Workspace> {
    let row = Row::of("workspaces", row);
    Ok(Workspace {
        id: WorkspaceId::from_uuid(row.uuid("id")?),
        name: row.get("name")?,
        created_at: row.time("created_at")?,
    })
}

fn member(row: &DatabaseRow) -> Result<Member> {
    let row = Row::of("members", row);
    Ok(Member {
        workspace: WorkspaceId::from_uuid(row.uuid("workspace_id")?),
        user: UserId::from_uuid(row.uuid("user_id")?),
        role: row.named("role", Role::from_name)?,
        joined_at: row.time("joined_at")?,
    })
}

#[async_trait]
impl<C: Link> PeopleReads for Session<C> {
    async fn is_empty_installation(&self) -> Result<bool> {
        Ok(self
            .row("select 1 from users limit 1", vec![])
            .await?
            .is_none())
    }

    async fn list_users(&self, ids: &[UserId]) -> Result<Vec<User>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select * from users where id in ({})",
            placeholders(1, ids.len())
        );
        let rows = self
            .rows(&sql, ids.iter().map(|user| id(user.uuid())).collect())
            .await?;
        rows.iter().map(user).collect()
    }

    async fn find_user_by_email(&self, email: &str) -> Result<Option<User>> {
        let row = self
            .row("select * from users where email = $1", vec![email.into()])
            .await?;
        row.as_ref().map(user).transpose()
    }

    async fn has_token(&self, user: UserId) -> Result<bool> {
        Ok(self
            .row(
                "select 1 from tokens where user_id = $1 limit 1",
                vec![id(user.uuid())],
            )
            .await?
            .is_some())
    }

    async fn list_tokens_by_hash_prefix(&self, prefix: [u8; 8]) -> Result<Vec<ApiToken>> {
        self.tokens("hash_prefix = $1", vec![prefix.to_vec().into()])
            .await
    }

    async fn list_tokens(&self, user: UserId) -> Result<Vec<ApiToken>> {
        self.tokens(
            "user_id = $1 order by created_at, id",
            vec![id(user.uuid())],
        )
        .await
    }

    async fn list_tokens_by_id(&self, ids: &[TokenId]) -> Result<Vec<ApiToken>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let filter = format!("id in ({})", placeholders(1, ids.len()));
        self.tokens(&filter, ids.iter().map(|token| id(token.uuid())).collect())
            .await
    }

    async fn list_workspaces(&self, ids: &[WorkspaceId]) -> Result<Vec<Workspace>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select * from workspaces where id in ({})",
            placeholders(1, ids.len())
        );
        let rows = self
            .rows(
                &sql,
                ids.iter().map(|workspace| id(workspace.uuid())).collect(),
            )
            .await?;
        rows.iter().map(workspace).collect()
    }

    async fn list_workspaces_of(
        &self,
        user: UserId,
        page: PageRequest<CreatedPosition>,
    ) -> Result<Page<Workspace>> {
        let mut sql = "select w.* from workspaces w join members m on m.workspace_id = w.id where m.user_id = $1".to_owned();
        let mut values = vec![id(user.uuid()), number(u64::from(page.first) + 1)];
        if let Some(after) = page.after {
            sql.push_str(" and (w.created_at < $3 or (w.created_at = $3 and w.id < $4))");
            values.extend([at(after.at), id(after.id)]);
        }
        sql.push_str(" order by w.created_at desc, w.id desc limit $2");
        let rows = self.rows(&sql, values).await?;
        Ok(Page::from_overread(
            rows.iter().map(workspace).collect::<Result<_>>()?,
            page.first,
        ))
    }

    async fn count_workspaces_of(&self, user: UserId) -> Result<u64> {
        self.count(
            "select count(*) as n from members where user_id = $1",
            vec![id(user.uuid())],
        )
        .await
    }

    async fn list_roles(&self, user: UserId, workspaces: &[WorkspaceId]) -> Result<Vec<Member>> {
        if workspaces.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select * from members where user_id = $1 and workspace_id in ({})",
            placeholders(2, workspaces.len())
        );
        let values = std::iter::once(id(user.uuid()))
            .chain(workspaces.iter().map(|workspace| id(workspace.uuid())));
        let rows = self.rows_beside(&sql, values.collect()).await?;
        rows.iter().map(member).collect()
    }

    async fn list_members(&self, workspaces: &[WorkspaceId]) -> Result<Vec<Member>> {
        if workspaces.is_empty() {
            return Ok(Vec::new());
        }
        let filter = placeholders(1, workspaces.len());
        let sql = format!(
            "select * from members where workspace_id in ({filter}) order by workspace_id, joined_at, user_id"
        );
        let rows = self
            .rows(
                &sql,
                workspaces
                    .iter()
                    .map(|workspace| id(workspace.uuid()))
                    .collect(),
            )
            .await?;
        rows.iter().map(member).collect()
    }

    async fn list_acquainted(&self, user: UserId, others: &[UserId]) -> Result<Vec<UserId>> {
        if others.is_empty() {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select distinct b.user_id from members a join members b on b.workspace_id = a.workspace_id \
             where a.user_id = $1 and b.user_id in ({})",
            placeholders(2, others.len())
        );
        let values =
            std::iter::once(id(user.uuid())).chain(others.iter().map(|other| id(other.uuid())));
        let rows = self.rows(&sql, values.collect()).await?;
        rows.iter()
            .map(|row| Ok(UserId::from_uuid(Row::of("members", row).uuid("user_id")?)))
            .collect()
    }
}

impl<C: Link> Session<C> {
    pub(super) async fn count(&self, sql: &str, values: Vec<Value>) -> Result<u64> {
        match self.row(sql, values).await? {
            Some(row) => Row::of("count", &row).number("n"),
            None => Ok(0),
        }
    }
}

#[async_trait]
impl<C: Link> PeopleWrites for Session<C> {
    async fn insert_user(&self, user: &User) -> Result<()> {
        let created_in = user
            .created_in
            .map(|workspace| workspace.uuid().as_bytes().to_vec());
        let values = vec![
            id(user.id.uuid()),
            user.name.as_str().into(),
            user.email.clone().into(),
            created_in.into(),
            at(user.created_at),
        ];
        self.insert("users (id, name, email, created_in, created_at)", 5, values)
            .await
    }

    async fn insert_workspace(&self, workspace: &Workspace) -> Result<()> {
        let values = vec![
            id(workspace.id.uuid()),
            workspace.name.as_str().into(),
            at(workspace.created_at),
            number(0),
        ];
        self.insert(
            "workspaces (id, name, created_at, event_sequence)",
            4,
            values,
        )
        .await
    }

    async fn upsert_member(&self, member: &Member) -> Result<()> {
        let sql = "insert into members (workspace_id, user_id, role, joined_at) values ($1, $2, $3, $4) \
                   on conflict (workspace_id, user_id) do update set role = excluded.role";
        let values = vec![
            id(member.workspace.uuid()),
            id(member.user.uuid()),
            member.role.name().into(),
            at(member.joined_at),
        ];
        self.execute(sql, values).await.map(drop)
    }

    async fn delete_member(&self, workspace: WorkspaceId, user: UserId) -> Result<bool> {
        let values = vec![id(workspace.uuid()), id(user.uuid())];
        Ok(self
            .execute(
                "delete from members where workspace_id = $1 and user_id = $2",
                values,
            )
            .await?
            > 0)
    }

    async fn insert_token(&self, token: &ApiToken) -> Result<()> {
        self.insert_token_row(token).await
    }

    async fn delete_token(&self, user: UserId, token: TokenId) -> Result<bool> {
        let values = vec![id(user.uuid()), id(token.uuid())];
        Ok(self
            .execute("delete from tokens where user_id = $1 and id = $2", values)
            .await?
            > 0)
    }

    async fn touch_token(&self, token: TokenId, time: Timestamp) -> Result<()> {
        self.execute(
            "update tokens set last_used_at = $2 where id = $1",
            vec![id(token.uuid()), at(time)],
        )
        .await
        .map(drop)
    }
}
