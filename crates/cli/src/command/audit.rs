//! `fabnet audit`: whether the audit log of a node is as it was written.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};
use fabnet_files::SystemFiles;
use fabnet_net::{AuditReport, verify_audit_log};
use serde_json::json;

use super::existing::require_folder;
use crate::exit_code;
use crate::output::print_line;

#[derive(Args)]
#[command(after_help = "\
Example:
  fabnet audit verify state

A node writes audit.jsonl into its state folder: when it began, for which run, which members came, \
left, died or were silent, what was refused, epochs, certificates, and how it ended. Each line \
carries the hash of the line before; audit.1.jsonl and so on are the files before.")]
pub(crate) struct Audit {
    #[command(subcommand)]
    action: AuditAction,
}

#[derive(Subcommand)]
enum AuditAction {
    /// Find lines of an audit log that were altered, dropped or swapped
    #[command(after_help = "\
The last line that is printed has the hash of the end. Note it elsewhere, and give it with --holds \
later: only then it shows if the end of the log was cut off, or if all of it was written anew.

The exit code is 1 if the log is not as it was written. A torn last line is what a crash leaves; the \
node cuts it off when it is started again, and notes that.")]
    Verify {
        /// The state folder of a node
        folder: PathBuf,
        /// A hash that was noted earlier: some line must have it
        #[arg(long, value_name = "HASH")]
        holds: Option<String>,
        /// Print what was found as JSON
        #[arg(long)]
        json: bool,
    },
}

impl Audit {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let AuditAction::Verify { folder, holds, json } = self.action;
        require_folder(&folder)?;
        let report = verify_audit_log(&SystemFiles::SHARED, &folder).with_context(|| folder.display().to_string())?;
        let missing = holds.filter(|hash| !report.holds(hash));
        if json {
            print_line(serde_json::to_string_pretty(&as_json(&report, missing.as_deref()))?);
        } else {
            print_line(describe(&folder, &report, missing.as_deref()));
        }
        let is_sound = report.faults.is_empty() && missing.is_none();
        Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::from(exit_code::FAILURE) })
    }
}

/// The faults, a line each, and then what the log holds.
fn describe(folder: &Path, report: &AuditReport, missing: Option<&str>) -> String {
    let faults = report.faults.iter().map(|(place, fault)| format!("{}:{}: {fault}", place.path.display(), place.line));
    let missing = missing
        .map(|hash| format!("{}: no line has the hash {hash}: the log was cut off, or written anew", folder.display()));
    let mut lines: Vec<String> = faults.chain(missing).collect();
    let state = if lines.is_empty() { "as they were written" } else { "not as they were written" };
    let AuditReport { files, lines: count, .. } = report;
    let files = if *files == 1 { "1 file".to_owned() } else { format!("{files} files") };
    lines.push(format!("{}: {count} lines in {files}, {state}", folder.display()));
    if report.first > 0 {
        lines.push(format!("the first line has the number {}: those before it are no longer kept", report.first));
    }
    lines.extend(
        report.last.as_ref().map(|(number, hash)| format!("the last line has the number {number} and the hash {hash}")),
    );
    lines.join("\n")
}

fn as_json(report: &AuditReport, missing: Option<&str>) -> serde_json::Value {
    let faults: Vec<_> = report
        .faults
        .iter()
        .map(|(place, fault)| json!({ "file": place.path, "line": place.line, "fault": fault.to_string() }))
        .collect();
    let last = report.last.as_ref();
    json!({
        "files": report.files, "lines": report.lines, "first": report.first,
        "last": last.map(|(number, _)| number), "hash": last.map(|(_, hash)| hash),
        "missing": missing, "faults": faults,
    })
}
