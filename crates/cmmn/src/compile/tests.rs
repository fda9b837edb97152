use super::{Compiled, Meaning, compile, compile_with};
use crate::model::CaseDefinition;
use crate::plan::{
    CasePlan, ExitEvent, ExitKind, FileEvent, Item, ItemEvent, Multiplicity, PLAN_MODEL, ParentCompletion,
    Rule, Source, Work,
};
use heddle_settings::Setting;
use serde_json::{Value, json};
use std::sync::Arc;

fn definition(case: Value) -> CaseDefinition {
    serde_json::from_value(json!({"cases": [case]})).unwrap()
}

fn compiled(case: Value) -> Compiled {
    compile(&definition(case))
}

/// The plan of a case that nothing stands against.
fn plan(case: Value) -> Arc<CasePlan> {
    let compiled = compiled(case);
    assert!(compiled.is_executable(), "{:#?}", compiled.diagnostics);
    Arc::clone(&compiled.cases[0])
}

fn case(model: Value) -> Value {
    json!({"id": "c", "casePlanModel": model})
}

/// A case with one item of a definition.
fn one(definition: Value) -> Value {
    let mut definition = definition;
    definition["id"] = json!("d");
    case(
        json!({"id": "m", "type": "casePlanModel", "items": [{"id": "i", "definitionRef": "d"}], "definitions": [definition]}),
    )
}

fn item<'p>(plan: &'p CasePlan, id: &str) -> &'p Item {
    &plan.items[plan.item_ids[id] as usize]
}

/// Codes and messages of the findings.
fn told(compiled: &Compiled) -> Vec<String> {
    compiled.diagnostics.iter().map(|own| format!("{} {}", own.code, own.message)).collect()
}

fn refused(case: Value, code: &str, words: &str) {
    let compiled = compiled(case);
    let told = told(&compiled);
    assert!(told.iter().any(|own| own.starts_with(code) && own.contains(words)), "{code} {words}: {told:#?}");
    assert!(compiled.cases.is_empty(), "what is refused is not executed");
    assert!(
        compiled
            .diagnostics
            .iter()
            .all(|own| own.remedy.is_some() && own.clause.is_some() && own.path.is_some())
    );
}

#[test]
fn each_item_of_a_stage_stands_behind_it_and_has_its_own_content() {
    let found = plan(case(json!({
        "id": "m", "type": "casePlanModel", "autoComplete": true,
        "items": [{"id": "s1", "definitionRef": "s"}, {"id": "h1", "definitionRef": "h", "name": "Ask"}],
        "definitions": [
            {"id": "s", "type": "stage", "items": [{"id": "h2", "definitionRef": "h"}]},
            {"id": "h", "type": "humanTask", "name": "Task"}
        ]
    })));
    let ids: Vec<&str> = found.items.iter().map(|own| &*own.id).collect();
    assert_eq!(ids, ["m", "s1", "h2", "h1"]);
    assert!(matches!(found.items[0].work, Work::Stage { auto_complete: true }));
    assert_eq!(found.items[0].children, [1, 3]);
    assert_eq!((found.items[2].parent, &*found.items[2].definition), (Some(1), "h"));
    assert_eq!(
        (item(&found, "h1").name.as_deref(), item(&found, "h2").name.as_deref()),
        (Some("Ask"), Some("Task"))
    );
    assert!(item(&found, "h1").extra.blocking);
}

#[test]
fn a_stage_that_several_items_refer_to_stands_in_the_plan_for_each() {
    let found = plan(case(json!({
        "id": "m", "type": "casePlanModel",
        "items": [{"id": "s1", "definitionRef": "s"}, {"id": "s2", "definitionRef": "s"}],
        "definitions": [
            {"id": "s", "type": "stage",
             "items": [{"id": "a", "definitionRef": "t"},
                       {"id": "b", "definitionRef": "t", "entryCriteria": [{"id": "k", "sentryRef": "y"}]}],
             "sentries": [{"id": "y", "onParts": [
                {"type": "planItemOnPart", "sourceRef": "a", "standardEvent": "complete"}]}]},
            {"id": "t", "type": "task"}
        ]
    })));
    assert_eq!(found.items.len(), 7);
    assert_eq!((found.criteria.len(), found.sentries.len()), (2, 2));
    for criterion in &found.criteria {
        let Source::Item { item, .. } = found.sentries[criterion.sentry as usize].on[0].source else {
            panic!()
        };
        assert_eq!(
            found.items[item as usize].parent, found.items[criterion.item as usize].parent,
            "each hears its own"
        );
        assert_eq!(found.on_item[&item].len(), 1);
    }
}

