//! `fabnet pki`: the certificate authority of a run, and certificates of nodes.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use fabnet_net::Authority;

use super::existing::require_folder;
use crate::exit_code::UsageError;
use crate::output::print_line;

#[derive(Args)]
#[command(after_help = "\
Examples:
  fabnet pki init certificates
  fabnet pki issue certificates alpha --host alpha.example.org --host 192.0.2.7

ca.pem, NAME.pem and NAME.key go to the node NAME. ca.key stays with the person who admits nodes.")]
pub(crate) struct Pki {
    #[command(subcommand)]
    action: PkiAction,
}

#[derive(Subcommand)]
enum PkiAction {
    /// Make the certificate authority of a run: ca.pem and ca.key
    Init {
        /// The folder for both files
        folder: PathBuf,
    },
    /// Issue a certificate for a node: NAME.pem and NAME.key
    Issue {
        /// The folder of the certificate authority
        folder: PathBuf,
        /// The name of the node in the list of members
        name: String,
        /// A name or address under which others reach the node; may be given several times; if not
        /// given, its name, localhost and 127.0.0.1
        #[arg(long = "host", value_name = "HOST")]
        hosts: Vec<String>,
    },
}

impl Pki {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        match self.action {
            PkiAction::Init { folder } => {
                Authority::create(&folder)?;
                print_line(format!("{}: ca.pem, for all nodes, and ca.key, which admits them", folder.display()));
            }
            PkiAction::Issue { folder, name, hosts } => {
                require_authority(&folder)?;
                let hosts = Authority::hosts(&name, hosts);
                let (certificate, key) = Authority::open(&folder)?.issue(&name, &hosts)?;
                print_line(format!("{} and {}, for {}", certificate.display(), key.display(), hosts.join(", ")));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Refuses a folder that does not exist, and says how to make the authority.
fn require_authority(folder: &Path) -> Result<(), UsageError> {
    require_folder(folder).map_err(|UsageError(problem)| {
        let command = format!("fabnet pki init {}", folder.display());
        UsageError(format!("{problem}: make the certificate authority first, with `{command}`"))
    })
}
