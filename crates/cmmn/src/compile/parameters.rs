//! Parameters of cases and tasks: what is bound to the case file, and what is mapped (clause 5.4.10.1).

use super::{At, Builder, local};
use crate::model::{self, PlanItemDefinition};
use crate::plan::{FileIx, Parameter};
use heddle_feel::{Dialect, Expression};
use heddle_settings::expression::Wrong;
use heddle_settings::{Setting, Target, juel};
use std::sync::Arc;

/// Parameters of what a task calls; none where it stands elsewhere.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Called<'m> {
    pub inputs: Option<&'m [model::Parameter]>,
    pub outputs: Option<&'m [model::Parameter]>,
}

/// Values that pass between a task, the case file and what the task calls.
#[derive(Debug, Default)]
pub(super) struct Passed {
    pub bound_inputs: Vec<(FileIx, Arc<str>)>,
    pub bound_outputs: Vec<(Arc<str>, FileIx)>,
    pub inputs: Vec<(Target, Setting)>,
    pub outputs: Vec<(Target, Setting)>,
    /// Names by which output mappings know what the called one gives, in order.
    pub results: Vec<Arc<str>>,
}

impl Passed {
    /// Whether the task has parameters at all.
    pub(super) const fn is_empty(&self) -> bool {
        self.bound_inputs.is_empty()
            && self.bound_outputs.is_empty()
            && self.inputs.is_empty()
            && self.outputs.is_empty()
    }
}

fn id_of(parameter: &model::Parameter) -> &str {
    parameter.id.as_deref().unwrap_or_default()
}

/// The name of a parameter; its id where it has none.
fn name_of(parameter: &model::Parameter) -> &str {
    let name = parameter.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
    name.unwrap_or_else(|| id_of(parameter))
}

fn by_id<'p>(parameters: &'p [model::Parameter], id: &str) -> Option<&'p model::Parameter> {
    parameters.iter().find(|own| id_of(own) == id)
}

impl<'m> Builder<'m> {
    /// Parameters of the case itself.
    pub(super) fn case_parameters(&mut self, path: &str) {
        let case = self.case;
        for (list, is_input) in [(&case.inputs, true), (&case.outputs, false)] {
            for (number, parameter) in list.iter().flatten().enumerate() {
                let member = if is_input { "inputs" } else { "outputs" };
                let path = format!("{path}.{member}[{number}]");
                let at = At { id: id_of(parameter), path: &path };
                if name_of(parameter).is_empty() {
                    self.error(at, ("missingId", "5.2.1"), "the parameter has neither name nor id");
                    continue;
                }
                let bound = self.bound(at, parameter);
                let refinement = if is_input && bound.is_some() {
                    // What is written is computed of the parameter's own value.
                    self.value(at, "bindingRefinement", parameter.binding_refinement.as_ref())
                } else {
                    self.refinement(at, parameter, bound)
                };
                let found = Parameter { name: name_of(parameter).into(), bound, refinement };
                if is_input { self.plan.inputs.push(found) } else { self.plan.outputs.push(found) }
            }
        }
    }

    /// Parameters of a task; `at` is the place of its definition.
    pub(super) fn parameters(
        &mut self,
        definition: &'m PlanItemDefinition,
        called: Called<'m>,
        at: At<'_>,
    ) -> Passed {
        let mut found = Passed::default();
        let inputs = definition.inputs.as_deref().unwrap_or_default();
        let outputs = definition.outputs.as_deref().unwrap_or_default();
        for (parameter, is_input) in
            inputs.iter().map(|own| (own, true)).chain(outputs.iter().map(|own| (own, false)))
        {
            if name_of(parameter).is_empty() {
                self.error(at, ("missingId", "5.4.10"), "a parameter has neither name nor id");
                continue;
            }
            self.bind(at, parameter, is_input, &mut found);
        }
        for mapping in definition.parameter_mappings.iter().flatten() {
            if let Err(wrong) = self.mapping(at, definition, called, mapping, &mut found) {
                self.refuse(at, "parameterMappings", wrong);
            }
        }
        self.by_name(at, definition, called, &mut found);
        found
    }

