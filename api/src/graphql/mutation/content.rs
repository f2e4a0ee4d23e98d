//! The content of a work that is made: nodes put in their places, edges, text.
//!
//! Not here: what a kind may hold, and what fields may look like (`domain`'s seed checks that).

use domain::Result;
use domain::document::Content;

use super::operations::{EdgeInput, NodeInput};
use super::works::CreateWorkInput;

/// What the input says shall be in the work.
pub(super) fn content_of(input: &CreateWorkInput) -> Result<Content> {
    let nodes = input.nodes.iter().flatten().map(NodeInput::to_domain);
    let edges = input.edges.iter().flatten().map(EdgeInput::to_domain);
    let text = input.text.clone().unwrap_or_default();
    Content::of_inputs(nodes.collect::<Result<_>>()?, edges.collect(), text)
}

#[cfg(test)]
mod tests {
    use domain::Error;
    use serde_json::json;

    use super::*;
    use crate::graphql::scalars::Json;

    #[test]
    fn fields_that_are_no_object_are_refused() {
        let node = NodeInput {
            id: None,
            kind: None,
            fields: Json(json!([1])),
            after: None,
        };
        assert!(matches!(node.to_domain(), Err(Error::Invalid(_))));
    }
}
