//! Writing of the elements around the decisions: artifacts, collections and business context.

use super::write::{Attributes, Writer};
use crate::model::{AssociationDirection, Decision, DecisionModel, ImportedValues};

impl Writer<'_> {
    fn references(&mut self, name: &str, hrefs: &[String]) {
        hrefs.iter().for_each(|href| self.reference(name, Some(href)));
    }

    pub(super) fn imported_values(&mut self, it: &ImportedValues) {
        let attributes: Attributes<'_> = &[
            ("name", it.name.as_ref()),
            ("label", it.label.as_ref()),
            ("namespace", it.namespace.as_ref()),
            ("locationURI", it.location_uri.as_ref()),
            ("importType", it.import_type.as_ref()),
            ("expressionLanguage", it.expression_language.as_ref()),
        ];
        self.element("importedValues", it.id.as_ref(), it.description.as_ref(), attributes, |this| {
            this.text_element("importedElement", it.imported_element.as_ref());
        });
    }

    pub(super) fn around_decision(&mut self, it: &Decision) {
        self.references("supportedObjective", &it.supported_objectives);
        self.references("impactedPerformanceIndicator", &it.impacted_performance_indicators);
        self.references("decisionMaker", &it.decision_makers);
        self.references("decisionOwner", &it.decision_owners);
        self.references("usingProcess", &it.using_processes);
        self.references("usingTask", &it.using_tasks);
    }

    /// Writes the elements around the decisions in the schema's order: artifacts, collections, business
    /// context.
    pub(super) fn around(&mut self, model: &DecisionModel) {
        for it in &model.text_annotations {
            let attributes: Attributes<'_> =
                &[("label", it.label.as_ref()), ("textFormat", it.text_format.as_ref())];
            self.element("textAnnotation", it.id.as_ref(), it.description.as_ref(), attributes, |this| {
                this.text_element("text", it.text.as_ref());
            });
        }
        for it in &model.associations {
            let direction = it.association_direction.map(|direction| {
                let word = match direction {
                    AssociationDirection::None => "None",
                    AssociationDirection::One => "One",
                    AssociationDirection::Both => "Both",
                };
                word.to_owned()
            });
            let attributes: Attributes<'_> =
                &[("label", it.label.as_ref()), ("associationDirection", direction.as_ref())];
            self.element("association", it.id.as_ref(), it.description.as_ref(), attributes, |this| {
                this.reference("sourceRef", it.source_ref.as_ref());
                this.reference("targetRef", it.target_ref.as_ref());
            });
        }
        for it in &model.groups {
            let named: Attributes<'_> = &[("name", it.name.as_ref()), ("label", it.label.as_ref())];
            self.element("group", it.id.as_ref(), it.description.as_ref(), named, |_| {});
        }
        for it in &model.element_collections {
            let named: Attributes<'_> = &[("name", it.name.as_ref()), ("label", it.label.as_ref())];
            self.element("elementCollection", it.id.as_ref(), it.description.as_ref(), named, |this| {
                this.references("drgElement", &it.drg_elements);
            });
        }
        for it in &model.performance_indicators {
            let attributes: Attributes<'_> =
                &[("name", it.name.as_ref()), ("label", it.label.as_ref()), ("URI", it.uri.as_ref())];
            self.element(
                "performanceIndicator",
                it.id.as_ref(),
                it.description.as_ref(),
                attributes,
                |this| {
                    this.references("impactingDecision", &it.impacting_decisions);
                },
            );
        }
        for it in &model.organization_units {
            let attributes: Attributes<'_> =
                &[("name", it.name.as_ref()), ("label", it.label.as_ref()), ("URI", it.uri.as_ref())];
            self.element("organizationUnit", it.id.as_ref(), it.description.as_ref(), attributes, |this| {
                this.references("decisionMade", &it.decisions_made);
                this.references("decisionOwned", &it.decisions_owned);
            });
        }
    }
}
