//! Remedies for findings, by code.

/// One sentence for people; none where there is nothing to do.
pub(crate) fn remedy(code: &str) -> Option<&'static str> {
    of_model(code)
        .or_else(|| of_choreography(code))
        .or_else(|| of_execution(code))
        .or_else(|| of_decision(code))
        .or_else(|| of_models(code))
        .or_else(|| of_export(code))
}

/// Remedies for models that do not hold together.
fn of_model(code: &str) -> Option<&'static str> {
    Some(match code {
        "danglingReference" => "Name an element that is there, or take the reference out.",
        "duplicateId" => "Give each element an id of its own.",
        "missingId" => "Give the element an id.",
        "missingType" => "Give the node the name of a BPMN element as its type.",
        "unknownElement" => "Use the name of a BPMN 2.0.2 element as the type.",
        "required" => "Add what is missing.",
        "flowCrossesBorder" => {
            "Connect nodes of one process or sub-process; between pools use a message flow."
        }
        "wrongReference" => "Refer to an element of the kind that is expected here.",
        "wrongFlow" => "Draw the sequence flow between nodes that may have it.",
        "wrongGateway" => {
            "Set `eventGatewayType` to Exclusive, or to Parallel with `instantiate` true, or leave both out."
        }
        "wrongPlace" => "Move the element to the process itself, or set `instantiate` to false.",
        "wrongData" => {
            "Give the association one source, or a `transformation` that makes one value of several; an assignment goes `to` \
             a variable or a member of one, such as `order.total`."
        }
        "noExecutableProcess" => "Mark a process with nodes as executable.",
        "processNotExecutable" => "Set isExecutable to true if the process is to be started.",
        "noStart" => "Add a start event.",
        "severalStarts" => "Leave one start event, or give each a trigger of its own.",
        "tooManyPaths" => "Move parts of the process into sub-processes or processes of their own.",
        "timerPeriod" => "Let the cycle's slots lie a second or more apart.",
        "cyclicNesting" => "Take the sub-process out of itself.",
        "tooDeep" => "Move inner sub-processes into processes of their own.",
        "quantity" => "Set the quantity to a number from 1 to 10000.",
        "missingMessage" => "Let the event refer to a message.",
        "missingSignal" => "Let the event refer to a signal.",
        "missingLink" => "Give the link a name, which its other end has, too.",
        "severalLinks" => {
            "Leave one catching link of the name in the process or sub-process, or rename the others."
        }
        "linkUnused" => {
            "Let a throwing link of the same process or sub-process have its name, or take the catching link out."
        }
        "timerSyntax" => "Give one date, duration or cycle by ISO 8601, or a FEEL expression after `=`.",
        "expressionSyntax" => "Correct the expression at the place that is named.",
        "expressionLanguage" => "Write the expression in FEEL.",
        "unknownEventDefinition" => "Use the name of a BPMN 2.0.2 event definition as its type.",
        "invalidValue" | "invalidData" => "Use a value of the type that the standard gives.",
        "unexpectedContent" => "Take the content out, or put it where the standard has it.",
        "residueWithoutElement" => {
            "Take the fragment out of `bpmn.extensionElementsXml`, or name an element that is there."
        }
        "edgeNotExported" => "Connect the edge to two nodes.",
        "eventGatewayCondition" => "Take the condition out: the event that comes first decides.",
        "defaultFlowNotOutgoing" => "Name a sequence flow that leaves the element as its default.",
        "startEventIncoming" | "boundaryEventIncoming" => "Take the incoming sequence flow out.",
        "endEventOutgoing" => "Take the outgoing sequence flow out, or use an intermediate throw event.",
        "notExportable" => "Correct the text at the place that is named, so that it can stand in XML.",
        "definitionMissing" => "Save a definition first.",
        "unknownValue" => "Use one of the words of the standard.",
        "moreFindings" => "Correct what is told, and check again.",
        _ => return None,
    })
}

