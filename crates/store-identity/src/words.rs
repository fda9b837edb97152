//! The literals of the tables: what a column of text may hold.

use heddle_identity::records::{PrincipalKind, SecondFactor, UserKind, UserState};
use heddle_policy::Effect;
use heddle_store::word;

word!(UserKindWord of UserKind, "the kind of an account");
word!(UserStateWord of UserState, "the state of an account");
word!(PrincipalKindWord of PrincipalKind, "the kind of a principal");
word!(EffectWord of Effect, "the effect of a grant");
word!(SecondFactorWord of SecondFactor, "the second factor of a session");
