//! `fabnet pki`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use fabnet_net::Authority;

use crate::say::say;

#[derive(Args)]
#[command(after_help = "Examples:
  fabnet pki init certificates
  fabnet pki issue certificates alpha --host alpha.example.org --host 192.0.2.7

ca.pem, NAME.pem and NAME.key go to the node; ca.key stays with whoever admits nodes.")]
pub(crate) struct Pki {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Make the authority of a run: ca.pem and ca.key
    Init {
        /// Where
        folder: PathBuf,
    },
    /// Issue a certificate for a node: NAME.pem and NAME.key
    Issue {
        /// Where the authority is
        folder: PathBuf,
        /// The node's name, as the member list has it
        name: String,
        /// Under which names and addresses others reach it; its name, localhost and 127.0.0.1 if not given
        #[arg(long = "host", value_name = "HOST")]
        hosts: Vec<String>,
    },
}

impl Pki {
    pub(crate) fn carry_out(self) -> anyhow::Result<ExitCode> {
        match self.what {
            What::Init { folder } => {
                Authority::create(&folder)?;
                say(format!("{}: ca.pem, for all nodes, and ca.key, which admits them", folder.display()));
            }
            What::Issue { folder, name, hosts } => {
                let hosts = Authority::hosts(&name, hosts);
                let (certificate, key) = Authority::open(&folder)?.issue(&name, &hosts)?;
                say(format!("{} and {}, for {}", certificate.display(), key.display(), hosts.join(", ")));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
