//! Order of the functions in the optimised program.
//!
//! A page of the program that was run once is resident, and the system brings the pages around it. Where functions lie as
//! they were compiled, a server that only starts touches so many places that two thirds of the file are. The linker puts
//! those that servers run side by side: `functions.order` names them, which `cargo xtask order` measures. A name that is
//! no more is passed over: then the program is larger in memory, and the same otherwise.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=functions.order");
    let Some(order) =
        variable("CARGO_MANIFEST_DIR").map(|folder| PathBuf::from(folder).join("functions.order"))
    else {
        return;
    };
    let is_optimised = variable("PROFILE").is_some_and(|profile| profile == "release");
    if is_optimised && order.is_file() && is_taken(&order) {
        for argument in arguments(&order) {
            println!("cargo::rustc-link-arg-bin=heddle={argument}");
        }
    }
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

fn arguments(order: &Path) -> [String; 2] {
    [format!("-Wl,--symbol-ordering-file={}", order.display()), "-Wl,--no-warn-symbol-ordering".to_owned()]
}

/// Whether the linker of this build takes an order, which not every one does: a program of one line is linked with it.
fn is_taken(order: &Path) -> bool {
    let (Some(compiler), Some(target), Some(out)) =
        (variable("RUSTC"), variable("TARGET"), variable("OUT_DIR"))
    else {
        return false;
    };
    let source = Path::new(&out).join("probe.rs");
    if std::fs::write(&source, "fn main() {}\n").is_err() {
        return false;
    }
    let mut probe = Command::new(compiler);
    probe
        .args(["--edition", "2024", "--crate-type", "bin", "-o"])
        .arg(Path::new(&out).join("probe"))
        .arg(&source);
    probe.arg("--target").arg(target);
    if let Some(linker) = variable("RUSTC_LINKER") {
        probe.arg("-C").arg([OsString::from("linker="), linker].into_iter().collect::<OsString>());
    }
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    probe.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    for argument in arguments(order) {
        probe.arg("-C").arg(format!("link-arg={argument}"));
    }
    probe.output().is_ok_and(|answer| answer.status.success())
}
