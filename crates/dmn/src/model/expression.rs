//! Boxed expressions (DMN 1.5, clauses 7.3 and 10.2.2).

use serde::{Deserialize, Serialize};

use super::{DecisionTable, InformationItem};

/// Logic: a text of FEEL or a box of parts. The member `type` tells the kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum BoxedExpression {
    /// A text.
    LiteralExpression(LiteralExpression),
    /// Named values, each of which sees those before it.
    Context(ContextExpression),
    /// Values in an order.
    List(ListExpression),
    /// A list of contexts with the same names.
    Relation(Relation),
    /// A call with named arguments.
    Invocation(Box<Invocation>),
    /// A function.
    FunctionDefinition(Box<FunctionDefinition>),
    /// A decision table.
    DecisionTable(DecisionTable),
    /// One of two values by a condition.
    Conditional(Box<ConditionalExpression>),
    /// The items of a list that pass a test.
    Filter(Box<FilterExpression>),
    /// A list made from each item of another.
    For(Box<ForExpression>),
    /// Whether any item passes a test.
    Some(Box<QuantifiedExpression>),
    /// Whether all items pass a test.
    Every(Box<QuantifiedExpression>),
}

/// The schema of each kind has the member `type` among its own, since it allows no others.
#[cfg(feature = "schema")]
mod schema {
    use std::borrow::Cow;

    use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Type};
    use utoipa::openapi::{RefOr, Schema};
    use utoipa::{PartialSchema, ToSchema};

    use super::{
        BoxedExpression, ConditionalExpression, ContextExpression, DecisionTable, FilterExpression,
        ForExpression, FunctionDefinition, Invocation, ListExpression, LiteralExpression,
        QuantifiedExpression, Relation,
    };

    fn kind<T: PartialSchema>(name: &str) -> RefOr<Schema> {
        let mut schema = T::schema();
        if let RefOr::T(Schema::Object(object)) = &mut schema {
            let word = ObjectBuilder::new().schema_type(Type::String).enum_values(Some([name])).build();
            object.properties.insert("type".to_owned(), RefOr::T(Schema::Object(word)));
            object.required.push("type".to_owned());
        }
        schema
    }

    impl PartialSchema for BoxedExpression {
        fn schema() -> RefOr<Schema> {
            let kinds = OneOfBuilder::new()
                .item(kind::<LiteralExpression>("literalExpression"))
                .item(kind::<ContextExpression>("context"))
                .item(kind::<ListExpression>("list"))
                .item(kind::<Relation>("relation"))
                .item(kind::<Invocation>("invocation"))
                .item(kind::<FunctionDefinition>("functionDefinition"))
                .item(kind::<DecisionTable>("decisionTable"))
                .item(kind::<ConditionalExpression>("conditional"))
                .item(kind::<FilterExpression>("filter"))
                .item(kind::<ForExpression>("for"))
                .item(kind::<QuantifiedExpression>("some"))
                .item(kind::<QuantifiedExpression>("every"))
                .description(Some(
                    "Logic: a text of FEEL or a box of parts. The member `type` tells the kind.",
                ));
            RefOr::T(Schema::OneOf(kinds.build()))
        }
    }

    impl ToSchema for BoxedExpression {
        fn name() -> Cow<'static, str> {
            Cow::Borrowed("BoxedExpression")
        }
    }
}

/// Kind of a function, by what carries it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum FunctionKind {
    /// Expression in the body of the function.
    #[default]
    #[serde(rename = "FEEL")]
    Feel,
    /// A method of a Java class; calls are refused.
    Java,
    /// A model of the Predictive Model Markup Language; calls are refused.
    #[serde(rename = "PMML")]
    Pmml,
}

