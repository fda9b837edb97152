//! Keys of vector databases: models, index, files and their place, bounds and quotas. In the file they may stand in the section
//! `[vectors]`, without their first word.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use heddle_server::{BlobPlace, Config, VectorQuotas, VectorSettings};

use super::{Key, number, set_bool, shown};

/// Section of the file, and first word of every key.
pub(super) const SECTION: &str = "vectors";
/// Begin of the address of a bucket.
const BUCKET: &str = "s3://";

/// The keys.
pub(super) const KEYS: &[Key] = &[
    Key {
        name: "vectors_model_dir",
        help: "Directory of the embedding models; `models` in the data directory when empty.",
        secret: false,
        set: |config, text| {
            config.vectors.model_dir = (!text.is_empty()).then(|| PathBuf::from(text));
            Ok(())
        },
        show: |config| shown(config.vectors.model_dir.as_deref()),
    },
    Key {
        name: "vectors_model_threads",
        help: "Threads that embed, 1 to 256.",
        secret: false,
        set: |config, text| {
            config.vectors.model_threads = number(text, 1, 256)? as usize;
            Ok(())
        },
        show: |config| config.vectors.model_threads.to_string(),
    },
    Key {
        name: "vectors_index_megabytes",
        help: "Megabytes of memory that opened indexes take, about, 16 to 1048576.",
        secret: false,
        set: |config, text| {
            config.vectors.index_megabytes = number(text, 16, 1 << 20)?;
            Ok(())
        },
        show: |config| config.vectors.index_megabytes.to_string(),
    },
    Key {
        name: "vectors_workers",
        help: "Files that are read at a time, 1 to 64.",
        secret: false,
        set: |config, text| {
            config.vectors.workers = number(text, 1, 64)? as usize;
            Ok(())
        },
        show: |config| config.vectors.workers.to_string(),
    },
    Key {
        name: "vectors_ocr",
        help: "Recognise text of pictures, where Tesseract is installed.",
        secret: false,
        set: |config, text| set_bool(&mut config.vectors.ocr, text),
        show: |config| config.vectors.ocr.to_string(),
    },
    Key {
        name: "vectors_file_megabytes",
        help: "The most megabytes of a file, 1 to 4096.",
        secret: false,
        set: |config, text| {
            config.vectors.bounds.file_bytes = u64::from(number(text, 1, 4096)?) << 20;
            Ok(())
        },
        show: |config| (config.vectors.bounds.file_bytes >> 20).to_string(),
    },
    Key {
        name: "vectors_upload_files",
        help: "The most files of one upload, 1 to 100.",
        secret: false,
        set: |config, text| {
            config.vectors.bounds.files = number(text, 1, 100)?;
            Ok(())
        },
        show: |config| config.vectors.bounds.files.to_string(),
    },
    Key {
        name: "vectors_quotas",
        help: "Quotas of one organisation that differ from the defaults, name=number with commas: databases, files, \
               passages, megabytes, waiting.",
        secret: false,
        set: |config, text| {
            config.vectors.quotas = quotas(text)?;
            Ok(())
        },
        show: shown_quotas,
    },
    Key {
        name: "vectors_files",
        help: "Place of the files' bytes: a directory that all nodes share, or s3://BUCKET/FOLDER; the data directory when \
               empty.",
        secret: false,
        set: |config, text| place(&mut config.vectors, text),
        show: |config| match &config.vectors.blobs {
            BlobPlace::DataDirectory => String::new(),
            BlobPlace::Directory(path) => path.display().to_string(),
            BlobPlace::Bucket => {
                format!("{BUCKET}{}/{}", config.vectors.bucket.bucket, config.vectors.bucket.prefix)
            }
        },
    },
    Key {
        name: "vectors_s3_endpoint",
        help: "Endpoint of the bucket, such as https://s3.eu-central-1.amazonaws.com; a private one needs egress_allow.",
        secret: false,
        set: |config, text| {
            if !text.is_empty() && !text.starts_with("https://") && !text.starts_with("http://") {
                bail!("an address that begins with https:// or http:// is needed");
            }
            config.vectors.bucket.endpoint = text.to_owned();
            Ok(())
        },
        show: |config| config.vectors.bucket.endpoint.clone(),
    },
    Key {
        name: "vectors_s3_region",
        help: "Region of the bucket.",
        secret: false,
        set: |config, text| {
            config.vectors.bucket.region = text.to_owned();
            Ok(())
        },
        show: |config| config.vectors.bucket.region.clone(),
    },
    Key {
        name: "vectors_s3_access_key_id",
        help: "Id of the access key to the bucket.",
        secret: false,
        set: |config, text| {
            config.vectors.bucket.access_key_id = text.to_owned();
            Ok(())
        },
        show: |config| config.vectors.bucket.access_key_id.clone(),
    },
    Key {
        name: "vectors_s3_secret_access_key",
        help: "Secret of the access key to the bucket.",
        secret: true,
        set: |config, text| {
            config.vectors.bucket.secret_access_key = text.to_owned();
            Ok(())
        },
        show: |config| config.vectors.bucket.secret_access_key.clone(),
    },
    Key {
        name: "vectors_s3_virtual_host",
        help: "Whether the bucket stands before the host of the endpoint rather than in the path.",
        secret: false,
        set: |config, text| set_bool(&mut config.vectors.bucket.virtual_host, text),
        show: |config| config.vectors.bucket.virtual_host.to_string(),
    },
];