#[test]
fn each_rule_of_an_item_stands_in_the_place_of_the_default() {
    let model = |control: Value| {
        let mut model = one(json!({"type": "humanTask", "defaultControl": {
            "requiredRule": {}, "manualActivationRule": {"condition": {"body": "${true}"}}}}));
        if !control.is_null() {
            model["casePlanModel"]["items"][0]["itemControl"] = control;
        }
        model
    };
    let by_default = plan(model(Value::Null));
    let control = &item(&by_default, "i").control;
    assert!(matches!((&control.required, &control.manual), (Rule::Yes, Rule::Yes)));
    let own = plan(model(json!({"repetitionRule": {"condition": {"body": "again"}}})));
    let control = &item(&own, "i").control;
    assert!(matches!(
        (&control.required, &control.manual, &control.repetition),
        (Rule::Yes, Rule::Yes, Rule::When(_))
    ));
    let never = plan(model(json!({"manualActivationRule": {"condition": {"body": "${false}"}}})));
    assert!(matches!(item(&never, "i").control.manual, Rule::No));
    let empty = plan(model(json!({"requiredRule": {"condition": {"body": " "}}})));
    assert!(matches!(item(&empty, "i").control.required, Rule::Yes));
}

#[test]
fn an_absent_manual_activation_rule_means_what_the_organisation_says() {
    let given = definition(one(json!({"type": "humanTask"})));
    let by_hand = |manual| {
        let compiled = compile_with(&given, Meaning { manual_by_default: manual });
        matches!(item(&compiled.cases[0], "i").control.manual, Rule::Yes)
    };
    assert!(by_hand(true) && !by_hand(false));
}

#[test]
fn extensions_of_rules_are_read() {
    let found = plan(case(json!({
        "id": "m", "type": "casePlanModel", "definitions": [{"id": "d", "type": "humanTask"}],
        "items": [{"id": "i", "definitionRef": "d", "itemControl": {
            "configuration": {"completionNeutral": true, "parentCompletion": "ignoreIfAvailable"},
            "repetitionRule": {"configuration": {
                "maxInstanceCount": "3", "collection": "people", "elementVariable": "person", "elementIndexVariable": "n",
                "counterVariable": "round", "repeatOnStandardEvent": "complete"}}}}]
    })));
    let control = &item(&found, "i").control;
    assert!(matches!(control.completion_neutral, Some(Rule::Yes)));
    assert_eq!(control.parent_completion, ParentCompletion::IgnoreIfAvailable);
    assert_eq!(control.repeats.max_instances, Some(3));
    assert!(
        matches!(&control.repeats.collection, Some(Setting::Expression(own)) if own.source() == "people")
    );
    assert_eq!(control.repeats.element_variable.as_deref(), Some("person"));
}

