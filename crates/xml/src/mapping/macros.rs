//! The words that rows are written with.

/// The member at a path.
#[macro_export]
macro_rules! at {
    ($model:expr; $member:ident) => { $model.$member.as_ref() };
    ($model:expr; $member:ident . $($rest:ident).+) => {
        $model.$member.as_ref().and_then(|inner| $crate::at!(inner; $($rest).+))
    };
}

/// The place of the member at a path; what is on the way is made.
#[macro_export]
macro_rules! at_mut {
    ($model:expr; $member:ident) => { &mut $model.$member };
    ($model:expr; $member:ident . $($rest:ident).+) => {
        $crate::at_mut!($model.$member.get_or_insert_default(); $($rest).+)
    };
}

/// An attribute: lexis, name, path of the member.
#[macro_export]
macro_rules! attr {
    ($lexis:ident $name:literal $($path:ident).+) => {
        $crate::mapping::Attr {
            name: $name,
            lexis: $crate::mapping::Lexis::$lexis,
            get: |model| $crate::at!(model; $($path).+).map($crate::mapping::Lexical::print),
            set: |model, text| {
                let Some(value) = $crate::mapping::Lexical::parse(text) else { return false };
                *$crate::at_mut!(model; $($path).+) = Some(value);
                true
            },
        }
    };
}

/// A child of one name, with the functions that read and write it.
#[macro_export]
macro_rules! child {
    ($name:literal, $read:expr, $write:expr) => {
        $crate::mapping::Child {
            matches: $crate::mapping::Match::Kind(const { kind($name) }),
            read: Some($read),
            write: Some($write),
        }
    };
}

/// A child without a member: preserved, put back at this place.
#[macro_export]
macro_rules! kept {
    ($name:literal) => {
        $crate::mapping::Child {
            matches: $crate::mapping::Match::Kind(const { kind($name) }),
            read: None,
            write: None,
        }
    };
}

/// A child whose character data is a member.
#[macro_export]
macro_rules! leaf {
    ($model:ty: $style:ident $name:literal $($path:ident).+) => {
        $crate::child!(
            $name,
            |reader, model: &mut $model, el| {
                let place = $crate::at_mut!(model; $($path).+);
                if place.is_some() {
                    return Ok(false);
                }
                *place = Some(reader.leaf(el, $crate::mapping::Leaf::$style));
                Ok(true)
            },
            |writer, model: &$model| {
                let value = $crate::at!(model; $($path).+);
                if let Some(value) = value {
                    writer.leaf(const { kind($name) }, $crate::mapping::Leaf::$style, value, None);
                }
            }
        )
    };
}

/// A child whose character data is an expression, with its language.
#[macro_export]
macro_rules! expression {
    ($model:ty: $name:literal $($path:ident).+ , $($language:ident).+) => {
        $crate::child!(
            $name,
            |reader, model: &mut $model, el| {
                if $crate::at_mut!(model; $($path).+).is_some() {
                    return Ok(false);
                }
                let (text, language) = reader.expression(el);
                *$crate::at_mut!(model; $($path).+) = Some(text);
                if language.is_some() {
                    *$crate::at_mut!(model; $($language).+) = language;
                }
                Ok(true)
            },
            |writer, model: &$model| {
                let value = $crate::at!(model; $($path).+);
                if let Some(value) = value {
                    let language = $crate::at!(model; $($language).+).map(String::as_str);
                    writer.leaf(const { kind($name) }, $crate::mapping::Leaf::Expression, value, language);
                }
            }
        )
    };
}

/// Children whose character data are members of a list.
#[macro_export]
macro_rules! leaves {
    ($model:ty: $style:ident $name:literal $($path:ident).+) => {
        $crate::child!(
            $name,
            |reader, model: &mut $model, el| {
                let text = reader.leaf(el, $crate::mapping::Leaf::$style);
                $crate::at_mut!(model; $($path).+).get_or_insert_default().push(text);
                Ok(true)
            },
            |writer, model: &$model| {
                let values = $crate::at!(model; $($path).+);
                for value in values.into_iter().flatten() {
                    writer.leaf(const { kind($name) }, $crate::mapping::Leaf::$style, value, None);
                }
            }
        )
    };
}

/// A child that is a model type.
#[macro_export]
macro_rules! one {
    ($model:ty: $name:literal $row:ident $($path:ident).+) => {
        $crate::child!(
            $name,
            |reader, model: &mut $model, el| {
                let place = $crate::at_mut!(model; $($path).+);
                if place.is_some() {
                    return Ok(false);
                }
                reader.read(&$row, place.get_or_insert_default(), el)?;
                Ok(true)
            },
            |writer, model: &$model| {
                let value = $crate::at!(model; $($path).+);
                if let Some(value) = value {
                    writer.element(const { kind($name) }, &$row, value);
                }
            }
        )
    };
}

/// Children that are the model types of a list.
#[macro_export]
macro_rules! many {
    ($model:ty: $name:literal $row:ident $($path:ident).+) => {
        $crate::child!(
            $name,
            |reader, model: &mut $model, el| {
                let mut item = Default::default();
                reader.read(&$row, &mut item, el)?;
                $crate::at_mut!(model; $($path).+).get_or_insert_default().push(item);
                Ok(true)
            },
            |writer, model: &$model| {
                let values = $crate::at!(model; $($path).+);
                for value in values.into_iter().flatten() {
                    writer.element(const { kind($name) }, &$row, value);
                }
            }
        )
    };
}

/// A child whose whole XML text is a member.
#[macro_export]
macro_rules! xml_text {
    ($model:ty: $name:literal $member:ident) => {
        $crate::child!(
            $name,
            |reader, model: &mut $model, el| {
                if model.$member.is_some() {
                    return Ok(false);
                }
                model.$member = Some(reader.tree.fragment(el).into_owned());
                Ok(true)
            },
            |writer, model: &$model| {
                if let Some(xml) = &model.$member {
                    writer.fragment(const { kind($name) }, xml);
                }
            }
        )
    };
}
