//! The folders of a launched run's nodes, each with the configuration of one node.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use fabnet_lab::data::Library;
use fabnet_lab::{Folder, Plan, timestamp};
use fabnet_net::{Authority, Config, Member, NodeIdentity, Tls, Validity};

/// The folder of a node, and the configuration that was written to its `node.toml`.
pub(super) struct NodeFolder {
    pub(super) path: PathBuf,
    pub(super) config: Config,
}

/// How the nodes of a run exchange messages.
pub(super) struct Links {
    /// The fraction of all messages that is dropped on purpose.
    pub(super) loss: f64,
    pub(super) insecure: bool,
    pub(super) shared_memory: bool,
    /// The longest time that a node which is done waits for the others.
    pub(super) linger: Duration,
}

/// Writes a folder for each node, and certificates unless the links are insecure. Agents are
/// divided into consecutive ranges that differ by one agent in size at most.
pub(super) fn write_node_folders(
    plan: &Plan,
    folder: &Folder,
    (nodes, agents): (usize, usize),
    links: &Links,
) -> anyhow::Result<Vec<NodeFolder>> {
    let ports = free_ports(2 * nodes)?;
    let (addresses, http_ports) = ports.split_at(nodes);
    let authority =
        if links.insecure { None } else { Some(Authority::create(&folder.file("pki"), Validity::OF_AUTHORITIES)?) };
    let member = |(node, ports)| member((node, nodes), agents, ports);
    let members = addresses.iter().copied().zip(http_ports.iter().copied()).enumerate().map(member).collect();
    let common = common_config(plan, members, links);
    let write = |(member, &http_port): (&Member, &u16)| {
        let config = Config {
            node: member.name.clone(),
            http: Some(([127, 0, 0, 1], http_port).into()),
            tls: authority.as_ref().map(|authority| issue_certificate(authority, &member.name)).transpose()?,
            ..common.clone()
        };
        write_node_folder(folder, config)
    };
    common.members.iter().zip(http_ports).map(write).collect()
}

/// What the configurations of all nodes have in common.
fn common_config(plan: &Plan, members: Vec<Member>, links: &Links) -> Config {
    // One name for all nodes: the clock goes on, and nodes of runs with different names never meet.
    let run = format!("{}-{}", plan.name, timestamp());
    Config {
        plan: "../../plan.toml".into(),
        state: "state".into(),
        data: std::path::absolute(Library::usual().folder()).ok(),
        checkpoint: Duration::from_secs(2),
        linger: links.linger,
        loss: links.loss,
        insecure: links.insecure,
        shared_memory: links.shared_memory,
        ..Config::new(&run, "", members)
    }
}

/// One of the nodes, with the ports for messages and for its status.
fn member((node, nodes): (usize, usize), agents: usize, (port, http_port): (u16, u16)) -> Member {
    Member {
        name: format!("node-{node}"),
        agents: (node * agents / nodes..(node + 1) * agents / nodes).map(|agent| agent as u32).collect(),
        address: format!("127.0.0.1:{port}"),
        http: Some(format!("127.0.0.1:{http_port}")),
    }
}

/// Issues a certificate; its paths are relative to the folder of the node.
fn issue_certificate(authority: &Authority, name: &str) -> anyhow::Result<Tls> {
    authority.issue(&NodeIdentity::new(name, vec!["127.0.0.1".to_owned()])?, Validity::OF_NODES)?;
    let file = |name: &str| Path::new("../../pki").join(name);
    Ok(Tls { ca: file("ca.pem"), certificate: file(&format!("{name}.pem")), key: file(&format!("{name}.key")) })
}

fn write_node_folder(folder: &Folder, config: Config) -> anyhow::Result<NodeFolder> {
    let files = folder.files();
    let path = folder.file("nodes").join(&config.node);
    files.create_folder(&path).with_context(|| path.display().to_string())?;
    let file = path.join("node.toml");
    files.write_whole(&file, config.to_toml().as_bytes()).with_context(|| file.display().to_string())?;
    Ok(NodeFolder { path, config })
}

/// Ports on which nobody listens at this moment. They are held until all are chosen, so that none
/// is chosen twice.
fn free_ports(count: usize) -> anyhow::Result<Vec<u16>> {
    let listeners: Vec<TcpListener> =
        (0..count).map(|_| TcpListener::bind(("127.0.0.1", 0))).collect::<Result<_, _>>().context("no free port")?;
    listeners.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}

#[cfg(test)]
mod tests {
    use fabnet_lab::Experiment;

    use super::*;

    fn plan() -> Plan {
        let text = "agents = 7\nrounds = 10\n[problem]\nkind = \"policy-evaluation\"\n[[algorithm]]\nkind = \"dfab\"\n";
        Experiment::parse(text, Path::new("test.toml")).unwrap().plan().unwrap()
    }

    fn links(insecure: bool) -> Links {
        Links { loss: 0.25, insecure, shared_memory: false, linger: Duration::from_secs(9) }
    }

    #[test]
    fn agents_are_divided_evenly_and_in_order() {
        for (nodes, agents) in [(1, 7), (3, 7), (4, 10), (7, 7)] {
            let members: Vec<Member> = (0..nodes).map(|node| member((node, nodes), agents, (1, 2))).collect();
            let owned: Vec<u32> = members.iter().flat_map(|member| member.agents.clone()).collect();
            assert_eq!(owned, (0..agents as u32).collect::<Vec<_>>(), "{nodes} nodes, {agents} agents");
            let sizes = members.iter().map(|member| member.agents.len());
            assert!(sizes.clone().max().unwrap() - sizes.min().unwrap() <= 1, "{nodes} nodes, {agents} agents");
        }
    }

    #[test]
    fn what_is_written_can_be_read_and_names_files_that_exist() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::new(home.path());
        let written = write_node_folders(&plan(), &folder, (3, 7), &links(false)).unwrap();
        for NodeFolder { path, config } in &written {
            let read = Config::read(&path.join("node.toml")).unwrap();
            assert_eq!((&read.run, &read.node, read.loss), (&config.run, &config.node, 0.25));
            assert_eq!(read.me().map(|me| me.agents.len()), config.me().map(|me| me.agents.len()));
            let tls = config.tls.as_ref().unwrap();
            assert!([&tls.ca, &tls.certificate, &tls.key].iter().all(|file| path.join(file).exists()));
        }
        assert!(written.iter().all(|node| node.config.run == written[0].config.run));
    }

    #[test]
    fn insecure_links_need_no_certificates() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::new(home.path());
        let written = write_node_folders(&plan(), &folder, (2, 7), &links(true)).unwrap();
        assert!(written.iter().all(|node| node.config.tls.is_none() && node.config.insecure));
        assert!(!folder.file("pki").exists());
    }
}
