//! The place of a secret.

/// Version of the sealed form, which is part of what is authenticated.
pub(crate) const VERSION: u8 = 1;

/// Place where a secret stands. It is not stored with the secret: whoever opens one says where it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// Id of the tenant.
    pub tenant: &'a str,
    /// Kind of the record, such as `connection`.
    pub kind: &'a str,
    /// Id of the record.
    pub record: &'a str,
    /// Name of the field.
    pub field: &'a str,
}

/// Use of the associated data: a wrapped data key is never taken for a sealed secret.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose<'a> {
    /// The secret under its data key. The id of the ring's key is not part of it: rotation leaves it as it is.
    Secret,
    /// The data key under the ring's key of this id.
    DataKey(&'a str),
}

impl Place<'_> {
    /// The associated data: each part behind its length, so that no two places have the same bytes.
    pub(crate) fn associated(&self, purpose: Purpose<'_>) -> Vec<u8> {
        let (name, kid) = match purpose {
            Purpose::Secret => ("heddle/seal/secret", ""),
            Purpose::DataKey(kid) => ("heddle/seal/data-key", kid),
        };
        let parts = [name, self.tenant, self.kind, self.record, self.field, kid];
        let mut bytes = Vec::with_capacity(1 + parts.iter().map(|part| 8 + part.len()).sum::<usize>());
        bytes.push(VERSION);
        for part in parts {
            bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_run_into_each_other_are_different_places() {
        let place = Place { tenant: "a", kind: "bc", record: "d", field: "e" };
        for other in [
            Place { tenant: "ab", kind: "c", ..place },
            Place { kind: "b", record: "cd", ..place },
            Place { record: "de", field: "", ..place },
        ] {
            assert_ne!(place.associated(Purpose::Secret), other.associated(Purpose::Secret), "{other:?}");
        }
        assert_ne!(place.associated(Purpose::Secret), place.associated(Purpose::DataKey("")));
    }
}
