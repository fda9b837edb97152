//! The words of CMMN's rows beside those of the mapping engine.

/// An attribute that is a list of ids.
macro_rules! refs {
    ($name:literal $($path:ident).+) => {
        heddle_xml::mapping::Attr {
            name: $name,
            lexis: heddle_xml::mapping::Lexis::Text,
            get: |model| at!(model; $($path).+).map(|ids| ids.join(" ").into()),
            set: |model, text| {
                let ids: Vec<String> = text.split_ascii_whitespace().map(str::to_owned).collect();
                let same = ids.join(" ") == text;
                *at_mut!(model; $($path).+) = Some(ids);
                same
            },
        }
    };
}

/// A child that is an expression.
macro_rules! expr {
    ($model:ty: $name:literal $($path:ident).+) => {
        child!(
            $name,
            |reader, model: &mut $model, el| {
                $crate::xml::rows::read_expression(reader, at_mut!(model; $($path).+), el)
            },
            |writer, model: &$model| {
                if let Some(expression) = at!(model; $($path).+) {
                    $crate::xml::rows::write_expression(writer, const { kind($name) }, expression);
                }
            }
        )
    };
}

/// A child that is a model type with settings.
macro_rules! single {
    ($model:ty: $name:literal $row:ident $($path:ident).+) => {
        child!(
            $name,
            |reader, model: &mut $model, el| {
                let place = at_mut!(model; $($path).+);
                if place.is_some() {
                    return Ok(false);
                }
                $crate::xml::extensions::read(reader, &$row, place.get_or_insert_default(), el)?;
                Ok(true)
            },
            |writer, model: &$model| {
                if let Some(value) = at!(model; $($path).+) {
                    writer.element(const { kind($name) }, &$row, value);
                }
            }
        )
    };
}

/// Children that are the model types with settings of a list.
macro_rules! several {
    ($model:ty: $name:literal $row:ident $($path:ident).+) => {
        child!(
            $name,
            |reader, model: &mut $model, el| {
                let mut item = Default::default();
                $crate::xml::extensions::read(reader, &$row, &mut item, el)?;
                at_mut!(model; $($path).+).get_or_insert_default().push(item);
                Ok(true)
            },
            |writer, model: &$model| {
                for value in at!(model; $($path).+).into_iter().flatten() {
                    writer.element(const { kind($name) }, &$row, value);
                }
            }
        )
    };
}

/// Child `extensionElements` of a model type with settings.
macro_rules! extended {
    () => {
        child!(
            "extensionElements",
            $crate::xml::extensions::read_elements,
            $crate::xml::extensions::write_elements
        )
    };
}
