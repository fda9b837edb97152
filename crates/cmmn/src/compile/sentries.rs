//! Criteria and sentries: what each waits for, and whom a transition concerns (clauses 5.4.3 and 5.4.7).

use super::{At, Builder};
use crate::finding::Severity;
use crate::model::{self, Criterion as Written};
use crate::plan::{
    Control, Criterion, CriterionIx, ExitEvent, ExitKind, Extra, FileEvent, Item, ItemEvent, ItemIx, OnPart,
    PLAN_MODEL, ParentCompletion, Reactivation, Rule, Sentry, SentryIx, Source, Work,
};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// Most criteria and most on-parts of a plan, with those of stages that stand in it several times.
const MAX_PARTS: usize = 100_000;

/// A sentry that a criterion refers to.
struct Referred<'m> {
    /// Stage of the plan whose content it is.
    stage: ItemIx,
    sentry: &'m model::Sentry,
    path: String,
}

impl<'m> Builder<'m> {
    /// Criteria of all items, then their sentries, then the start triggers of timers.
    pub(super) fn sentries(&mut self) {
        let mut referred: Vec<Referred<'m>> = Vec::new();
        let mut known: HashMap<(ItemIx, &'m str), SentryIx> = HashMap::new();
        for ix in 0..self.raws.len() {
            let Some(raw) = self.raws.get(ix).cloned() else { continue };
            for (list, is_exit) in [(raw.node.entry, false), (raw.node.exit, true)] {
                for (number, criterion) in list.iter().enumerate() {
                    let member = if is_exit { "exitCriteria" } else { "entryCriteria" };
                    let path = format!("{}.{member}[{number}]", raw.path);
                    if self.plan.criteria.len() >= MAX_PARTS {
                        return self.too_much(At { id: raw.node.id, path: &path });
                    }
                    let Some(found) = self.referred(ix as ItemIx, criterion, &path) else { continue };
                    let id = found.sentry.id.as_deref().unwrap_or_default();
                    let sentry = *known.entry((found.stage, id)).or_insert_with(|| {
                        referred.push(found);
                        (referred.len() - 1) as SentryIx
                    });
                    self.criterion(ix as ItemIx, criterion, is_exit, sentry, &path);
                }
            }
        }
        for found in referred {
            self.parts += found.sentry.on_parts.as_deref().unwrap_or_default().len();
            if self.parts > MAX_PARTS {
                let at = At { id: found.sentry.id.as_deref().unwrap_or_default(), path: &found.path };
                return self.too_much(at);
            }
            let sentry = self.sentry(&found);
            self.plan.sentries.push(sentry);
        }
        self.start_triggers();
    }

    /// The sentry of a criterion: of the stage around its item; told of where it stands elsewhere.
    fn referred(&mut self, item: ItemIx, criterion: &'m Written, path: &str) -> Option<Referred<'m>> {
        let at = At { id: criterion.id.as_deref().unwrap_or_default(), path };
        let id = criterion.sentry_ref.as_deref().unwrap_or_default();
        let own = self.plan.items.get(item as usize).and_then(|own| own.parent).unwrap_or(PLAN_MODEL);
        let mut around = Some(own);
        while let Some(stage) = around {
            if let Some(found) = self.sentry_of(stage, id) {
                if stage != own {
                    self.elsewhere(at, id);
                }
                return Some(found);
            }
            around = self.plan.items.get(stage as usize).and_then(|own| own.parent);
        }
        if let Some(found) = self.sentry_of(item, id) {
            self.elsewhere(at, id);
            return Some(found);
        }
        let message = if id.is_empty() {
            "sentryRef: the criterion names no sentry".to_owned()
        } else {
            format!("sentryRef: neither the stage around the item nor one around that has a sentry {id:?}")
        };
        self.error(at, ("danglingReference", "5.4.3"), message);
        None
    }

    fn elsewhere(&mut self, at: At<'_>, id: &str) {
        let message = format!("the sentry {id:?} stands in another stage than the item of the criterion");
        self.tell(Severity::Warning, at, ("sentryPlace", "5.4.3"), message);
    }

    fn sentry_of(&self, stage: ItemIx, id: &'m str) -> Option<Referred<'m>> {
        let raw = self.raws.get(stage as usize)?;
        let number = *self.sentry_places.get(&(std::ptr::from_ref(raw.definition), id))?;
        let sentry = raw.definition.sentries.as_deref()?.get(number)?;
        Some(Referred { stage, sentry, path: format!("{}.sentries[{number}]", raw.defined) })
    }

    fn criterion(&mut self, item: ItemIx, written: &'m Written, is_exit: bool, sentry: SentryIx, path: &str) {
        let id = written.id.as_deref().filter(|id| !id.is_empty());
        let at = At { id: id.unwrap_or_default(), path };
        let ix = self.plan.criteria.len() as CriterionIx;
        match written.configuration.as_ref() {
            Some(settings) => self.criterion_settings(item, is_exit, settings, at),
            None => self.criterion_settings(item, is_exit, &Map::new(), at),
        }
        let name: Arc<str> = match (id, self.raws.get(item as usize)) {
            (Some(id), _) => id.into(),
            // Those of CMMN 1.0 are references alone.
            (None, raw) => {
                let item = raw.map(|raw| raw.node.id).unwrap_or_default();
                format!("{item}:{}", written.sentry_ref.as_deref().unwrap_or_default()).into()
            }
        };
        if let Some(id) = id {
            self.criteria.entry(id).or_default().push(ix);
        }
        self.plan.criteria.push(Criterion { id: name, item, is_exit, sentry });
        if let Some(own) = self.plan.items.get_mut(item as usize) {
            if is_exit { own.exit.push(ix) } else { own.entry.push(ix) }
        }
    }

    /// Kind of exit: settings of an exit criterion.
    fn criterion_settings(&mut self, item: ItemIx, is_exit: bool, settings: &Map<String, Value>, at: At<'_>) {
        let known: &[&str] = if is_exit { &["exitType", "exitEventType"] } else { &[] };
        self.only_settings(at, settings, "the criterion", &[known]);
        if !is_exit {
            return;
        }
        let word = |name: &str| settings.get(name).filter(|own| !own.is_null()).map(|own| own.as_str());
        let kind = match word("exitType") {
            None | Some(Some("" | "default" | "all")) => Some(ExitKind::All),
            Some(Some("active" | "activeInstances")) => Some(ExitKind::Active),
            Some(Some("activeAndEnabled" | "activeAndEnabledInstances")) => Some(ExitKind::ActiveAndEnabled),
            Some(_) => None,
        };
        let event = match word("exitEventType") {
            None | Some(Some("" | "exit")) => Some(ExitEvent::Exit),
            Some(Some("complete")) => Some(ExitEvent::Complete),
            Some(Some("forceComplete")) => Some(ExitEvent::ForceComplete),
            Some(_) => None,
        };
        let (Some(kind), Some(event)) = (kind, event) else {
            let message = "configuration: `exitType` is default, active or activeAndEnabled, and `exitEventType` exit, complete \
                           or forceComplete";
            return self.error(at, ("wrongSetting", "5.4.3"), message);
        };
        let Some(own) = self.plan.items.get_mut(item as usize) else { return };
        let differs = !own.exit.is_empty() && (own.extra.exit, own.extra.exit_event) != (kind, event);
        (own.extra.exit, own.extra.exit_event) = (kind, event);
        if differs {
            let message = "all exit criteria of an item have the same `exitType` and `exitEventType`";
            self.error(at, ("unsupportedSetting", "5.4.3"), message);
        }
    }

    fn sentry(&mut self, referred: &Referred<'m>) -> Sentry {
        let sentry = referred.sentry;
        let id = sentry.id.as_deref().unwrap_or_default();
        let at = At { id, path: &referred.path };
        let mut on = Vec::new();
        for (number, part) in sentry.on_parts.iter().flatten().enumerate() {
            let path = format!("{}.onParts[{number}]", referred.path);
            let at = At { id: part.id.as_deref().unwrap_or(id), path: &path };
            if let Some(settings) = part.configuration.as_ref() {
                self.no_settings(at, settings, "the on-part");
            }
            on.extend(self.on_part(referred.stage, part, at));
        }
        let on_event = self.sentry_settings(referred, at, &mut on);
        let part = sentry.if_part.as_ref();
        let condition = part.and_then(|part| {
            let path = format!("{}.ifPart", referred.path);
            let at = At { id: part.id.as_deref().unwrap_or(id), path: &path };
            if Self::text(part.condition.as_ref()).is_none() {
                self.error(at, ("required", "5.4.7.2"), "the if-part has no condition");
            }
            self.condition(at, "condition", part.condition.as_ref(), part.context_ref.as_deref())
        });
        if part.is_none() && sentry.on_parts.as_deref().unwrap_or_default().is_empty() && on.is_empty() {
            self.error(at, ("emptySentry", "5.4.7"), "the sentry has neither an on-part nor an if-part");
        }
        // A condition that always holds adds nothing to on-parts.
        let always = |own: &crate::plan::Condition| {
            own.expression.constant().is_some_and(|value| value == heddle_feel::Value::Boolean(true))
        };
        let condition = condition.filter(|own| on.is_empty() || !always(own));
        Sentry { id: id.into(), on, condition, on_event }
    }

    /// Settings of a sentry: how long on-parts are remembered, and variables that are waited for.
    fn sentry_settings(&mut self, referred: &Referred<'m>, at: At<'_>, on: &mut Vec<OnPart>) -> bool {
        let Some(settings) = referred.sentry.configuration.as_ref() else { return false };
        self.only_settings(at, settings, "the sentry", &[&["triggerMode", "variableOnParts"]]);
        let waited = settings.get("variableOnParts").filter(|own| !own.is_null());
        if waited.is_some_and(|own| !own.is_array()) {
            let message = "configuration.variableOnParts: must be an array";
            self.error(at, ("wrongSetting", "5.4.7.1"), message);
        }
        for (number, part) in waited.and_then(Value::as_array).into_iter().flatten().enumerate() {
            let name = part.get("variableName").and_then(Value::as_str).map(str::trim).unwrap_or_default();
            let Some(change) = change_of(part.get("variableEvents")).filter(|_| !name.is_empty()) else {
                let message = format!(
                    "configuration.variableOnParts[{number}]: must be {{variableName, variableEvents}}, with the events create, \
                     update or delete, create and update, or all of them"
                );
                self.error(at, ("unsupportedSetting", "5.4.7.1"), message);
                continue;
            };
            let item = self.variable_listener(referred, number, name, change);
            on.push(OnPart { id: None, source: Source::Item { item, event: ItemEvent::Occur, exit: None } });
        }
        match settings.get("triggerMode").map(|own| own.as_str()) {
            None | Some(Some("" | "default")) => false,
            Some(Some("onEvent")) => true,
            Some(_) => {
                self.error(
                    at,
                    ("wrongSetting", "5.4.7"),
                    "configuration.triggerMode: must be default or onEvent",
                );
                false
            }
        }
    }

    /// A listener for a variable that only a sentry hears, again and again while its stage is there.
    fn variable_listener(
        &mut self,
        referred: &Referred<'m>,
        number: usize,
        name: &str,
        change: Option<&str>,
    ) -> ItemIx {
        let ix = self.plan.items.len() as ItemIx;
        let sentry = referred.sentry.id.as_deref().unwrap_or_default();
        let id: Arc<str> = format!("{sentry}.variableOnParts[{number}]").into();
        self.plan.items.push(Item {
            id: Arc::clone(&id),
            definition: Arc::clone(&id),
            name: Some(name.into()),
            parent: Some(referred.stage),
            work: Work::Variable { name: name.into(), change: change.map(Arc::from) },
            entry: Vec::new(),
            exit: Vec::new(),
            control: Control {
                repetition: Rule::Yes,
                parent_completion: ParentCompletion::Ignore,
                ..Control::default()
            },
            discretionary: None,
            children: Vec::new(),
            table: Vec::new(),
            extra: Extra::default(),
        });
        self.plan.item_ids.entry(id).or_insert(ix);
        if let Some(stage) = self.plan.items.get_mut(referred.stage as usize) {
            stage.children.push(ix);
        }
        ix
    }

    fn on_part(&mut self, stage: ItemIx, part: &'m model::OnPart, at: At<'_>) -> Option<OnPart> {
        let of_file = match part.r#type.as_deref() {
            Some("planItemOnPart") => false,
            Some("caseFileItemOnPart") => true,
            other => {
                let message =
                    format!("the type of an on-part is planItemOnPart or caseFileItemOnPart, not {other:?}");
                self.error(at, ("unknownElement", "5.4.7.1"), message);
                return None;
            }
        };
        let source = self.source(
            stage,
            of_file,
            part.source_ref.as_deref().unwrap_or_default(),
            part.standard_event.as_deref().unwrap_or_default(),
            at,
        )?;
        let source = match source {
            Source::Item { item, event, exit: None } => {
                Source::Item { item, event, exit: self.ended_by(item, event, part, at)? }
            }
            other @ (Source::Item { .. } | Source::File { .. }) => other,
        };
        Some(OnPart { id: part.id.as_deref().map(Arc::from), source })
    }

    /// Source and event of an on-part or a start trigger.
    fn source(
        &mut self,
        stage: ItemIx,
        of_file: bool,
        reference: &str,
        event: &str,
        at: At<'_>,
    ) -> Option<Source> {
        if of_file {
            let item = self.file_item(at, "sourceRef", reference)?;
            let Some(event) = file_event(event) else {
                let message = format!("standardEvent: {event:?} is no transition of a case file item");
                self.error(at, ("unknownTransition", "5.4.7.4"), message);
                return None;
            };
            return Some(Source::File { item, event });
        }
        let item = match self.nearest(stage, reference) {
            Ok(item) => item,
            Err(message) => {
                self.error(at, ("danglingReference", "5.4.7.1"), format!("sourceRef: {message}"));
                return None;
            }
        };
        let Some(event) = item_event(event) else {
            let message = format!("standardEvent: {event:?} is no transition of a plan item");
            self.error(at, ("unknownTransition", "5.4.7.3"), message);
            return None;
        };
        Some(Source::Item { item, event, exit: None })
    }

    /// The exit criterion by which an item must have ended.
    fn ended_by(
        &mut self,
        item: ItemIx,
        event: ItemEvent,
        part: &'m model::OnPart,
        at: At<'_>,
    ) -> Option<Option<CriterionIx>> {
        let criterion = part.exit_criterion_ref.as_deref().filter(|id| !id.is_empty());
        let sentry = part.sentry_ref.as_deref().filter(|id| !id.is_empty());
        let of_item = |ix: CriterionIx| {
            self.plan.criteria.get(ix as usize).is_some_and(|own| own.is_exit && own.item == item)
        };
        let (found, named) = match (criterion, sentry) {
            (None, None) => return Some(None),
            (Some(id), _) => {
                let known = self.criteria.get(id).map(Vec::as_slice).unwrap_or_default();
                (known.iter().copied().find(|ix| of_item(*ix)), id)
            }
            (None, Some(id)) => {
                let exits = self.raws.get(item as usize).map(|raw| raw.node.exit).unwrap_or_default();
                let place = exits.iter().position(|own| own.sentry_ref.as_deref() == Some(id));
                let all =
                    self.plan.items.get(item as usize).map(|own| own.exit.as_slice()).unwrap_or_default();
                (place.and_then(|place| all.get(place).copied()), id)
            }
        };
        if found.is_none() {
            let message = format!("exitCriterionRef: the source has no exit criterion {named:?}");
            self.error(at, ("danglingReference", "5.4.7.1"), message);
            return None;
        }
        if event != ItemEvent::Exit {
            let message = "exitCriterionRef: only the standard event `exit` has an exit criterion";
            self.error(at, ("wrongReference", "5.4.7.1"), message);
            return None;
        }
        Some(found)
    }

    /// Transitions with which timers begin to count.
    fn start_triggers(&mut self) {
        for ix in 0..self.raws.len() {
            let Some(raw) = self.raws.get(ix).cloned() else { continue };
            let Some(trigger) = raw.definition.start_trigger.as_ref() else { continue };
            let path = format!("{}.startTrigger", raw.defined);
            let at = At { id: raw.definition.id.as_deref().unwrap_or_default(), path: &path };
            let stage = self.plan.items.get(ix).and_then(|item| item.parent).unwrap_or(PLAN_MODEL);
            let source = self.source(
                stage,
                trigger.r#type.as_deref() == Some("caseFileItemStartTrigger"),
                trigger.source_ref.as_deref().unwrap_or_default(),
                trigger.standard_event.as_deref().unwrap_or_default(),
                at,
            );
            let part = source.map(|source| OnPart { id: trigger.id.as_deref().map(Arc::from), source });
            match self.plan.items.get_mut(ix).map(|item| &mut item.work) {
                Some(Work::Timer { start, .. }) => *start = part,
                Some(_) | None => {
                    let message = "only a timer event listener has a start trigger";
                    self.error(at, ("unexpectedContent", "5.4.8.2"), message);
                }
            }
        }
    }

    /// Criteria by what concerns them.
    pub(super) fn indexes(&mut self) {
        for (ix, criterion) in self.plan.criteria.iter().enumerate() {
            let ix = ix as CriterionIx;
            let Some(sentry) = self.plan.sentries.get(criterion.sentry as usize) else { continue };
            for part in &sentry.on {
                let list = match part.source {
                    Source::Item { item, .. } => self.plan.on_item.entry(item).or_default(),
                    Source::File { item, .. } => self.plan.on_file.entry(item).or_default(),
                };
                if list.last() != Some(&ix) {
                    list.push(ix);
                }
            }
            if sentry.condition.is_some() {
                self.plan.on_data.push(ix);
            }
        }
        // One rule is enough: what the others leave open is as in a new case.
        if self.plan.items.iter().any(|item| item.control.reactivation.is_some()) {
            self.plan.reactivation.get_or_insert_default();
        }
        if self.plan.reactivation.is_some() {
            // What only a sentry hears is there whenever its stage is.
            for item in self.plan.items.iter_mut().skip(self.raws.len()) {
                item.control.reactivation =
                    Some(Box::new(Reactivation { anew: Rule::Yes, ..Reactivation::default() }));
            }
        }
    }
}

/// The change of a variable that events of it are; none inside is any.
fn change_of(events: Option<&Value>) -> Option<Option<&'static str>> {
    let events = events?.as_array()?;
    let has = |word: &str| events.iter().any(|own| own == word);
    let known = events.iter().all(|own| own == "create" || own == "update" || own == "delete");
    match (has("create"), has("update"), has("delete")) {
        _ if !known => None,
        (true, true, true) => Some(None),
        (true, true, false) => Some(Some("update-create")),
        (true, false, false) => Some(Some("create")),
        (false, true, false) => Some(Some("update")),
        (false, false, true) => Some(Some("delete")),
        (true, false, true) | (false, true, true) | (false, false, false) => None,
    }
}

/// Whether a word is a kind of change of a variable.
pub(super) fn is_change(word: &str) -> bool {
    matches!(word, "create" | "update" | "delete" | "update-create")
}

/// Standard event of an item, by its word.
pub(super) fn item_event(word: &str) -> Option<ItemEvent> {
    use serde::de::IntoDeserializer;
    let word: serde::de::value::StrDeserializer<'_, serde::de::value::Error> =
        word.trim().into_deserializer();
    serde::Deserialize::deserialize(word).ok()
}

fn file_event(word: &str) -> Option<FileEvent> {
    use serde::de::IntoDeserializer;
    let word: serde::de::value::StrDeserializer<'_, serde::de::value::Error> =
        word.trim().into_deserializer();
    serde::Deserialize::deserialize(word).ok()
}
