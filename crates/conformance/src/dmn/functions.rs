//! The built-in functions of FEEL (clause 10.3.4), each with the example of FEEL's catalog and its value.

use heddle_feel::Dialect;

use super::Group;
use super::probe::{Feature, Probe};

/// The functions of the standard, by the order of the clauses.
pub(super) fn features() -> impl Iterator<Item = Feature> {
    heddle_feel::built_ins().filter(|function| function.dialect == Dialect::Standard).map(|function| {
        Feature {
            group: Group::Function,
            name: function.name,
            clause: function.clause,
            level: 3,
            mark: "",
            probe: Probe::Feel(function.example, function.value),
        }
    })
}