shape! {
    /// A text in an expression language, which is FEEL when none is named.
    struct LiteralExpression {
        /// Id.
        id: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Type of the result.
        type_ref: String,
        /// Language.
        expression_language: String,
        /// The text.
        text: String,
        /// Another document's element in place of a text; nothing of it is evaluated.
        imported_values: Box<ImportedValues>,
        @ at
    }

    /// An element of another document that an expression takes its value from.
    struct ImportedValues {
        /// Id.
        id: String,
        /// Name.
        name: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Namespace of the document.
        namespace: String,
        /// URI of the document.
        location_uri: String,
        /// Kind of what is imported: the namespace of its schema.
        import_type: String,
        /// Language of the element.
        expression_language: String,
        /// The element, named in that language.
        imported_element: String,
        @ at
    }

    /// Named values. The last entry may have no variable: it is the result of the whole.
    struct ContextExpression {
        /// Id.
        id: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Type of the result.
        type_ref: String,
        + lists {
            /// Entries in order.
            entries: ContextEntry,
        }
        @ at
    }

    /// A named value.
    struct ContextEntry {
        /// Id.
        id: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Name and type.
        variable: InformationItem,
        /// The value.
        #[cfg_attr(feature = "schema", schema(no_recursion))]
        value: BoxedExpression,
        @ at
    }

    /// Values in an order.
    struct ListExpression {
        /// Id.
        id: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Type of the result.
        type_ref: String,
        + lists {
            /// Items.
            #[cfg_attr(feature = "schema", schema(no_recursion))]
            items: BoxedExpression,
        }
        @ at
    }

    /// A list of contexts, written as a table.
    struct Relation {
        /// Id.
        id: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Type of the result.
        type_ref: String,
        + lists {
            /// Names and types of the members.
            columns: InformationItem,
            /// The contexts.
            rows: RelationRow,
        }
        @ at
    }

    /// A row of a relation.
    struct RelationRow {
        /// Id.
        id: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Type.
        type_ref: String,
        + lists {
            /// The members' values in the order of the columns.
            #[cfg_attr(feature = "schema", schema(no_recursion))]
            items: BoxedExpression,
        }
        @ at
    }

    /// A call with named arguments.
    struct Invocation {
        /// Id.
        id: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Type of the result.
        type_ref: String,
        /// Function to call, as an expression whose value is a function.
        #[cfg_attr(feature = "schema", schema(no_recursion))]
        called_function: BoxedExpression,
        + lists {
            /// Arguments.
            bindings: Binding,
        }
        @ at
    }

    /// An argument.
    struct Binding {
        /// The parameter.
        parameter: InformationItem,
        /// The argument's value.
        #[cfg_attr(feature = "schema", schema(no_recursion))]
        expression: BoxedExpression,
    }

    /// A function.
    struct FunctionDefinition {
        /// Id.
        id: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Type of the result.
        type_ref: String,
        /// Kind of the function; FEEL when absent.
        kind: FunctionKind,
        /// The body.
        #[cfg_attr(feature = "schema", schema(no_recursion))]
        body: BoxedExpression,
        + lists {
            /// Parameters.
            formal_parameters: InformationItem,
        }
        @ at
    }

    /// One of two values by a condition (DMN 1.4).
    struct ConditionalExpression {
        /// Id.
        id: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Type of the result.
        type_ref: String,
        /// The condition.
        #[cfg_attr(feature = "schema", schema(no_recursion))]
        r#if: BoxedExpression,
        /// The value when the condition is true.
        #[cfg_attr(feature = "schema", schema(no_recursion))]
        then: BoxedExpression,
        /// The value otherwise.
        #[cfg_attr(feature = "schema", schema(no_recursion))]
        r#else: BoxedExpression,
        @ at
    }

    /// The items of a list that pass a test (DMN 1.4).
    struct FilterExpression {
        /// Id.
        id: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Type of the result.
        type_ref: String,
        /// The list.
        #[cfg_attr(feature = "schema", schema(no_recursion))]
        r#in: BoxedExpression,
        /// The test, in which `item` and the item's members are names.
        #[cfg_attr(feature = "schema", schema(no_recursion))]
        r#match: BoxedExpression,
        @ at
    }

    /// A list made from each item of another (DMN 1.4).
    struct ForExpression {
        /// Id.
        id: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Type of the result.
        type_ref: String,
        /// Name of the item.
        iterator_variable: String,
        /// Type of the list given.
        in_type_ref: String,
        /// The list.
        #[cfg_attr(feature = "schema", schema(no_recursion))]
        r#in: BoxedExpression,
        /// Expression for each item of the result.
        #[cfg_attr(feature = "schema", schema(no_recursion))]
        r#return: BoxedExpression,
        @ at
    }

    /// Whether any or all items pass a test (DMN 1.4).
    struct QuantifiedExpression {
        /// Id.
        id: String,
        /// Description.
        description: String,
        /// Label.
        label: String,
        /// Type of the result.
        type_ref: String,
        /// Name of the item.
        iterator_variable: String,
        /// Type of the list given.
        in_type_ref: String,
        /// The list.
        #[cfg_attr(feature = "schema", schema(no_recursion))]
        r#in: BoxedExpression,
        /// The test.
        #[cfg_attr(feature = "schema", schema(no_recursion))]
        satisfies: BoxedExpression,
        @ at
    }
}
