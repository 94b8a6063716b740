//! `fabnet list`.

use std::process::ExitCode;

use crate::say::say;
use clap::{Args, ValueEnum};
use fabnet_lab::{reference, topics};

#[derive(Args)]
#[command(after_help = "Examples:
  fabnet list
  fabnet list topologies")]
pub(crate) struct List {
    /// Only these
    topic: Option<Topic>,
    /// The reference of experiment files, as Markdown
    #[arg(long, conflicts_with = "topic")]
    markdown: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Topic {
    Algorithms,
    Directions,
    Problems,
    Topologies,
    Weights,
    Metrics,
}

impl List {
    pub(crate) fn carry_out(self) -> ExitCode {
        if self.markdown {
            say(reference().trim_end());
            return ExitCode::SUCCESS;
        }
        let wanted = self.topic.and_then(|topic| topic.to_possible_value());
        let wanted = wanted.as_ref().map(clap::builder::PossibleValue::get_name);
        let chosen: Vec<String> = topics()
            .iter()
            .filter(|topic| wanted.is_none_or(|name| name == topic.name))
            .map(fabnet_lab::Topic::text)
            .collect();
        say(chosen.join("\n").trim_end());
        ExitCode::SUCCESS
    }
}
