//! `fabnet plot`.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::say::say;
use clap::Args;
use fabnet_lab::{Folder, figure};

#[derive(Args)]
#[command(after_help = "Example:
  fabnet plot runs/table")]
pub(crate) struct Plot {
    /// Folders with results
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
}

impl Plot {
    pub(crate) fn carry_out(self) -> anyhow::Result<ExitCode> {
        for path in &self.folders {
            for figure in figure::draw(&Folder::new(path))? {
                say(figure.display());
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
