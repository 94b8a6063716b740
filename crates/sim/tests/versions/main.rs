//! Messages and states of every version of the wire, kept as files under tests/versions: each must
//! be read as it was meant, or be refused with a reason that names its version.
//!
//! `FABNET_WRITE_SAMPLES=1` writes those of the present version; they are committed with it and
//! never changed again.

mod bowls;
mod exchange;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fabnet_core::peer::{
    BEGINNING, Claim, Command, Contents, Declaration, Effect, Event, Incarnation, Intent, Record, SealOrigin,
    SealScheme, SyncMode, Table, WireFormat, WordLength,
};
use fabnet_core::{Algorithm, Peer};

use bowls::{NODES, RUN, life};

fn config(node: u32) -> fabnet_core::peer::PeerConfig<f64> {
    bowls::config(node, SyncMode::Free)
}

fn format() -> WireFormat {
    let algorithm: Arc<dyn Algorithm<f64>> = config(0).algorithm;
    WireFormat::new(RUN, NODES, &algorithm.segments(0), WordLength::default())
}

/// A kind of messages: its name, and how it is told from others.
type Kind = (&'static str, fn(Contents) -> bool);

/// Three peers on a ring whose disks are safe at once, and everything that they have sent.
struct Samples {
    peers: Vec<Peer<f64>>,
    sent: Vec<(u32, Vec<u8>)>,
    state: Vec<u8>,
}

impl Samples {
    fn new() -> Self {
        let roster = Table::of_living(NODES, (0..NODES as u32).map(|node| (node, life(node))));
        let peer = |node: u32| {
            let mut peer = Peer::new(config(node), life(node), 0, None);
            peer.meet(&roster);
            peer
        };
        let mut samples = Self { peers: (0..NODES as u32).map(peer).collect(), sent: Vec::new(), state: Vec::new() };
        (0..NODES).for_each(|node| samples.tell(node, Event::Stored { ticket: 0, safe: true }));
        samples
    }

    fn tell(&mut self, node: usize, event: Event) {
        let mut effects = Vec::new();
        self.peers[node].handle(event, &mut effects);
        for effect in effects {
            match effect {
                Effect::Send { to, bytes } => self.sent.push((to, bytes)),
                Effect::Store { ticket, record } => {
                    if let Record::State(state) = record {
                        self.state = state;
                    }
                    self.tell(node, Event::Stored { ticket, safe: true });
                }
            }
        }
    }

    /// A tick of every peer; only messages of which `arrives` says so are not lost.
    fn round(&mut self, arrives: impl Fn(u32, u32) -> bool) {
        let from = self.sent.len();
        (0..NODES).for_each(|node| self.tell(node, Event::Tick));
        let sent = self.sent[from..].to_vec();
        for (to, bytes) in sent {
            let sender = u32::from_le_bytes(bytes[16..20].try_into().unwrap());
            if arrives(sender, to) {
                self.tell(to as usize, Event::Message(bytes));
            }
        }
    }

    /// The last message of each kind that was sent.
    fn by_kind(&self) -> Vec<(&'static str, &[u8])> {
        let kinds: [Kind; 6] = [
            ("share", |contents| contents.pulled && contents.mass),
            ("closed-edge", |contents| contents.pulled && !contents.mass),
            ("idle-edge", |contents| !contents.pulled && contents.mass),
            ("call", |contents| contents == Contents::default()),
            ("answer", |contents| contents.intent == Intent::Answer),
            ("request-share", |contents| contents.intent == Intent::RequestShare),
        ];
        let format = format();
        let last = |is: fn(Contents) -> bool| {
            let of_kind = |(_, bytes): &&(u32, Vec<u8>)| is(format.read::<f64>(bytes).unwrap().header.contents);
            self.sent.iter().rfind(of_kind).map(|(_, bytes)| bytes.as_slice())
        };
        kinds.into_iter().filter_map(|(kind, is)| Some((kind, last(is)?))).collect()
    }
}

fn folder(version: u16) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/versions/wire-{version}"))
}

fn present_version() -> u16 {
    u16::from_le_bytes([BEGINNING[4], BEGINNING[5]])
}

