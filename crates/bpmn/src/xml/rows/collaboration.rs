//! Collaborations, conversations and choreographies.

use super::node::{read_edge, write_edges};
use super::process::{read_artifact, write_artifacts};
use super::{kept_head, one_of};
use crate::model::{
    Choreography, ChoreographyActivity, Collaboration, Conversation, ConversationLink, CorrelationKey,
    MessageFlow, Participant,
};
use crate::xml::names::{element_row, kind, kind_named};
use crate::xml::tree::El;
use crate::xml::vocabulary::{Child, FLOW_NODES, Reader, Row, Writer, any_of};
use crate::xml::{Group, XmlError};

static PARTICIPANT: Row<Participant> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Text "name" name), attr!(Reference "processRef" process_ref)]],
    children: &[
        &kept_head(),
        &[
            kept!("interfaceRef"),
            kept!("endPointRef"),
            child!(
                "participantMultiplicity",
                |reader, participant: &mut Participant, el| {
                    let said = ["minimum", "maximum"].iter().any(|name| {
                        reader
                            .tree
                            .attribute(el, name)
                            .is_some_and(|value| value.trim().parse::<i64>().is_ok())
                    });
                    if participant.multiplicity_minimum.or(participant.multiplicity_maximum).is_some()
                        || !said
                    {
                        return Ok(false);
                    }
                    reader.read(&MULTIPLICITY, participant, el)?;
                    Ok(true)
                },
                |writer, participant: &Participant| {
                    if participant.multiplicity_minimum.or(participant.multiplicity_maximum).is_some() {
                        writer.element(const { kind("participantMultiplicity") }, &MULTIPLICITY, participant);
                    }
                }
            ),
        ],
    ],
};

static MULTIPLICITY: Row<Participant> = Row {
    attributes: &[&[
        attr!(Typed "minimum" multiplicity_minimum),
        attr!(Typed "maximum" multiplicity_maximum),
    ]],
    children: &[&kept_head()],
};

static MESSAGE_FLOW: Row<MessageFlow> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "name" name),
        attr!(Reference "sourceRef" source_ref),
        attr!(Reference "targetRef" target_ref),
        attr!(Reference "messageRef" message_ref),
    ]],
    children: &[&kept_head()],
};

static CONVERSATION_LINK: Row<ConversationLink> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "name" name),
        attr!(Reference "sourceRef" source_ref),
        attr!(Reference "targetRef" target_ref),
    ]],
    children: &[&kept_head()],
};

static CORRELATION_KEY: Row<CorrelationKey> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Text "name" name)]],
    children: &[
        &kept_head(),
        &[leaves!(CorrelationKey: Reference "correlationPropertyRef" correlation_property_refs)],
    ],
};

static CONVERSATION: Row<Conversation> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "name" name),
        attr!(Reference "calledCollaborationRef" called_collaboration_ref),
    ]],
    children: &[
        &kept_head(),
        &[
            leaves!(Conversation: Reference "participantRef" participant_refs),
            leaves!(Conversation: Reference "messageFlowRef" message_flow_refs),
            many!(Conversation: "correlationKey" CORRELATION_KEY correlation_keys),
            Child {
                matches: any_of(Group::Conversation),
                read: Some(|reader, parent, el| read_conversation(reader, &mut parent.conversations, el)),
                write: Some(|writer, parent| {
                    write_conversations(writer, parent.conversations.as_deref().unwrap_or_default());
                }),
            },
            kept!("participantAssociation"),
        ],
    ],
};

fn read_conversation(
    reader: &mut Reader<'_>,
    conversations: &mut Option<Vec<Conversation>>,
    el: El,
) -> Result<bool, XmlError> {
    let r#type = Some(reader.tree.part(el).local().to_owned());
    let mut conversation = Conversation { r#type, ..Conversation::default() };
    reader.read_deeper(&CONVERSATION, &mut conversation, el, 2)?;
    conversations.get_or_insert_default().push(conversation);
    Ok(true)
}

fn write_conversations(writer: &mut Writer<'_>, conversations: &[Conversation]) {
    for conversation in conversations {
        let known = ["conversation", "subConversation", "callConversation"];
        let name = one_of(conversation.r#type.as_deref(), &known);
        writer.element(kind_named(name), &CONVERSATION, conversation);
    }
}

pub(super) static COLLABORATION: Row<Collaboration> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Text "name" name), attr!(Typed "isClosed" closed)]],
    children: &[
        &kept_head(),
        &[
            many!(Collaboration: "participant" PARTICIPANT participants),
            many!(Collaboration: "messageFlow" MESSAGE_FLOW message_flows),
            Child {
                matches: any_of(Group::Artifact),
                read: Some(|reader, parent, el| read_artifact(reader, &mut parent.artifacts, el)),
                write: Some(|writer, parent| {
                    write_artifacts(writer, parent.artifacts.as_deref().unwrap_or_default());
                }),
            },
            Child {
                matches: any_of(Group::Conversation),
                read: Some(|reader, parent, el| read_conversation(reader, &mut parent.conversations, el)),
                write: Some(|writer, parent| {
                    write_conversations(writer, parent.conversations.as_deref().unwrap_or_default());
                }),
            },
            kept!("conversationAssociation"),
            kept!("participantAssociation"),
            kept!("messageFlowAssociation"),
            many!(Collaboration: "correlationKey" CORRELATION_KEY correlation_keys),
            kept!("choreographyRef"),
            many!(Collaboration: "conversationLink" CONVERSATION_LINK conversation_links),
        ],
    ],
};

