//! `fabnet completions`: what shells need to complete a line that begins with `fabnet`.

use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use clap_complete::Shell;

use crate::output::print_line;

#[derive(Args)]
#[command(after_help = "\
Examples:
  fabnet completions bash > ~/.local/share/bash-completion/completions/fabnet
  fabnet completions zsh > ~/.zfunc/_fabnet    with ~/.zfunc in fpath, before compinit
  fabnet completions fish > ~/.config/fish/completions/fabnet.fish
  fabnet completions powershell >> $PROFILE
  fabnet completions elvish >> ~/.config/elvish/rc.elv")]
pub(crate) struct Completions {
    /// The shell that is to complete lines
    shell: Shell,
}

impl Completions {
    /// Prints the completions of a command.
    pub(crate) fn execute(self, mut fabnet: clap::Command) -> anyhow::Result<ExitCode> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut fabnet, "fabnet", &mut script);
        print_line(String::from_utf8(script).context("the completions are not text")?.trim_end());
        Ok(ExitCode::SUCCESS)
    }
}