/// Writes a sample of each kind of message, and a state.
fn write_samples(folder: &Path) {
    let mut samples = Samples::new();
    (0..8).for_each(|_| samples.round(|_, _| true));
    // Node 0 starves and asks for shares; then nobody hears of it, and its edges are idle.
    (0..20).for_each(|_| samples.round(|_, to| to != 0));
    (0..20).for_each(|_| samples.round(|from, to| from != 0 && to != 0));
    samples.tell(0, Event::Command(Command::Close(1)));
    (0..2).for_each(|_| samples.round(|_, to| to != 0));
    // An answer: to a sender of an earlier life, which is behind.
    let mut earlier = Peer::new(config(2), Incarnation { counter: 0, nonce: 5 }, 0, None);
    earlier.meet(&Table::of_living(NODES, (0..2).map(|node| (node, life(node)))));
    let mut effects = Vec::new();
    earlier.handle(Event::Stored { ticket: 0, safe: true }, &mut effects);
    earlier.handle(Event::Stored { ticket: 1, safe: true }, &mut effects);
    for effect in effects {
        if let Effect::Send { to: 0, bytes } = effect {
            samples.tell(0, Event::Message(bytes));
        }
    }
    fs::create_dir_all(folder).unwrap();
    for (kind, bytes) in samples.by_kind() {
        fs::write(folder.join(format!("{kind}.message")), bytes).unwrap();
    }
    fs::write(folder.join("state"), &samples.state).unwrap();
}

#[test]
fn messages_of_the_present_version_are_read_and_those_of_others_refused() {
    if std::env::var_os("FABNET_WRITE_SAMPLES").is_some() {
        write_samples(&folder(present_version()));
    }
    for version in 2..=present_version() {
        let messages = fs::read_dir(folder(version)).unwrap().map(|entry| entry.unwrap().path());
        let messages: Vec<_> = messages.filter(|path| path.extension().is_some()).collect();
        assert_eq!(messages.len(), 6, "version {version} has six kinds of messages");
        for path in messages {
            let read = format().read::<f64>(&fs::read(&path).unwrap()).map(|message| message.header);
            assert_eq!(read.is_ok(), version == present_version(), "{}: {read:?}", path.display());
        }
    }
}

/// What a state holds has not changed with the wire: a node goes on with a newer fabnet.
#[test]
fn a_state_of_any_version_goes_on() {
    for version in 2..=present_version() {
        let state = fs::read(folder(version).join("state")).unwrap();
        let node = state.get(8..12).map(|node| u32::from_le_bytes(node.try_into().unwrap())).unwrap();
        let resumed = Peer::resume(config(node), &state);
        assert!(resumed.is_ok_and(|peer| peer.round() > 0 && peer.ledger().audit()), "version {version}");
    }
}

/// Seals that say in clear of what they are: the bytes that are sealed, one of two.
#[derive(Debug)]
struct Clear;

impl SealScheme for Clear {
    fn length(&self) -> usize {
        32
    }

    fn seal(&self, declaration: &Declaration) -> Vec<u8> {
        declaration.bytes().into_iter().step_by(2).collect()
    }

    fn origin(&self, declaration: &Declaration, seal: &[u8]) -> SealOrigin {
        if self.seal(declaration) == seal { SealOrigin::Owner } else { SealOrigin::Forged }
    }
}

/// A message with seals is the one without them and another part, and both say the same.
#[test]
fn a_sealed_message_has_one_more_part() {
    let folder = folder(present_version()).join("sealed");
    if std::env::var_os("FABNET_WRITE_SAMPLES").is_some() {
        let mut peer = Peer::sealed(config(0), Arc::new(Clear), life(0), 0, None);
        peer.meet(&Table::of_living(NODES, (0..NODES as u32).map(|node| (node, life(node)))));
        let mut effects = Vec::new();
        for event in [Event::Stored { ticket: 0, safe: true }, Event::Stored { ticket: 1, safe: true }] {
            peer.handle(event, &mut effects);
        }
        let sent = effects.iter().find_map(|effect| match effect {
            Effect::Send { bytes, .. } => Some(bytes.clone()),
            Effect::Store { .. } => None,
        });
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("share.message"), sent.unwrap()).unwrap();
    }
    let bytes = fs::read(folder.join("share.message")).unwrap();
    let (sealed, plain) = (format().with_seals(Clear.length()), format());
    let (read, skipped) = (sealed.read::<f64>(&bytes).unwrap(), plain.read::<f64>(&bytes).unwrap());
    assert_eq!(read.header, skipped.header);
    assert!(read.control.member_states().eq(skipped.control.member_states()));
    let states: Vec<_> = read.control.member_states().zip(read.control.life_seals()).collect();
    assert_eq!(states.len(), NODES);
    for ((node, state), seal) in states {
        let declaration = Declaration { run: RUN, node, incarnation: state.incarnation, claim: Claim::Lives };
        let is_own = Clear.origin(&declaration, seal) == SealOrigin::Owner;
        assert_eq!(is_own, node == 0, "only its own life is sealed by then");
        assert!(node == 0 || seal.iter().all(|byte| *byte == 0));
    }
    assert!(skipped.control.life_seals().take(NODES).all(<[u8]>::is_empty));
}