    /// Binding of a parameter.
    fn bind(&mut self, at: At<'_>, parameter: &'m model::Parameter, is_input: bool, found: &mut Passed) {
        let Some(file) = self.bound(at, parameter) else { return };
        let name: Arc<str> = name_of(parameter).into();
        let refined = parameter.binding_refinement.is_some();
        let refinement = if is_input {
            self.refinement(at, parameter, Some(file))
        } else {
            // What is written is computed of the parameter's own value.
            self.value(at, "bindingRefinement", parameter.binding_refinement.as_ref())
        };
        let computed = refinement.map(Setting::Expression).zip(Target::read(&name));
        match (is_input, computed) {
            (true, Some((expression, target))) => found.inputs.push((target, expression)),
            (true, None) if refined => {}
            (true, None) => found.bound_inputs.push((file, name)),
            (false, computed) => {
                found.outputs.extend(computed.map(|(expression, target)| (target, expression)));
                found.bound_outputs.push((name, file));
            }
        }
    }

    /// The case file item that a parameter is bound to.
    fn bound(&mut self, at: At<'_>, parameter: &model::Parameter) -> Option<FileIx> {
        let id = parameter.binding_ref.as_deref().filter(|id| !id.is_empty())?;
        self.file_item(at, "bindingRef", id)
    }

    /// The refinement of an input as an expression over the case's variables: the names in it are those of the bound item
    /// and of its members.
    fn refinement(
        &mut self,
        at: At<'_>,
        parameter: &'m model::Parameter,
        bound: Option<FileIx>,
    ) -> Option<Expression> {
        let refinement = self.value(at, "bindingRefinement", parameter.binding_refinement.as_ref())?;
        let Some(file) = bound else {
            let message = "bindingRefinement: the parameter is bound to no case file item";
            self.error(at, ("wrongParameter", "5.4.10.1"), message);
            return None;
        };
        let composed = self.file_path(file).and_then(|(name, path)| {
            let source = format!("{{{name}: {path}, refined: ({})}}.refined", refinement.source());
            compiled(&source)
        });
        match composed {
            Ok(expression) => Some(expression),
            Err(wrong) => {
                self.refuse(at, "bindingRefinement", wrong);
                None
            }
        }
    }

    /// The name of a case file item in FEEL, and the way to its value.
    fn file_path(&self, file: FileIx) -> Result<(String, String), Wrong> {
        let mut names = Vec::new();
        let mut next = Some(file);
        while let Some(item) = next.and_then(|ix| self.plan.file.get(ix as usize)) {
            names.push(&*item.name);
            next = item.parent;
        }
        let own = names.first().copied().unwrap_or_default();
        let path =
            names.iter().rev().fold("caseFile".to_owned(), |path, name| juel::written_member(&path, name));
        Ok((written(own)?, path))
    }

    /// A mapping of one parameter to another.
    fn mapping(
        &mut self,
        at: At<'_>,
        definition: &'m PlanItemDefinition,
        called: Called<'m>,
        mapping: &'m model::ParameterMapping,
        found: &mut Passed,
    ) -> Result<(), Wrong> {
        let (source, target) = (
            mapping.source_ref.as_deref().unwrap_or_default(),
            mapping.target_ref.as_deref().unwrap_or_default(),
        );
        let inputs = definition.inputs.as_deref().unwrap_or_default();
        let outputs = definition.outputs.as_deref().unwrap_or_default();
        let written_value =
            self.value(at, "parameterMappings.transformation", mapping.transformation.as_ref());
        let computed = |name: &str| match &written_value {
            Some(expression) => Ok(expression.clone()),
            None => compiled(&written(name)?),
        };
        if let Some(own) = by_id(inputs, source) {
            let name = of_called(called.inputs, target)?;
            found.inputs.push((target_of(name)?, Setting::Expression(computed(name_of(own))?)));
        } else if let Some(own) = by_id(outputs, target) {
            let name = of_called(called.outputs, source)?;
            found.results.push(name.into());
            found.outputs.push((target_of(name_of(own))?, Setting::Expression(computed(name)?)));
        } else {
            let sentence = format!(
                "neither is {source:?} an input parameter of the task, nor {target:?} an output parameter of it"
            );
            return Err(Wrong::new("danglingReference", sentence));
        }
        Ok(())
    }

