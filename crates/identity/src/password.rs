//! Passwords: which are taken, and how they are kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{ARGON2ID_IDENT, Algorithm, Argon2, Block, Params, Version};
use subtle::ConstantTimeEq as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::blocklist::COMMON_WORDS;
use crate::{UseCaseError, token};
use heddle_usecase::Problem;

/// The shortest password, in characters.
pub const MIN_LENGTH: usize = 12;
/// The longest password, in bytes.
pub const MAX_LENGTH: usize = 1024;

/// The cost of a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Memory in KiB.
    pub memory_kib: u32,
    /// Passes.
    pub passes: u32,
    /// Lanes.
    pub lanes: u32,
}

impl Default for Cost {
    /// The least that OWASP advises for Argon2id.
    fn default() -> Self {
        Self { memory_kib: 19456, passes: 2, lanes: 1 }
    }
}

/// Problem of a new password, if it has one. `context` are words that belong to the account: its e-mail
/// address, name, organisation.
#[must_use]
pub fn problem(field: &str, password: &str, context: &[&str]) -> Option<Problem> {
    if password.chars().count() < MIN_LENGTH {
        return Some(Problem::at(
            field,
            "tooShort",
            format!("A password has at least {MIN_LENGTH} characters."),
        ));
    }
    if password.len() > MAX_LENGTH {
        return Some(Problem::at(field, "tooLong", format!("A password has at most {MAX_LENGTH} bytes.")));
    }
    if is_common(password, context) {
        let message = "The password is made of common words or of what is known about the account.";
        return Some(Problem::at(field, "tooCommon", message));
    }
    None
}

/// Whether hardly anything is left of a password without common words, context words and repeats. A long password
/// that merely holds such a word stays good.
fn is_common(password: &str, context: &[&str]) -> bool {
    let folded = fold(password);
    let mut left = folded.clone();
    let parts = context.iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric()).chain([*text]));
    let known = parts.filter(|word| word.chars().count() >= 4).chain(COMMON_WORDS.iter().copied());
    let mut words: Vec<String> = known.map(fold).collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    for word in &words {
        left = left.replace(word.as_str(), "");
    }
    let mut kinds: Vec<char> = left.chars().collect();
    let length = kinds.len();
    kinds.sort_unstable();
    kinds.dedup();
    let took = left.len() < folded.len();
    (took && length <= 4) || kinds.len() <= 3 || runs(&folded)
}

/// Small letters, and the digits that stand for letters as those.
fn fold(text: &str) -> String {
    let letter = |c: char| match c {
        '0' => 'o',
        '1' | '!' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        other => other,
    };
    text.chars().flat_map(char::to_lowercase).map(letter).collect()
}

/// Whether the characters all follow each other: `abcdefghijkl`.
fn runs(text: &str) -> bool {
    let codes: Vec<i64> = text.chars().map(|c| i64::from(u32::from(c))).collect();
    [1, -1].iter().any(|step| codes.array_windows().all(|[one, next]| next - one == *step))
}

/// Makes and checks hashes, few at a time: each takes memory and tens of milliseconds of a core, so a flood of
/// sign-ins must not take them all.
#[derive(Debug)]
pub struct Passwords {
    cost: Cost,
    permits: Arc<Semaphore>,
    line: Line,
    dummy: String,
}

/// Callers that wait for a turn.
#[derive(Debug)]
struct Line {
    /// Number of those who wait, by where they come from.
    waiting: Mutex<HashMap<String, usize>>,
    /// Most that wait.
    most: usize,
    /// Most that wait of those who come from one place, so that a flood from there leaves places to the others.
    most_of_one: usize,
}

/// The right to make or check one hash.
#[derive(Debug)]
pub struct Turn {
    _permit: OwnedSemaphorePermit,
}

