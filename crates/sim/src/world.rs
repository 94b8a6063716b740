//! One simulation: nodes, their clocks, disks and links, driven by one seed.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use std::sync::Arc;

use fabnet_core::peer::{Command, Effect, Event, Incarnation, Pace, Policy, Record, Schedule, Task, Unit};
use fabnet_core::rng::{EVERYONE, Purpose, Stream};
use fabnet_core::weights::Uniform;
use fabnet_core::{Algorithm, Peer, Problem};
use twox_hash::XxHash3_64;

use crate::disk::{Disk, Fate, sum};
use crate::fault::{ByFault, Fault};
use crate::oracle::{self, Oracle};
use crate::scenario::{MethodKind, NetworkKind, Scenario};
use crate::springs::Springs;

/// Moments in a tick: time is counted in these.
const TICK: u64 = 16;

/// How a simulation went.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What was wrong, if something was.
    pub violation: Option<String>,
    /// How often each fault happened.
    pub faults: ByFault<u64>,
    /// Rounds of all peers together.
    pub peer_rounds: u64,
    /// Everything that happened, as one number.
    pub trace: u64,
    /// Events that happened.
    pub events: u64,
    /// When the nodes had settled, in ticks after the last fault; and when they had come to the solution.
    pub settled_after: Option<u64>,
    /// See there.
    pub converged_after: Option<u64>,
    /// The last lines of what happened, if asked for.
    pub log: Vec<String>,
}

impl Outcome {
    /// One of which nothing else is known.
    pub(crate) fn failed(violation: String) -> Self {
        Self {
            violation: Some(violation),
            faults: ByFault::default(),
            peer_rounds: 0,
            trace: 0,
            events: 0,
            settled_after: None,
            converged_after: None,
            log: Vec::new(),
        }
    }
}

/// Carries a scenario out.
pub(crate) fn simulate(scenario: &Scenario, log: bool) -> Outcome {
    let mut world = World::new(scenario, log);
    let violation = world.run().err();
    let peer_rounds = world.rounds + world.running().map(|peer| peer.counters().rounds).sum::<u64>();
    Outcome {
        violation,
        faults: world.faults,
        peer_rounds,
        trace: world.trace,
        events: world.events,
        settled_after: world.settled_after,
        converged_after: world.converged_after,
        log: world.log.unwrap_or_default(),
    }
}

#[derive(Default)]
struct Node {
    peer: Option<Peer<f64>>,
    disk: Disk,
    /// Records on their way to the disk.
    writes: VecDeque<(u64, Record)>,
    /// The newest message that the newest state it was told to be safe knows of.
    safe: u64,
    /// How often it has started: what belongs to an earlier start comes to nothing.
    boot: u64,
    /// It never started, or has gone for good.
    absent: bool,
    paused_until: u64,
    deaf_until: u64,
    slow_until: u64,
    full_until: u64,
    straggles_until: u64,
}

enum Item {
    Tick { node: u32, boot: u64 },
    Deliver { to: u32, bytes: Vec<u8> },
    Write { node: u32, boot: u64 },
    Start { node: u32, boot: u64 },
    Act(Fault),
}

struct World {
    scenario: Scenario,
    problem: Arc<Springs>,
    algorithm: Arc<dyn Algorithm<f64>>,
    stream: Stream,
    now: u64,
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    items: Vec<Option<Item>>,
    free: Vec<usize>,
    order: u64,
    nodes: Vec<Node>,
    /// Links that carry nothing until then.
    cut: Vec<(u32, u32, u64)>,
    old: Vec<(u32, Vec<u8>)>,
    links: Option<BTreeSet<(u32, u32)>>,
    oracle: Oracle,
    faults: ByFault<u64>,
    calm: bool,
    rounds: u64,
    trace: u64,
    events: u64,
    settled_after: Option<u64>,
    converged_after: Option<u64>,
    log: Option<Vec<String>>,
    effects: Vec<Effect>,
}

