//! Fetches a URL through the guarded way out: `get URL [ALLOW...]`, where an `ALLOW` is a rule such as
//! `127.0.0.1:8080` or `10.0.0.0/8:443`.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use heddle_egress::{Egress, EgressRules, Method, OutRequest, SystemResolver};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(url) = arguments.next() else {
        return told("usage: get URL [ALLOW...]");
    };
    let mut rules = EgressRules::default();
    for text in arguments {
        match text.parse() {
            Ok(rule) => rules.allow.push(rule),
            Err(error) => return told(&format!("{error}")),
        }
    }
    let egress = Egress::new(rules, Arc::new(SystemResolver::default()));
    let request = match OutRequest::new(Method::GET, &url) {
        Ok(request) => request,
        Err(error) => return told(&format!("{}: {error}", error.phase)),
    };
    match egress.send(request).await {
        Ok(answer) => {
            let line = format!(
                "{} from {} in {:?}: {:?}\n",
                answer.status, answer.peer, answer.total, answer.timings
            );
            let written =
                io::stderr().write_all(line.as_bytes()).and_then(|()| io::stdout().write_all(&answer.body));
            if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => told(&format!("{}: {error}", error.phase)),
    }
}

fn told(line: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "{line}");
    ExitCode::FAILURE
}
