//! Remedies for findings, by code.

/// One sentence for people; none where there is nothing to do.
pub(crate) fn remedy(code: &str) -> Option<&'static str> {
    of_structure(code).or_else(|| of_execution(code)).or_else(|| of_documents(code))
}

/// Remedies for what stands in a CMMN document, and for what has no place in one.
fn of_documents(code: &str) -> Option<&'static str> {
    Some(match code {
        "unknownDefinition" => {
            "Use the name of a CMMN 1.1 stage, task, milestone or event listener as the type."
        }
        "invalidValue" | "invalidData" => "Use a value of the type that the standard gives.",
        "residueWithoutElement" => "Take the fragment out of `fragments`, or name an element that is there.",
        "unsupportedExtension" => "Say it with settings of this product, or take the word out of the model.",
        "notExportable" => "Correct the XML text or the character that is named.",
        "lostInVersion" => "Write the model as CMMN 1.1.",
        "moreFindings" => "Correct what is told, and check again.",
        _ => return None,
    })
}

/// Remedies for models that do not hold together.
fn of_structure(code: &str) -> Option<&'static str> {
    Some(match code {
        "noCase" => "Add a case with a case plan model.",
        "missingId" => "Give the element an id.",
        "duplicateId" => "Give each element an id of its own.",
        "required" => "Add what is missing.",
        "danglingReference" => "Name an element that is there, or take the reference out.",
        "wrongReference" => "Refer to an element of the kind that is expected here.",
        "cyclicNesting" => {
            "Let the inner item refer to another definition, or repeat the outer stage instead."
        }
        "fileCycle" => "Take one of the references out of the circle.",
        "tooManyItems" => "Move parts of the case into cases of their own, and start them by case tasks.",
        "unknownValue" | "unknownTransition" => "Use one of the words of the standard.",
        "unknownElement" => "Use the name of a CMMN 1.1 element.",
        "unexpectedContent" => "Take the content out, or put it where the standard has it.",
        "planningTable" => "Move the planning table to the stage or to a human task.",
        "sentryPlace" => "Move the sentry into the stage that has the item of the criterion.",
        "definitionPlace" => "Move the definition into the stage of the item, or into one around it.",
        "emptySentry" => "Give the sentry an on-part or an if-part.",
        "entryOfListener" => "Take the entry criterion out, or put the listener into a stage that has it.",
        _ => return None,
    })
}

/// Remedies for models that cannot do what they seem to mean.
fn of_execution(code: &str) -> Option<&'static str> {
    Some(match code {
        "unsupportedElement" => {
            "Model it with elements that are executed; `GET /api/case-types/cmmn/conformance` lists them."
        }
        "unsupportedSetting" | "unknownSetting" | "settingUnused" => {
            "Take the setting out of the `configuration`, or correct its name."
        }
        "wrongSetting" => "Correct the setting in the `configuration`.",
        "unsupportedImplementation" => {
            "Take the `kind` out and set `jobType`, so that a worker does the task, or name a kind that a task can have."
        }
        "decisionVersion" => "Set `versionPolicy` to `latest`, or leave it out.",
        "wrongParameter" => "Correct the parameter or its mapping.",
        "unsupportedScript" => "Write the script in FEEL, or name a `jobType`, so that a worker runs it.",
        "expressionSyntax" => "Correct the expression at the place that is named.",
        "expressionLanguage" => "Write the expression in FEEL.",
        "conditionNotBoolean" => "Write a condition that gives true or false.",
        "timerSyntax" => "Give a date, a duration or a cycle by ISO 8601, or a FEEL expression after `=`.",
        "impossibleTransition" => "Wait for a transition that elements of the source's kind have.",
        "sentryNeverMet" => "Let the sentry wait for something that can happen, or take the criterion out.",
        "unreachableItem" => {
            "Give the item an entry criterion that can be met, or take its entry criteria out."
        }
        "requiredNeverEnabled" => "Let the required item begin, or take its required rule out.",
        "stageNeverEnds" => {
            "Set `autoComplete`, give the stage an exit criterion, or let its items end; a person can complete it otherwise."
        }
        "endlessRepetition" => {
            "Give the item an entry criterion, or its repetition rule a condition that becomes false."
        }
        "unknownVariable" => "Nothing has to be done when something outside of the case sets the variable.",
        "roleUnused" => "Nothing has to be done; take the role out when nobody needs it.",
        "listenerInStep" => {
            "Nothing has to be done; what must not hold the transition up is a task behind it."
        }
        "reactivationUnruled" => {
            "Nothing has to be done; `reactivation: {\"defaultCondition\": true}` of the listener brings all items back as in a \
             new case."
        }
        "ruleUnused" => "Take the rule out, or put it at a task or a stage.",
        "planningUnused" => "Add discretionary items, or take the planning table out.",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_finding_says_what_to_do() {
        for code in ["duplicateId", "endlessRepetition", "unknownSetting"] {
            assert!(super::remedy(code).is_some(), "{code}");
        }
    }
}
