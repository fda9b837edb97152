//! Files that are cut, altered, missing or of two states: the right answer, or the word that the index must be built anew.

use std::fs;
use std::path::{Path, PathBuf};

use heddle_passages::{AllowList, Error, Hit, Index, Passage, Query, Rebuild, Shape};

use crate::{SETTINGS, VOCABULARY, built, directory, key, passage, passages, shelf};

/// All that an index can say.
fn everything(index: &Index) -> Result<(Vec<Hit>, Vec<Hit>), Error> {
    let vector = passage(5, 0).vector.unwrap();
    index.legs(Some(&vector), Some(&VOCABULARY.join(" ")), 1000, None)
}

/// Ids and scores of the nearest, and the ids that fit the words.
fn said(index: &Index) -> (Vec<(u64, f32)>, Vec<u64>) {
    let (near, words) = everything(index).unwrap();
    let mut ids: Vec<u64> = words.iter().map(|hit| hit.id).collect();
    ids.sort_unstable();
    (near.iter().map(|hit| (hit.id, hit.score)).collect(), ids)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

fn changes() -> (AllowList, Vec<Passage>) {
    (AllowList::of_ranges(vec![10..20, 33..34]), (15..40).map(|id| passage(id, 1)).collect())
}

#[test]
fn damage_to_any_file_is_seen() {
    let root = tempfile::tempdir().unwrap();
    let right = {
        let index = built(root.path(), passages(0..90));
        let (removed, puts) = changes();
        index.apply(1, 2, removed, puts).unwrap();
        everything(&index).unwrap()
    };
    let whole = tempfile::tempdir().unwrap();
    copy(&directory(root.path()), whole.path());
    let names: Vec<PathBuf> =
        files(whole.path()).iter().map(|path| path.strip_prefix(whole.path()).unwrap().to_owned()).collect();
    assert!(names.len() > 8);
    let mut seen = 0;
    for name in &names {
        for kind in 0..5 {
            fs::remove_dir_all(directory(root.path())).unwrap();
            copy(whole.path(), &directory(root.path()));
            let path = directory(root.path()).join(name);
            let mut bytes = fs::read(&path).unwrap();
            match kind {
                0 => fs::remove_file(&path).unwrap(),
                1 => fs::write(&path, &bytes[..bytes.len() / 2]).unwrap(),
                2 => fs::write(&path, b"").unwrap(),
                at => {
                    let place = if at == 3 { bytes.len() / 2 } else { bytes.len() - 1 };
                    bytes[place] ^= 0x10;
                    fs::write(&path, bytes).unwrap();
                }
            }
            let answer = shelf(root.path()).index(&key(), SETTINGS).and_then(|index| everything(&index));
            match answer {
                Ok(answer) => assert_eq!(answer, right, "{} {kind}", name.display()),
                Err(error) => {
                    assert!(error.rebuild().is_some(), "{} {kind}: {error}", name.display());
                    seen += 1;
                }
            }
        }
    }
    // What no commit names may be damaged without harm, and that is little.
    assert!(seen >= names.len() * 4, "{seen} of {}", names.len() * 5);
}

/// Puts something in the way of a file, so that it cannot be written.
fn obstruct(path: &Path) {
    fs::remove_file(path).unwrap();
    fs::create_dir(path).unwrap();
    fs::write(path.join("in-the-way"), b"").unwrap();
}

#[test]
fn a_change_that_was_cut_short_is_made_once_more() {
    let (before, after, broken) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    drop(built(before.path(), passages(0..60)));
    copy(before.path(), after.path());
    copy(before.path(), broken.path());
    let apply = |root: &Path| {
        let index = shelf(root).index(&key(), SETTINGS)?;
        let (removed, puts) = changes();
        index.apply(1, 5, removed, puts).map(|()| index)
    };
    let right = said(&apply(after.path()).unwrap());
    // The manifest as it is in the middle of the change.
    {
        let index = shelf(broken.path()).index(&key(), SETTINGS).unwrap();
        obstruct(&directory(broken.path()).join("words/meta.json"));
        let (removed, puts) = changes();
        assert!(index.apply(1, 5, removed, puts).is_err());
        assert!(matches!(everything(&index), Err(Error::Reopen)));
    }
    let middle = fs::read(directory(broken.path()).join("manifest")).unwrap();
    for words in [&before, &after] {
        for codes in [&before, &after] {
            let root = tempfile::tempdir().unwrap();
            let here = directory(root.path());
            copy(&directory(words.path()).join("words"), &here.join("words"));
            // The rows are written before the codes are.
            for (name, from) in [("codes-0", codes), ("vectors-0", &after), ("ids-0", &after)] {
                fs::copy(directory(from.path()).join(name), here.join(name)).unwrap();
            }
            fs::write(here.join("manifest"), &middle).unwrap();
            for _ in 0..2 {
                let index = shelf(root.path()).index(&key(), SETTINGS).unwrap();
                assert_eq!((index.sequence(), index.owed()), (1, Some(5)));
                assert!(matches!(everything(&index), Err(Error::Behind { at: 1, until: 5 })));
            }
            // In two steps, as whoever reads the changes page by page makes them.
            let index = shelf(root.path()).index(&key(), SETTINGS).unwrap();
            let (removed, puts) = changes();
            index.apply(1, 3, removed.clone(), puts[..12].to_vec()).unwrap();
            assert!(matches!(everything(&index), Err(Error::Behind { at: 3, until: 5 })));
            index.apply(3, 5, AllowList::default(), puts[12..].to_vec()).unwrap();
            assert_eq!(said(&index), right);
            drop(index);
            assert_eq!(said(&shelf(root.path()).index(&key(), SETTINGS).unwrap()), right);
        }
    }
}

#[test]
fn files_of_different_states_are_not_mixed() {
    let (before, after) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    drop(built(before.path(), passages(0..60)));
    copy(before.path(), after.path());
    {
        let index = shelf(after.path()).index(&key(), SETTINGS).unwrap();
        let (removed, puts) = changes();
        index.apply(1, 5, removed, puts).unwrap();
    }
    for name in ["codes-0", "vectors-0", "ids-0", "manifest"] {
        let root = tempfile::tempdir().unwrap();
        copy(after.path(), root.path());
        fs::copy(directory(before.path()).join(name), directory(root.path()).join(name)).unwrap();
        let opened = shelf(root.path()).index(&key(), SETTINGS);
        assert!(matches!(opened, Err(Error::Rebuild(Rebuild::Damaged(_)))), "{name}");
    }
    let root = tempfile::tempdir().unwrap();
    copy(after.path(), root.path());
    fs::remove_dir_all(directory(root.path()).join("words")).unwrap();
    copy(&directory(before.path()).join("words"), &directory(root.path()).join("words"));
    let opened = shelf(root.path()).index(&key(), SETTINGS);
    assert!(matches!(opened, Err(Error::Rebuild(Rebuild::Damaged(_)))));
}

#[test]
fn another_version_is_told_apart() {
    let root = tempfile::tempdir().unwrap();
    drop(built(root.path(), passages(0..3)));
    let path = directory(root.path()).join("manifest");
    let manifest = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("7{}", manifest.strip_prefix('4').unwrap())).unwrap();
    let opened = shelf(root.path()).index(&key(), SETTINGS);
    assert!(matches!(opened, Err(Error::Rebuild(Rebuild::Format { found: 7, expected: 4 }))));
    let query = Query::new(Shape::Keyword("loom"), 3);
    let rows = passages(0..3).into_iter().map(Ok::<_, ()>);
    let shelf = shelf(root.path());
    assert!(shelf.rebuild(&key(), SETTINGS, 1, rows).unwrap().search(&query).is_ok());
}
