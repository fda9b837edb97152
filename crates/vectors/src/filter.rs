//! The grammar of filters, and their evaluation to files. A filter is exact: it is evaluated to the passages that alone may
//! be answered before an index is asked.

use std::collections::BTreeSet;

use futures::future::BoxFuture;
use heddle_kernel::{FileId, TenantId, Timestamp, VectorDatabaseId};
use heddle_usecase::StoreError;
use serde_json::{Map, Value};

use crate::ports::{FieldCondition, FieldTest, FieldValue, PassageStore};
use crate::records::{FieldType, MetadataSchema};
use crate::{Problem, Problems, UseCaseError};

/// The most levels of a filter.
const LEVELS: usize = 8;
/// The most conditions of a filter.
const CONDITIONS: usize = 64;
/// The most values of `in`.
const VALUES: usize = 200;
/// The words that join conditions, and those that test a member.
const TESTS: [&str; 9] = ["eq", "ne", "in", "gt", "gte", "lt", "lte", "exists", "contains"];

/// A filter.
#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    /// All hold.
    And(Vec<Self>),
    /// One holds.
    Or(Vec<Self>),
    /// None of them holds.
    Not(Vec<Self>),
    /// A condition of one member.
    One(FieldCondition),
}

impl Filter {
    /// Reads a filter: `{and|or: [...]}`, `{not: {...} | [...]}`, or `{field}` with one of `eq`, `ne`, `in`, `gt`, `gte`, `lt`,
    /// `lte`, `exists`, `contains`; fields are `metadata.<declared>`, `fileId`, `mediaType` and `createdAt`.
    ///
    /// # Errors
    /// `Invalid` with everything that does not fit, by its path below `filter`.
    pub fn read(value: &Value, schema: &MetadataSchema) -> Result<Self, UseCaseError> {
        let mut reader = Reader { schema, problems: Problems::default(), conditions: 0 };
        let filter = reader.read(value, "filter", 1);
        reader.problems.finish()?;
        filter.ok_or_else(|| UseCaseError::invalid("filter", "wrongFormat", "It is no filter."))
    }

    /// Bytes that it has about.
    pub(crate) fn size(&self) -> usize {
        let parts = match self {
            Self::And(parts) | Self::Or(parts) | Self::Not(parts) => parts.iter().map(Self::size).sum(),
            Self::One(condition) => {
                let value = |value: &FieldValue| match value {
                    FieldValue::Text(text) => text.len(),
                    FieldValue::Number(_) | FieldValue::Boolean(_) | FieldValue::Instant(_) => 0,
                };
                let held = match &condition.test {
                    FieldTest::In(values) => {
                        values.iter().map(value).sum::<usize>() + std::mem::size_of_val(values.as_slice())
                    }
                    FieldTest::Above(one, _) | FieldTest::Below(one, _) => value(one),
                    FieldTest::Exists => 0,
                    FieldTest::Contains(part) => part.len(),
                };
                held + condition.field.len()
            }
        };
        parts + size_of::<Self>()
    }

    /// Conditions that all must hold, when that is all that it says: what lists can filter by.
    #[must_use]
    pub fn conjunction(&self) -> Option<Vec<FieldCondition>> {
        match self {
            Self::One(condition) => Some(vec![condition.clone()]),
            Self::And(all) => {
                let parts: Option<Vec<_>> = all.iter().map(Self::conjunction).collect();
                Some(parts?.into_iter().flatten().collect())
            }
            Self::Or(_) | Self::Not(_) => None,
        }
    }

    /// The files for which it holds. Of the sets of the conditions no more are held at once than there are levels, and none
    /// is read that changes nothing any more.
    ///
    /// # Errors
    /// `Unavailable`.
    pub(crate) fn files<'a>(
        &'a self,
        store: &'a dyn PassageStore,
        tenant: TenantId,
        database: VectorDatabaseId,
    ) -> BoxFuture<'a, Result<Reach, StoreError>> {
        Box::pin(async move {
            match self {
                Self::One(condition) => {
                    let files = store.files_where(tenant, database, condition).await?;
                    Ok(Reach::Only(files.into_iter().collect()))
                }
                Self::And(parts) => {
                    let mut reach = Reach::everything();
                    for part in parts {
                        if !reach.is_nothing() {
                            reach = reach.and(part.files(store, tenant, database).await?);
                        }
                    }
                    Ok(reach)
                }
                Self::Or(parts) => {
                    let mut reach = Reach::everything().not();
                    for part in parts {
                        reach = reach.or(part.files(store, tenant, database).await?);
                    }
                    Ok(reach)
                }
                Self::Not(parts) => {
                    let mut reach = Reach::everything();
                    for part in parts {
                        if !reach.is_nothing() {
                            reach = reach.and(part.files(store, tenant, database).await?.not());
                        }
                    }
                    Ok(reach)
                }
            }
        })
    }
}

