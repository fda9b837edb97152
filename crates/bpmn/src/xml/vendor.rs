//! Vendors' extensions: what is preserved, and the human task settings that are mapped.

use super::names::{Group, Ns, UNKNOWN};
use super::read::{Reader, group};
use super::tree::{El, Tree, split};
use crate::diagnostic::Diagnostic;
use crate::model::ImportItem;
use serde_json::{Map, Value};

const CAMUNDA: &str = "http://camunda.org/schema/1.0/bpmn";
const ZEEBE: &str = "http://camunda.org/schema/zeebe/1.0";
const FLOWABLE: &str = "http://flowable.org/bpmn";
const ACTIVITI: &str = "http://activiti.org/bpmn";

/// A setting of a vendor: where it stands and which member of `configuration` it becomes.
struct Setting {
    namespaces: &'static [&'static str],
    /// Extension element that carries the attribute; none where it stands on the task itself.
    element: Option<&'static str>,
    attribute: &'static str,
    member: &'static str,
    list: bool,
}

const SEVEN: &[&str] = &[CAMUNDA, FLOWABLE, ACTIVITI];
const EIGHT: &[&str] = &[ZEEBE];

const SETTINGS: &[Setting] = &[
    Setting { namespaces: SEVEN, element: None, attribute: "assignee", member: "assignee", list: false },
    Setting {
        namespaces: SEVEN,
        element: None,
        attribute: "candidateUsers",
        member: "candidateUsers",
        list: true,
    },
    Setting {
        namespaces: SEVEN,
        element: None,
        attribute: "candidateGroups",
        member: "candidateGroups",
        list: true,
    },
    Setting { namespaces: SEVEN, element: None, attribute: "dueDate", member: "dueDate", list: false },
    Setting { namespaces: SEVEN, element: None, attribute: "priority", member: "priority", list: false },
    Setting {
        namespaces: EIGHT,
        element: Some("assignmentDefinition"),
        attribute: "assignee",
        member: "assignee",
        list: false,
    },
    Setting {
        namespaces: EIGHT,
        element: Some("assignmentDefinition"),
        attribute: "candidateUsers",
        member: "candidateUsers",
        list: true,
    },
    Setting {
        namespaces: EIGHT,
        element: Some("assignmentDefinition"),
        attribute: "candidateGroups",
        member: "candidateGroups",
        list: true,
    },
    Setting {
        namespaces: EIGHT,
        element: Some("taskSchedule"),
        attribute: "dueDate",
        member: "dueDate",
        list: false,
    },
    Setting {
        namespaces: EIGHT,
        element: Some("priorityDefinition"),
        attribute: "priority",
        member: "priority",
        list: false,
    },
];

/// One attribute of a vendor on a task or on one of its extension elements.
pub(super) struct Extension<'a> {
    pub uri: &'a str,
    pub element: Option<&'a str>,
    pub attribute: &'a str,
    pub value: &'a str,
}

/// The member of `configuration` that a vendor's attribute becomes, when its value is a literal.
pub(super) fn mapped(extension: &Extension<'_>) -> Option<(&'static str, Value)> {
    let setting = SETTINGS.iter().find(|setting| {
        setting.namespaces.contains(&extension.uri)
            && setting.element == extension.element
            && setting.attribute == extension.attribute
    })?;
    let value = extension.value.trim();
    if value.is_empty() || value.starts_with('=') || value.contains("${") || value.contains("#{") {
        return None;
    }
    let value = if setting.list {
        let parts = value.split(',').map(str::trim).filter(|part| !part.is_empty());
        Value::Array(parts.map(|part| Value::String(part.to_owned())).collect())
    } else if setting.member == "priority" {
        Value::from(value.parse::<i64>().ok()?)
    } else {
        Value::String(value.to_owned())
    };
    Some((setting.member, value))
}

/// What the vendors' attributes on a task and on its extension elements become.
pub(super) fn configuration(tree: &Tree<'_>, el: El, extensions: &[El]) -> Map<String, Value> {
    let mut found = Map::new();
    for attribute in tree.attributes(el) {
        let value = attribute.value();
        let uri = tree.uri(attribute.ns);
        let extension = Extension { uri, element: None, attribute: attribute.local, value: &value };
        found.extend(mapped(&extension).map(|(member, value)| (member.to_owned(), value)));
    }
    for &child in extensions {
        for attribute in tree.attributes(child) {
            let value = attribute.value();
            let element = Some(tree.get(child).local);
            let extension = Extension {
                uri: tree.uri(tree.get(child).ns),
                element,
                attribute: attribute.local,
                value: &value,
            };
            found.extend(mapped(&extension).map(|(member, value)| (member.to_owned(), value)));
        }
    }
    found
}

