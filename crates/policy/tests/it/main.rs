//! The decisions against a specification that was written without regard to speed.

#[cfg(test)]
mod contract;
#[cfg(test)]
mod in_cases;
#[cfg(test)]
mod licence;
#[cfg(test)]
mod listing;
#[cfg(test)]
mod matrix;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod small_world;
#[cfg(test)]
mod spec;