impl Passwords {
    /// Builds the hasher for so many hashes at once and so many callers that may wait.
    ///
    /// # Errors
    /// `Internal` when the cost is out of range or the system gives no random bytes.
    pub fn new(cost: Cost, at_once: usize, queue: usize) -> Result<Self, UseCaseError> {
        // Checked in the place of the hash of an account that there is not, so that both take the same time.
        let dummy = hash(cost, &token::random_bytes::<32>()?)?;
        let permits = Arc::new(Semaphore::new(at_once.max(1)));
        let line = Line { waiting: Mutex::default(), most: queue, most_of_one: queue.div_ceil(4) };
        Ok(Self { cost, permits, line, dummy })
    }

    /// Waits for a turn.
    ///
    /// # Errors
    /// `Busy` when too many wait already.
    pub async fn turn(&self) -> Result<Turn, UseCaseError> {
        self.turn_of("").await
    }

    /// Waits for a turn of a caller from somewhere: a network, a device; empty for one who is signed in.
    ///
    /// # Errors
    /// `Busy` when too many wait already, or too many from there.
    pub async fn turn_of(&self, origin: &str) -> Result<Turn, UseCaseError> {
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return Ok(Turn { _permit: permit });
        }
        let place = Waiting::enter(&self.line, origin)?;
        let permit = Arc::clone(&self.permits).acquire_owned().await.or(Err(UseCaseError::Busy))?;
        drop(place);
        Ok(Turn { _permit: permit })
    }

    /// The PHC text of a new hash.
    ///
    /// # Errors
    /// `Internal` when hashing fails.
    pub async fn hash(&self, turn: Turn, password: &str) -> Result<String, UseCaseError> {
        let (cost, password) = (self.cost, password.as_bytes().to_vec());
        off_thread(turn, move || hash(cost, &password)).await?
    }

    /// Whether a password fits a hash; with no hash the same time is spent and the answer is no.
    ///
    /// # Errors
    /// `Internal` when the stored text is not a hash.
    pub async fn verify(
        &self,
        turn: Turn,
        password: &str,
        stored: Option<&str>,
    ) -> Result<bool, UseCaseError> {
        let known = stored.is_some();
        let stored = stored.unwrap_or(&self.dummy).to_owned();
        let password = password.as_bytes().to_vec();
        let fits = off_thread(turn, move || verify(&password, &stored)).await??;
        Ok(known && fits)
    }

    /// Whether a hash was made with other costs than those of now.
    #[must_use]
    pub fn is_outdated(&self, stored: &str) -> bool {
        let Ok(parsed) = PasswordHash::new(stored) else { return true };
        let Ok(params) = Params::try_from(&parsed) else { return true };
        let cost = Cost { memory_kib: params.m_cost(), passes: params.t_cost(), lanes: params.p_cost() };
        parsed.algorithm.as_str() != "argon2id" || cost != self.cost
    }
}

/// A place in the line; given back also when the caller goes away.
struct Waiting<'a> {
    line: &'a Line,
    origin: String,
}

impl<'a> Waiting<'a> {
    fn enter(line: &'a Line, origin: &str) -> Result<Self, UseCaseError> {
        let mut waiting = line.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let from_there = waiting.get(origin).copied().unwrap_or(0);
        let is_full = !origin.is_empty() && from_there >= line.most_of_one;
        if is_full || waiting.values().sum::<usize>() >= line.most {
            return Err(UseCaseError::Busy);
        }
        waiting.insert(origin.to_owned(), from_there + 1);
        Ok(Self { line, origin: origin.to_owned() })
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut waiting = self.line.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        match waiting.get_mut(&self.origin) {
            Some(count) if *count > 1 => *count -= 1,
            Some(_) | None => {
                waiting.remove(&self.origin);
            }
        }
    }
}

async fn off_thread<T: Send + 'static>(
    turn: Turn,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, UseCaseError> {
    let done = tokio::task::spawn_blocking(move || {
        let result = work();
        drop(turn);
        result
    });
    done.await.map_err(|error| UseCaseError::Internal(format!("hashing: {error}")))
}