/// Files of a database: these alone, or all but these. What is said of few of many files needs no list of all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reach {
    /// These alone.
    Only(BTreeSet<FileId>),
    /// All but these.
    But(BTreeSet<FileId>),
}

impl Reach {
    /// All files.
    #[must_use]
    pub(crate) const fn everything() -> Self {
        Self::But(BTreeSet::new())
    }

    /// Whether there is no file among them, whatever files there are.
    fn is_nothing(&self) -> bool {
        match self {
            Self::Only(files) => files.is_empty(),
            Self::But(_) => false,
        }
    }

    /// Whether a file is among them.
    #[must_use]
    pub(crate) fn contains(&self, file: &FileId) -> bool {
        match self {
            Self::Only(files) => files.contains(file),
            Self::But(files) => !files.contains(file),
        }
    }

    /// The other files.
    #[must_use]
    pub(crate) fn not(self) -> Self {
        match self {
            Self::Only(files) => Self::But(files),
            Self::But(files) => Self::Only(files),
        }
    }

    /// The files that are among both.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::But(mut files), Self::But(mut more)) => {
                files.append(&mut more);
                Self::But(files)
            }
            (Self::Only(mut files), other) | (other, Self::Only(mut files)) => {
                files.retain(|file| other.contains(file));
                Self::Only(files)
            }
        }
    }

    /// The files that are among one of both.
    #[must_use]
    pub(crate) fn or(self, other: Self) -> Self {
        self.not().and(other.not()).not()
    }
}

/// Reader of a filter, with all that it finds wrong.
struct Reader<'a> {
    schema: &'a MetadataSchema,
    problems: Problems,
    conditions: usize,
}