#[test]
fn rules_of_reactivation_are_those_of_items_and_of_the_listener() {
    let listener = |rules: Value| {
        one(
            json!({"type": "eventListener", "configuration": {"listenerType": "reactivate", "reactivation": rules}}),
        )
    };
    let found = plan(listener(json!({"ignoreCondition": "true", "activateCondition": ""})));
    let rules = found.reactivation.as_ref().unwrap();
    assert!(matches!((&rules.activate, &rules.ignore, &rules.anew), (Rule::No, Rule::Yes, Rule::No)));
    assert!(plan(one(json!({"type": "task"}))).reactivation.is_none());
    let of_item = |rules: Value| {
        one(json!({"type": "task", "defaultControl": {"configuration": {"reactivation": rules}}}))
    };
    let found = plan(of_item(json!({"activateCondition": "${again}", "defaultCondition": true})));
    let rules = item(&found, "i").control.reactivation.as_deref().unwrap();
    assert!(matches!((&rules.activate, &rules.ignore, &rules.anew), (Rule::When(_), Rule::No, Rule::Yes)));
    // One rule is enough for the model to have rules.
    assert!(matches!(found.reactivation.as_ref().unwrap().anew, Rule::No));
    for (given, code, words) in [
        (of_item(json!("ignore")), "wrongSetting", "object of conditions"),
        (of_item(json!({"ignoreCondition": 1})), "wrongSetting", "ignoreCondition"),
        (of_item(json!({"ignoreCondition": "1 +"})), "expressionSyntax", "ignoreCondition"),
        (listener(json!({"condition": "x"})), "unknownSetting", "condition"),
        (
            one(json!({"type": "task", "configuration": {"reactivation": {"ignoreCondition": true}}})),
            "settingUnused",
            "listener",
        ),
    ] {
        refused(given, code, words);
    }
}

#[test]
fn discretionary_items_have_the_rules_and_roles_of_the_tables_around_them() {
    let found = plan(json!({
        "id": "c", "roles": [{"id": "r1", "name": "Boss"}, {"id": "r2"}],
        "casePlanModel": {
            "id": "m", "type": "casePlanModel", "items": [{"id": "i", "definitionRef": "h"}],
            "planningTable": {
                "id": "t", "authorizedRoleRefs": ["r1"], "applicabilityRuleRefs": ["a1"],
                "applicabilityRules": [{"id": "a1", "condition": {"body": "x > 1"}}, {"id": "a2", "condition": {"body": "y"}}],
                "planningTables": [{"discretionaryItems": [
                    {"id": "d1", "definitionRef": "t1", "authorizedRoleRefs": ["r2"], "applicabilityRuleRefs": ["a2"]}]}]
            },
            "definitions": [
                {"id": "t1", "type": "task"},
                {"id": "h", "type": "humanTask", "performerRef": "r2", "planningTable": {
                    "discretionaryItems": [{"id": "d2", "definitionRef": "t1"}]}}
            ]
        }
    }));
    let planned = item(&found, "d1").discretionary.clone().unwrap();
    assert_eq!(planned.roles, [vec![Arc::from("r1")], vec![Arc::from("r2")]]);
    assert_eq!(planned.applicable.len(), 2);
    assert_eq!(found.items[PLAN_MODEL as usize].table, [found.item_ids["d1"]]);
    let human = item(&found, "i");
    assert_eq!(human.table, [found.item_ids["d2"]]);
    assert_eq!(item(&found, "d2").parent, Some(PLAN_MODEL), "it is planned into the stage of the task");
    let Work::Human { task, performer } = &human.work else { panic!() };
    assert_eq!(performer.as_deref(), Some("r2"));
    assert!(matches!(&task.candidate_groups, Some(Setting::Literal(own)) if *own == json!(["r2"])));
}

