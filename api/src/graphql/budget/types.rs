//! The schema as the budget needs it: which fields give one object, lists or connections, and what variables may hold.
//!
//! Invariants
//! - Read from the printed schema, so that fields of interfaces are known as well as those of objects.
//!
//! Not here: validation; an unknown field or type costs nothing and is refused by the executor.

use std::collections::{HashMap, HashSet};

use async_graphql::Name;
use async_graphql::parser::types::{
    BaseType, FieldDefinition, InputObjectType, ObjectType, OperationType, ServiceDocument, Type,
    TypeKind, TypeSystemDefinition,
};
use async_graphql::parser::{self, parse_schema};

/// What selecting a field gives, as far as it costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Yields {
    Scalar,
    Object,
    /// A list of what can be asked for by itself, and can lead anywhere from there.
    List,
    /// A list of parts of the object, such as the steps of a turn: there are a few, and no part leads back to where it was.
    Parts,
    /// A page: priced by its `first` or `last`.
    Connection,
    /// A part of a page that is no object of its own: `edges`, `pageInfo`.
    Wrapper,
}

#[derive(Debug)]
pub(super) struct FieldShape {
    pub(super) yields: Yields,
    /// The type that its selections are made on.
    pub(super) named: String,
    /// Arguments that a list of ids is passed in.
    pub(super) list_arguments: HashSet<String>,
    pub(super) arguments: HashSet<String>,
}

/// An input field that must be given, or may be left out.
#[derive(Debug)]
pub(super) struct InputField {
    pub(super) ty: Type,
    pub(super) is_required: bool,
}

#[derive(Debug)]
pub(super) enum TypeShape {
    /// Objects and interfaces.
    Fields {
        fields: HashMap<String, FieldShape>,
        is_object: bool,
    },
    Union,
    Input(HashMap<String, InputField>),
    Enum(HashSet<String>),
    Scalar,
}

/// The types of a schema by name.
#[derive(Debug)]
pub struct SchemaTypes {
    query: String,
    mutation: String,
    subscription: String,
    types: HashMap<String, TypeShape>,
}

impl SchemaTypes {
    /// Reads a printed schema.
    pub fn try_new(sdl: &str) -> Result<Self, parser::Error> {
        let document = parse_schema(sdl)?;
        let composites = composites(&document);
        let mut this = Self {
            query: "Query".into(),
            mutation: "Mutation".into(),
            subscription: "Subscription".into(),
            types: HashMap::new(),
        };
        for definition in document.definitions {
            match definition {
                TypeSystemDefinition::Type(definition) => {
                    let name = definition.node.name.node.to_string();
                    let shape = type_shape(&name, definition.node.kind, &composites);
                    this.types.insert(name, shape);
                }
                TypeSystemDefinition::Schema(schema) => {
                    let or = |name: Option<async_graphql::Positioned<Name>>, default: String| {
                        name.map_or(default, |name| name.node.to_string())
                    };
                    this.query = or(schema.node.query, this.query);
                    this.mutation = or(schema.node.mutation, this.mutation);
                    this.subscription = or(schema.node.subscription, this.subscription);
                }
                TypeSystemDefinition::Directive(_) => {}
            }
        }
        Ok(this)
    }

