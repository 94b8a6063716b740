//! What holds for every implementation of `Files`, and what each adds.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use fabnet_files::{FailingFiles, Failure, Files, MemoryFiles, SystemFiles};

/// Runs a test in a folder of each implementation.
fn everywhere(test: impl Fn(&dyn Files, &Path)) {
    let folder = tempfile::tempdir().unwrap();
    for files in [&SystemFiles::SHARED, &SystemFiles::PRIVATE] {
        let place = folder.path().join(format!("{files:?}"));
        files.create_folder(&place).unwrap();
        test(files, &place);
    }
    let memory: Arc<dyn Files> = Arc::new(MemoryFiles::default());
    memory.create_folder(Path::new("a")).unwrap();
    test(&*memory, Path::new("a"));
    memory.create_folder(Path::new("b")).unwrap();
    test(&FailingFiles::counting(memory), Path::new("b"));
}

#[test]
fn files_hold_what_was_written() {
    everywhere(|files, place| {
        let file = place.join("file");
        assert_eq!(files.read_if_there(&file).unwrap(), None);
        files.write(&file, b"first").unwrap();
        files.append(&file, b", second").unwrap();
        assert_eq!(files.read(&file).unwrap(), b"first, second");
        files.truncate(&file, 5).unwrap();
        assert_eq!(files.length(&file).unwrap(), 5);
        assert_eq!(files.truncate(&file, 6).unwrap_err().kind(), ErrorKind::UnexpectedEof, "it would invent a byte");
        assert_eq!(files.read(&file).unwrap(), b"first");
        assert_eq!(files.write_new(&file, b"").unwrap_err().kind(), ErrorKind::AlreadyExists);
        files.write_whole(&file, b"third").unwrap();
        assert_eq!(files.read(&file).unwrap(), b"third");
        assert_eq!(files.list(place).unwrap(), [Path::new("file")]);
    });
}

#[test]
fn trees_are_renamed_and_removed() {
    everywhere(|files, place| {
        let (tree, other) = (place.join("tree"), place.join("other"));
        files.create_folder(&tree.join("inner")).unwrap();
        files.write(&tree.join("inner/leaf"), b"leaf").unwrap();
        assert!(files.is_folder(&tree) && !files.is_folder(&tree.join("inner/leaf")));
        assert!(files.remove_folder(&tree).is_err(), "it is not empty");
        files.rename(&tree, &other).unwrap();
        assert!(!files.exists(&tree));
        assert_eq!(files.read(&other.join("inner/leaf")).unwrap(), b"leaf");
        files.remove_tree(&other).unwrap();
        assert!(!files.exists(&other));
        assert_eq!(files.list(&other).unwrap_err().kind(), ErrorKind::NotFound);
    });
}

#[test]
fn a_lock_is_held_once() {
    everywhere(|files, place| {
        let path = place.join("lock");
        let lock = files.lock(&path).unwrap();
        assert_eq!(files.lock(&path).unwrap_err().kind(), ErrorKind::WouldBlock);
        drop(lock);
        files.lock(&path).unwrap();
    });
}

#[cfg(unix)]
#[test]
fn private_files_are_their_owners_only_and_follow_no_links() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let (place, target) = (folder.path().join("state"), folder.path().join("target"));
    let files = SystemFiles::PRIVATE;
    files.create_folder(&place).unwrap();
    files.write(&place.join("file"), b"secret").unwrap();
    assert_eq!((mode(&place), mode(&place.join("file"))), (0o700, 0o600));
    std::os::unix::fs::symlink(&target, place.join("link")).unwrap();
    let link = place.join("link");
    assert!(files.write(&link, b"").is_err() && files.append(&link, b"").is_err() && files.read(&link).is_err());
    assert!(!target.exists());
    std::os::unix::fs::symlink(&place, folder.path().join("linked")).unwrap();
    assert!(files.create_folder(&folder.path().join("linked")).is_err());
}

#[test]
fn a_power_cut_takes_what_was_not_synced() {
    let files = MemoryFiles::default();
    let place = Path::new("place");
    files.create_folder(place).unwrap();
    let file = place.join("file");
    (&files as &dyn Files).write_whole(&file, b"old").unwrap();
    files.append(&file, b" and new").unwrap();
    files.write(&place.join("other"), b"never synced").unwrap();
    files.cut_power();
    assert_eq!(files.read(&file).unwrap(), b"old");
    assert!(files.read(&place.join("other")).is_err());
    files.write(&place.join("next"), b"next").unwrap();
    files.sync(&place.join("next")).unwrap();
    files.rename(&place.join("next"), &file).unwrap();
    files.cut_power();
    assert_eq!(files.read(&file).unwrap(), b"old", "the folder was not synced");
}

#[test]
fn a_file_is_written_whole_or_not_at_all_whatever_fails() {
    let place = Path::new("place");
    let file = place.join("file");
    let run = |failure, at| {
        let memory = Arc::new(MemoryFiles::default());
        memory.create_folder(place).unwrap();
        (&*memory as &dyn Files).write_whole(&file, b"old file").unwrap();
        let failing = FailingFiles::new(memory.clone(), failure, at);
        let result = (&failing as &dyn Files).write_whole(&file, b"new file, longer");
        (result, failing.count(), memory)
    };
    let (_, operations, _) = run(Failure::Kill, u64::MAX);
    assert_eq!(operations, 4);
    for at in 0..operations {
        for power in [true, false] {
            let (result, _, memory) = run(Failure::Kill, at);
            assert!(result.is_err());
            if !power {
                memory.cut_power();
            }
            let found = memory.read(&file).unwrap();
            assert!(found == b"old file" || found == b"new file, longer", "{at}: {found:?}");
        }
    }
    let (result, _, memory) = run(Failure::Full(1), 0);
    assert_eq!(result.unwrap_err().kind(), ErrorKind::StorageFull);
    assert_eq!(memory.read(&file).unwrap(), b"old file");
}

#[test]
fn what_is_appended_to_a_full_disk_leaves_nothing() {
    let memory = Arc::new(MemoryFiles::default());
    let failing = FailingFiles::new(memory.clone(), Failure::Full(1), 1);
    let (files, file) = (&failing as &dyn Files, Path::new("file"));
    files.append_whole(file, 0, b"first").unwrap();
    assert!(files.append_whole(file, 5, b"second").is_err());
    files.append_whole(file, 5, b"third").unwrap();
    assert_eq!(memory.read(file).unwrap(), b"firstthird");
}
