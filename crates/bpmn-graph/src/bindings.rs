//! Parameters of resources that roles bind (clause 10.3.1). The typed definition has no member for them: they are read from
//! the document that it is exported as.

use heddle_bpmn::ElementKind as K;
use heddle_bpmn::element::Group;
use heddle_bpmn::elements::{El, Elements};
use heddle_bpmn::model::WorkflowDefinition;
use heddle_bpmn::xml;
use std::collections::{BTreeMap, HashMap};

/// Name of the element of a binding.
pub(super) const BINDING: &str = "resourceParameterBinding";

/// Binding of a parameter of the resource that a role names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Binding {
    /// Id of the parameter.
    pub parameter: String,
    /// Expression of its value.
    pub expression: String,
}

/// Bindings of the roles of an activity, by the place of the role among them.
pub(super) type RoleBindings = BTreeMap<usize, Vec<Binding>>;

/// Bindings of a definition, by the ids of its activities.
#[derive(Debug, Default)]
pub(super) struct Bindings(HashMap<String, RoleBindings>);

impl Bindings {
    /// The bindings of a definition; none where no preserved fragment names one.
    ///
    /// # Errors
    /// A sentence when the definition can't be written: who fits the resources is not known then.
    pub(super) fn of(definition: &WorkflowDefinition) -> Result<Self, String> {
        if !are_in(definition) {
            return Ok(Self::default());
        }
        let told = |reason: String| format!("the bound parameters of resources are not read: {reason}");
        let written = xml::write_undrawn(definition).map_err(|error| told(error.to_string()))?;
        let elements = Elements::parse(&written.xml).map_err(|error| told(error.to_string()))?;
        let mut found = Self::default();
        for activity in elements.all().filter(|el| elements.is_of_the_model(*el)) {
            let is_role =
                |el: &El| elements.kind(*el).is_some_and(|kind| kind.group() == Group::ResourceRole);
            for (place, role) in elements.children(activity).filter(is_role).enumerate() {
                let own = bindings(&elements, role);
                let Some(id) = elements.attribute(activity, "id").filter(|_| !own.is_empty()) else {
                    continue;
                };
                found.0.entry(id.into_owned()).or_default().insert(place, own);
            }
        }
        Ok(found)
    }

    /// The bindings of the roles of an activity.
    pub(super) fn of_activity(&self, id: &str) -> Option<&RoleBindings> {
        self.0.get(id)
    }
}

/// Whether a definition preserves a binding.
pub(super) fn are_in(definition: &WorkflowDefinition) -> bool {
    let fragments = definition.bpmn.iter().flat_map(|bpmn| bpmn.extension_elements_xml.iter().flatten());
    fragments.into_iter().any(|fragment| fragment.contains(BINDING))
}

fn bindings(elements: &Elements<'_>, role: El) -> Vec<Binding> {
    let own = elements.children(role).filter(|el| elements.kind(*el) == Some(K::ResourceParameterBinding));
    own.map(|binding| {
        let reference = elements.attribute(binding, "parameterRef").unwrap_or_default();
        let parameter = reference.rsplit(':').next().unwrap_or_default().trim().to_owned();
        let expression = elements.children(binding).next().map(|el| elements.text(el).trim().to_owned());
        Binding { parameter, expression: expression.unwrap_or_default() }
    })
    .collect()
}
