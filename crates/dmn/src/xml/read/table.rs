//! Decision tables, and the texts that they and other boxes are made of.

#![expect(clippy::needless_update, reason = "the shapes of one macro have more members or none")]

use heddle_xml::El;

use super::Reader;
use crate::model::{
    Aggregation, At, DecisionRule, DecisionTable, HitPolicy, InputClause, LiteralExpression, Orientation,
    OutputClause, RuleAnnotationClause, UnaryTestsText,
};

/// Members that a text in an element `text` and its surroundings have in common.
struct Text {
    id: Option<String>,
    label: Option<String>,
    description: Option<String>,
    type_ref: Option<String>,
    language: Option<String>,
    text: Option<String>,
    /// Start of the text.
    at: At,
}

impl Reader<'_, '_> {
    /// The element as a text: each attribute and child is looked at once, since most elements of a model are such.
    fn text(&self, el: El) -> Text {
        let mut text = Text {
            id: None,
            label: None,
            description: None,
            type_ref: None,
            language: None,
            text: None,
            at: At::default(),
        };
        for attribute in self.document.attributes(el) {
            match attribute.name {
                "id" => text.id = Some(attribute.value().into_owned()),
                "label" => text.label = Some(attribute.value().into_owned()),
                "typeRef" => text.type_ref = Some(self.type_name(el, &attribute.value())),
                "expressionLanguage" => text.language = self.language(el, attribute.name),
                _ => {}
            }
        }
        let mut start = None;
        for (name, child) in self.children(el) {
            match name {
                "text" if start.is_none() => {
                    text.text = self.content(child);
                    start = Some(self.places.at(self.document.content_start(child)));
                }
                "description" if text.description.is_none() => text.description = self.content(child),
                _ => {}
            }
        }
        text.at = start.unwrap_or_else(|| self.at(el));
        text
    }

    pub(super) fn unary_tests(&self, el: El) -> UnaryTestsText {
        let Text { id, label, description, type_ref, language, text, at } = self.text(el);
        UnaryTestsText { id, label, description, type_ref, expression_language: language, text, at }
    }

    pub(super) fn literal(&self, el: El) -> LiteralExpression {
        let Text { id, label, description, type_ref, language, text, at } = self.text(el);
        let imported_values = self.imported_values(el).map(Box::new);
        LiteralExpression {
            id,
            label,
            description,
            type_ref,
            expression_language: language,
            text,
            imported_values,
            at,
        }
    }

    pub(super) fn table(&mut self, el: El) -> DecisionTable {
        let hit_policy = self.word(el, "hitPolicy", hit_policy);
        let aggregation = self.word(el, "aggregation", |text| {
            Some(match text {
                "SUM" => Aggregation::Sum,
                "COUNT" => Aggregation::Count,
                "MIN" => Aggregation::Min,
                "MAX" => Aggregation::Max,
                _ => return None,
            })
        });
        let preferred_orientation = self.word(el, "preferredOrientation", |text| {
            Some(match text {
                "Rule-as-Row" => Orientation::RuleAsRow,
                "Rule-as-Column" => Orientation::RuleAsColumn,
                "CrossTable" => Orientation::CrossTable,
                _ => return None,
            })
        });
        let mut table = element!(
            self,
            el,
            DecisionTable {
                type_ref: self.type_ref(el),
                hit_policy: hit_policy,
                aggregation: aggregation,
                preferred_orientation: preferred_orientation,
                output_label: self.attribute(el, "outputLabel"),
            }
        );
        table.rules.reserve(self.room(el));
        for (name, child) in self.children(el) {
            match name {
                "input" => table.inputs.push(element!(
                    self,
                    child,
                    InputClause {
                        input_expression: self.child(child, "inputExpression").map(|el| self.literal(el)),
                        input_values: self.child(child, "inputValues").map(|el| self.unary_tests(el)),
                    }
                )),
                "output" => table.outputs.push(element!(
                    self,
                    child,
                    OutputClause {
                        name: self.attribute(child, "name"),
                        type_ref: self.type_ref(child),
                        output_values: self.child(child, "outputValues").map(|el| self.unary_tests(el)),
                        default_output_entry: self
                            .child(child, "defaultOutputEntry")
                            .map(|el| self.literal(el)),
                    }
                )),
                "annotation" => {
                    table.annotations.push(RuleAnnotationClause { name: self.attribute(child, "name") });
                }
                "rule" => {
                    let rule = self.rule(child, table.inputs.len(), table.outputs.len());
                    table.rules.push(rule);
                }
                other => self.other(other, child),
            }
        }
        table
    }

    /// A rule, which most probably has entries for that many inputs and outputs.
    fn rule(&mut self, el: El, inputs: usize, outputs: usize) -> DecisionRule {
        let mut rule = element!(self, el, DecisionRule {});
        let room = self.room(el);
        rule.input_entries.reserve_exact(inputs.min(room));
        rule.output_entries.reserve_exact(outputs.min(room));
        for (name, child) in self.children(el) {
            match name {
                "inputEntry" => rule.input_entries.push(self.unary_tests(child)),
                "outputEntry" => rule.output_entries.push(self.literal(child)),
                "annotationEntry" => {
                    let text = self.child(child, "text").and_then(|el| self.content(el));
                    rule.annotation_entries.push(text.unwrap_or_default());
                }
                other => self.other(other, child),
            }
        }
        rule
    }
}

/// A hit policy by its name, or by the letter that tables show.
fn hit_policy(text: &str) -> Option<HitPolicy> {
    Some(match text {
        "UNIQUE" | "U" => HitPolicy::Unique,
        "FIRST" | "F" => HitPolicy::First,
        "PRIORITY" | "P" => HitPolicy::Priority,
        "ANY" | "A" => HitPolicy::Any,
        "COLLECT" | "C" => HitPolicy::Collect,
        "RULE ORDER" | "R" => HitPolicy::RuleOrder,
        "OUTPUT ORDER" | "O" => HitPolicy::OutputOrder,
        _ => return None,
    })
}
