//! The case file (clause 5.3): its items, their values and their standard events.

use super::{CaseMachine, Todo};
use crate::core::{Spot, StepFault, expression};
use crate::event::EventKind;
use crate::state::at_path;
use crate::{LocalId, Rejection};
use heddle_cmmn::plan::{FileEvent, FileItem, FileIx, Multiplicity};
use heddle_feel::size_of_json;
use serde_json::{Map, Value};

/// Change of a case file item.
pub(super) struct Change {
    pub event: FileEvent,
    /// Numbers of the instances on the way.
    pub at: Vec<u32>,
    pub value: Value,
}

/// Whether there may be several instances of a case file item.
pub(super) const fn is_many(item: &FileItem) -> bool {
    match item.multiplicity {
        Multiplicity::ZeroOrMore | Multiplicity::OneOrMore => true,
        // What says nothing is one, unless its value is a list.
        Multiplicity::ZeroOrOne
        | Multiplicity::ExactlyOne
        | Multiplicity::Unspecified
        | Multiplicity::Unknown => false,
    }
}

impl CaseMachine<'_> {
    /// A case file item by its id or name.
    pub(super) fn file_item(&self, name: &str) -> Result<FileIx, Rejection> {
        self.plan.file_ids.get(name).copied().ok_or_else(|| Rejection::UnknownFileItem(name.to_owned()))
    }

    /// The path of a case file item; `at` are the numbers where there may be several. That of the item itself is left out
    /// where no number is given for it.
    fn path(&self, ix: FileIx, at: &[u32]) -> Result<Vec<Value>, Rejection> {
        let mut chain = Vec::new();
        let mut next = Some(ix);
        while let Some(item) = next.and_then(|ix| self.plan.file.get(ix as usize)) {
            chain.push(item);
            next = item.parent;
        }
        let (mut path, mut numbers) = (Vec::new(), at.iter());
        let own = chain.first().map(|item| &item.id);
        for item in chain.iter().rev() {
            path.push(Value::from(&*item.name));
            if !is_many(item) {
                continue;
            }
            match numbers.next() {
                Some(number) => path.push(Value::from(*number)),
                None if Some(&item.id) == own => {}
                None => {
                    return Err(wrong(item, "there may be several of it: say which one by its number"));
                }
            }
        }
        if numbers.next().is_some() {
            let item = chain.first().map(|item| item.id.to_string()).unwrap_or_default();
            let reason = "there are more numbers than items of which there may be several".to_owned();
            return Err(Rejection::WrongFileChange { item, reason });
        }
        Ok(path)
    }

    /// Changes a case file item as a user or a task says, with its standard events.
    pub(super) fn change_file(&mut self, ix: FileIx, change: Change) -> Result<(), Rejection> {
        let Some(item) = self.plan.file.get(ix as usize) else {
            return Err(Rejection::UnknownFileItem(ix.to_string()));
        };
        let Change { event, at, mut value } = change;
        let mut path = self.path(ix, &at)?;
        let file = self.case().map(|case| &case.file)?;
        let own = 1 + usize::from(matches!(path.last(), Some(Value::Number(_))));
        let around = path.get(..path.len().saturating_sub(own)).unwrap_or_default();
        if item.parent.is_some() && at_path(file, around).is_none_or(Value::is_null) {
            return Err(wrong(item, "what it is a part of is not there"));
        }
        let there = at_path(file, &path).filter(|value| !value.is_null()).cloned();
        match event {
            FileEvent::Create if is_many(item) => {
                if matches!(path.last(), Some(Value::Number(_))) {
                    path.pop();
                }
                let count = at_path(file, &path).and_then(Value::as_array).map_or(0, Vec::len);
                path.push(Value::from(count));
            }
            FileEvent::Create if there.is_some() => return Err(wrong(item, "it is there already")),
            FileEvent::Create => {}
            FileEvent::AddChild | FileEvent::RemoveChild => return self.change_child(ix, event, &at, value),
            FileEvent::Delete
            | FileEvent::Update
            | FileEvent::Replace
            | FileEvent::AddReference
            | FileEvent::RemoveReference => {
                let Some(before) = there else { return Err(wrong(item, "it is not there")) };
                self.admit_change(item, event, &path, &before)?;
                if let (FileEvent::Update, Value::Object(old), Value::Object(new)) = (event, before, &value) {
                    let mut whole = old;
                    whole.extend(new.clone());
                    value = Value::Object(whole);
                }
            }
        }
        if matches!(event, FileEvent::Create | FileEvent::Update | FileEvent::Replace) && value.is_null() {
            return Err(wrong(item, "it needs a value"));
        }
        if matches!(event, FileEvent::AddReference | FileEvent::RemoveReference) {
            self.admit_reference(item, event, &value)?;
        }
        if event == FileEvent::Delete {
            value = Value::Null;
        }
        self.tell_file(ix, event, path, value);
        Ok(())
    }

    /// Checks a reference that is added or removed.
    fn admit_reference(&self, item: &FileItem, event: FileEvent, value: &Value) -> Result<(), Rejection> {
        if value.is_null() {
            return Err(wrong(item, "it needs the reference"));
        }
        let known = self.case()?.references.get(&item.id).is_some_and(|own| own.contains(value));
        match (event, known) {
            (FileEvent::AddReference, true) => Err(wrong(item, "it refers to that already")),
            (FileEvent::RemoveReference, false) => Err(wrong(item, "it does not refer to that")),
            _ => Ok(()),
        }
    }

    /// Checks a change of what is there.
    fn admit_change(
        &self,
        item: &FileItem,
        event: FileEvent,
        path: &[Value],
        before: &Value,
    ) -> Result<(), Rejection> {
        let whole = is_many(item) && !matches!(path.last(), Some(Value::Number(_)));
        let several = before.as_array().is_some_and(|items| items.len() > 1);
        if whole && (several || event == FileEvent::Update) {
            return Err(wrong(item, "there may be several of it: say which one by its number"));
        }
        let last = match item.multiplicity {
            Multiplicity::ExactlyOne => true,
            Multiplicity::OneOrMore => {
                let list = path.split_last().map(|(_, list)| list).unwrap_or_default();
                let file = self.case().map(|case| &case.file)?;
                at_path(file, list).and_then(Value::as_array).is_some_and(|items| items.len() == 1)
            }
            Multiplicity::ZeroOrOne
            | Multiplicity::ZeroOrMore
            | Multiplicity::Unspecified
            | Multiplicity::Unknown => false,
        };
        if event == FileEvent::Delete && last {
            return Err(wrong(item, "there must be one of it"));
        }
        Ok(())
    }

    /// Adds or removes the children that an object names.
    fn change_child(
        &mut self,
        ix: FileIx,
        event: FileEvent,
        at: &[u32],
        value: Value,
    ) -> Result<(), Rejection> {
        let Some(item) = self.plan.file.get(ix as usize) else { return Ok(()) };
        let named: Vec<(String, Value)> = match (event, value) {
            (FileEvent::AddChild, Value::Object(members)) => members.into_iter().collect(),
            (FileEvent::RemoveChild, Value::String(name)) => vec![(name, Value::Null)],
            _ => {
                let reason =
                    "addChild needs an object of children by their names, removeChild the name of one";
                return Err(wrong(item, reason));
            }
        };
        for (name, value) in named {
            let mut children = item.children.iter().copied();
            let child = children.find(|child| {
                self.plan.file.get(*child as usize).is_some_and(|own| *own.name == *name || *own.id == *name)
            });
            let child = child.ok_or(Rejection::UnknownFileItem(name))?;
            let event = if event == FileEvent::AddChild { FileEvent::Create } else { FileEvent::Delete };
            self.change_file(child, Change { event, at: at.to_vec(), value })?;
        }
        Ok(())
    }

    /// Adds a change to the history, with the standard event of what is around it.
    fn tell_file(&mut self, ix: FileIx, event: FileEvent, path: Vec<Value>, value: Value) {
        let Some(item) = self.plan.file.get(ix as usize) else { return };
        let spot = || Spot { scope: Some(LocalId::ROOT), ..Spot::default() };
        let around = match event {
            FileEvent::Create => Some(FileEvent::AddChild),
            FileEvent::Delete => Some(FileEvent::RemoveChild),
            FileEvent::Update
            | FileEvent::Replace
            | FileEvent::AddChild
            | FileEvent::RemoveChild
            | FileEvent::AddReference
            | FileEvent::RemoveReference => None,
        };
        self.emit(spot(), EventKind::CaseFileChanged { item: item.id.clone(), event, path, value });
        self.todo.push_back(Todo::Changed(ix, event));
        if let (Some(event), Some(parent)) = (around, item.parent)
            && let Some(own) = self.plan.file.get(parent as usize)
        {
            let told = EventKind::CaseFileChanged {
                item: own.id.clone(),
                event,
                path: Vec::new(),
                value: Value::Null,
            };
            self.emit(spot(), told);
            self.todo.push_back(Todo::Changed(parent, event));
        }
    }

    /// Gives a case file item a value, whether it is there or not: what a task or an event brings. What cannot be written
    /// is the incident of the one that brings it.
    pub(super) fn write_file(&mut self, ix: FileIx, value: Value) -> Result<(), StepFault> {
        self.write_given(ix, value).map_err(|fault| match fault {
            StepFault::Rejected(rejection) => expression(rejection.to_string()),
            incident @ StepFault::Incident(..) => incident,
        })
    }

    /// Gives a case file item a value, whether it is there or not; what cannot be written is refused.
    pub(super) fn write_given(&mut self, ix: FileIx, value: Value) -> Result<(), StepFault> {
        self.admit_kept(size_of_json(&value))?;
        let Some(item) = self.plan.file.get(ix as usize) else { return Ok(()) };
        let there = self.file_value(ix);
        let one = |event: FileEvent, value: Value| vec![Change { event, at: Vec::new(), value }];
        let changes: Vec<Change> = match (value, there, is_many(item)) {
            (Value::Null, None, _) => Vec::new(),
            (Value::Null, Some(_), false) => one(FileEvent::Delete, Value::Null),
            (Value::Null, Some(there), true) => listed(Vec::new(), there),
            (Value::Array(values), there, true) => listed(values, there.unwrap_or(&Value::Null)),
            (value, Some(_), false) => one(FileEvent::Replace, value),
            (value, ..) => one(FileEvent::Create, value),
        };
        for change in changes {
            self.change_file(ix, change)?;
        }
        Ok(())
    }

    /// Leaves values behind. With `by_name` those that are called as case file items change these; `caseFile` always means
    /// the file.
    pub(super) fn leave_behind(
        &mut self,
        scope: LocalId,
        mut values: Map<String, Value>,
        by_name: bool,
    ) -> Result<(), StepFault> {
        let mut filed: Vec<(FileIx, Value)> = Vec::new();
        if let Some(Value::Object(members)) = values.remove("caseFile") {
            for (name, value) in members {
                let ix = self.file_item(&name).map_err(|rejection| expression(rejection.to_string()))?;
                // What the mapping left as it is does not change.
                if self.file_value(ix) != Some(&value) {
                    filed.push((ix, value));
                }
            }
        }
        if by_name {
            for (ix, item) in (0..).zip(&self.plan.file) {
                if item.parent.is_none()
                    && let Some(value) = values.remove(&*item.name)
                {
                    filed.push((ix, value));
                }
            }
        }
        for (ix, value) in filed {
            self.write_file(ix, value)?;
        }
        self.admit_own(scope, &values)?;
        self.set_values(scope, values);
        Ok(())
    }
}

/// Changes that make of the values of several instances these: what is there is replaced where it differs, what is new
/// comes behind, and what is too many goes, the last one first.
fn listed(values: Vec<Value>, there: &Value) -> Vec<Change> {
    let there = there.as_array().map(Vec::as_slice).unwrap_or_default();
    let count = values.len();
    let mut changes = Vec::new();
    for (number, value) in (0..).zip(values) {
        let event = match there.get(number as usize) {
            Some(before) if *before == value => continue,
            Some(_) => FileEvent::Replace,
            None => FileEvent::Create,
        };
        changes.push(Change { event, at: vec![number], value });
    }
    let surplus = (0..).take(there.len()).skip(count).map(|number| Change {
        event: FileEvent::Delete,
        at: vec![number],
        value: Value::Null,
    });
    let surplus: Vec<Change> = surplus.collect();
    changes.extend(surplus.into_iter().rev());
    changes
}

fn wrong(item: &FileItem, reason: &str) -> Rejection {
    Rejection::WrongFileChange { item: item.id.to_string(), reason: reason.to_owned() }
}
