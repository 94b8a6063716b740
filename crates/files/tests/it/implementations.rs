//! Files in memory behave like those of the operating system, and lose at a power cut exactly what
//! was not synced.
#![allow(clippy::print_stdout)]

use std::io::{ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fabnet_files::{FailingFiles, Failure, Files, MemoryFiles, SystemFiles};

/// Random numbers from a seed.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Carries out a random operation; what it returns, as text.
fn operate(files: &dyn Files, home: &Path, draws: &mut Draws) -> String {
    let paths = ["a", "b", "f", "f/a", "f/b", "g", "g/a", "g/h", "g/h/a", "x/a"];
    let mut path = || home.join(paths[draws.below(paths.len() as u64) as usize]);
    let (path, other) = (path(), path());
    let contents = vec![b'.'; draws.below(5) as usize];
    let said = |result: Result<String>| result.unwrap_or_else(|_| "refused".to_owned());
    let done = |result: Result<()>| said(result.map(|()| "done".to_owned()));
    match draws.below(13) {
        0 => said(files.read(&path).map(|contents| format!("{contents:?}"))),
        1 => said(files.length(&path).map(|length| length.to_string())),
        2 => said(files.list(&path).map(|names| format!("{names:?}"))),
        3 => files.is_folder(&path).to_string(),
        4 => done(files.create_folder(&path)),
        5 => done(files.write(&path, &contents)),
        6 => done(files.write_new(&path, &contents)),
        7 => done(files.append(&path, &contents)),
        8 => done(files.truncate(&path, contents.len() as u64)),
        9 => done(files.sync(&path)),
        // A folder in place of an empty folder, or of itself, is nothing that programs here do.
        10 if files.is_folder(&path) || files.is_folder(&other) || path == other => String::new(),
        10 => done(files.rename(&path, &other)),
        11 => done(files.remove(&path)),
        _ => done(files.remove_tree(&path)),
    }
}

/// All files and folders.
fn tree(files: &dyn Files, folder: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let entries = files.list(folder).unwrap().into_iter().map(|name| folder.join(name));
    let below = |path: PathBuf| {
        if files.is_folder(&path) {
            [vec![(path.clone(), None)], tree(files, &path)].concat()
        } else {
            vec![(path.clone(), Some(files.read(&path).unwrap()))]
        }
    };
    entries.flat_map(below).collect()
}

#[test]
fn files_in_memory_behave_like_those_of_the_system() {
    for seed in 0..100 {
        let home = tempfile::tempdir().unwrap();
        let memory = MemoryFiles::default();
        memory.create_folder(home.path()).unwrap();
        let mut draws = [Draws(seed), Draws(seed)];
        for operation in 0..60 {
            let expected = operate(&SystemFiles::SHARED, home.path(), &mut draws[0]);
            let found = operate(&memory, home.path(), &mut draws[1]);
            assert_eq!(expected, found, "seed {seed}, operation {operation}");
        }
        assert_eq!(tree(&SystemFiles::SHARED, home.path()), tree(&memory, home.path()), "seed {seed}");
    }
}

#[test]
fn a_power_cut_takes_what_was_not_synced_and_nothing_else() {
    let files = MemoryFiles::default();
    let path = Path::new;
    files.create_folder(path("f")).unwrap();
    files.write(path("f/kept"), b"first").unwrap();
    files.sync(path("f/kept")).unwrap();
    files.sync(path("f")).unwrap();
    files.append(path("f/kept"), b" and second").unwrap();
    files.write(path("f/without entry"), b"contents").unwrap();
    files.sync(path("f/without entry")).unwrap();
    files.cut_power();
    assert_eq!(files.read(path("f/kept")).unwrap(), b"first");
    assert_eq!(files.read(path("f/without entry")).unwrap_err().kind(), ErrorKind::NotFound);

    // A folder that gets another name takes its entries along, once its own folder is synced.
    files.rename(path("f"), path("g")).unwrap();
    files.cut_power();
    assert!(files.is_folder(path("f")) && !files.is_folder(path("g")));
    files.rename(path("f"), path("g")).unwrap();
    files.sync(path(".")).unwrap();
    files.cut_power();
    assert!(!files.is_folder(path("f")));
    assert_eq!(files.read(path("g/kept")).unwrap(), b"first");
}

#[test]
fn a_file_that_is_written_whole_is_the_old_one_or_the_new_one_at_every_point() {
    let (old, new) = (b"old".to_vec(), b"new contents".to_vec());
    let mut points = 0;
    for (cut, failure) in [(false, Failure::Kill), (true, Failure::Kill), (false, Failure::Full(1))] {
        for at in 0.. {
            let memory = Arc::new(MemoryFiles::default());
            (&*memory as &dyn Files).write_whole(Path::new("file"), &old).unwrap();
            let failing = FailingFiles::new(memory.clone(), failure, at);
            let written = (&failing as &dyn Files).write_whole(Path::new("file"), &new);
            if cut {
                memory.cut_power();
            }
            let found = memory.read(Path::new("file")).unwrap();
            assert!(found == new || (found == old && written.is_err()), "{failure:?} at {at}: {found:?}");
            if failing.count() <= at {
                break;
            }
            points += 1;
        }
    }
    println!("{points} points");
    assert!(points >= 12);
}

#[test]
fn a_file_that_is_shorter_than_expected_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("rows");
    let memory = MemoryFiles::default();
    memory.create_folder(home.path()).unwrap();
    for files in [&SystemFiles::SHARED as &dyn Files, &memory] {
        files.write(&path, b"12345").unwrap();
        let message = files.truncate(&path, 6).unwrap_err().to_string();
        assert!(message.contains("5 bytes") && message.contains('6'), "{message}");
        files.truncate(&path, 4).unwrap();
        assert_eq!(files.read(&path).unwrap(), b"1234");
    }
}

#[cfg(unix)]
#[test]
fn private_files_are_for_their_owner_and_permissions_are_told() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("key");
    SystemFiles::PRIVATE.write_new(&path, b"secret").unwrap();
    for files in [SystemFiles::PRIVATE, SystemFiles::SHARED] {
        assert_eq!(files.mode(&path).unwrap(), Some(0o600));
        assert_eq!(files.mode(&home.path().join("gone")).unwrap_err().kind(), ErrorKind::NotFound);
    }
    let memory = MemoryFiles::default();
    memory.write(Path::new("key"), b"secret").unwrap();
    assert_eq!(memory.mode(Path::new("key")).unwrap(), None, "it has no permissions");
    assert_eq!(memory.mode(Path::new("gone")).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_lock_is_one_process_s_until_it_is_dropped() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lock");
    let memory = MemoryFiles::default();
    memory.create_folder(home.path()).unwrap();
    for files in [&SystemFiles::SHARED as &dyn Files, &memory] {
        let lock = files.lock(&path).unwrap();
        assert_eq!(files.lock(&path).unwrap_err().kind(), ErrorKind::WouldBlock);
        drop(lock);
        files.lock(&path).unwrap();
    }
}