pub(super) static CHOREOGRAPHY: Row<Choreography> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Text "name" name)]],
    children: &[
        &kept_head(),
        &[
            many!(Choreography: "participant" PARTICIPANT participants),
            kept!("messageFlow"),
            Child {
                matches: any_of(Group::Artifact),
                read: Some(|reader, parent, el| read_artifact(reader, &mut parent.artifacts, el)),
                write: Some(|writer, parent| {
                    write_artifacts(writer, parent.artifacts.as_deref().unwrap_or_default());
                }),
            },
            Child { matches: any_of(Group::Conversation), read: None, write: None },
            kept!("conversationAssociation"),
            kept!("participantAssociation"),
            kept!("messageFlowAssociation"),
            kept!("correlationKey"),
            kept!("choreographyRef"),
            kept!("conversationLink"),
            Child {
                matches: any_of(Group::ChoreographyActivity),
                read: Some(|reader, parent, el| read_activity(reader, &mut parent.activities, el)),
                write: Some(|writer, parent| {
                    write_activities(writer, parent.activities.as_deref().unwrap_or_default());
                }),
            },
            Child {
                matches: FLOW_NODES,
                read: Some(|reader, parent, el| read_activity(reader, &mut parent.activities, el)),
                write: None,
            },
            Child {
                matches: any_of(Group::SequenceFlow),
                read: Some(|reader, parent, el| read_edge(reader, &mut parent.edges, el)),
                write: Some(|writer, parent| {
                    write_edges(writer, parent.edges.as_deref().unwrap_or_default())
                }),
            },
        ],
    ],
};

static ACTIVITY: Row<ChoreographyActivity> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "name" name),
        attr!(Reference "initiatingParticipantRef" initiating_participant_ref),
        attr!(Text "loopType" loop_type),
        attr!(Reference "calledChoreographyRef" called_choreography_ref),
    ]],
    children: &[
        &kept_head(),
        &[
            kept!("auditing"),
            kept!("monitoring"),
            kept!("categoryValueRef"),
            kept!("incoming"),
            kept!("outgoing"),
            leaves!(ChoreographyActivity: Reference "participantRef" participant_refs),
            many!(ChoreographyActivity: "correlationKey" CORRELATION_KEY correlation_keys),
            leaves!(ChoreographyActivity: Reference "messageFlowRef" message_flow_refs),
            kept!("participantAssociation"),
            Child {
                matches: any_of(Group::ChoreographyActivity),
                read: Some(|reader, parent, el| read_activity(reader, &mut parent.activities, el)),
                write: Some(|writer, parent| {
                    write_activities(writer, parent.activities.as_deref().unwrap_or_default());
                }),
            },
            Child {
                matches: FLOW_NODES,
                read: Some(|reader, parent, el| read_activity(reader, &mut parent.activities, el)),
                write: None,
            },
            Child {
                matches: any_of(Group::SequenceFlow),
                read: Some(|reader, parent, el| read_edge(reader, &mut parent.edges, el)),
                write: Some(|writer, parent| {
                    write_edges(writer, parent.edges.as_deref().unwrap_or_default())
                }),
            },
            Child { matches: any_of(Group::EventDefinition), read: None, write: None },
            kept!("eventDefinitionRef"),
        ],
    ],
};

fn read_activity(
    reader: &mut Reader<'_>,
    activities: &mut Option<Vec<ChoreographyActivity>>,
    el: El,
) -> Result<bool, XmlError> {
    let r#type = Some(reader.tree.part(el).local().to_owned());
    let mut activity = ChoreographyActivity { r#type, ..ChoreographyActivity::default() };
    reader.read_deeper(&ACTIVITY, &mut activity, el, 2)?;
    activities.get_or_insert_default().push(activity);
    Ok(true)
}

fn write_activities(writer: &mut Writer<'_>, activities: &[ChoreographyActivity]) {
    for activity in activities {
        let row = activity.r#type.as_deref().and_then(element_row);
        let row = row.filter(|row| row.group.is_flow_node() || row.group == Group::ChoreographyActivity);
        writer.element(kind_named(row.map_or("choreographyTask", |row| row.name)), &ACTIVITY, activity);
    }
}