impl World {
    fn new(scenario: &Scenario, log: bool) -> Self {
        let bad = (scenario.rates[Fault::BadGradient] > 0.0)
            .then(|| (2 + (40.0 * scenario.rates[Fault::BadGradient]) as usize, scenario.chaos));
        let problem = Arc::new(Springs::new(scenario.nodes, scenario.width, bad, scenario.seed));
        let algorithm = scenario.algorithm(&*problem);
        let count = scenario.nodes as u32;
        let ring = |step: u32| (0..count).map(move |node| (node, (node + step) % count));
        let links = (scenario.network == NetworkKind::Contacts).then(|| ring(1).collect());
        Self {
            stream: Stream::new(scenario.seed, EVERYONE, 1, Purpose::Faults),
            nodes: (0..scenario.nodes).map(|_| Node::default()).collect(),
            scenario: scenario.clone(),
            problem,
            algorithm,
            now: 0,
            queue: BinaryHeap::new(),
            items: Vec::new(),
            free: Vec::new(),
            order: 0,
            cut: Vec::new(),
            old: Vec::new(),
            links,
            oracle: Oracle::new(scenario.exact && scenario.rates[Fault::LostWrite] > 0.0),
            faults: ByFault::default(),
            calm: false,
            rounds: 0,
            trace: 0,
            events: 0,
            settled_after: None,
            converged_after: None,
            log: log.then(Vec::new),
            effects: Vec::new(),
        }
    }

    fn run(&mut self) -> oracle::Verdict {
        self.prepare();
        self.run_until(self.scenario.chaos * TICK)?;
        self.heal();
        self.settle()?;
        self.drain()?;
        if self.scenario.converge {
            self.converge()?;
        }
        Ok(())
    }

    /// Starts the nodes and draws when things will go wrong.
    fn prepare(&mut self) {
        for node in 0..self.scenario.nodes as u32 {
            let late = self.stream.below(8);
            let joins = self.scenario.rates[Fault::Join] > 0.0 && node > 1 && late < 2;
            if joins {
                self.faults[Fault::Join] += 1;
            }
            let at = if joins { self.random_time() } else { late as u64 };
            self.later(at, Item::Start { node, boot: 0 });
        }
        for fault in self.scenario.faults().collect::<Vec<_>>() {
            for _ in 0..(self.scenario.rates[fault] * 4.0).ceil() as usize {
                let at = self.random_time();
                self.later(at, Item::Act(fault));
            }
        }
    }

    fn random_time(&mut self) -> u64 {
        self.stream.below((self.scenario.chaos * TICK) as usize) as u64
    }

    /// Nothing goes wrong any more, but for what links do to messages and links that stay dead; who is down comes back or does not.
    fn heal(&mut self) {
        self.calm = true;
        self.cut.retain(|&(_, _, until)| until == u64::MAX);
        let all_needed = self.scenario.network == NetworkKind::Contacts;
        for node in 0..self.nodes.len() as u32 {
            let place = &mut self.nodes[node as usize];
            (place.deaf_until, place.slow_until, place.full_until, place.straggles_until) = (0, 0, 0, 0);
            place.paused_until = place.paused_until.min(self.now);
            let comes_back = self.stream.below(2) == 0 || all_needed;
            if self.nodes[node as usize].peer.is_none() && !self.nodes[node as usize].absent {
                let boot = self.nodes[node as usize].boot;
                if comes_back {
                    self.later(1, Item::Start { node, boot });
                } else {
                    self.nodes[node as usize].absent = true;
                }
            }
        }
        if !self.connected() {
            self.cut.clear();
        }
    }

    /// Whether dead links leave a way from each of those that remain to each other.
    fn connected(&self) -> bool {
        let left: Vec<u32> = (0..).zip(&self.nodes).filter(|(_, node)| !node.absent).map(|(node, _)| node).collect();
        let reach = |forward: bool| {
            let mut found: BTreeSet<u32> = left.iter().take(1).copied().collect();
            let mut edge: Vec<u32> = found.iter().copied().collect();
            while let Some(node) = edge.pop() {
                for &other in &left {
                    let (from, to) = if forward { (node, other) } else { (other, node) };
                    if !self.cut.iter().any(|cut| (cut.0, cut.1) == (from, to)) && found.insert(other) {
                        edge.push(other);
                    }
                }
            }
            found.len()
        };
        reach(true) == left.len() && reach(false) == left.len()
    }

