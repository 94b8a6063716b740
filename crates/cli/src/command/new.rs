//! `fabnet new`: an experiment file to begin with, every key explained.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, ValueEnum};
use fabnet_lab::{Experiment, MissingFeature};

use crate::exit_code::UsageError;
use crate::output::print_line;

#[derive(Args)]
#[command(after_help = "\
Examples:
  fabnet new mine
  fabnet new study/labels --from cleaning

A file that is there already is not overwritten.")]
pub(crate) struct New {
    /// The name of the experiment; the file is NAME.toml
    name: PathBuf,
    /// The kind of experiment
    #[arg(long, value_name = "TEMPLATE", default_value = "first")]
    from: Template,
}

/// An experiment of the repository that new ones begin from.
#[derive(Clone, Copy, ValueEnum)]
enum Template {
    /// Two methods compared on policy evaluation
    First,
    /// Which samples to trust, learned from a few with verified labels
    Cleaning,
    /// Hyperparameters, learned from samples with verified labels
    Tuning,
    /// Real nodes on this machine
    Network,
}

impl New {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let path = self.path();
        let text = self.from.named(experiment_name(&path)?)?;
        write_new(&path, &text)?;
        let (file, subcommand) = (path.display(), self.from.subcommand());
        let next = self
            .from
            .obstacle(&path)
            .map_or("Next:".to_owned(), |obstacle| format!("This fabnet cannot carry it out:\n  {obstacle}\nThen:"));
        print_line(format!("{file} is written. {next}\n  fabnet check {file}\n  fabnet {subcommand} {file}"));
        Ok(ExitCode::SUCCESS)
    }

    /// The file of the experiment.
    fn path(&self) -> PathBuf {
        let mut name = self.name.clone().into_os_string();
        if self.name.extension().is_none_or(|extension| extension != "toml") {
            name.push(".toml");
        }
        name.into()
    }
}

impl Template {
    /// The name of the experiment in the repository, and its text.
    fn experiment(self) -> (&'static str, &'static str) {
        match self {
            Self::First => ("first", include_str!("../../templates/first.toml")),
            Self::Cleaning => ("cleaning", include_str!("../../templates/cleaning.toml")),
            Self::Tuning => ("tuning", include_str!("../../templates/tuning.toml")),
            Self::Network => ("network", include_str!("../../templates/network.toml")),
        }
    }

    /// The text of the experiment, under another name.
    fn named(self, name: &str) -> anyhow::Result<String> {
        let (own, text) = self.experiment();
        let key = format!("name = \"{own}\"");
        let (before, after) = text.split_once(&key).with_context(|| format!("the template {own} has no {key}"))?;
        Ok(format!("{before}name = \"{name}\"{after}"))
    }

    /// Why this build cannot carry out such an experiment, which is in a file.
    fn obstacle(self, file: &Path) -> Option<String> {
        if matches!(self, Self::Network) && !cfg!(feature = "net") {
            return Some(MissingFeature::new("`fabnet launch`", "net").to_string());
        }
        Experiment::read(file).and_then(|experiment| experiment.plan()).err().map(|mistakes| mistakes.to_string())
    }

    /// What carries such an experiment out.
    fn subcommand(self) -> &'static str {
        if matches!(self, Self::Network) { "launch" } else { "run" }
    }
}

/// The name of the experiment in a file: the file's own, which must be plain, because folders of
/// results are named by it.
fn experiment_name(path: &Path) -> Result<&str, UsageError> {
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(is_plain) {
        let message = format!("`{name}` cannot name an experiment: use letters, digits, `-`, `_` and `.`");
        return Err(UsageError(message));
    }
    Ok(name)
}

/// Writes a file that must not be there yet.
fn write_new(path: &Path, text: &str) -> anyhow::Result<()> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    match file {
        Ok(mut file) => file.write_all(text.as_bytes()).with_context(|| path.display().to_string()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let message = format!("{} is there already: choose another name, or remove it first", path.display());
            Err(UsageError(message).into())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(UsageError(format!("{}: its folder is not there: make it first", path.display())).into())
        }
        Err(error) => Err(error).with_context(|| path.display().to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of(name: &str) -> Result<String, String> {
        let path = New { name: name.into(), from: Template::First }.path();
        experiment_name(&path).map(str::to_owned).map_err(|error| error.to_string())
    }

    #[test]
    fn the_file_names_the_experiment() {
        for (name, expected) in [("mine", "mine"), ("study/a-1.2", "a-1.2"), ("mine.toml", "mine")] {
            assert_eq!(name_of(name).as_deref(), Ok(expected));
        }
        for name in ["a\"b", "a b", ".hidden", "folder/.toml", "a\nb"] {
            assert!(name_of(name).unwrap_err().contains("cannot name an experiment"), "{name}");
        }
    }

    /// A comment that begins beside the name of the template stays where it is.
    #[test]
    fn nothing_but_the_name_differs_from_the_template() {
        for template in Template::value_variants() {
            let (own, text) = template.experiment();
            let named = template.named("other").unwrap();
            let differing: Vec<&str> =
                named.lines().zip(text.lines()).filter(|(a, b)| a != b).map(|(line, _)| line).collect();
            assert!(matches!(differing[..], [line] if line.starts_with("name = \"other\"")), "{own}: {differing:?}");
        }
    }

    /// Keys are explained: on their line, or in the header of their table.
    #[test]
    fn every_key_of_a_template_has_a_comment() {
        for template in Template::value_variants() {
            let (own, text) = template.experiment();
            let mut seen = Vec::new();
            let mut explained = false;
            for line in text.lines() {
                let key = line.split_once(" = ").map(|(key, _)| key).filter(|key| !key.starts_with('#'));
                explained = line.contains('#') || (explained && line.starts_with("kind"));
                if let Some(key) = key {
                    assert!(explained || seen.contains(&key), "{own}: {line}");
                    seen.push(key);
                }
            }
            assert!(seen.len() > 8, "{own}: {seen:?}");
        }
    }
}