#[test]
fn sentries_wait_for_items_files_and_exits() {
    let found = plan(json!({
        "id": "c", "caseFile": {"items": [{"id": "f", "name": "order", "multiplicity": "ZeroOrMore"}]},
        "casePlanModel": {
            "id": "m", "type": "casePlanModel",
            "exitCriteria": [{"id": "kx", "sentryRef": "y2", "configuration": {"exitType": "activeInstances", "exitEventType": "complete"}}],
            "items": [
                {"id": "a", "definitionRef": "t", "exitCriteria": [{"id": "ka", "sentryRef": "y2"}]},
                {"id": "b", "definitionRef": "t", "entryCriteria": [{"id": "kb", "sentryRef": "y1"}, {"sentryRef": "y3"}]}
            ],
            "sentries": [
                {"id": "y1", "configuration": {"triggerMode": "onEvent"},
                 "onParts": [
                    {"id": "p", "type": "planItemOnPart", "sourceRef": "a", "standardEvent": "exit", "exitCriterionRef": "ka"},
                    {"type": "caseFileItemOnPart", "sourceRef": "order", "standardEvent": "addChild"}],
                 "ifPart": {"condition": {"body": "${order.total > 3}"}, "contextRef": "f"}},
                {"id": "y2", "ifPart": {"condition": {"body": "stop"}}},
                {"id": "y3", "configuration": {"variableOnParts": [{"variableName": "v", "variableEvents": ["update"]}]},
                 "ifPart": {"condition": {"body": "true"}}}
            ],
            "definitions": [{"id": "t", "type": "humanTask"}]
        }
    }));
    assert_eq!(found.file[0].multiplicity, Multiplicity::ZeroOrMore);
    let of = |id: &str| found.criteria.iter().position(|own| &*own.id == id).unwrap();
    let (kx, ka, kb) = (of("kx"), of("ka"), of("kb"));
    let sentry = &found.sentries[found.criteria[kb].sentry as usize];
    assert!(sentry.on_event);
    assert!(
        matches!(sentry.on[0].source, Source::Item { event: ItemEvent::Exit, exit: Some(ix), .. } if ix as usize == ka)
    );
    assert!(matches!(sentry.on[1].source, Source::File { item: 0, event: FileEvent::AddChild }));
    assert_eq!(sentry.condition.as_ref().unwrap().context, Some(0));
    assert_eq!(found.on_data, [kx as u32, ka as u32, kb as u32]);
    assert_eq!(found.on_file[&0], [kb as u32]);
    let extra = &found.items[0].extra;
    assert_eq!((extra.exit, extra.exit_event), (ExitKind::Active, ExitEvent::Complete));
    assert_eq!(found.criteria[kx].item, PLAN_MODEL);
    let last = &found.sentries[found.criteria[of("b:y3")].sentry as usize];
    assert!(last.condition.is_none(), "a condition that always holds adds nothing");
    let Source::Item { item: listener, event: ItemEvent::Occur, .. } = last.on[0].source else { panic!() };
    let listener = &found.items[listener as usize];
    assert!(
        matches!(&listener.work, Work::Variable { name, change: Some(change) } if &**name == "v" && &**change == "update")
    );
    assert!(matches!(listener.control.repetition, Rule::Yes));
}

#[test]
fn parameters_are_bound_to_the_case_file_and_mapped_to_what_is_called() {
    let found: CaseDefinition = serde_json::from_value(json!({
        "processes": [{"id": "p", "externalRef": "x:ship", "inputs": [{"id": "pi", "name": "amount"}],
                       "outputs": [{"id": "po", "name": "number"}]}],
        "cases": [{
            "id": "c", "caseFile": {"items": [{"id": "f", "name": "order"}]},
            "inputs": [{"id": "ci", "name": "first", "bindingRef": "f", "bindingRefinement": {"body": "{id: first}"}}],
            "casePlanModel": {
                "id": "m", "type": "casePlanModel", "items": [{"id": "i", "definitionRef": "d"}],
                "definitions": [{
                    "id": "d", "type": "processTask", "processRef": "p",
                    "inputs": [{"id": "ti", "name": "total", "bindingRef": "f", "bindingRefinement": {"body": "order.total"}}],
                    "outputs": [{"id": "to", "name": "tracking", "bindingRef": "f"}],
                    "parameterMappings": [
                        {"sourceRef": "ti", "targetRef": "pi", "transformation": {"body": "total * 100"}},
                        {"sourceRef": "po", "targetRef": "to"}]
                }]
            }
        }]
    }))
    .unwrap();
    let compiled = compile(&found);
    assert!(compiled.is_executable(), "{:?}", told(&compiled));
    let plan = &compiled.cases[0];
    let task = item(plan, "i");
    let Work::Process { call } = &task.work else { panic!() };
    assert!(matches!(&call.called, Setting::Literal(own) if own == "ship"));
    assert!(!call.all_in && !call.all_out, "with parameters only these pass");
    let names = |own: &[(heddle_settings::Target, Setting)]| -> Vec<String> {
        own.iter().map(|(target, _)| target.variable.to_string()).collect()
    };
    assert_eq!(names(&task.extra.mappings.inputs), ["total", "amount"]);
    assert_eq!(names(&task.extra.mappings.outputs), ["tracking"]);
    assert_eq!(task.extra.bound_outputs, [(Arc::from("tracking"), 0)]);
    // The refinement is over the item, and reads the case file by itself.
    let scope = json!({"caseFile": {"order": {"total": 7}}, "first": "o1"});
    let context = heddle_feel::EvalContext { now: heddle_kernel::Timestamp::from_micros(0) };
    let value = |own: &heddle_feel::Expression| {
        heddle_feel::to_json(&own.evaluate(scope.as_object().unwrap(), &context).unwrap().value)
    };
    let Setting::Expression(total) = &task.extra.mappings.inputs[0].1 else { panic!() };
    assert_eq!(value(total), json!(7));
    // That of an input of the case is over the parameter, which goes into the item.
    assert_eq!(value(plan.inputs[0].refinement.as_ref().unwrap()), json!({"id": "o1"}));
    assert_eq!(plan.inputs[0].bound, Some(0));
}