/// Remedies for choreographies.
fn of_choreography(code: &str) -> Option<&'static str> {
    Some(match code {
        "choreographyInitiator" => {
            "Let a participant of the activity before it initiate it, or tell its initiator by a choreography task in between."
        }
        "choreographyEventGateway" => {
            "Let one participant send, or one receive, the first message behind the gateway on all of its paths."
        }
        "choreographyTimer" => {
            "Let all participants behind the gateway take part in the choreography activity before it, or take the timer out."
        }
        "choreographyDecision" => {
            "Give each flow but the default one a condition over data that all deciding participants have seen, or let one \
             participant decide."
        }
        "choreographyMessageFlow" => {
            "Let the message flows lead from one participant of the task to the other, the first from the initiating one."
        }
        "choreographyEvent" => {
            "Use an event that choreographies have; a message is shown by a choreography task."
        }
        "choreographyNotMonitored" => {
            "Correct what the message names, or accept that nothing compares messages with the choreography."
        }
        _ => return None,
    })
}

/// Remedies for what BPEL has nothing for.
fn of_export(code: &str) -> Option<&'static str> {
    Some(match code {
        "noProcess" => "Give the definition a process with nodes.",
        "parallelCycle" => "Let the cycle lead through exclusive gateways alone.",
        "unstructuredCycle" => "Give the cycle one entry and one way out.",
        "lackOfSynchronization" => {
            "Put parallel branches together by a gateway of the kind that parted them."
        }
        "deadlock" => "Let each branch reach the gateway that waits for it.",
        "sidePath" | "linkToAnotherLevel" => {
            "Let paths and links begin and end within the same process or sub-process."
        }
        "unreachable" => "Connect the element to the start of the process, or take it out.",
        "edgeLoop" | "loop" => "Use a standard loop with a condition instead.",
        "condition" | "missingCondition" | "conditional" => {
            "Write the condition in XPath, and at each flow of the gateway but its default one."
        }
        "conditionIgnored" => "Take the condition out, or use an inclusive gateway.",
        "mixedLanguages" => "Write the conditions of a gateway in one language.",
        "tooLarge" => "Move parts of the region into a sub-process, or give its gateways fewer branches.",
        "eventGateway" | "parallelEventGateway" | "parallelMultiple" | "multipleEvent" => {
            "Wait for one message or time at a time, behind an exclusive event-based gateway where it is one of several."
        }
        "noMessage" | "messageType" => {
            "Let the element refer to an operation whose messages have an item definition."
        }
        "generatedOperation" => {
            "Nothing has to be done; let the start event refer to an operation of your own."
        }
        "humanTask" | "extensionActivity" | "eventHandler" => {
            "Nothing has to be done; see that the engine that gets the process knows it so."
        }
        "callActivity" => "Call a process of the same definition that does not call its caller.",
        "choreography" => "Export the process of one of its participants.",
        "transaction" => "Use a sub-process with compensation instead of the transaction.",
        "compensation" | "waitForCompletion" => {
            "Let a compensation event at the boundary of one activity lead to one handler, and throw it within a handler."
        }
        "duplicateCatch" => "Leave one boundary event or event sub-process for the error.",
        "eventSubProcess" => "Give the event sub-process one start event with one trigger.",
        "event" | "eventDefinition" | "escalation" | "signal" | "startEvent" => {
            "Use messages, times and errors instead, which are the events of BPEL."
        }
        "timer" | "timerStart" => "Give one date or duration, which begins or interrupts once.",
        "multiInstance" | "multiInstanceBehavior" | "completionCondition" => {
            "Give the number of instances as a cardinality, and a count of them as the condition of completion."
        }
        "dataAssociation" => "Let the association have one source and one target with item definitions.",
        _ => return None,
    })
}

/// Remedies for nodes that ask models.
fn of_models(code: &str) -> Option<&'static str> {
    Some(match code {
        "unknownDeployment" => "Make a deployment of this alias, or name one that is there in `model`.",
        "capMissing" => "Set the cap in the agent's `configuration`.",
        "agentWithoutTools" => {
            "Give activities of the sub-process a `tool` with a `description`, or make it an `llm.chat`."
        }
        "wrongTool" => "Correct the `tool` of the inner activity: {name, description, parameters, approval}.",
        _ => return None,
    })
}