/// Notes a vendor's attribute on the element that is being read.
pub(super) fn note_attribute(reader: &mut Reader<'_>, name: &str) {
    let el = reader.current();
    let element = reader.tree.get(el);
    if group(element.kind) == Group::Diagram {
        return;
    }
    let found = reader.tree.attributes(el).iter().find(|attribute| attribute.name == name);
    let value = found.map(|attribute| attribute.value()).unwrap_or_default();
    let (uri, local) = found.map_or(("", name), |found| (reader.tree.uri(found.ns), found.local));
    let user_task = element.local == "userTask" && element.ns == Ns::Model;
    let mapped = if user_task {
        mapped(&Extension { uri, element: None, attribute: local, value: &value })
    } else {
        None
    };
    let item = item(reader, element.local, name, mapped);
    reader.push_item(item);
}

/// Notes an element that has no place in the definition's members.
pub(super) fn note_child(reader: &mut Reader<'_>, child: El) {
    let tree = reader.tree;
    let element = tree.get(child);
    let parent = tree.get(reader.current());
    match (element.ns, group(element.kind)) {
        (_, Group::Diagram) => {}
        _ if group(parent.kind) == Group::Diagram => {}
        (Ns::Model, _) if element.kind == UNKNOWN => unknown(reader, child),
        (Ns::Model, _) if element.local == "extensionElements" => {
            for extension in tree.children(child) {
                note_extension(reader, extension);
            }
        }
        (Ns::Model, Group::Part) => {}
        (Ns::Model, _) => {
            let message = format!("{} is kept and exported again; it has no effect here.", element.local);
            let item = ImportItem {
                element_id: tree.attribute(child, "id").map(|id| id.into_owned()),
                element_type: Some(element.local.to_owned()),
                outcome: Some("preserved".to_owned()),
                message: Some(message),
                source_id: tree.attribute(child, "id").map(|id| id.into_owned()),
                source_kind: Some(format!("bpmn:{}", element.local)),
                ..ImportItem::default()
            };
            reader.push_item(item);
        }
        (ns, _) if ns.standard() => {}
        _ => note_extension(reader, child),
    }
}

fn unknown(reader: &mut Reader<'_>, child: El) {
    let tree = reader.tree;
    let element = tree.get(child);
    let id = tree.attribute(child, "id").map(|id| id.into_owned());
    let message = format!("BPMN 2.0 has no element {}; it is kept, but has no effect.", element.local);
    let mut diagnostic = Diagnostic::warning("unknownElement", message.clone());
    diagnostic.element_id = id.clone().or_else(|| reader.nearest_id().map(str::to_owned));
    reader.note(diagnostic);
    reader.push_item(ImportItem {
        element_id: id.clone(),
        element_type: Some(element.local.to_owned()),
        outcome: Some("unsupported".to_owned()),
        message: Some(message),
        source_id: id,
        source_kind: Some(format!("bpmn:{}", element.local)),
        ..ImportItem::default()
    });
}

/// Notes a vendor's extension element below the element that is being read.
pub(super) fn note_extension(reader: &mut Reader<'_>, child: El) {
    let tree = reader.tree;
    let element = tree.get(child);
    if element.ns == Ns::Heddle {
        return;
    }
    let owner = tree.get(reader.current());
    let mut members: Map<String, Value> = Map::new();
    if owner.local == "userTask" {
        for attribute in tree.attributes(child) {
            let (uri, value) = (tree.uri(element.ns), attribute.value());
            let extension =
                Extension { uri, element: Some(element.local), attribute: attribute.local, value: &value };
            members.extend(mapped(&extension).map(|(member, value)| (member.to_owned(), value)));
        }
    }
    let mut item = item(reader, owner.local, element.name, None);
    if !members.is_empty() {
        item.outcome = Some("mapped".to_owned());
        item.message = Some(mapped_message(element.name));
        item.configuration = Some(members);
    }
    reader.push_item(item);
}

fn mapped_message(name: &str) -> String {
    format!("{name} became settings of the human task.")
}

fn item(
    reader: &Reader<'_>,
    element_type: &str,
    name: &str,
    mapped: Option<(&'static str, Value)>,
) -> ImportItem {
    let preserved = || format!("{} is kept and exported again; it has no effect here.", name);
    let id = reader.nearest_id().map(str::to_owned);
    ImportItem {
        element_id: id.clone(),
        element_type: Some(element_type.to_owned()),
        outcome: Some(if mapped.is_some() { "mapped" } else { "preserved" }.to_owned()),
        message: Some(if mapped.is_some() { mapped_message(name) } else { preserved() }),
        source_id: id,
        source_kind: Some(if split(name).0.is_empty() { format!(":{name}") } else { name.to_owned() }),
        configuration: mapped.map(|(member, value)| Map::from_iter([(member.to_owned(), value)])),
        ..ImportItem::default()
    }
}
