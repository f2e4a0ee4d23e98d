//! Building what the index does not hold: a workspace, part by part, from what the store holds now.

use domain::event::Sequence;
use domain::ids::WorkspaceId;

use super::{Batch, Follower};
use crate::Result;
use crate::source::{Scan, Searchable};

/// Things that are read at once.
const BUILT: u32 = 500;

/// A workspace that is being built.
pub(super) struct Build {
    workspace: WorkspaceId,
    head: Sequence,
    scan: Scan,
}

impl Follower {
    /// Builds a part of a workspace that the index does not hold; whether there was one.
    pub(super) async fn build_some(&mut self) -> Result<bool> {
        let Some(mut build) = self.next_build().await? else {
            return Ok(false);
        };
        let workspace = build.workspace;
        let (things, next) = match self.read_part(&build).await {
            Ok(part) => part,
            Err(error) => return self.go_on_after(workspace, Err(error)).map(|()| true),
        };
        self.put(Batch {
            workspace,
            things,
            gone: Vec::new(),
            is_new: true,
        })
        .await?;
        if next == Scan::End {
            let position = self.positions.entry(workspace).or_default();
            position.sequence = build.head;
            self.commits.is_urgent = true;
            tracing::debug!(workspace.id = %workspace, "a workspace was indexed");
        } else {
            build.scan = next;
            self.build = Some(build);
        }
        Ok(true)
    }

    async fn read_part(&self, build: &Build) -> Result<(Vec<Searchable>, Scan)> {
        let (subjects, next) = self.source.scan(build.workspace, build.scan, BUILT).await?;
        let things = self.source.load(build.workspace, &subjects).await?;
        Ok((things, next))
    }

    async fn next_build(&mut self) -> Result<Option<Build>> {
        if let Some(build) = self.build.take() {
            return Ok(Some(build));
        }
        let mut missing = self
            .behind
            .iter()
            .filter(|workspace| !self.positions.contains_key(workspace));
        let first = missing.clone().find(|one| self.wanted.contains(one));
        let Some(workspace) = first.or_else(|| missing.next()).copied() else {
            self.wanted.clear();
            return Ok(None);
        };
        let head = match self.source.store.reads().event_head(workspace).await {
            Ok(head) => head,
            Err(domain::Error::NotFound(_)) => {
                self.behind.remove(&workspace);
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        // What an earlier attempt has left of it.
        self.write(move |writer| {
            writer.drop_workspace(workspace);
            Ok(())
        })
        .await?;
        Ok(Some(Build {
            workspace,
            head,
            scan: Scan::Start,
        }))
    }
}