fn argon2(cost: Cost) -> Result<Argon2<'static>, UseCaseError> {
    let params = Params::new(cost.memory_kib, cost.passes, cost.lanes, None);
    let params = params.map_err(|error| UseCaseError::Internal(format!("hashing: {error}")))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

fn hash(cost: Cost, password: &[u8]) -> Result<String, UseCaseError> {
    let failed = |error: &dyn std::fmt::Display| UseCaseError::Internal(format!("hashing: {error}"));
    let argon2 = argon2(cost)?;
    let salt = token::random_bytes::<16>()?;
    let mut out = [0; Params::DEFAULT_OUTPUT_LEN];
    digest(&argon2, password, &salt, &mut out)?;
    let hash = PasswordHash {
        algorithm: ARGON2ID_IDENT,
        version: Some(Version::V0x13.into()),
        params: ParamsString::try_from(argon2.params()).map_err(|error| failed(&error))?,
        salt: Some(Salt::new(&salt).map_err(|error| failed(&error))?),
        hash: Some(Output::new(&out).map_err(|error| failed(&error))?),
    };
    Ok(hash.to_string())
}

fn verify(password: &[u8], stored: &str) -> Result<bool, UseCaseError> {
    let wrong = |error: &dyn std::fmt::Display| UseCaseError::Internal(format!("a stored hash: {error}"));
    let parsed = PasswordHash::new(stored).map_err(|error| wrong(&error))?;
    let (Some(salt), Some(expected)) = (&parsed.salt, &parsed.hash) else {
        return Err(wrong(&"it has no salt or no output"));
    };
    // The parameters are those in the hash.
    let algorithm = Algorithm::try_from(parsed.algorithm.as_str()).map_err(|error| wrong(&error))?;
    let version = parsed.version.map_or(Ok(Version::V0x13), Version::try_from);
    let params = Params::try_from(&parsed).map_err(|error| wrong(&error))?;
    let argon2 = Argon2::new(algorithm, version.map_err(|error| wrong(&error))?, params);
    let mut out = vec![0; expected.len()];
    digest(&argon2, password, salt, &mut out)?;
    Ok(out.as_slice().ct_eq(expected.as_ref()).into())
}

/// More than the largest block that the C library's allocator keeps for later when it is freed (32 MiB, in KiB).
const GIVEN_BACK_KIB: usize = 32 * 1024 + 1;

