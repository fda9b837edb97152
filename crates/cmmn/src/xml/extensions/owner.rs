//! Elements that carry settings.

use crate::model::{
    Case, CaseFileItem, CaseFileItemDefinition, CaseRole, Criterion, DiscretionaryItem, ItemControl, OnPart,
    PlanItem, PlanItemDefinition, PlanningTable, Rule, Sentry,
};
use crate::xml::rows::definition_name;
use serde_json::{Map, Value};

/// A model type with settings and extension elements.
pub(in crate::xml) trait Extended: Default {
    /// The name by which the table of words knows the element.
    fn owner(&self) -> &'static str;
    /// Name for people.
    fn label(&self) -> Option<&str>;
    fn configuration(&self) -> Option<&Map<String, Value>>;
    fn configuration_mut(&mut self) -> &mut Option<Map<String, Value>>;
    fn extension_xml(&self) -> &Option<Vec<String>>;
    fn extension_xml_mut(&mut self) -> &mut Option<Vec<String>>;
}

macro_rules! extended_types {
    ($($model:ident: $owner:expr, $label:expr;)*) => { $(
        impl Extended for $model {
            fn owner(&self) -> &'static str {
                let owner: fn(&$model) -> &'static str = $owner;
                owner(self)
            }
            fn label(&self) -> Option<&str> {
                let label: fn(&$model) -> Option<&str> = $label;
                label(self)
            }
            fn configuration(&self) -> Option<&Map<String, Value>> {
                self.configuration.as_ref()
            }
            fn configuration_mut(&mut self) -> &mut Option<Map<String, Value>> {
                &mut self.configuration
            }
            fn extension_xml(&self) -> &Option<Vec<String>> {
                &self.extension_xml
            }
            fn extension_xml_mut(&mut self) -> &mut Option<Vec<String>> {
                &mut self.extension_xml
            }
        }
    )* };
}

extended_types! {
    Case: |_| "case", |own| own.name.as_deref();
    CaseRole: |_| "role", |own| own.name.as_deref();
    CaseFileItem: |_| "caseFileItem", |own| own.name.as_deref();
    CaseFileItemDefinition: |_| "caseFileItemDefinition", |own| own.name.as_deref();
    PlanItemDefinition: definition_name, |own| own.name.as_deref();
    PlanItem: |_| "planItem", |own| own.name.as_deref();
    DiscretionaryItem: |_| "discretionaryItem", |own| own.name.as_deref();
    ItemControl: |_| "itemControl", |_| None;
    Rule: |_| "rule", |own| own.name.as_deref();
    PlanningTable: |_| "planningTable", |_| None;
    Criterion: |_| "criterion", |own| own.name.as_deref();
    Sentry: |_| "sentry", |own| own.name.as_deref();
    OnPart: |_| "onPart", |own| own.name.as_deref();
}
