//! `fabnet list`: the registries that experiments choose from.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use fabnet_lab::{reference, topics};

use crate::output::print_line;

#[derive(Args)]
#[command(after_help = "\
Examples:
  fabnet list
  fabnet list topologies")]
pub(crate) struct List {
    /// List this topic only
    topic: Option<TopicName>,
    /// Print the whole reference of experiment files, as Markdown
    #[arg(long, conflicts_with = "topic")]
    markdown: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum TopicName {
    Algorithms,
    Directions,
    Problems,
    Topologies,
    Weights,
    Metrics,
}

impl List {
    pub(crate) fn execute(self) -> ExitCode {
        if self.markdown {
            print_line(reference().trim_end());
            return ExitCode::SUCCESS;
        }
        let wanted = self.topic.and_then(|topic| topic.to_possible_value());
        let wanted = wanted.as_ref().map(clap::builder::PossibleValue::get_name);
        let chosen: Vec<String> = topics()
            .iter()
            .filter(|topic| wanted.is_none_or(|name| name == topic.name))
            .map(fabnet_lab::Topic::text)
            .collect();
        print_line(chosen.join("\n").trim_end());
        ExitCode::SUCCESS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names are typed here once more for the help, so they must be those of the registries.
    #[test]
    fn the_topics_of_the_command_are_those_of_the_lab() {
        let names = TopicName::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let names: Vec<String> = names.map(|name| name.get_name().to_owned()).collect();
        let known: Vec<String> = topics().iter().map(|topic| topic.name.to_string()).collect();
        assert_eq!(names, known);
    }
}