impl Reader<'_> {
    fn wrong<T>(&mut self, path: &str, reason: &'static str, message: impl Into<String>) -> Option<T> {
        self.problems.push(Problem::at(path, reason, message));
        None
    }

    fn read(&mut self, value: &Value, path: &str, level: usize) -> Option<Filter> {
        if level > LEVELS {
            return self.wrong(path, "tooDeep", format!("At most {LEVELS} levels."));
        }
        let Value::Object(members) = value else {
            return self.wrong(path, "wrongType", "An object with `and`, `or`, `not` or `field`.");
        };
        if members.contains_key("field") {
            return self.condition(members, path);
        }
        let mut entries = members.iter();
        let (Some((word, parts)), None) = (entries.next(), entries.next()) else {
            return self.wrong(path, "wrongFormat", "One of `and`, `or`, `not` and `field`.");
        };
        let path = format!("{path}.{word}");
        let parts = match (word.as_str(), parts) {
            ("and" | "or" | "not", Value::Array(parts)) => parts.as_slice(),
            ("not", one) => std::slice::from_ref(one),
            ("and" | "or", _) => return self.wrong(&path, "wrongType", "A list of filters."),
            (_, _) => return self.wrong(&path, "notAllowed", "One of `and`, `or`, `not` and `field`."),
        };
        if parts.is_empty() {
            return self.wrong(&path, "tooShort", "At least one filter.");
        }
        let mut read = Vec::with_capacity(parts.len().min(CONDITIONS));
        for (place, part) in parts.iter().enumerate() {
            if self.conditions >= CONDITIONS {
                return self.wrong(&path, "tooMany", format!("At most {CONDITIONS} conditions."));
            }
            read.extend(self.read(part, &format!("{path}[{place}]"), level + 1));
        }
        match word.as_str() {
            "and" => Some(Filter::And(read)),
            "or" => Some(Filter::Or(read)),
            _ => Some(Filter::Not(read)),
        }
    }

    fn condition(&mut self, members: &Map<String, Value>, path: &str) -> Option<Filter> {
        self.conditions += 1;
        let Some(field) = members.get("field").and_then(Value::as_str) else {
            return self.wrong(&format!("{path}.field"), "wrongType", "The name of a member.");
        };
        let kind = self.kind(field, path)?;
        let mut tests = members.iter().filter(|(name, _)| *name != "field");
        let (Some((word, value)), None) = (tests.next(), tests.next()) else {
            return self.wrong(path, "wrongFormat", format!("One of {}.", TESTS.join(", ")));
        };
        let path = format!("{path}.{word}");
        let one = |test| Filter::One(FieldCondition { field: field.to_owned(), test });
        Some(match word.as_str() {
            "eq" => one(FieldTest::In(vec![self.equal(field, kind, value, &path)?])),
            "ne" => Filter::Not(vec![one(FieldTest::In(vec![self.equal(field, kind, value, &path)?]))]),
            "in" => {
                let values = value.as_array().filter(|values| (1..=VALUES).contains(&values.len()));
                let Some(values) = values else {
                    return self.wrong(&path, "wrongType", format!("A list of 1 to {VALUES} values."));
                };
                let values: Vec<_> =
                    values.iter().filter_map(|value| self.equal(field, kind, value, &path)).collect();
                one(FieldTest::In(values))
            }
            "gt" => one(FieldTest::Above(self.ordered(kind, value, &path)?, false)),
            "gte" => one(FieldTest::Above(self.ordered(kind, value, &path)?, true)),
            "lt" => one(FieldTest::Below(self.ordered(kind, value, &path)?, false)),
            "lte" => one(FieldTest::Below(self.ordered(kind, value, &path)?, true)),
            "exists" => match value {
                Value::Bool(true) => one(FieldTest::Exists),
                Value::Bool(false) => Filter::Not(vec![one(FieldTest::Exists)]),
                Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                    return self.wrong(&path, "wrongType", "True or false.");
                }
            },
            "contains" => match (kind, value) {
                (FieldType::String, Value::String(text)) if !text.is_empty() => {
                    one(FieldTest::Contains(text.clone()))
                }
                (_, _) => return self.wrong(&path, "wrongType", "A text, for a member of texts."),
            },
            _ => return self.wrong(&path, "notAllowed", format!("One of {}.", TESTS.join(", "))),
        })
    }

    /// Type of a member that filters may name.
    fn kind(&mut self, field: &str, path: &str) -> Option<FieldType> {
        match field {
            "fileId" | "mediaType" => return Some(FieldType::String),
            "createdAt" => return Some(FieldType::DateTime),
            _ => {}
        }
        let declared = field.strip_prefix("metadata.").and_then(|name| self.schema.get(name));
        match declared {
            Some(member) if member.filterable => Some(member.kind),
            Some(_) => self.wrong(&format!("{path}.field"), "notAllowed", "The member is not filterable."),
            None => {
                let message = format!(
                    "`{field}` is none of `fileId`, `mediaType`, `createdAt` and the declared metadata."
                );
                self.wrong(&format!("{path}.field"), "unknownField", message)
            }
        }
    }

    fn ordered(&mut self, kind: FieldType, value: &Value, path: &str) -> Option<FieldValue> {
        if kind == FieldType::Boolean {
            return self.wrong(path, "notAllowed", "True and false have no order.");
        }
        self.value(kind, value, path)
    }

    /// A value that a member is compared with as a whole.
    fn equal(&mut self, field: &str, kind: FieldType, value: &Value, path: &str) -> Option<FieldValue> {
        let read = self.value(kind, value, path)?;
        match (field, &read) {
            // One that is mistyped would be found nowhere, without a word.
            ("fileId", FieldValue::Text(text)) => match text.parse::<FileId>() {
                Ok(id) => Some(FieldValue::Text(id.to_string())),
                Err(_) => self.wrong(path, "wrongFormat", "The id of a file."),
            },
            (_, _) => Some(read),
        }
    }

    fn value(&mut self, kind: FieldType, value: &Value, path: &str) -> Option<FieldValue> {
        let read = match kind {
            FieldType::String => value.as_str().map(|text| FieldValue::Text(text.to_owned())),
            FieldType::Number => value.as_f64().filter(|number| number.is_finite()).map(FieldValue::Number),
            FieldType::Boolean => value.as_bool().map(FieldValue::Boolean),
            FieldType::DateTime => {
                value.as_str().and_then(|text| text.parse::<Timestamp>().ok()).map(FieldValue::Instant)
            }
        };
        if read.is_none() {
            return self.wrong(path, "wrongType", format!("A value of the type {kind}."));
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::MockPassageStore;
    use crate::records::MetadataField;
    use serde_json::json;
    use uuid::Uuid;

    fn schema() -> MetadataSchema {
        let of = |kind, filterable| MetadataField { kind, filterable };
        MetadataSchema::from([
            ("year".to_owned(), of(FieldType::Number, true)),
            ("tag".to_owned(), of(FieldType::String, true)),
            ("note".to_owned(), of(FieldType::String, false)),
        ])
    }

    fn refusal(value: Value) -> (String, &'static str) {
        let Err(UseCaseError::Invalid(problems)) = Filter::read(&value, &schema()) else {
            panic!("taken: {value}");
        };
        let first = &problems[0];
        (first.field.clone().unwrap_or_default(), first.reason)
    }

    #[test]
    fn what_is_no_filter_is_refused_where_it_is_wrong() {
        let cases = [
            (json!([]), "filter", "wrongType"),
            (json!({}), "filter", "wrongFormat"),
            (json!({"and": []}), "filter.and", "tooShort"),
            (json!({"nor": []}), "filter.nor", "notAllowed"),
            (json!({"and": [{"field": "metadata.colour", "eq": 1}]}), "filter.and[0].field", "unknownField"),
            (json!({"field": "metadata.note", "eq": "x"}), "filter.field", "notAllowed"),
            (json!({"field": "metadata.year", "eq": "x"}), "filter.eq", "wrongType"),
            (json!({"field": "metadata.year", "eq": 1, "gt": 2}), "filter", "wrongFormat"),
            (json!({"field": "metadata.year", "contains": "2"}), "filter.contains", "wrongType"),
            (json!({"field": "createdAt", "gt": "soon"}), "filter.gt", "wrongType"),
            (json!({"field": "tenant", "eq": "x"}), "filter.field", "unknownField"),
            (json!({"field": "fileId", "eq": "a.txt"}), "filter.eq", "wrongFormat"),
            (json!({"not": {"field": "fileId", "in": ["a.txt"]}}), "filter.not[0].in", "wrongFormat"),
        ];
        for (value, path, reason) in cases {
            assert_eq!(refusal(value.clone()), (path.to_owned(), reason), "{value}");
        }
        let deep = (0..20).fold(json!({"field": "fileId", "exists": true}), |one, _| json!({"not": one}));
        assert_eq!(refusal(deep).1, "tooDeep");
    }

    fn files(ids: &[u128]) -> BTreeSet<FileId> {
        ids.iter().map(|n| FileId(Uuid::from_u128(*n))).collect()
    }

    /// Reach of a filter where the conditions, which are asked for in this order and no others, hold for these files.
    async fn reached(filter: Value, sets: &'static [&'static [u128]]) -> Reach {
        let filter = Filter::read(&filter, &schema()).unwrap();
        let mut store = MockPassageStore::new();
        let mut rest = sets.iter();
        store
            .expect_files_where()
            .times(sets.len())
            .returning(move |_, _, _| Ok(rest.next().map(|ids| files(ids)).into_iter().flatten().collect()));
        filter.files(&store, TenantId(Uuid::nil()), VectorDatabaseId(Uuid::nil())).await.unwrap()
    }

    #[tokio::test]
    async fn sets_are_combined_as_the_filter_says() {
        let filter = json!({"and": [
            {"or": [{"field": "metadata.year", "gte": 2020}, {"field": "metadata.tag", "eq": "old"}]},
            {"not": {"field": "metadata.tag", "eq": "draft"}}]});
        assert_eq!(reached(filter.clone(), &[&[1, 2], &[3], &[2]]).await, Reach::Only(files(&[1, 3])));
        let read = Filter::read(&filter, &schema()).unwrap();
        assert_eq!(read.conjunction(), None);
        let either =
            json!({"or": [{"field": "metadata.year", "gt": 1}, {"field": "metadata.tag", "ne": "x"}]});
        assert_eq!(reached(either, &[&[1, 2], &[2, 3]]).await, Reach::But(files(&[3])));
    }

    #[tokio::test]
    async fn a_condition_is_not_read_where_nothing_is_left() {
        let both =
            json!({"and": [{"field": "metadata.tag", "eq": "none"}, {"field": "metadata.year", "gt": 1}]});
        assert_eq!(reached(both, &[&[]]).await, Reach::Only(files(&[])));
    }

    #[test]
    fn files_and_all_but_files_are_joined_as_sets_are() {
        let all = 0_u128..8;
        let id = |n: u128| FileId(Uuid::from_u128(n));
        let some = [files(&[]), files(&[1, 2]), files(&[2, 3, 7])];
        let reaches = some.iter().flat_map(|set| [Reach::Only(set.clone()), Reach::But(set.clone())]);
        let reaches: Vec<Reach> = reaches.collect();
        for one in &reaches {
            for other in &reaches {
                let (both, either) = (one.clone().and(other.clone()), one.clone().or(other.clone()));
                for file in all.clone().map(id) {
                    let (here, there) = (one.contains(&file), other.contains(&file));
                    assert_eq!(both.contains(&file), here && there, "{one:?} and {other:?}");
                    assert_eq!(either.contains(&file), here || there, "{one:?} or {other:?}");
                    assert_ne!(one.clone().not().contains(&file), here);
                }
            }
        }
    }
}