    fn settle(&mut self) -> oracle::Verdict {
        const LIMIT: u64 = 20_000;
        let start = self.now;
        loop {
            let verdict = self.settled();
            if verdict.is_ok() {
                break;
            }
            if self.now - start > LIMIT * TICK {
                return verdict.map_err(|error| format!("not settled: {error}"));
            }
            self.run_until(self.now + 20 * TICK)?;
        }
        self.settled_after = Some((self.now - start) / TICK);
        let missing = oracle::missing_mass(&self.running().collect::<Vec<_>>());
        if missing == 0 { Ok(()) } else { Err(format!("{missing} units of mass are missing or too much")) }
    }

    /// Every edge brings what was sent over it, also those that the schedule no longer uses, within a time that is long for all of them.
    fn drain(&mut self) -> oracle::Verdict {
        let (start, long) = (self.now, (200 + 40 * self.scenario.nodes as u64) * self.slowness() * TICK);
        loop {
            self.run_until(self.now + 20 * TICK)?;
            let verdict = self.oracle.drained(&self.running().collect::<Vec<_>>(), start);
            if verdict.is_ok() || self.now - start > long {
                return verdict;
            }
        }
    }

    /// Ticks that a round can take.
    fn slowness(&self) -> u64 {
        if let Pace::Lockstep { deadline } = self.scenario.pace { deadline } else { 1 }
    }

    fn settled(&self) -> oracle::Verdict {
        if self.nodes.iter().any(|node| node.peer.is_none() && !node.absent) {
            return Err("a node has not started".into());
        }
        oracle::settled(&self.running().collect::<Vec<_>>())
    }

    fn converge(&mut self) -> oracle::Verdict {
        const LIMIT: u64 = 60_000;
        let start = self.now;
        while self.distance() > 1e-6 {
            if self.now - start > LIMIT * self.slowness() * TICK {
                return Err(format!("{} away from the solution of those that run", self.distance()));
            }
            self.run_until(self.now + 50 * TICK)?;
            let distance = self.distance();
            self.note(|| format!("{distance:.3e} away from the solution"));
        }
        self.converged_after = Some((self.now - start) / TICK);
        Ok(())
    }

    /// The largest distance of any coordinate of any peer from the solution of those that run.
    fn distance(&self) -> f64 {
        let living: Vec<u32> = self.running().map(Peer::node).collect();
        let bilevel = self.scenario.method == MethodKind::Dfab;
        let solution = self.problem.solution(&living, bilevel);
        let dim = self.problem.dim();
        let mut point = vec![0.0; self.algorithm.blocks().width()];
        let mut largest = 0.0f64;
        for peer in self.running() {
            self.algorithm.point(peer.row(), peer.keep(), &mut point);
            let (x, y) = self.algorithm.direction().solution(dim, &point);
            for (place, (known_x, known_y)) in solution.iter().enumerate() {
                let off = if bilevel { x[place] - known_x } else { 0.0 };
                largest = largest.max(off.abs()).max((y[place] - known_y).abs());
            }
        }
        largest
    }

    fn running(&self) -> impl Iterator<Item = &Peer<f64>> {
        self.nodes.iter().filter_map(|node| node.peer.as_ref())
    }

    fn run_until(&mut self, end: u64) -> oracle::Verdict {
        while let Some(&Reverse((at, key))) = self.queue.peek() {
            if at > end {
                break;
            }
            self.queue.pop();
            self.now = at;
            let place = (key & 0xFF_FFFF) as usize;
            let item = self.items[place].take();
            self.free.push(place);
            if let Some(item) = item {
                self.happen(item)?;
            }
        }
        self.now = end;
        Ok(())
    }