#[test]
fn a_decision_gives_its_result_by_the_name_of_its_parameter() {
    let found: CaseDefinition = serde_json::from_value(json!({
        "decisions": [{"id": "p", "name": "Risk", "inputs": [{"id": "di", "name": "age"}], "outputs": [{"id": "do", "name": "risk"}]}],
        "cases": [one(json!({
            "type": "decisionTask", "decisionRef": "p", "inputs": [{"id": "ti", "name": "years"}],
            "outputs": [{"id": "to", "name": "level"}],
            "parameterMappings": [{"sourceRef": "ti", "targetRef": "di"}, {"sourceRef": "do", "targetRef": "to"}]
        }))]
    }))
    .unwrap();
    let compiled = compile(&found);
    assert!(compiled.is_executable(), "{:?}", told(&compiled));
    let Work::Decision { decision } = &item(&compiled.cases[0], "i").work else { panic!() };
    assert!(matches!(&decision.decision, Setting::Literal(own) if own == "Risk"));
    assert_eq!(decision.data.result_variable.as_deref(), Some("risk"));
    assert_eq!(&*decision.data.inputs[0].0.variable, "age");
    assert_eq!(&*decision.data.outputs[0].0.variable, "level");
}

#[test]
fn listeners_and_tasks_are_what_their_settings_say() {
    let work = |definition: Value| {
        let plan = plan(one(definition));
        format!("{:?}", item(&plan, "i").work)
    };
    for (definition, expected) in [
        (json!({"type": "timerEventListener", "timerExpression": {"body": "PT1H"}}), "Timer"),
        (json!({"type": "timerEventListener", "timerExpression": {"body": "${wait}"}}), "Timer"),
        (json!({"type": "userEventListener"}), "UserEvent { roles: [] }"),
        (json!({"type": "eventListener"}), "UserEvent { roles: [] }"),
        (json!({"type": "eventListener", "configuration": {"eventType": "paid"}}), "Message"),
        (json!({"type": "eventListener", "configuration": {"signalName": "alarm"}}), "Signal"),
        (json!({"type": "eventListener", "configuration": {"variableName": "x"}}), "Variable { name: \"x\""),
        (json!({"type": "eventListener", "configuration": {"listenerType": "reactivate"}}), "Reactivation"),
        (
            json!({"type": "milestone", "configuration": {"milestoneVariable": "done"}}),
            "Milestone { variable: Some(\"done\")",
        ),
        (json!({"type": "task"}), "Task"),
        (json!({"type": "task", "configuration": {"jobType": "pay"}}), "Job"),
        (json!({"type": "task", "configuration": {"source": "=1 + 1", "resultVariable": "x"}}), "Script"),
        (json!({"type": "task", "configuration": {"script": "x = a.b()", "scriptFormat": "groovy"}}), "Job"),
        (json!({"type": "caseTask", "caseRef": "c"}), "Case"),
        (json!({"type": "decisionTask", "configuration": {"decisionRef": "${which}"}}), "Decision"),
        (json!({"type": "processTask", "processRefExpression": {"body": "${which}"}}), "Process"),
    ] {
        let found = work(definition.clone());
        assert!(found.starts_with(expected), "{definition}: {found}");
    }
}