    /// Parameters of a call that are mapped by nothing pass under their own names.
    fn by_name(
        &mut self,
        at: At<'_>,
        definition: &'m PlanItemDefinition,
        called: Called<'m>,
        found: &mut Passed,
    ) {
        if !matches!(definition.r#type.as_deref(), Some("processTask" | "caseTask" | "decisionTask")) {
            return;
        }
        let mappings = definition.parameter_mappings.as_deref().unwrap_or_default();
        let is_mapped = |id: &str| {
            mappings
                .iter()
                .any(|own| own.source_ref.as_deref() == Some(id) || own.target_ref.as_deref() == Some(id))
        };
        let inputs = definition.inputs.iter().flatten().map(|own| (own, true));
        let outputs = definition.outputs.iter().flatten().map(|own| (own, false));
        for (own, is_input) in inputs.chain(outputs).filter(|(own, _)| !is_mapped(id_of(own))) {
            let name = name_of(own);
            let list = if is_input { called.inputs } else { called.outputs };
            if name.is_empty() || list.is_some_and(|list| list.iter().all(|there| name_of(there) != name)) {
                continue;
            }
            let bound = own.binding_ref.as_deref().is_some_and(|id| !id.is_empty());
            let value = written(name).and_then(|feel| compiled(&feel));
            match (value, target_of(name)) {
                // What is read of the case file stands under this name already, and so does what goes into it.
                (Ok(_), Ok(_)) if is_input && bound => {}
                (Ok(_), Ok(_)) if !is_input && own.binding_refinement.is_some() => {}
                (Ok(value), Ok(target)) if is_input => {
                    found.inputs.push((target, Setting::Expression(value)))
                }
                (Ok(value), Ok(target)) => {
                    found.results.push(name.into());
                    found.outputs.push((target, Setting::Expression(value)));
                }
                (Err(wrong), _) | (_, Err(wrong)) => self.refuse(at, "parameters", wrong),
            }
        }
    }
}

/// The name of a parameter of what is called; the reference itself where nothing is known of it.
fn of_called<'p>(parameters: Option<&'p [model::Parameter]>, id: &'p str) -> Result<&'p str, Wrong> {
    match parameters {
        Some(parameters) => by_id(parameters, id).map(name_of).ok_or_else(|| {
            Wrong::new("danglingReference", format!("what the task calls has no parameter {id:?}"))
        }),
        None if id.is_empty() => Err(Wrong::new("danglingReference", "a mapping names no parameter")),
        None => Ok(local(id)),
    }
}

fn target_of(name: &str) -> Result<Target, Wrong> {
    Target::read(name)
        .ok_or_else(|| Wrong::new("wrongParameter", format!("{name:?} is no name of a variable")))
}

/// The name of a variable in FEEL.
fn written(name: &str) -> Result<String, Wrong> {
    juel::written_name(name)
        .map_err(|error| Wrong::new("wrongParameter", format!("{name:?} is no name of FEEL: {error}")))
}

fn compiled(source: &str) -> Result<Expression, Wrong> {
    Expression::compile(source, Dialect::Heddle)
        .map_err(|error| Wrong::new("expressionSyntax", format!("`{source}` is no FEEL: {error}")))
}
