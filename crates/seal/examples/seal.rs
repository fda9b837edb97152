//! Seals a secret, opens it, changes the key under it, and shows that it opens in its place alone.

use heddle_seal::{Keyring, Place, SealError, SystemRandom};

fn main() -> Result<(), SealError> {
    let random = &mut SystemRandom;
    let mut ring = Keyring::generate(random)?;
    let place = Place { tenant: "org_1", kind: "connection", record: "con_1", field: "password" };
    let sealed = ring.seal(&place, b"correct horse battery staple", random)?;
    show(&format!("sealed under {}: {sealed:?}", ring.current()));
    show(&format!("opened: {}", String::from_utf8_lossy(&ring.unseal(&place, &sealed)?)));

    let elsewhere = Place { tenant: "org_2", ..place };
    if let Err(error) = ring.unseal(&elsewhere, &sealed) {
        show(&format!("for another tenant: {error}"));
    }

    let first = ring.current().to_owned();
    ring.add_current(random)?;
    if let Some(again) = ring.rewrap(&place, &sealed, random)? {
        ring.retire(&first)?;
        show(&format!(
            "under {}: {}",
            ring.current(),
            String::from_utf8_lossy(&ring.unseal(&place, &again)?)
        ));
    }
    Ok(())
}

fn show(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stdout(), "{line}");
}