/// Remedies for models that ask for what the engine does not do.
fn of_execution(code: &str) -> Option<&'static str> {
    Some(match code {
        "unsupportedElement" => {
            "Model the step with elements that are executed; `GET /api/workflows/bpmn/conformance` lists them."
        }
        "unsupportedEvent" => {
            "Use an event that is executed at this place; `eventMatrix` of `GET /api/workflows/bpmn/conformance` has \
             the table."
        }
        "wrongLoop" => "Correct the member of the loop that the message names.",
        "adHocContent" => "Take the element out of the ad-hoc sub-process.",
        "wrongAdHoc" => "Correct the member of the ad-hoc sub-process that the message names.",
        "unsupportedImplementation" => {
            "Set `jobType` in the node's `configuration`, so that a worker does the step, compute it in a script task in \
             FEEL, decide it in a business rule task, or do it as a user task."
        }
        "workerNeeded" => {
            "Let a program ask for jobs of the type with `POST /api/jobs/activate`, or say in the node's `configuration` \
             what is to be done."
        }
        "calledElsewhere" => "Publish a workflow with the process, or name one that is there in `ref`.",
        "operationUnused" => "Take the operation out, or take the message out and let a worker do the task.",
        "unsupportedExtension" => "Take the extension out if the step does not need it.",
        "unsupportedScript" => {
            "Write the script in FEEL and set its `scriptFormat` to `feel`, or take it out."
        }
        "unsupportedSetting" => "Take the setting out of the node's `configuration`.",
        "unsupportedProtection" => {
            "Set `protection.preset` to `off`, `basic`, `standard` or `strict`, or leave `protection` out."
        }
        "unsupportedSchemaVersion" => "Set `schemaVersion` to 1, or leave it out.",
        "unknownSetting" => "Correct the name of the setting, or take it out of the node's `configuration`.",
        "settingUnused" => "Take the setting out, or accept that it has no effect here.",
        "extensionUnused" => "Nothing has to be done when the effect is not needed.",
        "laneNotCandidates" => {
            "Set `laneCandidates` to true in the task's `configuration` to offer it to the group named like its lane, \
             or name assignee or candidates."
        }
        "wrongCondition" => "Correct the members of the condition.",
        "wrongSetting" => "Correct the setting in the node's configuration.",
        _ => return of_unused(code),
    })
}

/// Remedies for what a model has and the engine makes no use of, and for compensation.
fn of_unused(code: &str) -> Option<&'static str> {
    Some(match code {
        "compensationHandler" => {
            "Let an association lead from the event to one activity of the same process or sub-process that has \
             isForCompensation set to true."
        }
        "compensationUnused" => {
            "Let a compensation event at a boundary lead to the activity by an association, or take it out."
        }
        "cancelUncaught" => "Attach a cancel event to the transaction.",
        "transactionMethodUnused" => "Set the method to ##Compensate, or leave it out.",
        "conditionUnused" => "Take the condition out, or use an inclusive gateway.",
        "defaultFlowUnused" => "Name the default flow in `bpmn.defaultFlow`.",
        "resourceRolesUnused" => "Set assignee or candidates in the node's configuration.",
        "taskCompletesAtOnce" => {
            "Set `jobType` in its `configuration` for a worker, or make it a script task in FEEL, a business rule task or a \
             user task; leave it as it is when nothing is to be done here."
        }
        "dataAssociationsUnused" => "Take the associations out, and name the variables where they are read.",
        "dataStoreShared" => "Give the store another name where it is not to be shared.",
        "dataStoreOfRun" => "Give the data store a name.",
        "tooManyDataStores" => "Keep together in one store what belongs together.",
        "dataSetsUnused" => {
            "Take the sets, inputs and outputs out, and name the variables where they are read."
        }
        "activationConditionMissing" => {
            "Give the gateway an activation condition over `activationCount`, or use an exclusive or parallel gateway."
        }
        "globalTaskUnread" => {
            "Write the global task as BPMN has it, with an id, or put its step into the process that calls it."
        }
        "translatedCondition" => {
            "Nothing has to be done; write the condition in FEEL to have it as it is evaluated."
        }
        "correlationUnused" => "Set correlationKey in the configuration of the nodes that send and receive.",
        "invalidSchema" => "Correct the JSON Schema at the place that is named.",
        "unfitDefault" => "Correct the default, or take it out.",
        _ => return None,
    })
}

