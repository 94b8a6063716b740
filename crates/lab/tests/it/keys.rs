//! Every documented key works: set in a file it is accepted and has an effect on the plan, and
//! misspelt it is refused with a suggestion. The table is generated from the registries, so that no
//! new key can be forgotten.
#![allow(clippy::print_stdout, reason = "what was tried is counted and printed")]

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeBounds;
use std::path::Path;

use fabnet_core::algorithm::methods;
use fabnet_core::settings::{Accepts, Setting, Value};
use fabnet_lab::{Experiment, RegistryEntry, Section, tables};

/// Where keys stand: a table of the file, with its kind if it has one.
struct Place {
    table: &'static str,
    kind: Option<&'static str>,
    keys: Vec<Setting>,
}

/// A file: lines by table, where "" is the top level.
type File = BTreeMap<&'static str, Vec<String>>;

#[test]
fn every_documented_key_is_accepted_has_an_effect_and_is_refused_when_misspelt() {
    let folder = tempfile::tempdir().unwrap();
    let (mut keys, mut values, mut failures) = (0, 0, Vec::new());
    for place in places() {
        for key in &place.keys {
            keys += 1;
            for inside in [false, true].into_iter().take(if may_be_overridden(&place, key) { 2 } else { 1 }) {
                let trial = Trial { place: &place, key, inside, folder: folder.path() };
                values += trial.accepted_values(&mut failures);
                trial.misspellings(&mut failures);
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(keys > 200, "only {keys} keys: something is not asked");
    println!("{keys} keys set to {values} values: all accepted, each with an effect; misspelt, all refused");
}

/// Keys that are read by hand, because what they accept is no single value.
#[test]
fn keys_that_accept_lists_work_alike() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&'static str, &str, &[&str]); 5] = [
        ("", "name", &["\"first\"", "\"second\""]),
        ("", "seeds", &["3", "\"1..3\"", "[7, 8]"]),
        ("record", "metrics", &["[\"consensus\"]", "[\"upper\", \"lower\"]"]),
        ("algorithm", "label", &["\"mine\"", "\"yours\""]),
        ("algorithm", "kind", &["\"fab\"", "\"push-pull-soba\""]),
    ];
    for (table, name, values) in cases {
        let place = Place { table, kind: None, keys: Vec::new() };
        let with = |name: &str, value: &str| {
            let mut file = place.file();
            let lines = file.entry(table).or_default();
            lines.retain(|line| !line.starts_with(&format!("{name} =")));
            lines.push(format!("{name} = {value}"));
            plan(folder.path(), &file)
        };
        let plans: BTreeSet<String> = values.iter().map(|value| with(name, value).unwrap()).collect();
        assert_eq!(plans.len(), values.len(), "{table}.{name}");
        let refusal = with(&format!("{name}x"), values[0]).unwrap_err();
        assert!(refusal.contains(&format!("did you mean `{name}`?")), "{refusal}");
    }
}

/// A misspelt table is one mistake, whatever it contains.
#[test]
fn misspelt_tables_are_refused_with_a_suggestion() {
    let folder = tempfile::tempdir().unwrap();
    for table in ["problem", "topology", "weights", "faults", "network", "record", "stop"] {
        for inside in [false, true] {
            if inside && ["record", "stop"].contains(&table) {
                continue;
            }
            let place = Place { table: "", kind: None, keys: Vec::new() };
            let prefix = if inside { "algorithm." } else { "" };
            let text = format!("{}\n[{prefix}{table}x]\nkind = \"ring\"\nloss = 0.1\n", text(&place.file()));
            let refusal = plan_of(folder.path(), &text).unwrap_err();
            assert_eq!(refusal.lines().count(), 1, "{refusal}");
            assert!(
                refusal.contains(&format!("`{prefix}{table}x`: unknown key; did you mean `{table}`?")),
                "{refusal}"
            );
        }
    }
}

/// One key in one place of a file.
struct Trial<'a> {
    place: &'a Place,
    key: &'a Setting,
    /// Whether it stands inside the algorithm, where it overrides the file.
    inside: bool,
    folder: &'a Path,
}

