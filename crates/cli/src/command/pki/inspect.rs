//! `fabnet pki inspect`: what there is to know of certificates before they are used.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use fabnet_files::{Files, SystemFiles};
use fabnet_net::{CertificateReport, Clock, KeyReport, PkiError, SystemClock};

use super::super::existing::require_path;
use crate::exit_code::{self, UsageError};
use crate::output::print_line;

#[derive(Args)]
#[command(after_help = "\
Of a folder, all files that end in .pem are shown. The fingerprint is the SHA-256 of the public key: \
it stays the same when a certificate is renewed. The exit code is 1 if a certificate has expired, is \
not valid yet, or does not match the key beside it.")]
pub(crate) struct Inspect {
    /// Certificates, or folders of certificates
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Print a list of objects, as JSON
    #[arg(long)]
    json: bool,
}

impl Inspect {
    pub(super) fn execute(self) -> anyhow::Result<ExitCode> {
        let files: &dyn Files = &SystemFiles::SHARED;
        let now = SystemClock::default().unix_time();
        let mut reports = Vec::new();
        for path in self.paths.iter().map(|path| certificates(files, path)).collect::<Result<Vec<_>, _>>()?.concat() {
            reports.push(CertificateReport::of(files, &path, now)?);
        }
        if self.json {
            print_line(serde_json::to_string_pretty(&reports)?);
        } else {
            print_line(reports.iter().map(describe).collect::<Vec<_>>().join("\n"));
        }
        let sound = reports.iter().all(|report| report.problems.is_empty());
        Ok(if sound { ExitCode::SUCCESS } else { ExitCode::from(exit_code::FAILURE) })
    }
}

/// The certificate at a path, or those directly within a folder.
fn certificates(files: &dyn Files, path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    require_path(path)?;
    if !files.is_folder(path) {
        return Ok(vec![path.to_owned()]);
    }
    let names = files.list(path).map_err(|error| PkiError::File(path.to_owned(), error))?;
    let found: Vec<_> = names.iter().filter(|name| name.extension().is_some_and(|kind| kind == "pem")).collect();
    if found.is_empty() {
        return Err(UsageError(format!("{}: no file there ends in .pem", path.display())).into());
    }
    Ok(found.into_iter().map(|name| path.join(name)).collect())
}

/// Describes a certificate, a line for each fact.
fn describe(report: &CertificateReport) -> String {
    let CertificateReport { path, subject, issuer, valid_from, valid_until, days_left, fingerprint, .. } = report;
    let hosts = if report.hosts.is_empty() { "none".to_owned() } else { report.hosts.join(", ") };
    let key = report.key.as_ref().map_or_else(|| "none beside it".to_owned(), describe_key);
    let facts = [
        format!("{path}: {subject}"),
        format!("  hosts        {hosts}"),
        format!("  issuer       {issuer}"),
        format!("  valid        {valid_from} to {valid_until}, {days_left} days left"),
        format!("  fingerprint  {fingerprint}"),
        format!("  key          {key}"),
    ];
    let problems = report.problems.iter().map(|problem| format!("  problem: {problem}"));
    let warnings = report.warnings.iter().map(|warning| format!("  warning: {warning}"));
    facts.into_iter().chain(problems).chain(warnings).collect::<Vec<_>>().join("\n")
}

fn describe_key(KeyReport { path, matches, mode }: &KeyReport) -> String {
    let matches = if *matches { "matches" } else { "does not match" };
    let mode = mode.as_ref().map_or_else(String::new, |mode| format!(", mode {mode}"));
    format!("{path} {matches}{mode}")
}
