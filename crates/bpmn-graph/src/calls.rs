//! Tags of versions, and the global tasks of a definition, which can be called (clauses 10.3.6 and 10.3.7).

use heddle_bpmn::diagnostic::{self, Diagnostic};
use heddle_bpmn::model::{Bpmn, Process, WorkflowDefinition};
use heddle_bpmn::xml::{self, MODEL_NS};
pub use heddle_settings::version_number;
use heddle_xml::tags::tags;
use std::fmt::Write as _;

/// The tags that a definition gives its version: those of its processes.
#[must_use]
pub fn version_tags(definition: &WorkflowDefinition) -> Vec<String> {
    let Some(bpmn) = definition.bpmn.as_deref() else { return Vec::new() };
    let processes = bpmn.processes.as_deref().unwrap_or_default();
    let is_process = |id: &str| processes.iter().any(|process| process.id.as_deref() == Some(id));
    let local = |name: &str| name.split_once(':').map_or(name, |(_, local)| local) == "versionTag";
    let value = |raw: &str| heddle_xml::text::attribute_value(raw).trim().to_owned();
    let mut found = Vec::new();
    for fragment in bpmn.extension_elements_xml.iter().flatten().filter(|own| own.contains("versionTag")) {
        let mut all = tags(fragment);
        let Some(first) = all.next().filter(|tag| tag.attribute("for").is_some_and(is_process)) else {
            continue;
        };
        found.extend(first.attributes.iter().filter(|(name, _)| local(name)).map(|(_, raw)| value(raw)));
        found.extend(all.filter(|tag| local(tag.name)).filter_map(|tag| tag.attribute("value").map(value)));
    }
    let words = processes.iter().flat_map(|process| process.extension_xml.iter().flatten());
    for fragment in words.filter(|own| own.contains("versionTag")) {
        let named = tags(fragment).filter(|tag| local(tag.name));
        found.extend(named.filter_map(|tag| tag.attribute("value").map(value)));
    }
    found
}

/// The task that a global task is where it is called.
const GLOBAL: &[(&str, &str)] = &[
    ("globalTask", "task"),
    ("globalUserTask", "userTask"),
    ("globalManualTask", "manualTask"),
    ("globalScriptTask", "scriptTask"),
    ("globalBusinessRuleTask", "businessRuleTask"),
];

/// The global tasks of a model, each as a process of one task with the global task's id; and what could not be read.
pub(super) fn global_tasks(bpmn: &Bpmn) -> (Vec<Process>, Vec<Diagnostic>) {
    let (mut found, mut diagnostics) = (Vec::new(), Vec::new());
    for fragment in bpmn.extension_elements_xml.iter().flatten() {
        // Most fragments have none, and are looked at no further.
        if !fragment.contains(":global") && !fragment.contains("<global") {
            continue;
        }
        for element in elements(fragment) {
            match process(bpmn, fragment, &element) {
                Some(process) => found.push(process),
                None => {
                    let sentence = format!("the {} is not read and cannot be called", element.name);
                    diagnostics.push(diagnostic::warning("globalTaskUnread", sentence).with_clause("10.3.7"));
                }
            }
        }
    }
    (found, diagnostics)
}

/// The element of a global task in a fragment.
struct GlobalElement<'f> {
    /// Name of the element with its prefix.
    name: &'f str,
    /// Name of the task that it is where it is called.
    task: &'static str,
    /// Text of the element.
    text: &'f str,
}

fn elements(fragment: &str) -> Vec<GlobalElement<'_>> {
    let (mut found, mut rest) = (Vec::new(), fragment);
    for tag in tags(fragment) {
        let local = tag.name.split_once(':').map_or(tag.name, |(_, local)| local);
        let Some((_, task)) = GLOBAL.iter().find(|(global, _)| *global == local) else { continue };
        let Some(from) = rest.find(&format!("<{}", tag.name)).and_then(|at| rest.get(at..)) else { break };
        let Some(end) = end_of(from, tag.name) else { break };
        let (Some(text), Some(behind)) = (from.get(..end), from.get(end..)) else { break };
        found.push(GlobalElement { name: tag.name, task, text });
        rest = behind;
    }
    found
}

/// The end of the element with which a text begins.
fn end_of(text: &str, name: &str) -> Option<usize> {
    let open = open_end(text)?;
    if text.get(..open)?.ends_with("/>") {
        return Some(open);
    }
    let close = text.find(&format!("</{name}"))?;
    Some(close + text.get(close..)?.find('>')? + 1)
}

/// The end of the tag with which a text begins.
fn open_end(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (None, '>') => return Some(at + 1),
            (None, '"' | '\'') => quote = Some(letter),
            (Some(own), _) if own == letter => quote = None,
            _ => {}
        }
    }
    None
}