/// Remedies for decision models.
fn of_decision(code: &str) -> Option<&'static str> {
    Some(match code {
        "unknownDecision" => {
            "Put the DMN model that has the decision with `PUT /api/workflows/{workflowId}/dmn/logic`, or name one that \
             is there in `decisionRef`."
        }
        "decisionSourceMissing" => "Put the document with `PUT /api/workflows/{workflowId}/dmn/logic`.",
        "malformedSource" => "Correct the document at the line and column that are named.",
        "feelSyntax" => {
            "Correct the text at the place that is named: texts stand in double quotes, numbers have a decimal point, \
             dates are `date(\"2030-01-31\")`."
        }
        "unknownName" => "Put a text into double quotes, or let the decision require what is named so.",
        "decimalComma" => "Write the decimal sign as a point and leave the sign of thousands out: 1000.50.",
        "externalFunction" => "Write the function in FEEL, as a business knowledge model.",
        "duplicateOutput" => "Give each output of the table a name of its own.",
        "importMissing" => "Put the imported document into `dmn.importedDocuments`, with its namespace.",
        "requirementMissing" => "Let the requirement name an element of the model, or take it out.",
        "requirementCycle" => "Take one of the requirements out of the circle.",
        "ruleEntries" => "Give each rule one entry for each input and output of the table.",
        "tableInput" => "Give the input an expression.",
        "tableOutput" => "Give the table an output.",
        "tableInputType" => "Test for a value of the input's type, or give the input the type of its tests.",
        "tableOutputType" => "Give a value of the output's type, or give the output the type of its values.",
        "tableOverlap" => {
            "Narrow one of the rules, or choose a hit policy that allows both, such as `FIRST` or `COLLECT`."
        }
        "tableGap" => "Add a rule for the values of the example, or give the outputs a default.",
        "tableUnreachable" => {
            "Take the rule out, move it before the one that hides it, or correct its tests."
        }
        "tableNotAnalysed" => "Divide the table into several decisions to have it searched.",
        "unknownType" => "Name a type of FEEL or an item definition of the model.",
        "typeTooLarge" => "Divide the type, or nest it less deeply.",
        "unknownVersion" => {
            "Give the root element the namespace of the version of DMN in which the document is."
        }
        "duplicateName" => "Give each decision a name of its own.",
        "requirementNotDeclared" => "Let the decision require what it uses.",
        "inputVariableUnused" => "Write `?` for the value that an entry tests.",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::remedy;
    use crate::diagnostic;
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    #[test]
    fn a_finding_says_what_to_do() {
        assert!(diagnostic::error("duplicateId", "x").remedy.is_some());
        let own = diagnostic::error("duplicateId", "x").with_remedy("Rename it.");
        assert_eq!(own.remedy.as_deref(), Some("Rename it."));
    }

    /// Crates whose findings are about definitions and their decisions.
    const CRATES: &[&str] = &[
        "bpel",
        "bpmn",
        "bpmn-graph",
        "bpmn-validate",
        "definitions",
        "dmn",
        "execution",
        "settings",
        "workflows",
    ];

    /// Codes whose findings get their remedy where they are made.
    const WITH_THEIR_OWN: &[(&str, &str)] = &[
        ("outsideProfile", "each element that a profile leaves out has a remedy of its own"),
        ("timerInput", "the one place that makes it has the remedy"),
        ("unknownGroup", "the one place that makes it has the remedy"),
        ("unknownUser", "the one place that makes it has the remedy"),
    ];

    /// Calls behind whose opening parenthesis a code stands.
    const MAKERS: &[&str] = &[
        "diagnostic::error(",
        "diagnostic::warning(",
        "diagnostic::info(",
        "Wrong::new(",
        "Err((",
        "warning(",
    ];
    /// Calls that have a code behind other arguments.
    const TELLERS: &[&str] = &["refuse(", "refuse_with(", "warn(", "inform("];
    /// Words behind which a code stands.
    const WORDS: &[&str] = &["Severity::Error,", "Severity::Warning,", "Severity::Info,", "code:"];

    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() && name != "tests" {
                sources(&path, found);
            } else if path.extension().is_some_and(|end| end == "rs") && name != "tests.rs" {
                found.push(path);
            }
        }
    }

    /// Whether the text before a word leaves it in the place of a code.
    fn is_place(before: &str) -> bool {
        let before = before.trim_end();
        if MAKERS.iter().chain(WORDS).any(|maker| before.ends_with(maker)) {
            return true;
        }
        let Some(arguments) = before.strip_suffix(',') else { return false };
        let opened = TELLERS.iter().filter_map(|teller| arguments.rfind(teller).map(|at| at + teller.len()));
        opened.max().is_some_and(|at| !arguments[at..].contains([';', '"', '{']))
    }

    /// Whether a word begins a triple of code, sentence and clause.
    fn begins_triple(before: &str, behind: &str) -> bool {
        if !before.trim_end().ends_with('(') {
            return false;
        }
        let (mut depth, mut in_text, mut escaped, mut last) = (0_i32, false, false, 0);
        for (at, letter) in behind.char_indices() {
            match letter {
                _ if escaped => escaped = false,
                '\\' if in_text => escaped = true,
                '"' => in_text = !in_text,
                _ if in_text => {}
                '(' | '[' | '{' => depth += 1,
                ')' if depth == 0 => {
                    let clause = behind[last..at].trim().trim_end_matches(',');
                    let quoted = clause.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
                    let numbered = quoted.is_some_and(|text| {
                        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
                    });
                    return last > 0 && (numbered || ["CLAUSE", "LOOP", "clause"].contains(&clause));
                }
                ')' | ']' | '}' => depth -= 1,
                ',' if depth == 0 && !behind[at + 1..].trim_start().starts_with(')') => last = at + 1,
                ';' => return false,
                _ => {}
            }
        }
        false
    }

    /// Codes in a source, each with its line.
    fn codes(source: &str) -> impl Iterator<Item = (&str, usize)> {
        let source = source.split("#[cfg(test)]").next().unwrap_or_default();
        source.match_indices('"').filter_map(move |(at, _)| {
            let word = source[at + 1..].split('"').next().unwrap_or_default();
            let named = word.len() > 3
                && word.starts_with(|letter: char| letter.is_ascii_lowercase())
                && word.bytes().all(|byte| byte.is_ascii_alphabetic());
            let (before, behind) = (&source[..at], source.get(at + word.len() + 2..).unwrap_or_default());
            let found = named
                && behind.trim_start().starts_with([',', ')'])
                && (is_place(before) || begins_triple(before, behind));
            found.then(|| (word, before.matches('\n').count() + 1))
        })
    }

    #[test]
    fn each_code_that_a_source_tells_has_a_remedy() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut files = Vec::new();
        for name in CRATES {
            sources(&crates.join(name).join("src"), &mut files);
        }
        let mut found: BTreeMap<String, String> = BTreeMap::new();
        for file in &files {
            let source = std::fs::read_to_string(file).unwrap();
            for (code, line) in codes(&source) {
                found.entry(code.to_owned()).or_insert_with(|| format!("{}:{line}", file.display()));
            }
        }
        for known in
            ["wrongData", "wrongGateway", "severalLinks", "wrongPlace", "tableOutputType", "wrongTool"]
        {
            assert!(found.contains_key(known), "`{known}` is not found where it is told: {found:?}");
        }
        assert!(found.len() > 120, "{found:#?}");
        for (code, why) in WITH_THEIR_OWN {
            assert!(
                remedy(code).is_none() && found.remove(*code).is_some(),
                "{code} is on the list, because {why}"
            );
        }
        let without: Vec<_> = found.iter().filter(|(code, _)| remedy(code).is_none()).collect();
        assert!(without.is_empty(), "no remedy for {without:#?}");
    }
}
