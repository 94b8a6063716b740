//! A simulation of faults, as a stream to watch.

use std::path::Path;
use std::sync::Arc;

use fabnet_files::Files;
use fabnet_sim::{Happening, Scenario, Scene, Spectator, watch};
use fabnet_watch::{AgentFrames, AgentStatus, Hello, Item, RunSource, StreamFile, TimeUnit, WatchEvent, WatchFrame};

/// Carries a scenario out and records it.
pub(super) fn record_seed(
    scenario: &Scenario,
    name: Option<&str>,
    files: Arc<dyn Files>,
    path: &Path,
) -> anyhow::Result<()> {
    let recording = StreamFile::begin(files, path, hello(scenario, name), StreamFile::LIMIT)?;
    let mut recorder = SeedRecorder { recording, agents: AgentFrames::default(), last: (0.0, 0), failed: None };
    let outcome = watch(scenario, &mut recorder);
    let (t, k) = recorder.last;
    let end = outcome.violation.unwrap_or_else(|| "every invariant held".to_owned());
    recorder.add(&Item::Event(WatchEvent::new(t, k, "end").saying(end)));
    recorder.failed.map_or(Ok(()), |error| Err(error.into()))
}

/// Records what it sees.
struct SeedRecorder {
    recording: StreamFile,
    agents: AgentFrames,
    /// The time and the newest round of the last frame.
    last: (f64, u64),
    /// Why the recording has ended early, if it has.
    failed: Option<std::io::Error>,
}

impl SeedRecorder {
    fn add(&mut self, item: &Item) {
        if self.failed.is_none() {
            self.failed = self.recording.add(item).err();
        }
    }
}

impl Spectator for SeedRecorder {
    fn happened(&mut self, happening: Happening) {
        let Happening { tick, kind, node, other, until, text } = happening;
        let kind = match kind {
            // Frames say it.
            "distance" => return,
            "stop" => "kill",
            kind => kind,
        };
        let event = WatchEvent { agent: node, other, text: Some(text), ..WatchEvent::new(tick, self.last.1, kind) };
        let event = if let Some(until) = until { event.with("until", until) } else { event };
        self.add(&Item::Event(event));
    }

    fn sees(&mut self, scene: Scene<'_>) {
        let Scene { tick, peers, distances } = scene;
        let agents = peers.into_iter().map(|peer| peer.map(AgentStatus::of)).collect();
        let mut frame = self.agents.frame(tick, agents);
        frame.e = Some(distances.iter().map(|distance| distance.and_then(WatchFrame::log)).collect());
        self.last = (tick, frame.k);
        self.add(&Item::Frame(frame));
    }
}

fn hello(scenario: &Scenario, name: Option<&str>) -> Hello {
    let what = name.map_or(String::new(), |name| format!("{name}, "));
    Hello {
        run: Some(format!("{what}seed {}", scenario.seed)),
        problem: Some("a quadratic whose solution is known for every set of survivors".to_owned()),
        method: Some(format!("{:?}", scenario.method)),
        topology: Some(format!("{:?}", scenario.network)),
        metric: Some("distance to solution".to_owned()),
        ..Hello::new(RunSource::Seed, TimeUnit::Ticks, scenario.nodes)
    }
}

#[cfg(test)]
mod tests {
    use fabnet_files::MemoryFiles;
    use fabnet_watch::read_recording;

    use super::*;

    #[test]
    fn a_seed_is_recorded_with_its_faults_and_its_end() {
        let (files, path) = (Arc::new(MemoryFiles::default()), Path::new("watch"));
        let scenario = Scenario::from_seed(2);
        record_seed(&scenario, None, files.clone(), path).unwrap();
        let stream = read_recording(&*files, path).unwrap();
        assert_eq!((stream.hello.agents, stream.hello.source), (scenario.nodes, RunSource::Seed));
        assert!(stream.frames.len() as u64 > scenario.chaos);
        assert!(stream.frames.iter().all(|frame| frame.mx == Some(0)), "no mass is lost");
        let kinds: Vec<&str> = stream.events.iter().map(|event| event.kind.as_str()).collect();
        assert!(kinds.contains(&"fault") && kinds.contains(&"start") && kinds.last() == Some(&"end"), "{kinds:?}");
    }
}
