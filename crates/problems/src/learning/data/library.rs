//! Where data sets are, and whether they are what they should be.

use std::collections::BTreeMap;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use sha2::{Digest, Sha256};

use super::dataset::{Dataset, Inputs, Raw};
use super::{idx, packed, synthetic};

/// A data set that is known by name.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// As users write it, and its folder.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Its files, with the SHA-256 of what they hold when unpacked.
    pub files: &'static [(&'static str, &'static str)],
}

/// Every data set that comes as files.
pub fn known() -> &'static [Entry] {
    KNOWN
}

const KNOWN: &[Entry] = &[
    Entry {
        name: "mnist",
        about: "handwritten digits, 60,000 + 10,000 pictures of 28×28, ten classes",
        files: &[
            ("train-images-idx3-ubyte.gz", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
            ("train-labels-idx1-ubyte.gz", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
            ("t10k-images-idx3-ubyte.gz", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
            ("t10k-labels-idx1-ubyte.gz", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
        ],
    },
    Entry {
        name: "fashion-mnist",
        about: "clothes, 60,000 + 10,000 pictures of 28×28, ten classes",
        files: &[
            ("train-images-idx3-ubyte.gz", "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"),
            ("train-labels-idx1-ubyte.gz", "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"),
            ("t10k-images-idx3-ubyte.gz", "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"),
            ("t10k-labels-idx1-ubyte.gz", "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"),
        ],
    },
    Entry {
        name: "imdb",
        about: "film reviews, 25,000 + 25,000 texts, positive or negative",
        files: &[
            ("imdb_train.tsv.gz", "1ddd5e4a23afddca3e34da7a8c50671a1e32acda7735baa5aa43c7478d4da7ac"),
            ("imdb_test.tsv.gz", "63614055cdb8412dd27a33468c7dad9d43f5c91894cde0e83f663eebafc7dc28"),
        ],
    },
    Entry {
        name: "bert",
        about: "all-MiniLM-L6-v2: a small encoder of texts, with its tokenizer",
        files: &[
            ("config.json", "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
            ("model.safetensors", "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
            ("tokenizer.json", "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
        ],
    },
];

/// What is found of a data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// All files are there and hold what they should.
    Intact,
    /// Some of its files are missing.
    Missing(Vec<String>),
    /// Files that hold something else, or cannot be read.
    Changed(Vec<String>),
}

/// A folder with data sets, a folder each.
#[derive(Debug)]
pub struct Library {
    folder: PathBuf,
    read: Mutex<BTreeMap<&'static str, Arc<(Dataset, String)>>>,
}

static FOLDER: OnceLock<PathBuf> = OnceLock::new();
static USUAL: OnceLock<Library> = OnceLock::new();

impl Library {
    /// The folder that was named for this process, else `$FABNET_DATA`, else a folder in the user's
    /// cache. Data sets are read once and kept: all runs of a process share them.
    pub fn usual() -> &'static Self {
        USUAL.get_or_init(|| Self::new(&Self::usual_folder()))
    }

    /// Names the folder for this process; only the first time counts, and only before a data set
    /// was read.
    pub fn look_in(folder: &Path) {
        // A second name would change the data of runs that have begun.
        let _ = FOLDER.set(folder.to_owned());
    }

    fn usual_folder() -> PathBuf {
        let named = || std::env::var_os("FABNET_DATA").map(PathBuf::from);
        FOLDER.get().cloned().or_else(named).unwrap_or_else(|| cache_folder().join("data"))
    }

    /// The data sets in this folder.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), read: Mutex::default() }
    }

    /// The folder of the data sets.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Looks whether all files of a data set are there, without reading them.
    pub fn look(&self, entry: &Entry) -> State {
        let missing = self.files_that(entry, |path, _| !path.exists());
        if missing.is_empty() { State::Intact } else { State::Missing(missing) }
    }

    /// Reads all files of a data set and compares them with what they should be.
    pub fn verify(&self, entry: &Entry) -> State {
        let is_changed = |path: &Path, digest: &str| {
            contents(path).map_or(true, |contents| hex(&Sha256::digest(contents)) != digest)
        };
        match self.look(entry) {
            State::Intact => {
                let changed = self.files_that(entry, is_changed);
                if changed.is_empty() { State::Intact } else { State::Changed(changed) }
            }
            state => state,
        }
    }

    fn files_that(&self, entry: &Entry, is: impl Fn(&Path, &str) -> bool) -> Vec<String> {
        let folder = self.folder.join(entry.name);
        let files = entry.files.iter().filter(|(file, digest)| is(&folder.join(file), digest));
        files.map(|(file, _)| (*file).to_owned()).collect()
    }

    /// A data set by its name, with a checksum of everything that was read.
    pub fn dataset(&self, name: &str) -> Result<Arc<(Dataset, String)>, String> {
        let entry = KNOWN.iter().find(|entry| entry.name == name);
        let key = match entry {
            Some(entry) => entry.name,
            None if name == SYNTHETIC => SYNTHETIC,
            None => return Err(format!("there is no data set `{name}`: `fabnet data list` says which there are")),
        };
        // Kept locked while reading: whoever else wants the same waits instead of reading it, too.
        let mut read = self.read.lock().map_err(|_| "a thread died while reading data".to_owned())?;
        if let Some(found) = read.get(key) {
            return Ok(found.clone());
        }
        let dataset = Arc::new(match entry {
            Some(entry) => self.pictures(entry)?,
            None => (synthetic::clouds(), SYNTHETIC.to_owned()),
        });
        read.insert(key, dataset.clone());
        Ok(dataset)
    }

    /// The contents of a file of a data set, unpacked.
    pub fn file(&self, entry: &Entry, file: &str) -> Result<Vec<u8>, String> {
        let path = self.folder.join(entry.name).join(file);
        contents(&path).map_err(|error| {
            format!(
                "{}: {error}. The data set `{}` is looked for in --data DIR, then $FABNET_DATA, then the cache directory; \
                 `fabnet data list` says what it needs",
                path.display(),
                entry.name
            )
        })
    }

    /// A checksum of all files of some data sets.
    pub fn checksum(&self, entries: &[&Entry]) -> Result<String, String> {
        let mut digest = Sha256::new();
        for entry in entries {
            entry
                .files
                .iter()
                .try_for_each(|(file, _)| self.file(entry, file).map(|contents| digest.update(contents)))?;
        }
        Ok(hex(&digest.finalize()))
    }

    /// Pictures in four idx files: training images and labels, test images and labels.
    fn pictures(&self, entry: &Entry) -> Result<(Dataset, String), String> {
        let mut digest = Sha256::new();
        let mut raw = |images: &str, labels: &str| -> Result<(Raw, Vec<usize>), String> {
            let (images_file, labels_file) = (self.file(entry, images)?, self.file(entry, labels)?);
            digest.update(&images_file);
            digest.update(&labels_file);
            let read = |name: &str, file| -> Result<_, String> {
                idx::read(file).map_err(|error| format!("{}/{name}: {error}", entry.name))
            };
            let (pixels, classes) = (read(images, &images_file)?, read(labels, &labels_file)?);
            if pixels.sizes.len() != 3 || classes.sizes.len() != 1 || pixels.sizes[0] != classes.sizes[0] {
                return Err(format!("{}: {images} and {labels} do not belong together", entry.name));
            }
            let labels = classes.bytes.iter().map(|&label| u32::from(label)).collect();
            Ok((Raw { inputs: Inputs::Bytes(pixels.bytes.to_vec()), labels }, pixels.sizes))
        };
        let [train_images, train_labels, test_images, test_labels] = entry.files else {
            return Err(format!("`{}` is no set of pictures", entry.name));
        };
        let (train, sizes) = raw(train_images.0, train_labels.0)?;
        let (test, _) = raw(test_images.0, test_labels.0)?;
        let classes = class_names(entry.name, train.labels.iter().max().map_or(0, |&most| most + 1));
        let (picture, width) = (Some(sizes[2]), sizes[1] * sizes[2]);
        let dataset = Dataset::new(classes, picture, width, train, test);
        Ok((dataset, hex(&digest.finalize())))
    }
}

/// Where this user's programs keep what can be made again.
pub fn cache_folder() -> PathBuf {
    let of = |variable: &str| std::env::var_os(variable).map(PathBuf::from);
    let cache = of("XDG_CACHE_HOME").or_else(|| of("HOME").map(|home| home.join(".cache")));
    cache.unwrap_or_default().join("fabnet")
}

/// The data set that needs no files.
pub(crate) const SYNTHETIC: &str = "synthetic";

fn class_names(name: &str, classes: u32) -> Vec<String> {
    const CLOTHES: [&str; 10] =
        ["T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"];
    if name == "fashion-mnist" {
        CLOTHES.map(str::to_owned).to_vec()
    } else {
        (0..classes).map(|class| class.to_string()).collect()
    }
}

/// What a file holds, unpacked if its name ends in .gz.
fn contents(path: &Path) -> std::io::Result<Vec<u8>> {
    if path.extension().is_none_or(|kind| kind != "gz") {
        return fs::read(path);
    }
    packed::unpack(BufReader::new(fs::File::open(path)?), packed::MOST)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
