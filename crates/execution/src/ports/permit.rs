//! Whether work may begin.

/// Whether work may begin that was not begun yet: not on a restricted installation. What has begun ends, and what waits
/// stays.
pub trait Permit: Send + Sync {
    /// Whether timers may fire, messages be delivered and jobs be handed out.
    fn may_work(&self) -> bool;
}

/// Permit of a service without a licence to look at.
#[derive(Debug, Clone, Copy, Default)]
pub struct Always;

impl Permit for Always {
    fn may_work(&self) -> bool {
        true
    }
}
