//! Connections: pages of lists as Relay shapes them.

use async_graphql::SimpleObject;

use super::super::scalars::Cursor;

/// Where a page lies in its list.
#[derive(SimpleObject, Clone, Debug)]
pub(crate) struct PageInfo {
    /// Whether more stands behind this page.
    has_next_page: bool,
    /// Whether something stands before this page.
    has_previous_page: bool,
    /// The cursor of the first edge.
    start_cursor: Option<Cursor>,
    /// The cursor of the last edge.
    end_cursor: Option<Cursor>,
}

impl PageInfo {
    /// Of a page that was read forward from `after`.
    pub(crate) fn forward(cursors: &[Cursor], has_next: bool, has_after: bool) -> Self {
        Self {
            has_next_page: has_next,
            has_previous_page: has_after,
            start_cursor: cursors.first().cloned(),
            end_cursor: cursors.last().cloned(),
        }
    }
}

/// A connection of `$node`: edges, the nodes alone, and where the page lies.
macro_rules! connection {
    ($what:literal, $connection:ident, $edge:ident, $node:ty $(, $total:ident)?) => {
        #[doc = concat!("A page of ", $what, ".")]
        #[derive(async_graphql::SimpleObject, Clone)]
        pub(crate) struct $connection {
            /// The rows with their cursors.
            edges: Vec<$edge>,
            /// The rows alone.
            nodes: Vec<$node>,
            /// Where the page lies.
            page_info: $crate::graphql::model::PageInfo,
            $(
            /// How many rows the whole list has.
            $total: i32,
            )?
        }

        #[doc = concat!("One of ", $what, " in a page.")]
        #[derive(async_graphql::SimpleObject, Clone)]
        pub(crate) struct $edge {
            /// The row.
            node: $node,
            /// Where it stands.
            cursor: $crate::graphql::scalars::Cursor,
        }

        impl $connection {
            pub(crate) fn new(rows: Vec<($crate::graphql::scalars::Cursor, $node)>, has_next: bool, has_after: bool $(, $total: u64)?) -> Self {
                let cursors: Vec<_> = rows.iter().map(|(cursor, _)| cursor.clone()).collect();
                Self {
                    nodes: rows.iter().map(|(_, node)| node.clone()).collect(),
                    edges: rows.into_iter().map(|(cursor, node)| $edge { node, cursor }).collect(),
                    page_info: $crate::graphql::model::PageInfo::forward(&cursors, has_next, has_after),
                    $( $total: $crate::graphql::scalars::int($total), )?
                }
            }
        }
    };
}
pub(super) use connection;
