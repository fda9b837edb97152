//! Boxed expressions.

#![expect(clippy::needless_update, reason = "the shapes of one macro have more members or none")]

use heddle_xml::{El, XmlError};

use super::super::MAX_NESTING;
use super::Reader;
use crate::model::{
    Binding, BoxedExpression, ConditionalExpression, ContextEntry, ContextExpression, FilterExpression,
    ForExpression, FunctionDefinition, FunctionKind, Invocation, ListExpression, QuantifiedExpression,
    Relation, RelationRow,
};

impl Reader<'_, '_> {
    /// The expression that the element is; `None` when it is none.
    pub(super) fn expression(
        &mut self,
        name: &str,
        el: El,
        depth: usize,
    ) -> Result<Option<BoxedExpression>, XmlError> {
        if depth >= MAX_NESTING {
            return Err(self.too_deep(el));
        }
        Ok(Some(match name {
            "literalExpression" => BoxedExpression::LiteralExpression(self.literal(el)),
            "decisionTable" => BoxedExpression::DecisionTable(self.table(el)),
            "context" => BoxedExpression::Context(self.context(el, depth)?),
            "list" => BoxedExpression::List(element!(
                self,
                el,
                ListExpression { type_ref: self.type_ref(el), items: self.expressions(el, depth)? }
            )),
            "relation" => BoxedExpression::Relation(self.relation(el, depth)?),
            "invocation" => BoxedExpression::Invocation(Box::new(self.invocation(el, depth)?)),
            "functionDefinition" => BoxedExpression::FunctionDefinition(Box::new(self.function(el, depth)?)),
            "conditional" => BoxedExpression::Conditional(Box::new(element!(
                self,
                el,
                ConditionalExpression {
                    type_ref: self.type_ref(el),
                    r#if: self.inner(el, "if", depth)?,
                    then: self.inner(el, "then", depth)?,
                    r#else: self.inner(el, "else", depth)?,
                }
            ))),
            "filter" => BoxedExpression::Filter(Box::new(element!(
                self,
                el,
                FilterExpression {
                    type_ref: self.type_ref(el),
                    r#in: self.inner(el, "in", depth)?,
                    r#match: self.inner(el, "match", depth)?,
                }
            ))),
            "for" => BoxedExpression::For(Box::new(element!(
                self,
                el,
                ForExpression {
                    type_ref: self.type_ref(el),
                    iterator_variable: self.attribute(el, "iteratorVariable"),
                    in_type_ref: self.child(el, "in").and_then(|el| self.type_ref(el)),
                    r#in: self.inner(el, "in", depth)?,
                    r#return: self.inner(el, "return", depth)?,
                }
            ))),
            "some" => BoxedExpression::Some(Box::new(self.quantified(el, depth)?)),
            "every" => BoxedExpression::Every(Box::new(self.quantified(el, depth)?)),
            _ => return Ok(None),
        }))
    }

    fn quantified(&mut self, el: El, depth: usize) -> Result<QuantifiedExpression, XmlError> {
        Ok(element!(
            self,
            el,
            QuantifiedExpression {
                type_ref: self.type_ref(el),
                iterator_variable: self.attribute(el, "iteratorVariable"),
                in_type_ref: self.child(el, "in").and_then(|el| self.type_ref(el)),
                r#in: self.inner(el, "in", depth)?,
                satisfies: self.inner(el, "satisfies", depth)?,
            }
        ))
    }

    /// The first expression among the children of the child of that name.
    fn inner(&mut self, el: El, name: &str, depth: usize) -> Result<Option<BoxedExpression>, XmlError> {
        match self.child(el, name) {
            Some(child) => self.first(child, depth),
            None => Ok(None),
        }
    }

    fn first(&mut self, el: El, depth: usize) -> Result<Option<BoxedExpression>, XmlError> {
        for (name, child) in self.children(el) {
            if let Some(expression) = self.expression(name, child, depth + 1)? {
                return Ok(Some(expression));
            }
        }
        Ok(None)
    }

    fn expressions(&mut self, el: El, depth: usize) -> Result<Vec<BoxedExpression>, XmlError> {
        let mut items = Vec::new();
        for (name, child) in self.children(el) {
            match self.expression(name, child, depth + 1)? {
                Some(expression) => items.push(expression),
                None => self.other(name, child),
            }
        }
        Ok(items)
    }

    fn context(&mut self, el: El, depth: usize) -> Result<ContextExpression, XmlError> {
        let mut context = element!(self, el, ContextExpression { type_ref: self.type_ref(el) });
        for (name, child) in self.children(el) {
            if name == "contextEntry" {
                let value = self.first(child, depth)?;
                let entry =
                    element!(self, child, ContextEntry { variable: self.variable(child), value: value });
                context.entries.push(entry);
            } else {
                self.other(name, child);
            }
        }
        Ok(context)
    }

    fn relation(&mut self, el: El, depth: usize) -> Result<Relation, XmlError> {
        let mut relation = element!(self, el, Relation { type_ref: self.type_ref(el) });
        for (name, child) in self.children(el) {
            match name {
                "column" => relation.columns.push(self.item(child)),
                "row" => {
                    let items = self.expressions(child, depth)?;
                    let row =
                        element!(self, child, RelationRow { type_ref: self.type_ref(child), items: items });
                    relation.rows.push(row);
                }
                other => self.other(other, child),
            }
        }
        Ok(relation)
    }

    fn invocation(&mut self, el: El, depth: usize) -> Result<Invocation, XmlError> {
        let mut invocation = element!(self, el, Invocation { type_ref: self.type_ref(el) });
        for (name, child) in self.children(el) {
            if name == "binding" {
                let parameter = self.child(child, "parameter").map(|el| self.item(el));
                let expression = self.first(child, depth)?;
                invocation.bindings.push(Binding { parameter, expression });
                continue;
            }
            match self.expression(name, child, depth + 1)? {
                Some(expression) => invocation.called_function = Some(expression),
                None => self.other(name, child),
            }
        }
        Ok(invocation)
    }

    pub(super) fn function(&mut self, el: El, depth: usize) -> Result<FunctionDefinition, XmlError> {
        let kind = match self.attribute(el, "kind").as_deref().map(str::trim) {
            Some("Java" | "J") => Some(FunctionKind::Java),
            Some("PMML" | "P") => Some(FunctionKind::Pmml),
            Some(_) => Some(FunctionKind::Feel),
            None => None,
        };
        let mut function = element!(self, el, FunctionDefinition { type_ref: self.type_ref(el), kind: kind });
        for (name, child) in self.children(el) {
            if name == "formalParameter" {
                function.formal_parameters.push(self.item(child));
                continue;
            }
            match self.expression(name, child, depth + 1)? {
                Some(expression) => function.body = Some(expression),
                None => self.other(name, child),
            }
        }
        Ok(function)
    }
}
