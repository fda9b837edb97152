//! The words of BPMN's rows beside those of the mapping engine.

/// A child that has nothing but a name, which is the member.
macro_rules! named {
    ($model:ty: $name:literal $($path:ident).+) => {
        child!(
            $name,
            |reader, model: &mut $model, el| {
                let place = at_mut!(model; $($path).+);
                let Some(name) = reader.tree.attribute(el, "name").filter(|_| place.is_none()) else {
                    return Ok(false);
                };
                *place = Some(name.into_owned());
                reader.read(&$crate::xml::rows::NAMED, &mut $crate::xml::rows::Named::default(), el)?;
                Ok(true)
            },
            |writer, model: &$model| {
                let value = at!(model; $($path).+);
                if let Some(value) = value {
                    let named = $crate::xml::rows::Named { name: Some(value.clone()) };
                    writer.element(const { kind($name) }, &$crate::xml::rows::NAMED, &named);
                }
            }
        )
    };
}

/// The content of a process or sub-process: lanes, flow elements, artifacts.
macro_rules! content {
    ($model:ty; $($path:ident .)*) => {
        &[
            child!(
                "laneSet",
                |reader, model: &mut $model, el| {
                    let mut lanes = Default::default();
                    reader.read_deeper(&LANE_SET, &mut lanes, el, 4)?;
                    at_mut!(model; $($path .)* lane_sets).get_or_insert_default().push(lanes);
                    Ok(true)
                },
                |writer, model: &$model| {
                    let sets = at!(model; $($path .)* lane_sets);
                    sets.into_iter().flatten().for_each(|set| writer.element(const { kind("laneSet") }, &LANE_SET, set));
                }
            ),
            $crate::xml::vocabulary::Child {
                matches: $crate::xml::vocabulary::FLOW_NODES,
                read: Some(|reader, model: &mut $model, el| {
                    $crate::xml::rows::node::read_node(reader, at_mut!(model; $($path .)* nodes), el)
                }),
                write: Some(|writer, model: &$model| {
                    let nodes = at!(model; $($path .)* nodes);
                    $crate::xml::rows::node::write_nodes(writer, nodes.map_or(&[], Vec::as_slice));
                }),
            },
            $crate::xml::vocabulary::Child {
                matches: $crate::xml::vocabulary::any_of($crate::xml::Group::SequenceFlow),
                read: Some(|reader, model: &mut $model, el| {
                    $crate::xml::rows::node::read_edge(reader, at_mut!(model; $($path .)* edges), el)
                }),
                write: Some(|writer, model: &$model| {
                    let edges = at!(model; $($path .)* edges);
                    $crate::xml::rows::node::write_edges(writer, edges.map_or(&[], Vec::as_slice));
                }),
            },
            $crate::xml::vocabulary::Child {
                matches: $crate::xml::vocabulary::any_of($crate::xml::Group::DataObject),
                read: Some(|reader, model: &mut $model, el| {
                    $crate::xml::rows::process::read_data(reader, at_mut!(model; $($path .)* data_objects), el)
                }),
                write: Some(|writer, model: &$model| {
                    let items = at!(model; $($path .)* data_objects);
                    $crate::xml::rows::process::write_data(writer, items.map_or(&[], Vec::as_slice));
                }),
            },
            $crate::xml::vocabulary::Child {
                matches: $crate::xml::vocabulary::any_of($crate::xml::Group::DataStoreReference),
                read: Some(|reader, model: &mut $model, el| {
                    $crate::xml::rows::process::read_data(reader, at_mut!(model; $($path .)* data_stores), el)
                }),
                write: Some(|writer, model: &$model| {
                    let items = at!(model; $($path .)* data_stores);
                    $crate::xml::rows::process::write_data(writer, items.map_or(&[], Vec::as_slice));
                }),
            },
            $crate::xml::vocabulary::Child {
                matches: $crate::xml::vocabulary::any_of($crate::xml::Group::Artifact),
                read: Some(|reader, model: &mut $model, el| {
                    $crate::xml::rows::process::read_artifact(reader, at_mut!(model; $($path .)* artifacts), el)
                }),
                write: Some(|writer, model: &$model| {
                    let artifacts = at!(model; $($path .)* artifacts);
                    $crate::xml::rows::process::write_artifacts(writer, artifacts.map_or(&[], Vec::as_slice));
                }),
            },
        ]
    };
}