#[test]
fn what_starts_a_case_and_what_listens_to_items_is_read() {
    let mut given = one(json!({"type": "humanTask", "configuration": {"listeners": [
        {"on": "complete", "source": "{done: true}"}, {"on": "start", "source": "${n}", "resultVariable": "a.b"}]}}));
    given["configuration"] =
        json!({"startEvents": ["claim", {"eventType": "loss", "target": "loss"}], "initiator": "who"});
    let found = plan(given);
    assert_eq!(found.starts.iter().map(|own| &*own.event_type).collect::<Vec<_>>(), ["claim", "loss"]);
    assert_eq!(found.items[0].extra.settings["initiator"], "who");
    let listeners = &item(&found, "i").extra.listeners;
    assert_eq!(listeners[0].events, [ItemEvent::Complete]);
    assert_eq!(listeners[1].variable.as_ref().unwrap().members, ["b"]);
}

#[test]
fn a_listener_behind_the_commit_is_computed_in_the_step_and_says_so() {
    let heard = |phase: &str| {
        compiled(one(json!({"type": "humanTask", "configuration": {"listeners": [
            {"on": "complete", "source": "1", "resultVariable": "x", "onTransaction": phase}]}})))
    };
    for phase in ["committed", "before-commit"] {
        let compiled = heard(phase);
        assert_eq!(item(&compiled.cases[0], "i").extra.listeners.len(), 1);
        let told = told(&compiled);
        assert!(told.iter().any(|own| own.starts_with("listenerInStep")), "{told:#?}");
        assert!(compiled.diagnostics.iter().all(|own| own.remedy.is_some()));
    }
}

#[test]
fn what_only_a_sentry_hears_comes_back_whatever_the_rules_say() {
    let mut given = one(json!({"type": "task"}));
    given["casePlanModel"]["items"][0]["entryCriteria"] = json!([{"id": "k", "sentryRef": "y"}]);
    given["casePlanModel"]["items"][0]["configuration"] = json!({"reactivation": {"ignoreCondition": true}});
    given["casePlanModel"]["sentries"] = json!([{"id": "y", "configuration": {
        "variableOnParts": [{"variableName": "v", "variableEvents": ["create"]}]}}]);
    let found = plan(given);
    let rules =
        |own: &Item| own.control.reactivation.as_deref().map(|own| (own.ignore.clone(), own.anew.clone()));
    assert!(matches!(rules(item(&found, "i")), Some((Rule::Yes, Rule::No))));
    let heard = found.items.iter().find(|own| matches!(own.work, Work::Variable { .. })).unwrap();
    assert!(matches!(rules(heard), Some((Rule::No, Rule::Yes))));
}

#[test]
fn a_decision_is_named_by_a_text_or_by_what_is_one() {
    for (named, expected) in [("rate", Some("rate")), ("=\"rate\"", Some("rate")), ("=which", None)] {
        let found = plan(one(json!({"type": "decisionTask", "configuration": {"decisionRef": named}})));
        let names: Vec<_> = found.named_decisions().map(|(name, _)| name).collect();
        assert_eq!(names, [expected.map(str::to_owned)]);
    }
}

#[test]
fn tasks_of_one_definition_share_what_may_be_planned_from_them() {
    let found = plan(case(json!({
        "id": "m", "type": "casePlanModel",
        "items": [
            {"id": "h1", "definitionRef": "h"}, {"id": "h2", "definitionRef": "h"},
            {"id": "s1", "definitionRef": "s"}
        ],
        "definitions": [
            {"id": "s", "type": "stage", "items": [{"id": "h3", "definitionRef": "h"}]},
            {"id": "t", "type": "task"},
            {"id": "h", "type": "humanTask", "planningTable": {
                "id": "pt", "discretionaryItems": [{"id": "x", "definitionRef": "t"}]}}
        ]
    })));
    let table = |id: &str| &item(&found, id).table;
    assert_eq!((table("h1").len(), table("h1")), (1, table("h2")));
    // Another stage has its own.
    assert_eq!(found.items.iter().filter(|own| &*own.id == "x").count(), 2);
    assert_ne!(table("h1"), table("h3"));
}

