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
    if variable("PROFILE").is_none_or(|profile| profile != "release") {
        return;
    }
    for argument in wanted(&order) {
        if is_taken(&argument) {
            println!("cargo::rustc-link-arg-bin=heddle={argument}");
        }
    }
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// Arguments that the linker is asked to take: the order of functions, without a word about names that are no more, and
/// relocations in the packed form. The system reads these once at the start; in the long form they are 4.6 MB that stay
/// resident.
fn wanted(order: &Path) -> Vec<String> {
    let mut wanted = vec!["-Wl,-z,pack-relative-relocs".to_owned()];
    if order.is_file() {
        wanted.push(format!("-Wl,--symbol-ordering-file={},--no-warn-symbol-ordering", order.display()));
    }
    wanted
}

/// Whether the linker of this build takes an argument, and the system starts what it makes of it: not every one does. A
/// program of one line is linked with it, and run.
fn is_taken(argument: &str) -> bool {
    let (Some(compiler), Some(target), Some(out)) =
        (variable("RUSTC"), variable("TARGET"), variable("OUT_DIR"))
    else {
        return false;
    };
    let source = Path::new(&out).join("probe.rs");
    let made = Path::new(&out).join("probe");
    if std::fs::write(&source, "fn main() {}\n").is_err() {
        return false;
    }
    let mut probe = Command::new(compiler);
    probe.args(["--edition", "2024", "--crate-type", "bin", "-o"]).arg(&made).arg(&source);
    probe.arg("--target").arg(target);
    if let Some(linker) = variable("RUSTC_LINKER") {
        probe.arg("-C").arg([OsString::from("linker="), linker].into_iter().collect::<OsString>());
    }
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    probe.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    probe.arg("-C").arg(format!("link-arg={argument}"));
    let succeeds = |mut program: Command| program.output().is_ok_and(|answer| answer.status.success());
    succeeds(probe) && succeeds(Command::new(made))
}
