//! Faults that are not of one message or write: when they happen, and what they do.

use fabnet_core::peer::{Command, Event};

use super::disk::Disk;
use super::fault::Fault;
use super::happening::Happening;
use super::network::FOR_EVER;
use super::queue::{Scheduled, TICK};
use super::violation::Check;
use super::world::World;

/// How long faults last at most, and how long nodes stay down, in ticks.
mod ticks {
    pub(super) const BURST: u64 = 20;
    pub(super) const PARTITION: u64 = 150;
    pub(super) const DEAF: u64 = 200;
    pub(super) const FULL_DISK: u64 = 50;
    /// Longer than a silent member is waited for.
    pub(super) const PAUSE: u64 = 300;
    pub(super) const STRAGGLER: u64 = 200;
    pub(super) const SLOW_RECEIVER: u64 = 30;
    pub(super) const DOWN: u64 = 100;
    pub(super) const DOWN_BEFORE_REPLACED: u64 = 50;
    pub(super) const DOWN_BETWEEN_TWO_STARTS: u64 = 3;
    pub(super) const DOWN_IN_EPOCH_RACE: u64 = 2;
    /// The number of ticks that a clock jumps by.
    pub(super) const CLOCK_JUMP: u64 = 20;
}

/// The nodes that never fail all at once or join late: somebody must keep the run going.
const FOUNDERS: u32 = 2;

/// What became of a fault.
struct Injected {
    /// Whether it changed anything, so that it counts.
    happened: bool,
    /// The moment at which it ends, if it lasts.
    until: Option<u64>,
    check: Check,
}

impl Injected {
    /// A fault that lasts until a moment.
    fn lasting(until: u64) -> Self {
        Self { happened: true, until: Some(until), check: Ok(()) }
    }
}

impl From<bool> for Injected {
    fn from(happened: bool) -> Self {
        Self { happened, until: None, check: Ok(()) }
    }
}

impl From<Check> for Injected {
    fn from(check: Check) -> Self {
        Self { happened: true, until: None, check }
    }
}

/// Schedules the starts of all nodes and, at random times, the faults of the scenario.
pub(super) fn schedule(world: &mut World) {
    let chaos = world.scenario.chaos * TICK;
    for node in 0..world.scenario.nodes as u32 {
        let soon = world.sampler.below(8);
        let joins_late = world.sampler.rate(Fault::Join) > 0.0 && node >= FOUNDERS && soon < 2;
        if joins_late {
            world.sampler.count(Fault::Join);
        }
        let at = if joins_late { world.sampler.moments(chaos) } else { soon as u64 };
        world.queue.schedule(at, Scheduled::Start { node, boot: 0 });
    }
    for fault in world.scenario.faults().collect::<Vec<_>>() {
        // At a rate of one, four times.
        for _ in 0..(world.scenario.rates[fault] * 4.0).ceil() as usize {
            let at = world.sampler.moments(chaos);
            world.queue.schedule(at, Scheduled::Inject(fault));
        }
    }
}

/// Injects a fault at one or two random nodes, unless the chaotic phase is over. Faults of single
/// messages and writes come to nothing here: the network and the disks draw them.
pub(super) fn inject(world: &mut World, fault: Fault) -> Check {
    if world.sampler.is_calm() {
        return Ok(());
    }
    let nodes = world.nodes.len();
    let (mut node, other) = (world.sampler.node(nodes), world.sampler.node(nodes));
    if fault == Fault::Liar {
        // A liar is expelled in the end, and somebody must remain.
        node = node.max(FOUNDERS);
    }
    let Injected { happened, until, check } = match fault {
        Fault::Burst | Fault::Partition | Fault::OneWayPartition | Fault::DeadLink => {
            cut_links(world, fault, node, other)
        }
        Fault::Deaf | Fault::FullDisk | Fault::Pause | Fault::Straggler | Fault::SlowReceiver => {
            impair(world, fault, node)
        }
        Fault::Crash | Fault::CrashInWrite | Fault::LostDisk | Fault::RebornTwice | Fault::Exodus => {
            crash(world, fault, node)
        }
        Fault::Leave | Fault::Replace => leave(world, fault, node),
        Fault::Liar => world.begin_to_lie(node).into(),
        Fault::EpochRace => {
            world.stop(other);
            world.restart_within(other, ticks::DOWN_IN_EPOCH_RACE);
            world.tell(node, Event::Command(Command::Restart)).into()
        }
        Fault::FalseSuspicion
        | Fault::MutualSuspicion
        | Fault::EpochBump
        | Fault::ContactRemoved
        | Fault::ClockJump => confuse(world, fault, node, other).into(),
        // The problem itself draws bad gradients; this only counts that there are some.
        Fault::BadGradient => true.into(),
        _ => return Ok(()),
    };
    if happened {
        world.sampler.count(fault);
        world.note(|| {
            let happening = Happening::new("fault", fault.to_string()).until(until);
            match fault.nodes() {
                0 => happening,
                1 => happening.of(node),
                _ => happening.of(node).with(other),
            }
        });
    }
    check
}

