//! The GraphQL request as it stands in a body, a query string or a socket's message.
//!
//! Invariants
//! - `null` and, in a query string, the empty text mean "not given"; unknown members are ignored; arrays are refused.
//!
//! Not here: whether the document is any good (`budget`).

use async_graphql::Variables;
use serde_json::{Map, Value};

use crate::graphql::error::{Code, Refusal};

/// What is to be executed.
#[derive(Debug, Clone)]
pub enum Source {
    /// The text of a document.
    Text(String),
    /// The id of a trusted document.
    Document(String),
    /// A document of the server's own.
    Own(&'static str),
}

/// Which operations the transport allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Allowed {
    /// No mutations: a link must not change anything.
    Queries,
    All,
}

/// A well-formed GraphQL request.
#[derive(Debug, Clone)]
pub struct Parameters {
    /// What is to be executed.
    pub source: Source,
    /// Which operation of it.
    pub operation_name: Option<String>,
    /// Values of its variables.
    pub variables: Variables,
    /// Where a subscription goes on from, given outside the document.
    pub(super) resume_after: Option<String>,
    pub(super) allowed: Allowed,
}

impl Parameters {
    /// Reads the bytes of a body.
    pub(super) fn from_body(body: &[u8]) -> Result<Self, Refusal> {
        let value = serde_json::from_slice(body).map_err(|error| {
            Refusal::unreadable(format!("the body is not JSON in UTF-8: {error}"))
        })?;
        Self::from_json(value)
    }

    /// Reads a request object.
    pub fn from_json(value: Value) -> Result<Self, Refusal> {
        match value {
            Value::Object(members) => from_members(members, Allowed::All),
            Value::Array(_) => Err(Refusal::malformed(
                "batches are not taken; send one request object",
            )),
            _ => Err(Refusal::malformed("the request must be a JSON object")),
        }
    }

    /// Reads the query string of a GET.
    pub(super) fn from_query(query: &str) -> Result<Self, Refusal> {
        let mut members = Map::new();
        for (name, text) in
            url::form_urlencoded::parse(query.as_bytes()).filter(|(_, text)| !text.is_empty())
        {
            let value = match name.as_ref() {
                "query" | "operationName" | "documentId" => Value::String(text.into_owned()),
                "variables" | "extensions" => serde_json::from_str(&text).map_err(|error| {
                    Refusal::unreadable(format!("`{name}` is not JSON: {error}"))
                })?,
                _ => continue,
            };
            members.insert(name.into_owned(), value);
        }
        from_members(members, Allowed::Queries)
    }
}

fn from_members(mut members: Map<String, Value>, allowed: Allowed) -> Result<Parameters, Refusal> {
    let query = text(&mut members, "query")?;
    let document = text(&mut members, "documentId")?;
    let operation_name = text(&mut members, "operationName")?;
    let variables = object(&mut members, "variables")?;
    let extensions = object(&mut members, "extensions")?;
    let source = match (query, document) {
        (Some(text), None) => Source::Text(text),
        (None, Some(id)) => Source::Document(id),
        (Some(_), Some(_)) => {
            return Err(Refusal::malformed(
                "give either `query` or `documentId`, not both",
            ));
        }
        (None, None) if extensions.contains_key("persistedQuery") => {
            return Err(Refusal::document(
                Code::PersistedQueryNotSupported,
                "PersistedQueryNotSupported",
            ));
        }
        (None, None) => {
            return Err(Refusal::malformed(
                "`query` is needed: the text of a GraphQL document",
            ));
        }
    };
    let variables = Variables::from_json(Value::Object(variables));
    Ok(Parameters {
        source,
        operation_name,
        variables,
        resume_after: None,
        allowed,
    })
}

fn text(members: &mut Map<String, Value>, name: &str) -> Result<Option<String>, Refusal> {
    match members.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Refusal::malformed(format!("`{name}` must be a string"))),
    }
}

fn object(members: &mut Map<String, Value>, name: &str) -> Result<Map<String, Value>, Refusal> {
    match members.remove(name) {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(object)) => Ok(object),
        Some(_) => Err(Refusal::malformed(format!("`{name}` must be an object"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Value) -> Result<Parameters, Code> {
        Parameters::from_json(value).map_err(|refusal| refusal.code)
    }

    #[test]
    fn null_means_not_given_and_unknown_members_are_ignored() {
        let read = read(json!({"query": "{a}", "operationName": null, "variables": null, "x": 1}))
            .expect("well-formed");
        assert!(read.operation_name.is_none() && read.variables.is_empty());
    }

    #[test]
    fn a_misshapen_request_is_refused() {
        for bad in [
            json!([]),
            json!("x"),
            json!({}),
            json!({"query": 1}),
            json!({"query": "{a}", "variables": [7]}),
            json!({"query": "{a}", "operationName": {}}),
            json!({"query": "{a}", "documentId": "x:1"}),
        ] {
            assert_eq!(
                read(bad.clone()).expect_err("misshapen"),
                Code::BadRequest,
                "{bad}"
            );
        }
        let persisted =
            json!({"extensions": {"persistedQuery": {"version": 1, "sha256Hash": "0"}}});
        assert_eq!(
            read(persisted).expect_err("not offered"),
            Code::PersistedQueryNotSupported
        );
    }

    #[test]
    fn in_a_query_string_empty_means_not_given_and_null_is_a_name() {
        let read =
            Parameters::from_query("query=%7Ba%7D&operationName=null&variables=&extensions=")
                .expect("well-formed");
        assert_eq!(read.operation_name.as_deref(), Some("null"));
        assert_eq!(read.allowed, Allowed::Queries);
        assert!(Parameters::from_query("query={a}&variables={").is_err());
    }
}
