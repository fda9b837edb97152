//! Remedies for findings, by code.

/// One sentence for people; none where there is nothing to do.
pub(crate) fn remedy(code: &str) -> Option<&'static str> {
    of_model(code)
        .or_else(|| of_choreography(code))
        .or_else(|| of_execution(code))
        .or_else(|| of_decision(code))
        .or_else(|| of_models(code))
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
        "correlationUnused" => "Set correlationKey in the configuration of the nodes that send and receive.",
        "invalidSchema" => "Correct the JSON Schema at the place that is named.",
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
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::diagnostic;

    #[test]
    fn a_finding_says_what_to_do() {
        assert!(diagnostic::error("duplicateId", "x").remedy.is_some());
        let own = diagnostic::error("duplicateId", "x").with_remedy("Rename it.");
        assert_eq!(own.remedy.as_deref(), Some("Rename it."));
    }
}