/// Cuts links for a while or for ever, if there is one to cut.
fn cut_links(world: &mut World, fault: Fault, node: u32, other: u32) -> Injected {
    match fault {
        Fault::Burst => {
            let until = within(world, ticks::BURST);
            world.network.cut(node, other, until);
            Injected { happened: node != other, ..Injected::lasting(until) }
        }
        Fault::DeadLink => {
            // Few enough that the rest is most probably connected.
            let dies = node != other && world.network.dead_links() < world.nodes.len() / 4;
            if dies {
                world.network.cut(node, other, FOR_EVER);
            }
            dies.into()
        }
        _ => partition(world, fault == Fault::Partition),
    }
}

/// Splits the nodes at random into two groups, of which one or both cannot hear the other.
fn partition(world: &mut World, both_ways: bool) -> Injected {
    let until = within(world, ticks::PARTITION);
    let first_group: Vec<bool> = world.nodes.iter().map(|_| world.sampler.below(2) == 0).collect();
    for (from, &from_first) in (0..).zip(&first_group) {
        for (to, &to_first) in (0..).zip(&first_group) {
            if from_first != to_first && (from_first || both_ways) {
                world.network.cut(from, to, until);
            }
        }
    }
    Injected::lasting(until)
}

/// Impairs a node for a while.
fn impair(world: &mut World, fault: Fault, node: u32) -> Injected {
    let most = match fault {
        Fault::Deaf => ticks::DEAF,
        Fault::FullDisk => ticks::FULL_DISK,
        Fault::Pause => ticks::PAUSE,
        Fault::Straggler => ticks::STRAGGLER,
        _ => ticks::SLOW_RECEIVER,
    };
    let until = within(world, most);
    let impairments = &mut world.node(node).impairments;
    match fault {
        Fault::Deaf => impairments.deafness = until,
        Fault::FullDisk => impairments.full_disk = until,
        Fault::Pause => impairments.pause = until,
        Fault::Straggler => impairments.straggling = until,
        _ => impairments.slowness = until,
    }
    Injected::lasting(until)
}

/// Stops a node, or nearly all of them, and lets it come back in one way or another.
fn crash(world: &mut World, fault: Fault, node: u32) -> Injected {
    if fault == Fault::Exodus {
        // They come back when faults end, or never.
        for node in FOUNDERS..world.nodes.len() as u32 {
            world.stop(node);
        }
        return true.into();
    }
    let happened = world.stop(node);
    if fault == Fault::LostDisk && happened {
        world.node(node).disk = Disk::default();
    }
    if fault == Fault::RebornTwice {
        let boot = world.node(node).boot;
        let check = world.start(node, boot);
        world.stop(node);
        world.restart_within(node, ticks::DOWN_BETWEEN_TWO_STARTS);
        return Injected { happened, until: None, check };
    }
    world.restart_within(node, ticks::DOWN);
    happened.into()
}

/// Lets a node say farewell, for good or to be replaced by one with an empty disk. Two must remain.
fn leave(world: &mut World, fault: Fault, node: u32) -> Injected {
    if world.running().len() <= FOUNDERS as usize || world.node(node).peer.is_none() {
        return false.into();
    }
    let check = world.tell(node, Event::Command(Command::Leave));
    world.stop(node);
    if fault == Fault::Replace {
        world.node(node).disk = Disk::default();
        world.restart_within(node, ticks::DOWN_BEFORE_REPLACED);
    } else {
        world.node(node).absent = true;
    }
    check.into()
}

/// Hands events to peers that nothing in the cluster has caused.
fn confuse(world: &mut World, fault: Fault, node: u32, other: u32) -> Check {
    match fault {
        Fault::FalseSuspicion => world.tell(node, Event::Suspect(other)),
        Fault::MutualSuspicion => {
            world.tell(node, Event::Suspect(other))?;
            world.tell(other, Event::Suspect(node))
        }
        Fault::EpochBump => world.tell(node, Event::Command(Command::Restart)),
        Fault::ContactRemoved => world.tell(node, Event::Command(Command::Close(other))),
        _ => (0..ticks::CLOCK_JUMP).try_for_each(|_| world.tell(node, Event::Tick)),
    }
}

/// A moment at least one tick from now, and at most this many more.
fn within(world: &mut World, ticks: u64) -> u64 {
    world.queue.now() + TICK + world.sampler.moments(ticks * TICK)
}

#[cfg(test)]
mod tests;
