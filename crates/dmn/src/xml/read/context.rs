//! Elements around the decisions: business context, collections and artifacts.

#![expect(clippy::needless_update, reason = "the shapes of one macro have more members or none")]

use heddle_xml::El;

use super::Reader;
use crate::model::{
    Association, AssociationDirection, Decision, DecisionModel, ElementCollection, Group, ImportedValues,
    OrganizationUnit, PerformanceIndicator, TextAnnotation,
};

impl Reader<'_, '_> {
    /// The references of the children of that name.
    fn hrefs(&self, el: El, wanted: &str) -> Vec<String> {
        let own = self.children(el).filter(|(name, _)| *name == wanted);
        own.filter_map(|(_, child)| self.href(child)).collect()
    }

    pub(super) fn imported_values(&self, el: El) -> Option<ImportedValues> {
        let el = self.child(el, "importedValues")?;
        Some(element!(
            self,
            el,
            ImportedValues {
                name: self.attribute(el, "name"),
                namespace: self.attribute(el, "namespace"),
                location_uri: self.attribute(el, "locationURI"),
                import_type: self.language(el, "importType"),
                expression_language: self.language(el, "expressionLanguage"),
                imported_element: self.child(el, "importedElement").and_then(|el| self.content(el)),
            }
        ))
    }

    pub(super) fn around_decision(&mut self, name: &str, el: El, decision: &mut Decision) {
        let list = match name {
            "supportedObjective" => &mut decision.supported_objectives,
            "impactedPerformanceIndicator" => &mut decision.impacted_performance_indicators,
            "decisionMaker" => &mut decision.decision_makers,
            "decisionOwner" => &mut decision.decision_owners,
            "usingProcess" => &mut decision.using_processes,
            "usingTask" => &mut decision.using_tasks,
            other => return self.other(other, el),
        };
        list.extend(self.href(el));
    }

    pub(super) fn around(&mut self, name: &str, el: El, model: &mut DecisionModel) {
        match name {
            "textAnnotation" => model.text_annotations.push(element!(
                self,
                el,
                TextAnnotation {
                    text_format: self.attribute(el, "textFormat"),
                    text: self.child(el, "text").and_then(|el| self.content(el)),
                }
            )),
            "association" => {
                let direction = self.word(el, "associationDirection", |text| {
                    Some(match text {
                        "None" => AssociationDirection::None,
                        "One" => AssociationDirection::One,
                        "Both" => AssociationDirection::Both,
                        _ => return None,
                    })
                });
                let reference = |name| self.child(el, name).and_then(|el| self.href(el));
                let association = element!(
                    self,
                    el,
                    Association {
                        association_direction: direction,
                        source_ref: reference("sourceRef"),
                        target_ref: reference("targetRef"),
                    }
                );
                model.associations.push(association);
            }
            "group" => model.groups.push(element!(self, el, Group { name: self.attribute(el, "name") })),
            "elementCollection" => model.element_collections.push(element!(
                self,
                el,
                ElementCollection {
                    name: self.attribute(el, "name"),
                    drg_elements: self.hrefs(el, "drgElement"),
                }
            )),
            "performanceIndicator" => model.performance_indicators.push(element!(
                self,
                el,
                PerformanceIndicator {
                    name: self.attribute(el, "name"),
                    uri: self.attribute(el, "URI"),
                    impacting_decisions: self.hrefs(el, "impactingDecision"),
                }
            )),
            "organizationUnit" => model.organization_units.push(element!(
                self,
                el,
                OrganizationUnit {
                    name: self.attribute(el, "name"),
                    uri: self.attribute(el, "URI"),
                    decisions_made: self.hrefs(el, "decisionMade"),
                    decisions_owned: self.hrefs(el, "decisionOwned"),
                }
            )),
            other => self.other(other, el),
        }
    }
}
