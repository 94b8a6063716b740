//! Completions and manual pages, as shells and `man` read them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::succeed;

/// Writes the completions of a shell into a file of a folder.
fn completions(folder: &Path, shell: &str, file: &str) -> PathBuf {
    let output = succeed(folder, &["completions", shell]);
    let path = folder.join(file);
    std::fs::write(&path, output.stdout).unwrap();
    path
}

/// Runs a script; it must succeed without a word on the standard error. Returns what it prints. The
/// program has to be there: a test that is skipped cannot fail.
fn run_quietly(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("install {program}, which this test needs: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{program} {arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn bash_completes_subcommands_and_options() {
    let folder = tempfile::tempdir().unwrap();
    let file = completions(folder.path(), "bash", "fabnet");
    let complete = |word: &str, line: &str| {
        let script = format!(
            "source {}; COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _fabnet fabnet '{word}' ''; echo \"${{COMPREPLY[@]}}\"",
            file.display()
        );
        run_quietly("bash", &["--norc", "-c", &script])
    };
    assert_eq!(complete("che", "fabnet che").trim(), "check");
    assert_eq!(complete("--res", "fabnet run --res").trim(), "--resume");
}

#[test]
fn fish_completes_subcommands_and_options() {
    let folder = tempfile::tempdir().unwrap();
    let file = completions(folder.path(), "fish", "fabnet.fish");
    let complete = |line: &str| {
        let script = format!("source {}; complete --do-complete '{line}'", file.display());
        run_quietly("fish", &["--no-config", "-c", &script])
    };
    assert!(complete("fabnet che").starts_with("check\t"));
    assert!(complete("fabnet run --res").starts_with("--resume\t"));
}

#[test]
fn zsh_loads_the_completions() {
    let folder = tempfile::tempdir().unwrap();
    completions(folder.path(), "zsh", "_fabnet");
    let script = format!(
        "fpath=({} $fpath); autoload -U compinit; compinit -u -D; autoload +X _fabnet; \
         print $_comps[fabnet]; print $functions[_fabnet]",
        folder.path().display()
    );
    let loaded = run_quietly("zsh", &["-f", "-c", &script]);
    assert!(loaded.starts_with("_fabnet\n") && loaded.contains("--resume="), "{loaded}");
}

#[test]
fn every_shell_is_told_every_subcommand() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = std::fs::read_to_string(completions(folder.path(), shell, shell)).unwrap();
        for word in ["run", "check", "faults", "completions", "man", "resume"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn every_subcommand_has_a_manual_page_that_renders_without_warnings() {
    let folder = tempfile::tempdir().unwrap();
    succeed(folder.path(), &["man", "pages/man1"]);
    let pages: Vec<PathBuf> =
        std::fs::read_dir(folder.path().join("pages/man1")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let has = |name: &str| pages.iter().any(|page| page.ends_with(name));
    assert!(["fabnet.1", "fabnet-run.1", "fabnet-data-divide.1", "fabnet-man.1"].into_iter().all(has), "{pages:?}");
    for page in &pages {
        let page = page.to_str().unwrap();
        let text = run_quietly("groff", &["-man", "-ww", "-Tutf8", "-Kutf8", "-P-cbou", page]);
        assert!(text.contains("SYNOPSIS"), "{page}: {text}");
        // Its warnings are about blank lines that clap_mangen writes, and the missing date.
        run_quietly("mandoc", &["-T", "lint", "-W", "error", page]);
    }
}
