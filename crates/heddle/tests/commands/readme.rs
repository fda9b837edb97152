//! The lines of the README, pasted into shells.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::{APPROVAL, Server};

const README: &str = include_str!("../../../../README.md");
/// What the README says is pasted into.
const SHELLS: [&[&str]; 2] = [&["bash", "--norc", "-i"], &["zsh", "-f", "-i"]];

/// The block of lines for a shell that begins like this.
fn block(beginning: &str) -> &'static str {
    let (_, from) = README.split_once(&format!("```sh\n{beginning}")).unwrap();
    let (rest, _) = from.split_once("```").unwrap();
    let at = README.find(rest).unwrap() - beginning.len();
    &README[at..at + beginning.len() + rest.len()]
}

/// What a shell that somebody sits at says to lines. It has no terminal of its own, so that it takes none from a test.
fn pasted(shell: &[&str], folder: &Path, lines: &str) -> Output {
    let mut command = Command::new("setsid");
    // Lines that wait for ever fail with what was said until then.
    command.args(["--wait", "timeout", "--signal", "KILL", "60"]).args(shell).current_dir(folder);
    // Nothing of whoever runs the tests is read or written: no history, no settings of curl, no proxy.
    command.env("HOME", folder).env_remove("http_proxy").env_remove("HTTP_PROXY").env_remove("ALL_PROXY");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn the_ten_calls_do_what_they_say_in_each_shell_as_often_as_they_are_pasted() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &["--demo"]);
    let demo = folder.path().join("crates/server/demo");
    std::fs::create_dir_all(&demo).unwrap();
    std::fs::copy(APPROVAL, demo.join("approval.bpmn")).unwrap();
    let calls = block("ten_calls() (\n").replace("http://127.0.0.1:8080", &server.fact("address"));
    let with = |password: &str| format!("{}{calls}", block("PASSWORD=").replace("...", password));
    for shell in SHELLS {
        // The program's tests run where there is no second shell; the gate installs it.
        if Command::new(shell[0]).arg("--version").output().is_err() {
            assert_ne!(shell[0], "bash");
            continue;
        }
        for _ in 0..2 {
            let output = pasted(shell, folder.path(), &with(&server.fact("password")));
            let told = String::from_utf8_lossy(&output.stdout).into_owned();
            let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
            let all = format!("{shell:?}\n{told}\n{complaints}");
            let mut rest = told.as_str();
            for (number, words) in [
                ("4. ", "\"version\":1"),
                ("6. ", "\"nodeId\":\"review\""),
                ("7. ", "event: run.started"),
                ("8. ", "event: run.completed"),
                ("9. ", "<?xml"),
                ("10. ", "204\n"),
            ] {
                let (_, behind) = rest.split_once(number).unwrap_or_else(|| panic!("no {number}in {all}"));
                assert!(behind.contains(words), "{number}: no {words} in {all}");
                rest = behind;
            }
            assert!(!complaints.contains("not found") && !complaints.contains("Traceback"), "{all}");
        }
        let refused = pasted(shell, folder.path(), &with("wrong"));
        let told = String::from_utf8_lossy(&refused.stdout).into_owned();
        assert!(told.contains("The sign-in failed: is the server at") && !told.contains("2. "), "{told}");
    }
}