/// Argon2 in a block of our own: it is reserved larger than it is used, so that the system has it back as soon as it is
/// freed. Else an idle server would keep the 19 MiB of the last sign-in.
fn digest(argon2: &Argon2<'_>, password: &[u8], salt: &[u8], out: &mut [u8]) -> Result<(), UseCaseError> {
    let blocks = argon2.params().block_count();
    let mut memory = Vec::with_capacity(blocks.max(GIVEN_BACK_KIB));
    memory.resize(blocks, Block::new());
    let done = argon2.hash_password_into_with_memory(password, salt, out, &mut memory);
    done.map_err(|error| UseCaseError::Internal(format!("hashing: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHEAP: Cost = Cost { memory_kib: 64, passes: 1, lanes: 1 };

    #[test]
    fn hashes_are_those_of_the_library() {
        use argon2::{PasswordHasher as _, PasswordVerifier as _};
        let ours = hash(CHEAP, b"a river under old stones").unwrap();
        let theirs = argon2(CHEAP).unwrap().hash_password(b"a river under old stones").unwrap().to_string();
        for stored in [&ours, &theirs] {
            assert!(verify(b"a river under old stones", stored).unwrap(), "{stored}");
            assert!(!verify(b"a river under old stone", stored).unwrap(), "{stored}");
        }
        assert!(Argon2::default().verify_password(b"a river under old stones", ours.as_str()).is_ok());
        assert!(verify(b"x", "$argon2id$v=19$m=64,t=1,p=1").is_err());
    }

    #[test]
    fn short_long_and_common_passwords_are_refused() {
        let context = ["ada.lovelace@example.com", "Ada Lovelace", "Analytical"];
        let reason = |password: &str| problem("password", password, &context).map(|problem| problem.reason);
        for (password, expected) in [
            ("elevenbytes", Some("tooShort")),
            (&"x7!".repeat(342), Some("tooLong")),
            ("password1234", Some("tooCommon")),
            ("P@ssw0rdPassword", Some("tooCommon")),
            ("letmeinletmein", Some("tooCommon")),
            ("LovelaceAda2026", Some("tooCommon")),
            ("aaaaaaaaaaaa", Some("tooCommon")),
            ("abcdefghijklmn", Some("tooCommon")),
            ("heddleheddle12", Some("tooCommon")),
            ("correct horse battery", None),
            ("my password is a river", None),
            ("Ünïcödé päßwörter", None),
        ] {
            assert_eq!(reason(password), expected, "{password}");
        }
        let longest: String = ('!'..='~').cycle().take(MAX_LENGTH).collect();
        assert_eq!(reason(&longest), None);
    }

    #[tokio::test]
    async fn a_hash_fits_its_password_alone_and_says_its_cost() {
        let passwords = Passwords::new(CHEAP, 1, 1).unwrap();
        let long = "é".repeat(512);
        let stored = passwords.hash(passwords.turn().await.unwrap(), &long).await.unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=64,t=1,p=1$"), "{stored}");
        let fits = async |password: &str, stored: Option<&str>| {
            passwords.verify(passwords.turn().await.unwrap(), password, stored).await.unwrap()
        };
        assert!(fits(&long, Some(&stored)).await);
        assert!(!fits(&long[..1022], Some(&stored)).await);
        assert!(!fits(&long, None).await);
        assert!(!passwords.is_outdated(&stored));
        assert!(Passwords::new(Cost::default(), 1, 1).unwrap().is_outdated(&stored));
    }

    #[test]
    fn the_usual_cost_is_the_advised_one() {
        let stored = hash(Cost::default(), b"correct horse battery").unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
    }

    #[tokio::test]
    async fn beyond_the_queue_nobody_waits() {
        let passwords = Arc::new(Passwords::new(CHEAP, 1, 1).unwrap());
        let first = passwords.turn().await.unwrap();
        let second = tokio::spawn({
            let passwords = Arc::clone(&passwords);
            async move { passwords.turn().await.map(drop) }
        });
        while waiting(&passwords) == 0 {
            tokio::task::yield_now().await;
        }
        assert!(matches!(passwords.turn().await, Err(UseCaseError::Busy)));
        drop(first);
        assert!(second.await.unwrap().is_ok());
        assert!(passwords.turn().await.is_ok());
        assert_eq!(waiting(&passwords), 0);
    }

    fn waiting(passwords: &Passwords) -> usize {
        passwords.line.waiting.lock().unwrap().values().sum()
    }

    #[tokio::test]
    async fn a_flood_from_one_place_leaves_the_line_to_others() {
        let passwords = Arc::new(Passwords::new(CHEAP, 1, 8).unwrap());
        let held = passwords.turn().await.unwrap();
        let comes_from = |origin: &'static str| {
            let passwords = Arc::clone(&passwords);
            tokio::spawn(async move { passwords.turn_of(origin).await.map(drop) })
        };
        let flood: Vec<_> = (0..8).map(|_| comes_from("network/a")).collect();
        while flood.iter().filter(|one| one.is_finished()).count() < 6 {
            tokio::task::yield_now().await;
        }
        assert_eq!(waiting(&passwords), 2, "two of eight places are theirs");
        let other = comes_from("network/b");
        while waiting(&passwords) < 3 {
            assert!(!other.is_finished(), "somebody else is not sent away");
            tokio::task::yield_now().await;
        }
        drop(held);
        assert!(other.await.unwrap().is_ok());
    }
}
