//! The threads of the engine.

/// The variable of a process from which Zenoh reads how many threads it has for what, when its
/// first session is opened, and the value for one thread that reads, writes and closes all links.
///
/// With more, Zenoh lets one thread read a TLS connection while another one writes to it, and both
/// change its state. Where bytes were changed on the way, that corrupted the memory of a node and
/// ended it. A process sets this before it opens a session, unless it was told otherwise.
pub const ONE_THREAD_FOR_LINKS: (&str, &str) =
    ("ZENOH_RUNTIME", "(rx: (worker_threads: 1), tx: (handover: rx), net: (handover: rx), acc: (handover: rx))");