    fn later(&mut self, delay: u64, item: Item) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.items.push(None);
            self.items.len() - 1
        });
        self.items[place] = Some(item);
        self.order += 1;
        self.queue.push(Reverse((self.now + delay, self.order << 24 | place as u64)));
    }

    fn happen(&mut self, item: Item) -> oracle::Verdict {
        self.events += 1;
        match item {
            Item::Start { node, boot } => self.start(node, boot),
            Item::Act(fault) => self.act(fault),
            Item::Tick { node, boot } => {
                let place = &mut self.nodes[node as usize];
                if place.boot != boot || place.peer.is_none() {
                    return Ok(());
                }
                let pause = place.paused_until.saturating_sub(self.now);
                let straggles = place.straggles_until > self.now;
                let period = if straggles { 100 * TICK } else { TICK };
                self.later(if pause > 0 { pause } else { period }, Item::Tick { node, boot });
                if pause > 0 { Ok(()) } else { self.tell(node, Event::Tick) }
            }
            Item::Deliver { to, bytes } => {
                let place = &self.nodes[to as usize];
                let wait = place.paused_until.max(place.slow_until).saturating_sub(self.now);
                if place.deaf_until > self.now {
                    return Ok(());
                }
                if wait > 0 {
                    self.later(wait, Item::Deliver { to, bytes });
                    return Ok(());
                }
                self.tell(to, Event::Message(bytes))
            }
            Item::Write { node, boot } => {
                let place = &mut self.nodes[node as usize];
                if place.boot != boot {
                    return Ok(());
                }
                let Some((ticket, record)) = place.writes.pop_front() else { return Ok(()) };
                let full = place.full_until > self.now;
                if let Record::State(state) = &record
                    && !full
                {
                    place.safe = word(state, 4);
                }
                let nobody_waits = matches!(record, Record::Checkpoint { .. });
                if !full {
                    self.write(node, record);
                }
                if nobody_waits { Ok(()) } else { self.tell(node, Event::Stored { ticket, safe: !full }) }
            }
        }
    }

    /// A life is read again after it was written; checkpoints are what disks spoil.
    fn write(&mut self, node: u32, record: Record) {
        let fate = self.fate();
        self.nodes[node as usize].disk.write(record, fate);
    }

    fn fate(&mut self) -> Fate {
        let bit = self.stream.below(1 << 20);
        for (fault, fate) in
            [(Fault::TornWrite, Fate::Torn(bit)), (Fault::LostWrite, Fate::Lost), (Fault::BitRot, Fate::Rotten(bit))]
        {
            if self.likely(fault, 0.5) {
                return fate;
            }
        }
        Fate::Well
    }

    /// Whether a fault of a message or a write happens now.
    fn likely(&mut self, fault: Fault, most: f64) -> bool {
        let rate = self.scenario.rates[fault] * most;
        let happens = rate > 0.0 && self.stream.open01() < rate;
        if happens {
            self.faults[fault] += 1;
        }
        happens
    }

    fn note(&mut self, line: impl FnOnce() -> String) {
        const LINES: usize = 200;
        if let Some(log) = &mut self.log {
            if log.len() == LINES {
                log.drain(..LINES / 2);
            }
            log.push(format!("{:>8.2} {}", self.now as f64 / TICK as f64, line()));
        }
    }

    /// Lets something happen to a node, and does what it asks for.
    fn tell(&mut self, node: u32, event: Event) -> oracle::Verdict {
        let Some(mut peer) = self.nodes[node as usize].peer.take() else { return Ok(()) };
        self.trace = match &event {
            Event::Message(bytes) => sum(self.trace ^ self.now ^ u64::from(node) << 48, &bytes[..bytes.len().min(128)]),
            _ => sum(self.trace ^ self.now, &node.to_le_bytes()),
        };
        let before = (peer.epoch(), peer.incarnation(), peer.counters());
        let mut effects = std::mem::take(&mut self.effects);
        peer.handle(event, &mut effects);
        let after = (peer.epoch(), peer.incarnation(), peer.counters());
        if self.log.is_some() {
            if before.0 != after.0 {
                self.note(|| format!("node {node} enters epoch {}", after.0));
            }
            if before.1 != after.1 {
                self.note(|| format!("node {node} was thought dead and comes back as {}", after.1.counter));
            }
            if before.2.evictions != after.2.evictions {
                self.note(|| format!("node {node} gives somebody up"));
            }
            if before.2.closes != after.2.closes {
                self.note(|| format!("node {node} closes an edge"));
            }
        }
        let mut verdict = Ok(());
        for effect in effects.drain(..) {
            if let Effect::Send { bytes, .. } = &effect {
                self.oracle.hear(self.now, bytes, peer.ledger().mass().len());
            }
            if let Effect::Send { bytes, .. } = &effect
                && self.scenario.exact
                && word(bytes, 0) >> 49 & 1 == 1
                && word(bytes, 9) > self.nodes[node as usize].safe
                && verdict.is_ok()
            {
                verdict = Err(format!("node {node} sends what depends on a state that is not written down"));
            }
            if let Effect::Send { .. } = &effect
                && self.nodes[node as usize].disk.incarnation != Some(peer.incarnation())
                && verdict.is_ok()
            {
                verdict = Err(format!("node {node} sends in a life that is not written down"));
            }
            self.carry_out(node, effect);
        }
        verdict = verdict.and_then(|()| self.oracle.look(&peer));
        self.effects = effects;
        self.nodes[node as usize].peer = Some(peer);
        verdict
    }

    fn carry_out(&mut self, node: u32, effect: Effect) {
        match effect {
            Effect::Send { to, bytes } => self.transmit(node, to, bytes),
            Effect::Store { ticket, record } => {
                let (boot, delay) = (self.nodes[node as usize].boot, 1 + self.stream.below(TICK as usize) as u64);
                self.nodes[node as usize].writes.push_back((ticket, record));
                self.later(delay, Item::Write { node, boot });
                if !self.calm && self.likely(Fault::CrashInWrite, 0.05) {
                    self.later(self.now % delay, Item::Act(Fault::CrashInWrite));
                }
            }
        }
    }

    fn transmit(&mut self, from: u32, to: u32, mut bytes: Vec<u8>) {
        if self.links.as_ref().is_some_and(|links| !links.contains(&(from, to))) {
            return;
        }
        let now = self.now;
        if self.cut.iter().any(|&(source, target, until)| (source, target) == (from, to) && until > now) {
            return;
        }
        if self.likely(Fault::Loss, if self.calm { 0.3 } else { 0.6 }) {
            return;
        }
        let mut delay = 1 + self.stream.below(TICK as usize / 2) as u64;
        if self.likely(Fault::Reorder, 0.5) {
            delay += self.stream.below(4 * TICK as usize) as u64;
        }
        if !self.calm && self.likely(Fault::Delay, 0.02) {
            delay += self.stream.below(1000 * TICK as usize) as u64;
        }
        if self.likely(Fault::Duplicate, 0.3) {
            let again = delay + self.stream.below(8 * TICK as usize) as u64;
            self.later(again, Item::Deliver { to, bytes: bytes.clone() });
        }
        if self.scenario.rates[Fault::Replay] > 0.0 {
            if self.old.len() < 64 {
                self.old.push((to, bytes.clone()));
            } else if self.stream.below(32) == 0 {
                let place = self.stream.below(64);
                self.old[place] = (to, bytes.clone());
            }
            if self.likely(Fault::Replay, 0.1) {
                let (to, bytes) = self.old[self.stream.below(self.old.len())].clone();
                self.later(1, Item::Deliver { to, bytes });
            }
        }
        if self.likely(Fault::OtherRun, 0.1) {
            let other = of_another_run(&bytes);
            self.later(1, Item::Deliver { to, bytes: other });
        }
        if self.likely(Fault::Forge, 0.1) {
            // Meant for somebody else, or nonsense of any length.
            let other = self.stream.below(self.nodes.len()) as u32;
            let nonsense = (0..self.stream.below(400)).map(|_| self.stream.bits() as u8).collect();
            self.later(1, Item::Deliver { to: other, bytes: bytes.clone() });
            self.later(1, Item::Deliver { to, bytes: nonsense });
        }
        if self.likely(Fault::Corrupt, 0.1) {
            let bit = self.stream.below(8 * bytes.len());
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        if self.likely(Fault::Truncate, 0.1) {
            bytes.truncate(self.stream.below(bytes.len()));
        }
        self.later(delay, Item::Deliver { to, bytes });
    }

    fn start(&mut self, node: u32, boot: u64) -> oracle::Verdict {
        let place = &mut self.nodes[node as usize];
        if place.boot != boot || place.peer.is_some() || place.absent {
            return Ok(());
        }
        place.boot += 1;
        place.safe = 0;
        let boot = place.boot;
        // Without a disk, the wall clock says which life this is.
        let counter = place.disk.incarnation.map_or((1 << 40) + self.now, |last| last.counter + 1);
        let incarnation = Incarnation { counter, nonce: self.stream.bits() };
        let checkpoint = self.nodes[node as usize].disk.checkpoint();
        let topology = self.scenario.topology(self.nodes.len());
        let scenario = self.scenario.clone();
        let schedule = if self.links.is_some() {
            Schedule::Contacts(topology)
        } else {
            Schedule::Living(Arc::new(move |agents| scenario.topology(agents)))
        };
        let exact = self.scenario.exact;
        let policy = Policy { checkpoint_every: 20, exact, ..Policy::new(self.scenario.pace, self.nodes.len()) };
        let task = Task {
            algorithm: self.algorithm.clone(),
            problem: self.problem.clone(),
            seed: self.scenario.seed,
            node,
            run: self.scenario.seed,
            unit: Unit::default(),
            schedule,
            weights: Arc::new(Uniform),
            policy,
        };
        let saved = self.nodes[node as usize].disk.state.take().filter(|_| exact);
        let resumed = saved.and_then(|state| Peer::resume(task.clone(), &state).ok());
        let peer = resumed.unwrap_or_else(|| {
            let (round, point) = checkpoint.map_or((0, None), |(round, point)| (round, Some(point)));
            Peer::new(task, incarnation, round, point.as_deref())
        });
        let (life, round) = (peer.incarnation().counter, peer.round());
        self.note(|| format!("node {node} starts in life {life}, round {round}"));
        let first = peer.start();
        self.oracle.started(node);
        let verdict = self.oracle.look(&peer);
        self.nodes[node as usize].peer = Some(peer);
        self.carry_out(node, first);
        let offset = 1 + self.stream.below(TICK as usize) as u64;
        self.later(offset, Item::Tick { node, boot });
        verdict
    }

    fn stop(&mut self, node: u32) -> bool {
        let place = &mut self.nodes[node as usize];
        let Some(peer) = place.peer.take() else { return false };
        self.rounds += peer.counters().rounds;
        place.boot += 1;
        // What was being written is there, or not.
        for (_, record) in std::mem::take(&mut place.writes) {
            if self.stream.below(2) == 0 {
                self.write(node, record);
            }
        }
        self.note(|| format!("node {node} stops"));
        true
    }

    fn restart_after(&mut self, node: u32, ticks: usize) {
        let (boot, delay) = (self.nodes[node as usize].boot, self.stream.below(ticks * TICK as usize) as u64);
        self.later(delay, Item::Start { node, boot });
    }

    fn any_node(&mut self) -> u32 {
        self.stream.below(self.nodes.len()) as u32
    }

    fn for_a_while(&mut self, ticks: usize) -> u64 {
        self.now + (TICK as usize + self.stream.below(ticks * TICK as usize)) as u64
    }

    /// A fault that is not of one message.
    fn act(&mut self, fault: Fault) -> oracle::Verdict {
        if self.calm {
            return Ok(());
        }
        let (node, other) = (self.any_node(), self.any_node());
        let place = node as usize;
        let mut happened = true;
        let mut verdict = Ok(());
        match fault {
            Fault::Burst => {
                let until = self.for_a_while(20);
                happened = node != other;
                self.cut.push((node, other, until));
            }
            Fault::Partition | Fault::OneWayPartition => {
                let until = self.for_a_while(150);
                let side: Vec<bool> = self.nodes.iter().map(|_| self.stream.below(2) == 0).collect();
                for source in 0..side.len() {
                    for target in 0..side.len() {
                        if side[source] != side[target] && (side[source] || fault == Fault::Partition) {
                            self.cut.push((source as u32, target as u32, until));
                        }
                    }
                }
            }
            Fault::DeadLink => {
                happened = node != other
                    && self.cut.iter().filter(|(_, _, until)| *until == u64::MAX).count() < self.nodes.len() / 4;
                if happened {
                    self.cut.push((node, other, u64::MAX));
                }
            }
            Fault::Deaf => self.nodes[place].deaf_until = self.for_a_while(200),
            Fault::Crash | Fault::CrashInWrite => {
                happened = self.stop(node);
                self.restart_after(node, 100);
            }
            Fault::LostDisk => {
                happened = self.stop(node);
                if happened {
                    self.nodes[place].disk = Disk::default();
                }
                self.restart_after(node, 100);
            }
            Fault::RebornTwice => {
                happened = self.stop(node);
                let boot = self.nodes[place].boot;
                verdict = self.start(node, boot);
                self.stop(node);
                self.restart_after(node, 3);
            }
            Fault::FullDisk => self.nodes[place].full_until = self.for_a_while(50),
            Fault::Pause => self.nodes[place].paused_until = self.for_a_while(300),
            Fault::FalseSuspicion => verdict = self.tell(node, Event::Suspect(other)),
            Fault::MutualSuspicion => {
                verdict = self.tell(node, Event::Suspect(other)).and_then(|()| self.tell(other, Event::Suspect(node)));
            }
            Fault::Leave | Fault::Replace => {
                happened = self.running().count() > 2 && self.nodes[place].peer.is_some();
                if happened {
                    verdict = self.tell(node, Event::Command(Command::Leave));
                    self.stop(node);
                    if fault == Fault::Replace {
                        self.nodes[place].disk = Disk::default();
                        self.restart_after(node, 50);
                    } else {
                        self.nodes[place].absent = true;
                    }
                }
            }
            Fault::Exodus => {
                for node in 2..self.nodes.len() as u32 {
                    self.stop(node);
                }
            }
            Fault::EpochBump => verdict = self.tell(node, Event::Command(Command::Restart)),
            Fault::EpochRace => {
                self.stop(other);
                self.restart_after(other, 2);
                verdict = self.tell(node, Event::Command(Command::Restart));
            }
            Fault::ContactRemoved => verdict = self.tell(node, Event::Command(Command::Close(other))),
            Fault::Straggler => self.nodes[place].straggles_until = self.for_a_while(200),
            Fault::SlowReceiver => self.nodes[place].slow_until = self.for_a_while(30),
            Fault::ClockJump => {
                for _ in 0..20 {
                    verdict = verdict.and_then(|()| self.tell(node, Event::Tick));
                }
            }
            Fault::BadGradient => {}
            _ => return Ok(()),
        }
        if happened {
            self.faults[fault] += 1;
            self.note(|| format!("fault: {fault} (nodes {node}, {other})"));
        }
        verdict
    }
}

/// A word of a record or a message.
fn word(bytes: &[u8], place: usize) -> u64 {
    bytes.as_chunks().0.get(place).map_or(0, |word| u64::from_le_bytes(*word))
}

/// The message that another run would have sent: newer, and with other mass.
fn of_another_run(bytes: &[u8]) -> Vec<u8> {
    let mut other = bytes[..bytes.len() - 8].to_vec();
    let last = other.len() - 8;
    other[8] ^= 1;
    other[73] ^= 1;
    other[last] ^= 0x55;
    let checksum = XxHash3_64::oneshot(&other);
    other.extend(checksum.to_le_bytes());
    other
}