#[test]
fn the_case_file_is_a_tree_with_references() {
    let definition: CaseDefinition = serde_json::from_value(json!({
        "caseFileItemDefinitions": [{"id": "fd", "properties": [{"name": "total", "type": "number"}]}],
        "cases": [{"id": "c", "casePlanModel": {"id": "m"}, "caseFile": {"items": [
            {"id": "f1", "name": "order", "definitionRef": "fd", "targetRefs": ["f2"],
             "children": [{"id": "f3", "name": "line", "sourceRef": "f2"}]},
            {"id": "f2", "name": "customer"}]}}]
    }))
    .unwrap();
    let compiled = compile(&definition);
    let file = &compiled.cases[0].file;
    assert_eq!(file.iter().map(|own| &*own.id).collect::<Vec<_>>(), ["f1", "f3", "f2"]);
    assert_eq!((file[1].parent, &file[0].children[..], &file[0].targets[..]), (Some(0), &[1][..], &[2][..]));
    assert_eq!(file[2].targets, [1]);
    assert_eq!(file[0].properties, [(Arc::from("total"), Some(Arc::from("number")))]);
    assert_eq!(compiled.cases[0].file_ids["customer"], 2);
}

#[test]
fn what_is_not_executed_is_refused_with_its_reason() {
    let heard = |kind: &str, listener: Value| {
        let mut listener = listener;
        listener["source"] = json!("1");
        one(json!({"type": kind, "configuration": {"listeners": [listener]}}))
    };
    let sentry = |sentry: Value| {
        let mut given = one(json!({"type": "task"}));
        given["casePlanModel"]["items"][0]["entryCriteria"] = json!([{"id": "k", "sentryRef": "y"}]);
        given["casePlanModel"]["sentries"] = json!([sentry]);
        given
    };
    let on = |event: &str, source: &str| {
        sentry(
            json!({"id": "y", "onParts": [{"type": "planItemOnPart", "sourceRef": source, "standardEvent": event}]}),
        )
    };
    for (case, code, words) in [
        (json!({"id": "c"}), "required", "case plan model"),
        (one(json!({"type": "planFragment"})), "unsupportedElement", "plan fragment"),
        (one(json!({"type": "robotTask"})), "unsupportedElement", "robotTask"),
        (
            one(json!({"type": "stage", "items": [{"id": "x", "definitionRef": "d"}]})),
            "cyclicNesting",
            "itself",
        ),
        (
            one(json!({"type": "stage", "items": [{"id": "x", "definitionRef": "none"}]})),
            "danglingReference",
            "none",
        ),
        (one(json!({"type": "task", "configuration": {"colour": "red"}})), "unknownSetting", "colour"),
        (one(json!({"type": "task", "configuration": {"retry": "PT1S"}})), "settingUnused", "retry"),
        (one(json!({"type": "humanTask", "performerRef": "r"})), "danglingReference", "role"),
        (
            one(json!({"type": "humanTask", "configuration": {"priority": "high"}})),
            "wrongSetting",
            "priority",
        ),
        (
            one(json!({"type": "humanTask", "configuration": {"assignee": "${bean.who()}"}})),
            "expressionLanguage",
            "assignee",
        ),
        (one(json!({"type": "processTask"})), "wrongSetting", "nothing to call"),
        (one(json!({"type": "decisionTask"})), "required", "no decision"),
        (one(json!({"type": "timerEventListener"})), "required", "timer"),
        (one(json!({"type": "timerEventListener", "timerExpression": {"body": "P"}})), "timerSyntax", "P"),
        (one(json!({"type": "userEventListener", "authorizedRoleRefs": ["r"]})), "danglingReference", "role"),
        (
            one(json!({"type": "eventListener", "configuration": {"listenerType": "smoke"}})),
            "wrongSetting",
            "smoke",
        ),
        (one(json!({"type": "task", "planningTable": {}})), "planningTable", "human task"),
        (
            one(
                json!({"type": "humanTask", "planningTable": {"discretionaryItems": [{"id": "x", "definitionRef": "d"}]}}),
            ),
            "cyclicNesting",
            "itself",
        ),
        (
            one(json!({"type": "task", "defaultControl": {"requiredRule": {"condition": {"body": "1 +"}}}})),
            "expressionSyntax",
            "requiredRule",
        ),
        (
            one(json!({"type": "task", "defaultControl": {"requiredRule": {"condition": {"body": "12"}}}})),
            "conditionNotBoolean",
            "12",
        ),
        (
            one(
                json!({"type": "task", "defaultControl": {"repetitionRule": {"configuration": {"repeatOnStandardEvent": "disable"}}}}),
            ),
            "unsupportedSetting",
            "disable",
        ),
        (
            one(
                json!({"type": "task", "configuration": {"listeners": [{"on": "start", "jobType": "java:x"}]}}),
            ),
            "unsupportedSetting",
            "compute",
        ),
        (
            heard("task", json!({"on": "start", "onTransaction": "rolled-back"})),
            "wrongSetting",
            "nothing is left to hear",
        ),
        (heard("humanTask", json!({"on": "timeout"})), "unsupportedSetting", "timeout"),
        (heard("humanTask", json!({"on": "occur"})), "unsupportedSetting", "occur"),
        (heard("milestone", json!({"on": "complete"})), "unsupportedSetting", "complete"),
        (heard("stage", json!({"to": "closed"})), "wrongSetting", "closed"),
        (heard("task", json!({"on": "start", "to": "active"})), "wrongSetting", "beside"),
        (sentry(json!({"id": "z"})), "danglingReference", "has a sentry"),
        (sentry(json!({"id": "y"})), "emptySentry", "neither"),
        (sentry(json!({"id": "y", "ifPart": {}})), "required", "condition"),
        (
            sentry(json!({"id": "y", "ifPart": {"condition": {"body": "x"}, "contextRef": "f"}})),
            "danglingReference",
            "case file item",
        ),
        (
            sentry(json!({"id": "y", "ifPart": {"condition": {"body": "x", "language": "urn:prolog"}}})),
            "expressionLanguage",
            "prolog",
        ),
        (on("complete", "none"), "danglingReference", "no plan item"),
        (on("explode", "i"), "unknownTransition", "explode"),
    ] {
        refused(case, code, words);
    }
    let none = compile(&CaseDefinition::default());
    assert_eq!(none.diagnostics[0].code, "noCase");
}