/// A process of the one task, as the reader of models reads it.
fn process(bpmn: &Bpmn, fragment: &str, element: &GlobalElement<'_>) -> Option<Process> {
    let mut head = String::new();
    let around = bpmn.namespaces.iter().flatten().map(|(prefix, uri)| (prefix.as_str(), uri.as_str()));
    let mut declared = vec!["heddle-global".to_owned()];
    // What the fragment declares holds within it, whatever the model declares.
    let tag = tags(fragment).next()?;
    let own = tag.attributes.iter().filter_map(|(name, raw)| {
        let prefix = name.strip_prefix("xmlns:").or_else(|| (*name == "xmlns").then_some(""))?;
        Some((prefix, *raw))
    });
    let inside = element.text.starts_with(&format!("<{}", tag.name));
    for (prefix, uri) in own.filter(|_| !inside).chain(around) {
        if declared.iter().any(|known| known == prefix) {
            continue;
        }
        declared.push(prefix.to_owned());
        let colon = if prefix.is_empty() { "" } else { ":" };
        write!(head, " xmlns{colon}{prefix}=\"{}\"", uri.replace('"', "&quot;")).ok()?;
    }
    let document = format!(
        "<heddle-global:definitions xmlns:heddle-global=\"{MODEL_NS}\"{head} targetNamespace=\"urn:heddle:global\">\
         <heddle-global:process id=\"heddle-global\">{}</heddle-global:process></heddle-global:definitions>",
        as_task(element)?
    );
    let read = xml::read(document.as_bytes()).ok()?.definition;
    let process = read.bpmn?.processes?.into_iter().next()?;
    let id = process.nodes.as_deref()?.first()?.element_id().filter(|id| !id.is_empty())?.to_owned();
    let name = process.nodes.as_deref()?.first()?.display_name.clone();
    Some(Process { id: Some(id), name, executable: Some(true), ..process })
}

/// The text of a global task as that of a task.
fn as_task(element: &GlobalElement<'_>) -> Option<String> {
    let GlobalElement { name, task, text } = element;
    let named = match name.split_once(':') {
        Some((prefix, _)) => format!("{prefix}:{task}"),
        None => (*task).to_owned(),
    };
    let open = open_end(text)?;
    let tag = text.get(..open)?.replacen(&format!("<{name}"), &format!("<{named}"), 1);
    // A global script task says so by another name (clause 10.3.7).
    let tag = tag.replacen(" scriptLanguage=", " scriptFormat=", 1);
    let rest = text.get(open..)?.replace(&format!("</{name}"), &format!("</{named}"));
    Some(format!("{tag}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bpmn(fragment: &str) -> Bpmn {
        let namespaces = [("b".to_owned(), MODEL_NS.to_owned())].into();
        Bpmn {
            namespaces: Some(namespaces),
            extension_elements_xml: Some(vec![fragment.to_owned()]),
            ..Bpmn::default()
        }
    }

    #[test]
    fn global_tasks_become_processes_of_one_task() {
        let fragment = "<heddle:residue for=\"d\" xmlns:heddle=\"urn:heddle:bpmn:1\"><b:globalTask id=\"g\" name=\"G > 1\"/>\
            <b:globalScriptTask id=\"s\" scriptLanguage=\"feel\"><b:script>1 + 1</b:script></b:globalScriptTask>\
            <b:note/></heddle:residue>";
        let (found, told) = global_tasks(&bpmn(fragment));
        assert!(told.is_empty(), "{told:?}");
        let seen: Vec<_> = found
            .iter()
            .map(|process| {
                let node = &process.nodes.as_deref().unwrap()[0];
                (process.id.as_deref().unwrap(), node.element_type().unwrap().to_owned())
            })
            .collect();
        assert_eq!(seen, [("g", "task".to_owned()), ("s", "scriptTask".to_owned())]);
        let activity = found[1].nodes.as_deref().unwrap()[0].bpmn.as_ref().unwrap().activity.clone().unwrap();
        assert_eq!(activity.script.as_deref(), Some("1 + 1"));
        assert_eq!(activity.script_format.as_deref(), Some("feel"));
        assert_eq!(found[0].name.as_deref(), Some("G > 1"));
    }

    #[test]
    fn tags_of_versions_are_those_of_processes() {
        let fragments = vec![
            "<heddle:residue for=\"p\" camunda:versionTag=\"1.0\"><zeebe:versionTag value=\"two\"/></heddle:residue>".to_owned(),
            "<heddle:residue for=\"other\" camunda:versionTag=\"none\"/>".to_owned(),
        ];
        let own = vec!["<zeebe:versionTag value=\"three\"/>".to_owned()];
        let process = Process { id: Some("p".to_owned()), extension_xml: Some(own), ..Process::default() };
        let bpmn = Bpmn {
            processes: Some(vec![process]),
            extension_elements_xml: Some(fragments),
            ..Bpmn::default()
        };
        let definition = WorkflowDefinition { bpmn: Some(Box::new(bpmn)), ..WorkflowDefinition::default() };
        assert_eq!(version_tags(&definition), ["1.0", "two", "three"]);
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        let (found, told) = global_tasks(&bpmn("<x:globalTask id=\"g\"/>"));
        assert!(found.is_empty() && told.len() == 1, "{told:?}");
        assert!(global_tasks(&bpmn("<b:note/>")).1.is_empty());
    }
}