    pub(super) fn root(&self, kind: OperationType) -> &str {
        match kind {
            OperationType::Query => &self.query,
            OperationType::Mutation => &self.mutation,
            OperationType::Subscription => &self.subscription,
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&TypeShape> {
        self.types.get(name)
    }

    pub(super) fn field(&self, parent: &str, name: &str) -> Option<&FieldShape> {
        match self.types.get(parent)? {
            TypeShape::Fields { fields, .. } => fields.get(name),
            _ => None,
        }
    }

    pub(super) fn is_object(&self, name: &str) -> bool {
        matches!(
            self.types.get(name),
            Some(TypeShape::Fields {
                is_object: true,
                ..
            })
        )
    }

    /// Whether this subscription field can be resumed through an argument of this name.
    pub(crate) fn subscription_takes(&self, field: &str, argument: &str) -> bool {
        self.field(&self.subscription, field)
            .is_some_and(|field| field.arguments.contains(argument))
    }
}

/// The name inside all lists.
pub(super) fn named(ty: &Type) -> &str {
    match &ty.base {
        BaseType::Named(name) => name,
        BaseType::List(inner) => named(inner),
    }
}

/// What a type is that has fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    /// It, or what implements it, is a `Node`, or it is one of several types.
    Own,
    /// It lives as a part of another object.
    OfAnother,
}

fn composites(document: &ServiceDocument) -> HashMap<String, Life> {
    let mut composites = HashMap::new();
    for definition in &document.definitions {
        let TypeSystemDefinition::Type(definition) = definition else {
            continue;
        };
        let life = match &definition.node.kind {
            TypeKind::Object(object) if implements_node(object) => Life::Own,
            TypeKind::Object(_) => Life::OfAnother,
            TypeKind::Interface(_) | TypeKind::Union(_) => Life::Own,
            _ => continue,
        };
        composites.insert(definition.node.name.node.to_string(), life);
    }
    composites
}

fn implements_node(object: &ObjectType) -> bool {
    object
        .implements
        .iter()
        .any(|interface| interface.node == "Node")
}

fn type_shape(name: &str, kind: TypeKind, composites: &HashMap<String, Life>) -> TypeShape {
    let fields = |fields: Vec<async_graphql::Positioned<FieldDefinition>>| {
        fields
            .into_iter()
            .map(|field| {
                (
                    field.node.name.node.to_string(),
                    field_shape(name, &field.node, composites),
                )
            })
            .collect()
    };
    match kind {
        TypeKind::Object(object) => TypeShape::Fields {
            fields: fields(object.fields),
            is_object: true,
        },
        TypeKind::Interface(interface) => TypeShape::Fields {
            fields: fields(interface.fields),
            is_object: false,
        },
        TypeKind::Union(_) => TypeShape::Union,
        TypeKind::Enum(values) => TypeShape::Enum(
            values
                .values
                .into_iter()
                .map(|value| value.node.value.node.to_string())
                .collect(),
        ),
        TypeKind::InputObject(input) => TypeShape::Input(input_fields(input)),
        TypeKind::Scalar => TypeShape::Scalar,
    }
}

fn input_fields(input: InputObjectType) -> HashMap<String, InputField> {
    let fields = input.fields.into_iter().map(|field| {
        let is_required = !field.node.ty.node.nullable && field.node.default_value.is_none();
        (
            field.node.name.node.to_string(),
            InputField {
                ty: field.node.ty.node,
                is_required,
            },
        )
    });
    fields.collect()
}

fn field_shape(
    parent: &str,
    field: &FieldDefinition,
    composites: &HashMap<String, Life>,
) -> FieldShape {
    let name = named(&field.ty.node);
    let is_list = matches!(field.ty.node.base, BaseType::List(_));
    let life = composites.get(name).copied();
    let yields = match field.name.node.as_str() {
        _ if life.is_none() => Yields::Scalar,
        "edges" | "pageInfo" if parent.ends_with("Connection") => Yields::Wrapper,
        "nodes" if parent.ends_with("Connection") => Yields::Object,
        _ if name.ends_with("Connection") => Yields::Connection,
        _ if is_list && life == Some(Life::OfAnother) => Yields::Parts,
        _ if is_list => Yields::List,
        _ => Yields::Object,
    };
    let list_arguments = field
        .arguments
        .iter()
        .filter(|argument| matches!(argument.node.ty.node.base, BaseType::List(_)));
    FieldShape {
        yields,
        named: name.to_owned(),
        // Only a list of ids says how long the answer is; a list of kinds or states only narrows it.
        list_arguments: list_arguments
            .filter(|argument| named(&argument.node.ty.node) == "ID")
            .map(|argument| argument.node.name.node.to_string())
            .collect(),
        arguments: field
            .arguments
            .iter()
            .map(|argument| argument.node.name.node.to_string())
            .collect(),
    }
}
