//! What documents are let through, refused and charged.

use std::time::Instant;

use async_graphql::{Variables, value};
use serde_json::json;

use super::*;

const SDL: &str = r"
    type Query { viewer: User work(id: ID!): Work nodes(ids: [ID!]!): [Node]! search(filter: Filter, kinds: [Kind!]): [Node!]! }
    type Subscription { events(after: String): User! }
    interface Node { id: ID! }
    interface Work { id: ID! readers: [User!]! history(first: Int, last: Int): RevisionConnection! }
    type Board implements Node & Work { id: ID! readers: [User!]! history(first: Int, last: Int): RevisionConnection! cards: [User!]! }
    type Text implements Node & Work { id: ID! readers: [User!]! history(first: Int, last: Int): RevisionConnection! author: User! }
    type User implements Node { id: ID! name: String! data: JSON likes: [Work!]! friends(first: Int): UserConnection! }
    type RevisionConnection { edges: [RevisionEdge!]! nodes: [Revision!]! pageInfo: PageInfo! totalCount: Int! }
    type RevisionEdge { node: Revision! cursor: String! }
    type Revision { by: User! summary: String! spans: [Span!]! }
    type Span { from: Int! marks: [Mark!]! }
    type Mark { at: Int! }
    type UserConnection { nodes: [User!]! }
    type PageInfo { hasNextPage: Boolean! }
    enum Kind { BOARD TEXT }
    input Filter { text: String! limit: Int = 3 inner: [Filter!] }
    scalar JSON
    schema { query: Query subscription: Subscription }
";

fn types() -> SchemaTypes {
    SchemaTypes::try_new(SDL).expect("the schema parses")
}

fn try_with(text: &str, variables: serde_json::Value) -> Result<Budgeted, Refusal> {
    check(
        text,
        None,
        &Variables::from_json(variables),
        &types(),
        &Limits::default(),
    )
}

fn cost(text: &str) -> u64 {
    try_with(text, json!({}))
        .expect("within the limits")
        .requested_cost
}

fn refusal(text: &str) -> (Code, String) {
    let refusal = try_with(text, json!({})).expect_err("over a limit");
    (refusal.code, refusal.message)
}

#[test]
fn objects_pages_and_lists_are_priced_through_interfaces_too() {
    assert_eq!(cost("{ __typename }"), 1);
    assert_eq!(cost("{ viewer { name } }"), 1);
    assert_eq!(cost("{ work(id: 1) { readers { name } } }"), 1 + 10);
    assert_eq!(
        cost(
            "{ work(id: 1) { history(first: 7) { edges { cursor node { summary } } pageInfo { hasNextPage } } } }"
        ),
        1 + 7
    );
    assert_eq!(
        cost("{ work(id: 1) { history { nodes { by { name } } } } }"),
        1 + 20 * 2
    );
    assert_eq!(cost("{ work(id: 1) { history { totalCount } } }"), 1 + 1);
    assert_eq!(cost("{ nodes(ids: [1, 2, 3]) { id } }"), 3);
    assert_eq!(cost("{ search(kinds: [BOARD]) { id } }"), 10);
}

#[test]
fn a_page_is_priced_by_its_variable_or_the_variables_default() {
    let text = "query($n: Int = 4) { work(id: 1) { history(first: $n) { nodes { summary } } } }";
    assert_eq!(cost(text), 1 + 4);
    assert_eq!(
        try_with(text, json!({"n": 50}))
            .expect("within the limits")
            .requested_cost,
        1 + 50
    );
    assert_eq!(
        try_with(text, json!({"n": -3}))
            .expect("priced, refused later")
            .requested_cost,
        1 + 1
    );
}

#[test]
fn of_alternative_types_only_the_dearest_counts() {
    let text = "{ work(id: 1) { ... on Board { cards { id } } ...T } } fragment T on Text { author { id } }";
    assert_eq!(cost(text), 1 + 10);
}

#[test]
fn lists_inside_a_page_are_assumed_shorter_and_parts_of_an_object_the_shortest() {
    let inside =
        |list: &str| format!("{{ work(id: 1) {{ history(first: 3) {{ nodes {{ {list} }} }} }} }}");
    assert_eq!(cost(&inside("by { likes { id } }")), 1 + 3 * (1 + 1 + 5));
    assert_eq!(cost(&inside("spans { from }")), 1 + 3 * (1 + 2));
    assert_eq!(
        cost(&inside("spans { marks { at } }")),
        1 + 3 * (1 + 2 * (1 + 2))
    );
    assert_eq!(
        cost("{ viewer { likes { readers { id } } } }"),
        1 + 10 * (1 + 5)
    );
}

#[test]
fn lists_that_lead_to_each_other_soon_cost_too_much() {
    let nested = |levels: usize| {
        format!(
            "{{ viewer {{ {} id {} }} }}",
            "likes { readers { ".repeat(levels),
            "} }".repeat(levels)
        )
    };
    assert_eq!(cost(&nested(1)), 1 + 10 * (1 + 5));
    assert_eq!(refusal(&nested(2)).0, Code::QueryTooComplex);
}

