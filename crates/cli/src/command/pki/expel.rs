//! `fabnet pki expel`: an operator agrees that members are expelled.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use fabnet_files::{Files, SystemFiles};
use fabnet_lab::Experiment;
use fabnet_net::{Config, ExpulsionList, ExpulsionMistake, MemberKeys};

use crate::exit_code::UsageError;
use crate::output::print_line;

#[derive(Args)]
#[command(after_help = "\
Example:
  fabnet pki expel alpha/node.toml mallory

Makes a list of expelled members, or adds the signature of this node to the one that is there, if it \
names the same members. It counts once more than half of all members have signed it: pass the file \
on from operator to operator, each of whom runs this command. Then one of them is enough to bring it: \
the node whose `expelled` names this file takes it within seconds, and shows it to all others.

The names are those of all members that are to be expelled, also of those that are already. Without \
a name, or with fewer, members are readmitted: the list gets a higher number, and counts like any \
other once it is signed.")]
pub(crate) struct Expel {
    /// The configuration of the node whose key signs, a TOML file
    node: PathBuf,
    /// The names of all members that are to be expelled
    names: Vec<String>,
    /// The file of the list; if not given, the one that `expelled` in the configuration names
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
}

impl Expel {
    pub(super) fn execute(self) -> anyhow::Result<ExitCode> {
        let config = Config::read(&self.node).map_err(|error| UsageError(error.to_string()))?;
        let path = self.list.clone().or_else(|| config.expelled.clone()).ok_or_else(|| {
            let node = self.node.display();
            UsageError(format!("{node}: give the file with --list, or name it with the key `expelled` in this file"))
        })?;
        let files: Arc<dyn Files> = Arc::new(SystemFiles::SHARED);
        let keys =
            MemberKeys::open(files.clone(), &config)?.ok_or_else(|| refusal(&path, &ExpulsionMistake::NoSeals))?;
        let run = config.run_digest(&Experiment::read(&config.plan)?.plan()?.text_of_digest(), true).to_string();
        let kept = read(&*files, &config.state.join("expelled.toml"))?;
        let mut list = self.list_to_sign(&run, read(&*files, &path)?, kept.as_ref());
        let mut signers = keys.signers(&list, &run).map_err(|mistake| refusal(&path, &mistake))?;
        if !signers.contains(&config.node) {
            keys.sign(&mut list);
            signers = keys.signers(&list, &run).map_err(|mistake| refusal(&path, &mistake))?;
            files.write_whole(&path, list.to_string().as_bytes()).with_context(|| path.display().to_string())?;
        }
        print_line(describe(&path, &list, &signers, config.members.len()));
        Ok(ExitCode::SUCCESS)
    }

    /// The list that is there, if it names the same members and is not behind the one in force;
    /// else a new one.
    fn list_to_sign(&self, run: &str, there: Option<ExpulsionList>, kept: Option<&ExpulsionList>) -> ExpulsionList {
        let names: BTreeSet<String> = self.names.iter().cloned().collect();
        let in_force = kept.map_or(0, ExpulsionList::number);
        let highest = there.as_ref().map_or(0, ExpulsionList::number).max(in_force);
        let same = |list: &ExpulsionList| list.run() == run && *list.expelled() == names && list.number() >= in_force;
        there.filter(same).unwrap_or_else(|| ExpulsionList::new(run.to_owned(), highest + 1, names))
    }
}

fn read(files: &dyn Files, path: &Path) -> anyhow::Result<Option<ExpulsionList>> {
    let bytes = files.read_if_there(path).with_context(|| path.display().to_string())?;
    let list = bytes.map(|bytes| ExpulsionList::read(&String::from_utf8_lossy(&bytes)));
    list.transpose().map_err(|mistake| refusal(path, &mistake).into())
}

fn refusal(path: &Path, mistake: &ExpulsionMistake) -> UsageError {
    UsageError(format!("{}: {mistake}", path.display()))
}

/// What the list says, who has signed it, and what is to be done with it.
fn describe(path: &Path, list: &ExpulsionList, signers: &BTreeSet<String>, members: usize) -> String {
    let named = |names: &BTreeSet<String>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let whom = if list.expelled().is_empty() { "nobody".to_owned() } else { named(list.expelled()) };
    let (path, number, signed, needed) = (path.display(), list.number(), signers.len(), members / 2 + 1);
    let next = if signed >= needed {
        "it counts: nodes take it within seconds once one of them finds it at its `expelled`"
    } else {
        "pass it on to other members, who sign it with the same command"
    };
    let signers = named(signers);
    format!(
        "{path}: list number {number} expels {whom}; signed by {signers}, {signed} of {needed} that it needs: {next}"
    )
}
