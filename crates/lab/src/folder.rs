//! The folder of results: what a run leaves behind, and what it needs to go on after a kill.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::job::JobError;
use crate::plan::Plan;
use crate::summary::{RunSummary, Summary};

/// A folder of results. While runs are under way, `jobs/` holds the rows, the last checkpoint and, at the end, the summary of each.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

/// Where a run was, beside the state of its agents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    /// Bytes of rows written so far.
    pub(crate) rows: u64,
    /// Seconds spent so far.
    pub(crate) seconds: f64,
    /// Since when the run is away.
    pub(crate) away_since: Option<u64>,
    /// The last round that was recorded.
    pub(crate) round: Option<u64>,
}

impl Folder {
    /// This folder.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Whether something was run here before.
    pub fn is_used(&self) -> bool {
        self.file("plan.toml").exists()
    }

    /// Makes the folder, with the plan.
    pub fn begin(&self, plan: &Plan) -> Result<(), JobError> {
        let jobs = self.file("jobs");
        fs::create_dir_all(&jobs).map_err(|error| failure(&jobs, error))?;
        write_whole(&self.file("plan.toml"), plan.to_toml().as_bytes())
    }

    /// Removes a folder in which nothing was carried out, so that a mended experiment can take its place.
    pub fn discard_if_empty(&self) {
        let jobs = self.file("jobs");
        let kept = |path: PathBuf| path.extension().is_some_and(|kind| kind != "csv");
        let begun =
            fs::read_dir(&jobs).is_ok_and(|mut files| files.any(|file| file.is_ok_and(|file| kept(file.path()))));
        if !begun {
            // What cannot be removed does no harm: the next run says that the folder is used.
            let _ = fs::remove_dir_all(&jobs)
                .and_then(|()| fs::remove_file(self.file("plan.toml")))
                .and_then(|()| fs::remove_dir(&self.path));
        }
    }

    /// The summaries of the runs that are done.
    pub fn done(&self, runs: usize) -> Result<Vec<Option<RunSummary>>, JobError> {
        (0..runs).map(|run| read_json(&self.job(run, "json"))).collect()
    }

    /// Puts together what the runs left: `records.csv` and `summary.json`.
    pub fn collect(&self, plan: &Plan, runs: Vec<RunSummary>) -> Result<Summary, JobError> {
        let path = self.file("records.csv");
        let write = || -> io::Result<()> {
            let mut out = BufWriter::new(File::create(&path)?);
            writeln!(out, "run,label,seed,round,seconds,bytes_per_agent,{}", plan.metrics.join(","))?;
            for run in 0..plan.groups.len() * plan.seeds.len() {
                if let Ok(mut rows) = File::open(self.job(run, "csv")) {
                    io::copy(&mut rows, &mut out)?;
                }
            }
            out.flush()
        };
        write().map_err(|error| failure(&path, error))?;
        let summary = Summary::new(plan, runs);
        let json = serde_json::to_vec_pretty(&summary).map_err(io::Error::from);
        let path = self.file("summary.json");
        write_whole(&path, &json.map_err(|error| failure(&path, error))?)?;
        Ok(summary)
    }

    /// Removes what was needed to go on: everything is done.
    pub fn end(&self) -> Result<(), JobError> {
        let jobs = self.file("jobs");
        fs::remove_dir_all(&jobs).map_err(|error| failure(&jobs, error))
    }

    /// The last checkpoint of a run, with the state of its agents.
    pub(crate) fn checkpoint(&self, run: usize) -> Result<Option<(Checkpoint, Vec<u8>)>, JobError> {
        let path = self.job(run, "state");
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failure(&path, error)),
        };
        let line = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
        let checkpoint = serde_json::from_slice(&bytes[..line]).map_err(|error| failure(&path, error.into()))?;
        Ok(Some((checkpoint, bytes[(line + 1).min(bytes.len())..].to_vec())))
    }

    /// Writes a checkpoint in place of the last one: a line of JSON, then the state.
    pub(crate) fn save(&self, run: usize, checkpoint: &Checkpoint, state: &[u8]) -> Result<(), JobError> {
        let path = self.job(run, "state");
        let line = serde_json::to_vec(checkpoint).map_err(|error| failure(&path, error.into()))?;
        write_whole(&path, &[line.as_slice(), b"\n", state].concat())
    }

    /// The rows of a run, after so many bytes of them.
    pub(crate) fn rows(&self, run: usize, after: u64) -> Result<Rows, JobError> {
        let path = self.job(run, "csv");
        let open = || -> io::Result<_> {
            let mut file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
            file.set_len(after)?;
            file.seek(SeekFrom::End(0))?;
            Ok(csv::WriterBuilder::new().has_headers(false).from_writer(Counted { file, bytes: after }))
        };
        let out = open().map_err(|error| failure(&path, error))?;
        Ok(Rows { out, path })
    }

    /// Notes that a run is done.
    pub(crate) fn finish(&self, summary: &RunSummary) -> Result<(), JobError> {
        let path = self.job(summary.run, "json");
        let json = serde_json::to_vec(summary).map_err(|error| failure(&path, error.into()))?;
        write_whole(&path, &json)?;
        match fs::remove_file(self.job(summary.run, "state")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failure(&path, error)),
            _ => Ok(()),
        }
    }

    fn job(&self, run: usize, kind: &str) -> PathBuf {
        self.path.join("jobs").join(format!("{run:05}.{kind}"))
    }
}

/// The rows that a run writes.
pub(crate) struct Rows {
    out: csv::Writer<Counted>,
    path: PathBuf,
}

/// A file that knows how much was written.
struct Counted {
    file: File,
    bytes: u64,
}

impl Write for Counted {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.file.write(buffer)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Rows {
    pub(crate) fn write(&mut self, row: &[String]) -> Result<(), JobError> {
        self.out.write_record(row).map_err(|error| failure(&self.path, error.into()))
    }

    /// Hands everything to the system; the bytes there are now.
    pub(crate) fn flush(&mut self) -> Result<u64, JobError> {
        self.out.flush().map_err(|error| failure(&self.path, error))?;
        Ok(self.out.get_ref().bytes)
    }
}

/// Reads JSON, if it is there.
pub(crate) fn read_json<V: for<'d> Deserialize<'d>>(path: &Path) -> Result<Option<V>, JobError> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| failure(path, error.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failure(path, error)),
    }
}

/// Writes a file so that, whatever happens, there is the old one or the new one.
pub(crate) fn write_whole(path: &Path, contents: &[u8]) -> Result<(), JobError> {
    let fresh = path.with_extension("new");
    let write = || -> io::Result<()> {
        let mut file = File::create(&fresh)?;
        file.write_all(contents)?;
        file.sync_all()?;
        fs::rename(&fresh, path)
    };
    write().map_err(|error| failure(path, error))
}

pub(crate) fn failure(path: &Path, error: io::Error) -> JobError {
    JobError::Files { path: path.display().to_string(), error }
}