/// What clients ask for naturally, without a thought of page sizes.
const NATURAL: [&str; 7] = [
    "query($id: ID!) { node(id: $id) { ... on Task { turns { nodes { id number state epoch steps { number rationale
       calls { id tool state attempts result error } } } } } } }",
    "query($id: ID!) { node(id: $id) { ... on Task {
       title status statusReason summary { text stale } shortLine { text stale } usage { steps spent { micros } }
       checklist { id title state outputs { id title } } inbox { id text state author { label } }
       thread { nodes { id text state author { label } consumedBy { turnNumber stepNumber } } }
       journal { nodes { sequence kind text data actor { kind label } } }
       turns { nodes { number state epoch steps { number consumed { id } context { inputTokens } calls { id state } } } }
       lines { id executor exchanges { prompt answer } } works { seenVersion work { id title } }
       changeNotices { summary work { id } changedBy { label } } cards { id kind state options { id label } answer { option } } } } }",
    "query($id: ID!) { node(id: $id) { ... on Task { journal(first: 100) { nodes { sequence kind text actor { label user { id } } } } } } }",
    "query($id: ID!) { node(id: $id) { ... on Task { turns(first: 50) { nodes { number steps { number calls { id } } } } } } }",
    "query($id: ID!) { workspace(id: $id) { name members { user { name } role } openCards { id prompt options { id label } task { id } }
       tasks { totalCount nodes { id title status shortLine { text } checklist { title state } cards(open: true) { id prompt options { id } } } }
       works { nodes { id title updatedBy { label } linkedTasks { id } ... on Storyboard { nodes { id fields } } } } } }",
    "query($id: ID!) { workspace(id: $id) { tasks(first: 100) { nodes { id title cards(open: true) { id } } } } }",
    "query($id: ID!) { workspace(id: $id) { tasks { nodes { id turns { nodes { id state } } } } } }",
];

#[test]
fn what_clients_ask_for_naturally_is_within_the_budget() {
    let sdl = include_str!("../../../../schema.graphql");
    let types = SchemaTypes::try_new(sdl).expect("the schema parses");
    for text in NATURAL {
        let variables = Variables::from_json(json!({"id": "1"}));
        let checked = check(text, None, &variables, &types, &Limits::default());
        let cost = checked.map(|budgeted| budgeted.requested_cost);
        let cost = cost.unwrap_or_else(|refused| panic!("{text}: {}", refused.message));
        eprintln!("{cost} points: {text}");
        assert!(cost > 20, "its objects are priced");
    }
}

#[test]
fn nested_pages_are_over_the_cost_limit() {
    let (code, message) = refusal(
        "{ viewer { friends(first: 100) { nodes { friends(first: 100) { nodes { name } } } } } }",
    );
    assert_eq!(code, Code::QueryTooComplex);
    assert!(message.contains("10101 points"), "{message}");
}

#[test]
fn the_response_is_priced_by_the_objects_in_it() {
    let budgeted = try_with(
        "{ v: viewer { name data friends { nodes { id } } } }",
        json!({}),
    )
    .expect("within the limits");
    let data = value!({"v": {"name": "n", "data": {"a": {}}, "friends": {"nodes": [{"id": 1}, {"id": 2}]}}});
    assert_eq!(
        (budgeted.requested_cost, budgeted.shape.price(&data)),
        (21, 3)
    );
    assert_eq!(budgeted.shape.price(&value!({"v": null})), 0);
}

#[test]
fn each_limit_refuses_what_is_over_it() {
    let nested = |levels: usize| {
        format!(
            "{{ a{} }}",
            "{a".repeat(levels - 1) + &"}".repeat(levels - 1)
        )
    };
    let aliases = |count: usize| {
        format!(
            "{{ viewer {{ {} }} }}",
            (0..count)
                .map(|n| format!("a{n}: id"))
                .collect::<Vec<_>>()
                .join(" ")
        )
    };
    for (good, bad) in [
        (nested(12), nested(13)),
        (aliases(30), aliases(31)),
        (
            "{".to_owned() + &"a ".repeat(20) + "}",
            "{".to_owned() + &"a ".repeat(21) + "}",
        ),
        (
            "{ a ".to_owned() + &"@x ".repeat(5) + "}",
            "{ a ".to_owned() + &"@x ".repeat(6) + "}",
        ),
        (
            format!("{{ a(b: [{}]) }}", "1 ".repeat(250)),
            format!("{{ a(b: [{}]) }}", "1 ".repeat(251)),
        ),
    ] {
        assert!(try_with(&good, json!({})).is_ok(), "{good}");
        assert_eq!(refusal(&bad).0, Code::QueryTooComplex, "{bad}");
    }
}

#[test]
fn aliases_and_root_fields_are_counted_with_fragments_expanded() {
    assert_eq!(
        refusal("{ ...F ...F ...F } fragment F on Query { a b c d e f g }").0,
        Code::QueryTooComplex
    );
    let text = "{ viewer { ...F x: viewer { ...F y: viewer { ...F } } } } fragment F on User { a:id b:id c:id d:id e:id f:id g:id h:id i:id j:id }";
    assert_eq!(refusal(text).0, Code::QueryTooComplex);
}

