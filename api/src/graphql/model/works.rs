//! The five kinds of works as GraphQL objects: what they share, and what each of them holds.
//!
//! Not here: the interfaces over them (`work`).

use std::sync::Arc;

use async_graphql::{Context, ID, Object, Result};
use domain::document::Version;
use domain::work::AssetFile;

use super::actor::Actor;
use super::history::{RevisionConnection, page_of_history};
use super::presence::Presence;
use super::task::Task;
use super::work::WorkKind;
use super::work_node::{FlowEdge, WorkNode};
use crate::graphql::error::{Nullable, nullable};
use crate::graphql::scalars::{self, Cursor, DateTime, int};
use crate::graphql::scope::Scope;

/// A work as the domain knows it.
pub(crate) type Row = Arc<domain::work::Work>;

/// Makes the object of one kind: the fields that all works share, and those between the braces.
macro_rules! work_object {
    ($name:ident, $doc:tt, { $($more:tt)* }) => {
        #[doc = $doc]
        #[derive(Debug, Clone)]
        pub(crate) struct $name(pub(crate) Row);

        #[doc = $doc]
        #[Object]
        impl $name {
            /// The id of the work.
            pub(crate) async fn id(&self) -> ID {
                self.0.id.into()
            }

            /// What it is.
            pub(crate) async fn kind(&self) -> WorkKind {
                self.0.kind.into()
            }

            /// Its title.
            pub(crate) async fn title(&self) -> String {
                self.0.title.clone()
            }

            /// Rises by one with every stored change; the base for optimistic concurrency.
            pub(crate) async fn version(&self) -> i32 {
                int(self.0.version.0)
            }

            /// When it was made.
            pub(crate) async fn created_at(&self) -> DateTime {
                DateTime(self.0.created_at)
            }

            /// When its title, content or place (in the bin or not) changed last.
            pub(crate) async fn updated_at(&self) -> DateTime {
                DateTime(self.0.updated_at)
            }

            /// Who changed it last.
            pub(crate) async fn updated_by(&self) -> Actor {
                Actor(self.0.updated_by.clone())
            }

            /// Since when it lies in the bin; null where it does not.
            pub(crate) async fn deleted_at(&self) -> Option<DateTime> {
                self.0.deleted_at.map(DateTime)
            }

            /// What was changed, newest first.
            pub(crate) async fn history(
                &self,
                ctx: &Context<'_>,
                first: Option<i32>,
                after: Option<Cursor>,
            ) -> Result<RevisionConnection> {
                page_of_history(Scope::of(ctx)?, self.0.id, first, after.as_ref()).await
            }

            /// The tasks that refer to it.
            pub(crate) async fn linked_tasks(&self, ctx: &Context<'_>) -> Result<Vec<Task>> {
                let tasks = Scope::of(ctx)?.linked_tasks(&self.0).await?;
                Ok(tasks.into_iter().map(Task).collect())
            }

            /// Who is at it now.
            pub(crate) async fn presence(&self, ctx: &Context<'_>) -> Result<Vec<Presence>> {
                let documents = &Scope::of(ctx)?.services.documents;
                let presence = documents.presence(self.0.id).await?;
                Ok(presence.into_iter().map(Presence).collect())
            }

            $($more)*
        }
    };
}

work_object!(Storyboard, "Shots in order.", {
    /// Its shots in order, at a version (now, where none is given); `ids` leaves out all others.
    pub(crate) async fn nodes(
        &self,
        ctx: &Context<'_>,
        ids: Option<Vec<ID>>,
        at_version: Option<i32>,
    ) -> Result<Vec<WorkNode>> {
        nodes_of(ctx, &self.0, ids, at_version).await
    }
});

work_object!(Collection, "Items in order.", {
    /// Its items in order, at a version (now, where none is given); `ids` leaves out all others.
    pub(crate) async fn nodes(
        &self,
        ctx: &Context<'_>,
        ids: Option<Vec<ID>>,
        at_version: Option<i32>,
    ) -> Result<Vec<WorkNode>> {
        nodes_of(ctx, &self.0, ids, at_version).await
    }
});

work_object!(Flow, "Nodes, and edges between them.", {
    /// Its nodes in order, without edges, at a version (now, where none is given); `ids` leaves out all others.
    pub(crate) async fn nodes(
        &self,
        ctx: &Context<'_>,
        ids: Option<Vec<ID>>,
        at_version: Option<i32>,
    ) -> Result<Vec<WorkNode>> {
        nodes_of(ctx, &self.0, ids, at_version).await
    }

    /// Its edges, at a version (now, where none is given).
    async fn edges(&self, ctx: &Context<'_>, at_version: Option<i32>) -> Result<Vec<FlowEdge>> {
        let content = Scope::of(ctx)?.content(&self.0, at(at_version)?).await?;
        Ok(content.edges.iter().cloned().map(FlowEdge).collect())
    }
});

work_object!(TextDocument, "A text in Markdown.", {
    /// The text, at a version (now, where none is given).
    async fn text(&self, ctx: &Context<'_>, at_version: Option<i32>) -> Result<String> {
        let content = Scope::of(ctx)?.content(&self.0, at(at_version)?).await?;
        Ok(content.text.clone())
    }
});

work_object!(Asset, "A file.", {
    /// Its media type, checked against the bytes.
    fn media_type(&self) -> Result<String> {
        Ok(self.file()?.media_type.clone())
    }

    /// Its size in bytes.
    fn byte_size(&self) -> Result<i32> {
        Ok(int(self.file()?.byte_size))
    }

    /// SHA-256 of the bytes, 64 hexadecimal digits; empty before the bytes came.
    fn sha256(&self) -> Result<String> {
        Ok(self.file()?.sha256.clone())
    }

    /// Path below the server's address; needs the same authorisation as the API, or the signature it carries.
    fn url(&self, ctx: &Context<'_>) -> Result<String> {
        Ok(Scope::of(ctx)?.services.asset_urls.asset_url(&self.0))
    }

    /// The same for a small picture of it; null where its media type has none.
    fn preview_url(&self, ctx: &Context<'_>) -> Nullable<String> {
        let url = |scope: &Scope| scope.services.asset_urls.preview_url(&self.0);
        nullable(Scope::of(ctx).map(url))
    }
});

impl Asset {
    fn file(&self) -> Result<&AssetFile> {
        let missing =
            || domain::Error::internal(format!("{} is an asset without a file", self.0.id));
        Ok(self.0.asset.as_ref().ok_or_else(missing)?)
    }
}

async fn nodes_of(
    ctx: &Context<'_>,
    work: &Row,
    ids: Option<Vec<ID>>,
    at_version: Option<i32>,
) -> Result<Vec<WorkNode>> {
    let nodes = Scope::of(ctx)?.nodes(work, at(at_version)?).await?;
    let is_wanted = |id: &str| {
        ids.as_ref()
            .is_none_or(|ids| ids.iter().any(|wanted| wanted.as_str() == id))
    };
    Ok(nodes
        .iter()
        .filter(|state| is_wanted(&state.node.id))
        .cloned()
        .map(WorkNode)
        .collect())
}

fn at(given: Option<i32>) -> Result<Option<Version>> {
    Ok(given
        .map(|version| scalars::version("atVersion", version))
        .transpose()?)
}
