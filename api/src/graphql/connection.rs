//! Connections: the pages of the contract, with edges, nodes and page info.
//!
//! Invariants
//! - A page's edges keep the order of the list; each carries the cursor of its own row.
//!
//! Not here: what stands in a cursor (`cursor`), reading the rows (`model`).

use async_graphql::SimpleObject;

use super::scalars::Cursor;

/// The arguments of a connection that can be read from both ends.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    pub(crate) first: Option<i32>,
    pub(crate) after: Option<Cursor>,
    pub(crate) last: Option<i32>,
    pub(crate) before: Option<Cursor>,
}

/// Where a page stands in its list.
#[derive(Debug, Clone, SimpleObject)]
pub(crate) struct PageInfo {
    /// Whether rows follow the last of this page.
    has_next_page: bool,
    /// Whether rows stand before the first of this page.
    has_previous_page: bool,
    /// The cursor of the first row; null for an empty page.
    start_cursor: Option<Cursor>,
    /// The cursor of the last row: hand it to `after` for the next page; null for an empty page.
    end_cursor: Option<Cursor>,
}

impl PageInfo {
    /// The info of a page with these cursors.
    pub(crate) fn new(cursors: &[&Cursor], has_next: bool, has_previous: bool) -> Self {
        Self {
            has_next_page: has_next,
            has_previous_page: has_previous,
            start_cursor: cursors.first().map(|cursor| Cursor::clone(cursor)),
            end_cursor: cursors.last().map(|cursor| Cursor::clone(cursor)),
        }
    }
}

/// Makes the connection and edge types of one node type: what it also holds goes between the brackets, its further fields
/// between the braces.
macro_rules! connection {
    ($connection:ident, $edge:ident, $node:ty, [$($extra:ident: $extra_type:ty),*], $doc:tt, $edge_doc:tt, { $($more:tt)* }) => {
        #[doc = $edge_doc]
        #[derive(async_graphql::SimpleObject)]
        pub(crate) struct $edge {
            /// What stands here.
            node: $node,
            /// The position of the node in the list.
            cursor: $crate::graphql::scalars::Cursor,
        }

        #[doc = $doc]
        pub(crate) struct $connection {
            edges: Vec<$edge>,
            has_next: bool,
            has_previous: bool,
            $($extra: $extra_type,)*
        }

        #[doc = $doc]
        #[async_graphql::Object]
        impl $connection {
            /// The rows of this page, each with its cursor.
            async fn edges(&self) -> &[$edge] {
                &self.edges
            }

            /// The rows of this page.
            async fn nodes(&self) -> Vec<&$node> {
                self.edges.iter().map(|edge| &edge.node).collect()
            }

            /// Where this page stands in the list.
            async fn page_info(&self) -> $crate::graphql::connection::PageInfo {
                let cursors: Vec<_> = self.edges.iter().map(|edge| &edge.cursor).collect();
                $crate::graphql::connection::PageInfo::new(&cursors, self.has_next, self.has_previous)
            }

            $($more)*
        }
    };
}

pub(crate) use connection;
