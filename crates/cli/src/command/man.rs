//! `fabnet man`: the help of every subcommand as manual pages.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use clap_mangen::Man as Page;
use fabnet_files::{Files, SystemFiles};

use crate::output::print_line;

#[derive(Args)]
#[command(after_help = "\
Examples:
  fabnet man ~/.local/share/man/man1     then `man fabnet-run` finds the page
  fabnet man pages                       then `man -l pages/fabnet-run.1` shows the page")]
pub(crate) struct Man {
    /// The folder for the pages fabnet.1, fabnet-run.1, …; it is made if it is not there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Man {
    /// Writes a page for a command, and one for each of its subcommands.
    pub(crate) fn execute(self, fabnet: clap::Command) -> anyhow::Result<ExitCode> {
        let folder = &self.folder;
        let files: &dyn Files = &SystemFiles::SHARED;
        files.create_folder(folder).with_context(|| folder.display().to_string())?;
        let mut fabnet = fabnet.disable_help_subcommand(true);
        fabnet.build();
        let pages = write_pages(files, &fabnet, folder)?;
        print_line(format!("{0}: {pages} pages; `man -l {0}/fabnet.1` shows the first", folder.display()));
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes the page of a command and those of the commands below it; returns how many they are.
fn write_pages(files: &dyn Files, command: &clap::Command, folder: &Path) -> anyhow::Result<usize> {
    let source = format!("fabnet {}", env!("CARGO_PKG_VERSION"));
    // Pages have no date, so that equal programs write equal pages: two quotation marks stand for
    // an empty word.
    let page = Page::new(command.clone()).date("\"\"").source(source).manual("fabnet");
    let path = folder.join(page.get_filename());
    let mut text = Vec::new();
    page.render(&mut text)?;
    files.write_whole(&path, &text).with_context(|| path.display().to_string())?;
    let below = command.get_subcommands().map(|below| write_pages(files, below, folder));
    below.sum::<anyhow::Result<usize>>().map(|pages| pages + 1)
}
