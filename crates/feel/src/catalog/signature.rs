//! Signatures of built-in functions.

/// Parameters in one of the ways in which a built-in function can be called.
#[derive(Debug)]
pub(super) struct Signature {
    pub(super) names: Vec<&'static str>,
    required: usize,
    variadic: bool,
}

impl Signature {
    /// The signature of a text such as `a, b?, c...`: `?` marks what may be missing, `...` what may be repeated, and
    /// `-` a place that another name takes in this signature, which then is only for named arguments.
    pub(super) fn of(text: &'static str) -> Self {
        let mut names: Vec<&'static str> = text.split(", ").filter(|part| !part.is_empty()).collect();
        let required = names.iter().filter(|part| !part.ends_with('?')).count();
        let variadic = names.last().is_some_and(|part| part.ends_with("..."));
        for part in &mut names {
            *part = part.trim_end_matches(['?', '.']);
        }
        Self { names, required, variadic }
    }

    /// Whether so many arguments in order fit.
    pub(super) fn accepts(&self, count: usize) -> bool {
        count >= self.required && (self.variadic || count <= self.names.len()) && !self.names.contains(&"-")
    }

    /// The places of arguments of these names; none when a name is unknown or a parameter is missing.
    pub(super) fn places(&self, names: &[&str]) -> Option<Vec<usize>> {
        let places: Option<Vec<usize>> =
            names.iter().map(|name| self.names.iter().position(|known| known == name)).collect();
        let needed = |at: &usize| self.names.get(*at).is_some_and(|name| *name != "-");
        places.filter(|places| (0..self.required).filter(needed).all(|at| places.contains(&at)))
    }
}