#[test]
fn an_item_that_is_there_several_times_is_no_source_for_those_outside() {
    let given = case(json!({
        "id": "m", "type": "casePlanModel",
        "items": [{"id": "s1", "definitionRef": "s"}, {"id": "s2", "definitionRef": "s"},
                  {"id": "b", "definitionRef": "t", "entryCriteria": [{"id": "k", "sentryRef": "y"}]}],
        "sentries": [{"id": "y", "onParts": [
            {"type": "planItemOnPart", "sourceRef": "a", "standardEvent": "complete"}]}],
        "definitions": [
            {"id": "s", "type": "stage", "items": [{"id": "a", "definitionRef": "t"}]}, {"id": "t", "type": "task"}]
    }));
    refused(given, "danglingReference", "several times");
}

#[test]
fn a_plan_has_an_end() {
    // Each stage holds the next one twice.
    let stages = (0..20).map(|level| {
        let inner = format!("s{}", level + 1);
        json!({"id": format!("s{level}"), "type": "stage", "items": [
            {"id": format!("a{level}"), "definitionRef": inner}, {"id": format!("b{level}"), "definitionRef": inner}]})
    });
    let definitions: Vec<Value> = stages.chain([json!({"id": "s20", "type": "stage"})]).collect();
    let given = case(json!({
        "id": "m", "type": "casePlanModel", "items": [{"id": "i", "definitionRef": "s0"}], "definitions": definitions
    }));
    refused(given, "tooManyItems", "too large");
}
