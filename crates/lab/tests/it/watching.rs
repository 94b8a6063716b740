//! What a run records for those who watch it is what its results say, and changes none of them.

use std::path::Path;
use std::sync::Mutex;

use fabnet_files::SystemFiles;
use fabnet_lab::{Experiment, Folder, Job, Progress, RunOptions, Summary, WorstAgent, carry_out_plan};
use fabnet_watch::{RecordedRun, WatchFrame, read_recording};

/// Ten agents, with or without faults.
fn carry_out(folder: &Path, faults: &str, watch: bool) -> Summary {
    let text = format!(
        "name = \"seen\"\nrounds = 400\n[problem]\nkind = \"policy-evaluation\"\n{faults}[[algorithm]]\nkind = \"dfab\"\n\
         [record]\nmetrics = [\"worst_error\", \"consensus\", \"mass_residual\"]\n[stop]\nmetric = \"worst_error\"\nbelow = 1e-9\n"
    );
    let plan = Experiment::parse(&text, Path::new("test.toml")).unwrap().plan().unwrap();
    let folder = Folder::new(folder);
    folder.begin(&plan).unwrap();
    carry_out_plan(&plan, &folder, RunOptions { watch, ..RunOptions::new(1) }, &()).unwrap().summary
}

fn recorded(folder: &Path) -> RecordedRun {
    read_recording(&SystemFiles::SHARED, &folder.join("watch/0")).unwrap()
}

#[test]
fn a_recording_says_what_the_results_say() {
    for (faults, peers) in [("", false), ("[faults]\nloss = 0.2\n", true)] {
        let folder = tempfile::tempdir().unwrap();
        let summary = carry_out(folder.path(), faults, true);
        let RecordedRun { hello, frames, events } = recorded(folder.path());
        assert_eq!((hello.agents, hello.rounds, hello.target), (10, Some(400), Some(1e-9)));
        assert_eq!((hello.loss, hello.metric.as_deref()), (peers.then_some(0.2), Some("relative error")));
        let (run, last) = (&summary.runs[0], frames.last().unwrap());
        assert_eq!((last.k, last.b), (run.rounds, Some((run.bytes_per_agent * 10.0).round() as u64)));
        let worst = run.last["worst_error"].unwrap();
        let errors = last.e.as_ref().unwrap();
        assert_eq!(
            (errors.len(), errors.iter().max(), last.x0),
            (10, Some(&WatchFrame::log(worst)), WatchFrame::log(worst))
        );
        assert_eq!(last.mm["consensus"], run.last["consensus"].unwrap());
        assert_eq!((last.m, last.s.as_deref()), if peers { (Some(0), Some("uuuuuuuuuu")) } else { (None, None) });
        assert!(!last.q.as_ref().unwrap().i.is_empty() && frames.iter().any(|frame| !frame.ne.is_empty()));
        assert_eq!((events.len(), events[0].kind.as_str(), events[0].k), (1, "end", run.rounds));
    }
}

#[test]
fn to_be_watched_changes_no_result() {
    for faults in ["", "[faults]\nloss = 0.2\n"] {
        let (seen, unseen) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (watched, alone) = (carry_out(seen.path(), faults, true), carry_out(unseen.path(), faults, false));
        assert_eq!(watched.runs[0].last, alone.runs[0].last);
        assert_eq!(
            (watched.runs[0].rounds, watched.runs[0].solution.clone()),
            (alone.runs[0].rounds, alone.runs[0].solution.clone())
        );
        assert!(!unseen.path().join("watch").exists(), "nothing is recorded unless asked for");
    }
}

/// Follows a run until it is told of the worst agent.
struct UntilWorst {
    wanted: bool,
    seen: Mutex<Option<WorstAgent>>,
}

impl Progress for UntilWorst {
    fn measured(&self, _: &Job<'_>, metric: &str, value: f64, worst: Option<WorstAgent>) {
        assert_eq!(metric, "relative_error");
        if let Some(worst) = worst {
            assert!(worst.distance >= value * 0.999 && worst.agent < 10, "{worst:?} and {value}");
            *self.seen.lock().unwrap() = Some(worst);
        }
    }

    fn shows_worst(&self) -> bool {
        self.wanted
    }

    fn interrupted(&self) -> bool {
        self.seen.lock().unwrap().is_some()
    }
}

#[test]
fn the_worst_agent_is_looked_for_if_somebody_wants_to_know() {
    let follow = |wanted: bool, rounds: u64| {
        let text = format!(
            "rounds = {rounds}\n[problem]\nkind = \"policy-evaluation\"\n[[algorithm]]\nkind = \"fab\"\n\
             steps = {{ x = 0.1, y = 0.1, z = 0.1 }}\n[record]\nevery = 10\nmetrics = [\"relative_error\"]\n"
        );
        let plan = Experiment::parse(&text, Path::new("test.toml")).unwrap().plan().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let folder = Folder::new(folder.path());
        folder.begin(&plan).unwrap();
        let progress = UntilWorst { wanted, seen: Mutex::default() };
        let report = carry_out_plan(&plan, &folder, RunOptions::new(1), &progress).unwrap();
        (report.interrupted, progress.seen.into_inner().unwrap())
    };
    let (interrupted, seen) = follow(true, 100_000_000);
    assert!(interrupted && seen.is_some());
    assert_eq!(follow(false, 2_000), (false, None));
}
