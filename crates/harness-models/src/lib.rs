//! Models for the runners: a mock of a provider that answers at once, or wrongly as its model's name says; real
//! engines and the clients that people have; measures of what the gateway adds; attacks on it; and calls under kills.
//! Of the server they know its HTTP API alone.

pub mod attacks;
pub mod crash;
mod doors;
pub mod engines;
pub mod gateway;
pub mod mock;
mod place;

pub use place::Place;