fn place(settings: &mut VectorSettings, text: &str) -> Result<()> {
    settings.blobs = match text.strip_prefix(BUCKET) {
        None if text.is_empty() => BlobPlace::DataDirectory,
        None => BlobPlace::Directory(PathBuf::from(text)),
        Some(address) => {
            let (bucket, folder) = address.split_once('/').unwrap_or((address, ""));
            if bucket.is_empty() {
                bail!("the name of a bucket is needed: s3://BUCKET/FOLDER");
            }
            settings.bucket.bucket = bucket.to_owned();
            settings.bucket.prefix = folder.trim_matches('/').to_owned();
            BlobPlace::Bucket
        }
    };
    Ok(())
}

/// A quota by its name; megabytes are kept as bytes.
fn quota<'a>(quotas: &'a mut VectorQuotas, name: &str) -> Option<&'a mut Option<u64>> {
    match name {
        "databases" => Some(&mut quotas.databases),
        "files" => Some(&mut quotas.files),
        "passages" => Some(&mut quotas.passages),
        "megabytes" => Some(&mut quotas.bytes),
        "waiting" => Some(&mut quotas.waiting),
        _ => None,
    }
}

fn quotas(text: &str) -> Result<VectorQuotas> {
    let mut quotas = VectorSettings::default().quotas;
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let wrong = || {
            format!(
                "`{part}` is no quota; name=number is needed, with one of databases, files, passages, megabytes, waiting"
            )
        };
        let (name, most) = part.split_once('=').with_context(wrong)?;
        let (name, most) = (name.trim(), most.trim().parse::<u64>().with_context(wrong)?);
        let bytes = most.checked_mul(if name == "megabytes" { 1 << 20 } else { 1 }).with_context(wrong)?;
        *quota(&mut quotas, name).with_context(wrong)? = Some(bytes);
    }
    Ok(quotas)
}

fn shown_quotas(config: &Config) -> String {
    let (mut own, mut preset) = (config.vectors.quotas, VectorSettings::default().quotas);
    let mut other = Vec::new();
    for name in ["databases", "files", "passages", "megabytes", "waiting"] {
        let (own, preset) =
            (quota(&mut own, name).copied().flatten(), quota(&mut preset, name).copied().flatten());
        if let (Some(most), true) = (own, own != preset) {
            let most = if name == "megabytes" { most >> 20 } else { most };
            other.push(format!("{name}={most}"));
        }
    }
    other.join(",")
}

#[cfg(test)]
mod tests {
    use heddle_server::BlobPlace;

    use crate::config::Effective;

    fn load(name: &str, value: &str) -> anyhow::Result<Effective> {
        Effective::load(None, &[(name.to_owned(), value.to_owned())], &[])
    }

    fn shown(effective: &Effective, name: &str) -> String {
        effective.rows().into_iter().find(|row| row.name == name).unwrap().value
    }

    #[test]
    fn a_section_of_the_file_holds_the_keys_without_their_first_word() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("heddle.toml");
        std::fs::write(&file, "workers = 3\n[vectors]\nfile_megabytes = 7\nocr = false\n").unwrap();
        let effective = Effective::load(Some(&file), &[], &[]).unwrap();
        assert_eq!(effective.config.vectors.bounds.file_bytes, 7 << 20);
        assert!(!effective.config.vectors.ocr);
        std::fs::write(&file, "[vectors]\nno_such_key = 7\n").unwrap();
        let refused = Effective::load(Some(&file), &[], &[]).err().unwrap();
        assert!(format!("{refused:#}").contains("vectors_no_such_key"));
    }

    #[test]
    fn files_stand_in_a_directory_or_a_bucket_whose_secret_is_not_shown() {
        let bucket = load("HEDDLE_VECTORS_FILES", "s3://heddle-files/a/b/").unwrap();
        assert_eq!(bucket.config.vectors.blobs, BlobPlace::Bucket);
        assert_eq!(shown(&bucket, "vectors_files"), "s3://heddle-files/a/b");
        let directory = load("HEDDLE_VECTORS_FILES", "/srv/files").unwrap();
        assert_eq!(shown(&directory, "vectors_files"), "/srv/files");
        assert!(load("HEDDLE_VECTORS_FILES", "s3://").is_err());
        let secret = load("HEDDLE_VECTORS_S3_SECRET_ACCESS_KEY", "canary").unwrap();
        assert_eq!(shown(&secret, "vectors_s3_secret_access_key"), "***");
        assert!(!format!("{:?}", secret.config).contains("canary"));
    }

    #[test]
    fn quotas_are_read_by_their_names() {
        let effective = load("HEDDLE_VECTORS_QUOTAS", "files=10, megabytes=3").unwrap();
        let quotas = effective.config.vectors.quotas;
        assert_eq!((quotas.files, quotas.bytes), (Some(10), Some(3 << 20)));
        assert_eq!(shown(&effective, "vectors_quotas"), "files=10,megabytes=3");
        for wrong in ["files", "files=many", "pages=1"] {
            assert!(load("HEDDLE_VECTORS_QUOTAS", wrong).is_err(), "{wrong}");
        }
    }
}
