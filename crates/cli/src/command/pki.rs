//! `fabnet pki`: the certificate authority of a run, and certificates of nodes.

mod expel;
mod inspect;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use fabnet_net::{Authority, Certificate, CertificateRequest, NodeIdentity, Validity};

use self::expel::Expel;
use self::inspect::Inspect;
use super::existing::{require_folder, require_path};
use crate::exit_code::UsageError;
use crate::output::print_line;

#[derive(Args)]
#[command(after_help = "\
Examples:
  fabnet pki init certificates
  fabnet pki issue certificates alpha --host alpha.example.org --host 192.0.2.7
  fabnet pki renew certificates alpha
  fabnet pki inspect certificates

ca.pem, NAME.pem and NAME.key go to the node NAME. ca.key stays with the person who admits nodes.

So that a key never leaves the machine of its node, the member makes a request there, sends NAME.csr \
to the person who admits nodes, and gets ca.pem and NAME.pem back:
  fabnet pki request alpha --host alpha.example.org
  fabnet pki sign certificates alpha.csr")]
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
        /// The days for which the certificate of the authority is valid
        #[arg(long, default_value_t = 730, value_parser = days())]
        days: u32,
    },
    /// Issue a certificate for a node: NAME.pem and NAME.key
    Issue {
        /// The folder of the certificate authority
        folder: PathBuf,
        /// The name of the node in the list of members
        name: String,
        #[command(flatten)]
        hosts: Hosts,
        #[command(flatten)]
        validity: ValidDays,
    },
    /// Issue a new certificate for the same key and the same hosts: NAME.pem
    #[command(after_help = "\
The node gets the new NAME.pem in place of the old one. `ca` as the name renews the certificate of \
the authority itself; certificates of nodes stay valid, and all nodes get the new ca.pem.")]
    Renew {
        /// The folder of the certificate authority
        folder: PathBuf,
        /// The name of the node, or `ca` for the authority itself
        name: String,
        /// The days for which the new certificate is valid; if not given, 90, or 730 for `ca`
        #[arg(long, value_parser = days())]
        days: Option<u32>,
    },
    /// Make a key and a request for a certificate, on the machine of the node: NAME.key and
    /// NAME.csr
    Request {
        /// The name of the node in the list of members
        name: String,
        #[command(flatten)]
        hosts: Hosts,
        /// The folder for both files
        #[arg(long, value_name = "DIR", default_value = ".")]
        out: PathBuf,
    },
    /// Issue a certificate for a request: NAME.pem
    #[command(after_help = "\
The signature of the request shows that whoever made it has the key. Nothing shows who that is: \
compare the name and the hosts that are printed with what the member has told you.")]
    Sign {
        /// The folder of the certificate authority
        folder: PathBuf,
        /// The request: NAME.csr
        request: PathBuf,
        #[command(flatten)]
        validity: ValidDays,
    },
    /// Show whose certificates these are, how long they are valid, and whether the keys match
    Inspect(Inspect),
    /// Agree that members of a run are expelled: a list that counts once most members have signed
    Expel(Expel),
}

/// The hosts of a node, as arguments.
#[derive(Args)]
struct Hosts {
    /// A name or address under which others reach the node; may be given several times; if not
    /// given, its name, localhost and 127.0.0.1
    #[arg(long = "host", value_name = "HOST")]
    hosts: Vec<String>,
}

/// The validity of a node's certificate, as an argument.
#[derive(Args)]
struct ValidDays {
    /// The days for which the certificate is valid, at most as long as that of the authority
    #[arg(long, default_value_t = 90, value_parser = days())]
    days: u32,
}

/// Days from one to ten years.
fn days() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=3650)
}

impl Pki {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let done = match self.action {
            PkiAction::Init { folder, days } => init(&folder, Validity::days(days))?,
            PkiAction::Issue { folder, name, hosts, validity } => issue(&folder, &hosts.of(&name)?, validity.length())?,
            PkiAction::Renew { folder, name, days } => renew(&folder, &name, days)?,
            PkiAction::Request { name, hosts, out } => request(&hosts.of(&name)?, &out)?,
            PkiAction::Sign { folder, request, validity } => sign(&folder, &request, validity.length())?,
            PkiAction::Inspect(inspect) => return inspect.execute(),
            PkiAction::Expel(expel) => return expel.execute(),
        };
        print_line(done);
        Ok(ExitCode::SUCCESS)
    }
}

impl Hosts {
    /// The node with this name and these hosts.
    fn of(self, name: &str) -> Result<NodeIdentity, UsageError> {
        NodeIdentity::new(name, self.hosts).map_err(|mistake| UsageError(mistake.to_string()))
    }
}

impl ValidDays {
    fn length(&self) -> Duration {
        Validity::days(self.days)
    }
}

fn init(folder: &Path, valid_for: Duration) -> anyhow::Result<String> {
    Authority::create(folder, valid_for)?;
    Ok(format!("{}: ca.pem, for all nodes, and ca.key, which admits them", folder.display()))
}

fn issue(folder: &Path, node: &NodeIdentity, valid_for: Duration) -> anyhow::Result<String> {
    let (certificate, key) = open(folder)?.issue(node, valid_for)?;
    Ok(format!("{} and {}, {}", certificate.path().display(), key.display(), describe(&certificate)))
}

/// Renews the certificate of a node or of the authority itself.
fn renew(folder: &Path, name: &str, days: Option<u32>) -> anyhow::Result<String> {
    let length = |usual: Duration| days.map_or(usual, Validity::days);
    let authority = open(folder)?;
    let certificate = match name {
        "ca" => authority.renew_itself(length(Validity::OF_AUTHORITIES))?,
        _ => authority.renew(name, length(Validity::OF_NODES))?,
    };
    Ok(format!("{}, {}", certificate.path().display(), describe(&certificate)))
}

fn request(node: &NodeIdentity, folder: &Path) -> anyhow::Result<String> {
    let (request, key) = CertificateRequest::create(folder, node)?;
    let (request, key) = (request.display(), key.display());
    Ok(format!("{request}, for whoever admits nodes, and {key}, which stays here"))
}

fn sign(folder: &Path, request: &Path, valid_for: Duration) -> anyhow::Result<String> {
    require_path(request)?;
    let certificate = open(folder)?.sign(request, valid_for)?;
    let (path, name) = (certificate.path().display(), certificate.name());
    Ok(format!("{path} for `{name}`, {}", describe(&certificate)))
}

/// Opens the authority of a folder. One that does not exist is refused, with how to make it.
fn open(folder: &Path) -> anyhow::Result<Authority> {
    require_folder(folder).map_err(|UsageError(problem)| {
        let command = format!("fabnet pki init {}", folder.display());
        UsageError(format!("{problem}: make the certificate authority first, with `{command}`"))
    })?;
    Ok(Authority::open(folder)?)
}

/// The hosts of a certificate, and the time for which it is valid.
fn describe(certificate: &Certificate) -> String {
    let validity = certificate.validity();
    let hosts = certificate.hosts().join(", ");
    if hosts.is_empty() { format!("valid {validity}") } else { format!("for {hosts}, valid {validity}") }
}
