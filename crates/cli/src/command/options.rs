//! Options that several subcommands have in common.

use std::path::Path;

use clap::Args;
use fabnet_lab::{Diagnostics, Experiment};

/// Values of an experiment that the command line sets instead of its file.
#[derive(Args, Clone, Default)]
pub(crate) struct Overrides {
    /// Set a value by its path in the file: rounds=2000, algorithm.0.penalty=80
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Use other seeds: how many, or a range without its end such as 0..10
    #[arg(long)]
    seeds: Option<String>,
}

impl Overrides {
    /// Reads an experiment file and applies the overrides.
    pub(crate) fn read(&self, file: &Path) -> Result<Experiment, Diagnostics> {
        let mut experiment = Experiment::read(file)?;
        self.set.iter().try_for_each(|assignment| experiment.set(assignment))?;
        if let Some(seeds) = &self.seeds {
            experiment.set_seeds(seeds);
        }
        Ok(experiment)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.set.is_empty() && self.seeds.is_none()
    }
}

/// The number of threads that a command uses.
#[derive(Args, Clone, Copy)]
pub(crate) struct Threads {
    /// The number of threads; if not given, the number of cores. It does not change the results
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

impl Threads {
    /// The number that was given, or the number of cores.
    pub(crate) fn count(self) -> usize {
        self.threads.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct TestLine {
        #[command(flatten)]
        overrides: Overrides,
        #[command(flatten)]
        threads: Threads,
    }

    fn parse(line: &str) -> Result<TestLine, clap::Error> {
        TestLine::try_parse_from(line.split(' '))
    }

    /// The overrides of a line, applied to a small experiment.
    fn read(line: &str) -> Result<Experiment, Diagnostics> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("test.toml");
        let text = "agents = 3\nrounds = 10\n[problem]\nkind = \"policy-evaluation\"\n\
                    [[algorithm]]\nkind = \"fab\"\nsteps = 0.1\n";
        std::fs::write(&file, text).unwrap();
        parse(line).unwrap().overrides.read(&file)
    }

    #[test]
    fn overrides_replace_values_of_the_file() {
        let plan = read("fabnet").unwrap().plan().unwrap();
        assert_eq!((plan.groups[0].rounds, plan.groups[0].agents), (10, 3));
        let line = "fabnet --set rounds=20 --set algorithm.0.penalty=80 --set rounds=30 --seeds 4..6";
        let plan = read(line).unwrap().plan().unwrap();
        assert_eq!((plan.groups[0].rounds, plan.groups[0].agents), (30, 3), "the last one counts");
        assert_eq!(plan.seeds, [4, 5]);
        assert!(plan.to_toml().contains("penalty = 80"));
    }

    #[test]
    fn an_override_without_a_value_is_a_mistake_and_is_named() {
        let mistakes = read("fabnet --set rounds").err().unwrap().to_string();
        assert!(mistakes.contains("--set rounds: expected KEY=VALUE"), "{mistakes}");
    }

    #[test]
    fn only_a_line_without_overrides_is_empty() {
        assert!(parse("fabnet --threads 2").unwrap().overrides.is_empty());
        assert!(!parse("fabnet --set rounds=1").unwrap().overrides.is_empty());
        assert!(!parse("fabnet --seeds 3").unwrap().overrides.is_empty());
    }

    #[test]
    fn threads_are_those_given_or_all_cores() {
        assert_eq!(parse("fabnet --threads 7").unwrap().threads.count(), 7);
        let cores = std::thread::available_parallelism().unwrap().get();
        assert_eq!(parse("fabnet").unwrap().threads.count(), cores);
        assert!(parse("fabnet --threads 0").is_err() && parse("fabnet --threads 65536").is_err());
    }
}
