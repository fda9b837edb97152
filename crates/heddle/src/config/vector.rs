//! Keys of vector databases: the built-in embedding model.

use std::path::PathBuf;

use super::{Key, number, shown};

/// The keys.
pub(super) const KEYS: &[Key] = &[
    Key {
        name: "model_dir",
        help: "Directory of the built-in models, instead of `models` in the data directory.",
        secret: false,
        set: |config, text| {
            config.model_dir = (!text.is_empty()).then(|| PathBuf::from(text));
            Ok(())
        },
        show: |config| shown(config.model_dir.as_deref()),
    },
    Key {
        name: "embedding_threads",
        help: "Threads of the built-in embedding model, 1 to 256; 0 takes half of the processors.",
        secret: false,
        set: |config, text| {
            config.embedding_threads = number(text, 0, 256)? as usize;
            Ok(())
        },
        show: |config| config.embedding_threads.to_string(),
    },
];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::config::Effective;

    #[test]
    fn models_stand_in_the_data_directory_or_where_it_says() {
        let preset = Effective::load(None, &[], &[("data_dir", "place".to_owned())]).unwrap();
        assert_eq!(preset.config.models(), Path::new("place/models"));
        let given = [("data_dir", "place".to_owned()), ("model_dir", "elsewhere".to_owned())];
        let other = Effective::load(None, &[], &given).unwrap();
        assert_eq!(other.config.models(), Path::new("elsewhere"));
    }
}
