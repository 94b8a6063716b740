//! Reading a node's file.

use std::path::{Path, PathBuf};

use super::check::ConfigMistake;
use super::settings::Config;

/// Why a node's file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{0}: {1}")]
    File(PathBuf, std::io::Error),
    /// The file is not understood.
    #[error("{0}: {1}")]
    Form(PathBuf, toml::de::Error),
    /// The file says something impossible.
    #[error("{0}: {1}")]
    Meaning(PathBuf, ConfigMistake),
}

impl Config {
    /// Reads and checks a file. Paths in it are relative to the folder that it is in.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|error| ConfigError::File(path.to_owned(), error))?;
        Self::parse(&text, path)
    }

    /// Checks the text of a file that is at this path.
    fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let mut config: Self = toml::from_str(text).map_err(|error| ConfigError::Form(path.to_owned(), error))?;
        config.check().map_err(|mistake| ConfigError::Meaning(path.to_owned(), mistake))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let tls = config.tls.iter_mut().flat_map(|tls| [&mut tls.ca, &mut tls.certificate, &mut tls.key]);
        for path in [&mut config.plan, &mut config.state]
            .into_iter()
            .chain(&mut config.continues)
            .chain(&mut config.data)
            .chain(&mut config.expelled)
            .chain(tls)
        {
            *path = folder.join(&*path);
        }
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        run = "today"
        node = "alpha"
        plan = "../plan.toml"
        state = "state"
        continues = "state-1"
        data = "/srv/data"
        expelled = "expelled.toml"
        [tls]
        ca = "pki/ca.pem"
        certificate = "pki/alpha.pem"
        key = "/secret/alpha.key"
        [[member]]
        name = "alpha"
        agents = [0]
        address = "127.0.0.1:7000"
    "#;

    #[test]
    fn paths_are_relative_to_the_file() {
        let config = Config::parse(TEXT, Path::new("nodes/a/node.toml")).unwrap();
        assert_eq!(config.plan, Path::new("nodes/a/../plan.toml"));
        assert_eq!(config.state, Path::new("nodes/a/state"));
        assert_eq!(config.continues.as_deref(), Some(Path::new("nodes/a/state-1")));
        assert_eq!(config.data.as_deref(), Some(Path::new("/srv/data")));
        assert_eq!(config.expelled.as_deref(), Some(Path::new("nodes/a/expelled.toml")));
        let tls = config.tls.unwrap();
        assert_eq!(tls.certificate, Path::new("nodes/a/pki/alpha.pem"));
        assert_eq!(tls.key, Path::new("/secret/alpha.key"));
    }

    #[test]
    fn errors_name_the_file_and_what_is_wrong() {
        let parse = |text: &str| Config::parse(text, Path::new("nodes/a/node.toml")).unwrap_err().to_string();
        let impossible = parse(&TEXT.replace("agents = [0]", "agents = [1]"));
        assert!(impossible.starts_with("nodes/a/node.toml: the agents of all members"), "{impossible}");
        let malformed = parse(&TEXT.replace("agents = [0]", "agents = 0"));
        assert!(malformed.starts_with("nodes/a/node.toml: ") && malformed.contains("line 15"), "{malformed}");
        let absent = Config::read(Path::new("/nowhere/node.toml")).unwrap_err().to_string();
        assert!(absent.starts_with("/nowhere/node.toml: "), "{absent}");
    }
}