#[test]
fn fragment_bombs_and_cycles_are_refused_in_no_time() {
    let bomb = |levels: usize, width: usize| {
        let fragments = (0..levels).map(|n| {
            format!(
                " fragment F{n} on Query{{{}}}",
                format!("...F{} ", n + 1).repeat(width)
            )
        });
        format!(
            "{{...F0}}{} fragment F{levels} on Query{{a}}",
            fragments.collect::<Vec<_>>().concat()
        )
    };
    let started = Instant::now();
    for text in [bomb(18, 2), bomb(6, 8), bomb(30, 30)] {
        assert_eq!(refusal(&text).0, Code::QueryTooComplex);
    }
    assert_eq!(refusal(&bomb(500, 1)).0, Code::QueryTooComplex);
    assert_eq!(
        refusal("{...A} fragment A on Query{...B ...B} fragment B on Query{...A ...A}").0,
        Code::ValidationFailed
    );
    assert_eq!(
        refusal("{a} fragment A on Query{...A}").0,
        Code::ValidationFailed
    );
    assert!(
        started.elapsed().as_secs() < 2,
        "took {:?}",
        started.elapsed()
    );
}

#[test]
fn deep_nesting_of_any_kind_is_refused_before_the_parser_recurses() {
    for text in [
        "{a".repeat(100_000),
        format!("{{a(b:{}", "[".repeat(100_000)),
        format!("query($a:{}", "[".repeat(100_000)),
        format!("{{a(b:[\"\"\" x\"{}", "[".repeat(100_000)),
    ] {
        assert_eq!(refusal(&text).0, Code::QueryTooComplex);
    }
}

#[test]
fn a_document_that_does_not_parse_is_answered_with_the_place_and_not_with_the_document() {
    let refused = try_with(&format!("{{ {} ", "a".repeat(5_000)), json!({})).expect_err("no end");
    assert_eq!(refused.code, Code::ParseFailed);
    assert!(
        refused.message.len() < 300 && refused.message.contains("line 1, column 5004"),
        "{}",
        refused.message
    );
    assert_eq!(refused.locations.len(), 1);
}

#[test]
fn variables_must_fit_their_declared_types() {
    let text = "query($f: Filter!, $k: [Kind!], $j: JSON) { search(filter: $f, kinds: $k) { id } j(a: $j) }";
    let long: Vec<_> = (0..251).collect();
    for good in [
        json!({"f": {"text": "a"}}),
        json!({"f": {"text": "a", "limit": null, "inner": {"text": "b"}}, "k": "BOARD"}),
        json!({"f": {"text": "a"}, "k": ["BOARD", "TEXT"], "j": long, "extra": 1}),
    ] {
        assert!(try_with(text, good.clone()).is_ok(), "{good}");
    }
    for (bad, part) in [
        (json!({}), "`$f` of type `Filter!`: a value is needed"),
        (json!({"f": null}), "null is not allowed"),
        (json!({"f": {}}), "`text` is needed"),
        (
            json!({"f": {"text": 1}}),
            "`text`: 1 is not of type `String`",
        ),
        (
            json!({"f": {"text": "a", "limit": 3_000_000_000_u32}}),
            "not of type `Int`",
        ),
        (json!({"f": {"text": "a", "x": 1}}), "no field `x`"),
        (
            json!({"f": {"text": "a", "inner": [{"text": "b"}, {}]}}),
            "element 1: `text` is needed",
        ),
        (
            json!({"f": {"text": "a"}, "k": ["POEM"]}),
            "not of type `Kind`",
        ),
        (
            json!({"f": {"text": "a"}, "k": vec!["TEXT"; 251]}),
            "250 elements",
        ),
    ] {
        let refused = try_with(text, bad.clone()).expect_err("does not fit");
        assert_eq!(refused.code, Code::BadUserInput);
        assert!(refused.message.contains(part), "{bad}: {}", refused.message);
    }
}

#[test]
fn the_operation_must_be_the_one_that_is_named() {
    let text = "query A { __typename } query B { __typename }";
    let run = |name| {
        check(
            text,
            name,
            &Variables::default(),
            &types(),
            &Limits::default(),
        )
        .map(|_| ())
        .map_err(|refused| refused.code)
    };
    assert_eq!(run(Some("A")), Ok(()));
    assert_eq!(run(Some("C")), Err(Code::OperationResolution));
    assert_eq!(run(None), Err(Code::OperationResolution));
}

#[test]
fn a_subscription_has_one_root_field() {
    assert!(try_with("subscription { events { id } }", json!({})).is_ok());
    for text in [
        "subscription { events { id } b: events { id } }",
        "subscription { ...F } fragment F on Subscription { events { id } }",
    ] {
        assert_eq!(refusal(text).0, Code::ValidationFailed);
    }
}
