//! Faults of the way out as faults of exchanges.

use heddle_egress::{EgressError, Fault as Out};
use heddle_models::ports::{Fault, FaultKind};
use heddle_usecase::outside::Phase;

/// The phase of a fault.
const fn phase(of: heddle_egress::Phase) -> Phase {
    match of {
        heddle_egress::Phase::Dns => Phase::Dns,
        heddle_egress::Phase::Connect => Phase::Connect,
        heddle_egress::Phase::Tls => Phase::Tls,
        heddle_egress::Phase::Auth => Phase::Auth,
        heddle_egress::Phase::Request => Phase::Request,
    }
}

/// The kind of a fault.
const fn kind(of: &Out) -> FaultKind {
    match of {
        Out::BadUrl(_) | Out::BadHost | Out::BadHeader(_) | Out::Denied { .. } => FaultKind::NotAllowed,
        Out::Unresolved { .. } => FaultKind::Unknown,
        Out::Unreachable(_) => FaultKind::Unreachable,
        Out::TimedOut(_) => FaultKind::Timeout,
        Out::Certificate(_) | Out::TlsFailed(_) | Out::BadTls(_) => FaultKind::Untrusted,
        Out::NotHttp(_) | Out::HeadersTooLarge | Out::BadEncoding(_) | Out::Broken => FaultKind::Broken,
        Out::BodyTooLarge(_) | Out::UnpackedTooLarge(_) => FaultKind::TooLarge,
    }
}

/// An error of the way out, which holds no body, no header and no path.
pub(crate) fn of_egress(error: &EgressError) -> Fault {
    Fault { phase: phase(error.phase), kind: kind(&error.fault), message: error.to_string() }
}

/// A fault of what a connection is set up with.
pub(crate) fn unusable(phase: Phase, message: impl Into<String>) -> Fault {
    Fault { phase, kind: FaultKind::NotAllowed, message: message.into() }
}