impl Trial<'_> {
    /// Sets the key to several values: no two plans are the same, nor the same as without it.
    /// Returns how many values.
    fn accepted_values(&self, failures: &mut Vec<String>) -> usize {
        let values = self.values();
        let mut plans = BTreeMap::new();
        // Some keys are needed: then there is no plan without them.
        if self.is_choice()
            && let Ok(plan) = plan(self.folder, &self.file(None))
        {
            plans.insert(plan, "nothing".to_owned());
        }
        for value in &values {
            match plan(self.folder, &self.file(Some((&self.key.name, value)))) {
                Err(refusal) => failures.push(format!("{} = {value} is refused: {refusal}", self.name())),
                Ok(plan) => {
                    if let Some(other) = plans.insert(plan, value.clone()) {
                        failures.push(format!("{} = {value} has the same plan as {other}", self.name()));
                    }
                }
            }
        }
        if values.is_empty() {
            failures.push(format!("{}: no value is known to be accepted", self.name()));
        }
        values.len()
    }

    /// Misspells the key: a letter too many, and two letters swapped.
    fn misspellings(&self, failures: &mut Vec<String>) {
        let name = &self.key.name;
        let known = |typed: &String| self.place.keys.iter().any(|key| key.name == *typed);
        let typos = [format!("{name}q"), swapped(name)].into_iter().filter(|typo| typo != name && !known(typo));
        for typo in typos {
            let file = self.file(Some((&typo, &self.values()[0])));
            match plan(self.folder, &file) {
                Ok(_) => failures.push(format!("{} is accepted as {typo}", self.name())),
                Err(refusal) if refusal.contains(&format!("unknown key; did you mean `{name}`?")) => {}
                Err(refusal) => failures.push(format!("{} as {typo}: {refusal}", self.name())),
            }
        }
    }

    /// A file with this key, or without, and what the key needs beside it.
    fn file(&self, given: Option<(&str, &str)>) -> File {
        let mut file = if self.inside { in_algorithm(self.place) } else { self.place.file() };
        let table = if self.inside { inner_name(self.place.table) } else { self.place.table };
        let lines = file.entry(table).or_default();
        let with_own_data = given.is_some_and(|(name, value)| (name, value) == ("data", "\"own\""));
        for (name, value) in beside(self.place, &self.key.name, with_own_data) {
            lines.push(format!("{name} = {value}"));
        }
        if let Some((name, value)) = given {
            lines.push(format!("{name} = {value}"));
        }
        file
    }

    /// Values that the key accepts and that are not its default, as they are typed.
    fn values(&self) -> Vec<String> {
        let values = match &self.key.accepts {
            Accepts::Flag => vec![Value::Flag(true), Value::Flag(false)],
            Accepts::Whole(within) => wholes(within),
            Accepts::Among(numbers) => numbers.iter().map(|number| Value::Whole(number.cast_signed())).collect(),
            Accepts::Number(within) => numbers(within),
            Accepts::WordOrNumber(word, within) => {
                let mut values = numbers(within);
                values.push(Value::Text(word.clone()));
                values
            }
            Accepts::WordOrWhole(word, within) => {
                let mut values = wholes(within);
                values.push(Value::Text(word.clone()));
                values
            }
            Accepts::Choice(words) => words.iter().map(|word| Value::from(word.as_str())).collect(),
            Accepts::Text { examples, .. } => examples.iter().map(|text| Value::from(text.as_str())).collect(),
            Accepts::File { instead_of } => self.files(instead_of),
        };
        let others: Vec<&Value> = values.iter().filter(|value| Some(*value) != self.key.value.as_ref()).collect();
        // Where there is only one choice, it is the default.
        if others.is_empty() { values.iter().map(typed).collect() } else { others.into_iter().map(typed).collect() }
    }

    /// Whether there is anything to choose.
    fn is_choice(&self) -> bool {
        !matches!(&self.key.accepts, Accepts::Choice(words) if words.len() == 1)
    }

    /// Files that hold what another key accepts.
    fn files(&self, instead_of: &str) -> Vec<Value> {
        let other = self.place.keys.iter().find(|key| key.name == instead_of).unwrap();
        let Accepts::Text { examples, .. } = &other.accepts else { panic!("{instead_of} is no text") };
        let write = |(number, text): (usize, &String)| {
            let name = format!("{instead_of}-{number}.txt");
            std::fs::write(self.folder.join(&name), text).unwrap();
            Value::from(name.as_str())
        };
        examples.iter().enumerate().map(write).collect()
    }

    fn name(&self) -> String {
        let Place { table, kind, .. } = self.place;
        let inside = if self.inside { " inside [[algorithm]]" } else { "" };
        format!("[{table}] {}{}{inside}", kind.map_or(String::new(), |kind| format!("of kind {kind}: ")), self.key.name)
    }
}

/// Whether a method finds its step sizes itself, where none are given.
fn has_automatic_steps(kind: &str) -> bool {
    methods::<f64>().iter().any(|method| method.name == kind && method.direction.automatic)
}

/// What must stand beside a key for it to mean anything. A key of a method's step sizes needs one
/// for each block, own data needs its sizes, a target has two keys, and a contact plan needs
/// contacts.
fn beside(place: &Place, key: &str, with_own_data: bool) -> Vec<(String, String)> {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let all = match (place.table, place.kind) {
        ("algorithm", Some(kind))
            if ["steps.", "exchange_every"].iter().any(|name| key.starts_with(name))
                || (!has_automatic_steps(kind) && key != "steps") =>
        {
            let general =
                ["momentum", "decay", "power", "mixings", "order", "gossip"].map(|key| format!("steps.{key}"));
            let blocks = place.keys.iter().map(|key| key.name.as_str());
            let blocks = blocks.filter(|name| name.starts_with("steps.") && !general.iter().any(|key| key == name));
            blocks.map(|name| pair(name, "0.125")).collect()
        }
        ("problem", _) if with_own_data => vec![pair("features", "3"), pair("classes", "2")],
        ("problem", _) if ["features", "classes"].contains(&key) => {
            vec![pair("data", "\"own\""), pair("features", "5"), pair("classes", "5")]
        }
        ("stop", _) => vec![pair("metric", "\"lower\""), pair("below", "0.125")],
        ("topology", Some("contact-plan")) if key != "file" => vec![pair("contacts", "\"1 0\"")],
        _ => Vec::new(),
    };
    all.into_iter().filter(|(name, _)| name != key).collect()
}

impl Place {
    /// A file that is accepted, with this table in it.
    fn file(&self) -> File {
        let mut file = File::from([
            ("problem", vec!["kind = \"policy-evaluation\"".to_owned()]),
            ("algorithm", vec!["kind = \"dfab\"".to_owned()]),
        ]);
        let lines = file.entry(self.table).or_default();
        if let Some(kind) = self.kind {
            *lines = vec![format!("kind = \"{kind}\"")];
        }
        file
    }
}

/// The same inside the algorithm, which overrides what the file says.
fn in_algorithm(place: &Place) -> File {
    let mut file = Place { table: "", kind: None, keys: Vec::new() }.file();
    let lines = file.entry(inner_name(place.table)).or_default();
    lines.extend(place.kind.map(|kind| format!("kind = \"{kind}\"")));
    file
}

fn inner_name(table: &str) -> &'static str {
    match table {
        "" => "algorithm",
        "problem" => "algorithm.problem",
        "topology" => "algorithm.topology",
        "weights" => "algorithm.weights",
        "faults" => "algorithm.faults",
        "network" => "algorithm.network",
        other => panic!("[{other}] is not overridden"),
    }
}

fn may_be_overridden(place: &Place, key: &Setting) -> bool {
    match place.table {
        "" => ["agents", "rounds", "settle", "precision"].contains(&key.name.as_str()),
        table => ["problem", "topology", "weights", "faults", "network"].contains(&table),
    }
}

/// Every table and kind that the reference documents.
fn places() -> Vec<Place> {
    let plain = tables().into_iter().map(|(table, keys)| Place { table, kind: None, keys });
    let sections = [Section::problem(), Section::topology(), Section::weights(), Section::algorithm()];
    let kinds = sections.into_iter().flat_map(|section| {
        let place = |kind: &RegistryEntry| Place { table: section.name, kind: Some(kind.name), keys: kind.keys() };
        section.kinds.iter().map(place).collect::<Vec<_>>()
    });
    plain.chain(kinds).collect()
}

fn text(file: &File) -> String {
    let header = |table: &str| match table {
        "" => String::new(),
        "algorithm" => "[[algorithm]]\n".to_owned(),
        table => format!("[{table}]\n"),
    };
    let table = |(table, lines): (&&str, &Vec<String>)| format!("{}{}\n", header(table), lines.join("\n"));
    file.iter().map(table).collect::<Vec<_>>().concat()
}

fn plan(folder: &Path, file: &File) -> Result<String, String> {
    plan_of(folder, &text(file))
}

fn plan_of(folder: &Path, text: &str) -> Result<String, String> {
    let path = folder.join("experiment.toml");
    std::fs::write(&path, text).unwrap();
    let plan = Experiment::read(&path).and_then(|experiment| experiment.plan());
    plan.map(|plan| plan.to_toml()).map_err(|diagnostics| diagnostics.to_string())
}

fn wholes(within: &impl RangeBounds<u64>) -> Vec<Value> {
    let numbers = [2, 3, 7, 40, 100].into_iter().filter(|number| within.contains(number));
    numbers.map(|number: u64| Value::Whole(number.cast_signed())).collect()
}

fn numbers(within: &impl RangeBounds<f64>) -> Vec<Value> {
    [0.0625, 0.75, 2.5, 40.0].into_iter().filter(|number| within.contains(number)).map(Value::Number).collect()
}

/// As it is typed in a file; JSON's way to write texts is TOML's.
fn typed(value: &Value) -> String {
    if let Value::Text(text) = value { serde_json::to_string(text).unwrap() } else { value.to_string() }
}

/// The last two letters the other way round, where there are two.
fn swapped(name: &str) -> String {
    let mut letters: Vec<char> = name.chars().collect();
    let last = letters.len() - 1;
    if last > 0 && letters[last - 1] != '.' {
        letters.swap(last - 1, last);
    }
    letters.into_iter().collect()
}
