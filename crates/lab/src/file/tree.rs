//! A file as it was typed: values, lists and tables, each with the line that it was typed in.

use std::path::Path;

use fabnet_core::settings::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::diagnostic::Diagnostics;
use crate::plan::Origin;

/// A value, list or table of a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// The contents of the entry.
    pub(crate) node: Node,
    /// Where the entry was typed.
    pub(crate) origin: Origin,
}

/// The contents of an entry.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    /// A single value.
    Value(Value),
    /// A list, which is a grid or a list of tables.
    List(Vec<Entry>),
    /// A table of keys.
    Table(Table),
}

/// A table: keys with their entries, in the order typed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table(pub(crate) Vec<(String, Entry)>);

impl Table {
    /// Parses the text of a TOML file.
    pub(crate) fn parse(text: &str, file: &Path) -> Result<Self, Diagnostics> {
        let lines = Lines::new(text);
        let root = DeTable::parse(text).map_err(|error| {
            let line = lines.of(error.span().map_or(0, |span| span.start));
            Diagnostics::one(file, line, "", format!("this is not TOML: {}", error.message().trim()))
        })?;
        table(root.get_ref(), &lines).map_err(|(line, message)| Diagnostics::one(file, line, "", message))
    }

    /// The entry of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, entry)| entry)
    }

    /// Removes a key, and returns its entry.
    pub(crate) fn take(&mut self, key: &str) -> Option<Entry> {
        let place = self.0.iter().position(|(known, _)| known == key)?;
        Some(self.0.remove(place).1)
    }

    /// Sets the entry of a key, in place of an earlier one.
    pub(crate) fn put(&mut self, key: &str, entry: Entry) {
        match self.0.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => *old = entry,
            None => self.0.push((key.to_owned(), entry)),
        }
    }

    /// The entry that a dotted path leads to; a number is an index into a list.
    pub(crate) fn find(&self, path: &str) -> Option<&Entry> {
        let (first, rest) = path.split_once('.').unwrap_or((path, ""));
        self.get(first)?.find(rest)
    }

    /// Sets a value by `key=value` of the command line, with a dotted path into the file.
    pub(crate) fn set(&mut self, assignment: &str, file: &Path) -> Result<(), Diagnostics> {
        let flag = Origin::Flag(format!("--set {assignment}"));
        let wrong = |message: String| Diagnostics::one(file, flag.clone(), "", message);
        let (path, typed) = assignment
            .split_once('=')
            .ok_or_else(|| wrong("expected KEY=VALUE, such as rounds=2000 or algorithm.0.penalty=80".to_owned()))?;
        // A text that is not TOML is taken as a word without its quotes.
        let node = DeValue::parse(typed.trim())
            .ok()
            .and_then(|value| node(&value, &Lines::flag(flag.clone())).ok())
            .unwrap_or_else(|| Node::Value(Value::Text(typed.trim().to_owned())));
        let steps: Vec<&str> = path.trim().split('.').collect();
        self.descend(&steps, Entry { node, origin: flag.clone() }).map_err(|error| wrong(error.to_string()))
    }

    /// Sets the entry at a path, and makes the tables on the way that are not there yet.
    fn descend(&mut self, steps: &[&str], entry: Entry) -> Result<(), NoSuchItem> {
        let [first, rest @ ..] = steps else { return Ok(()) };
        if rest.is_empty() {
            self.put(first, entry);
            return Ok(());
        }
        if self.get(first).is_none() {
            self.put(first, Entry { node: Node::Table(Self::default()), origin: entry.origin.clone() });
        }
        let (_, inner) = self.0.iter_mut().find(|(known, _)| known == first).expect("it is there by now");
        match &mut inner.node {
            Node::Table(table) => table.descend(rest, entry),
            Node::List(list) => set_item(first, list, rest, entry),
            Node::Value(_) => {
                // A table replaces a single value: `steps = "auto"` gives way to `steps.x = 0.1`.
                *inner = Entry { node: Node::Table(Self::default()), origin: entry.origin.clone() };
                let Node::Table(table) = &mut inner.node else { unreachable!("it was made a table") };
                table.descend(rest, entry)
            }
        }
    }

    /// The dotted paths of all values and lists, with their entries.
    pub(crate) fn leaves(&self) -> Vec<(String, &Entry)> {
        let mut leaves = Vec::new();
        for (key, entry) in &self.0 {
            match &entry.node {
                Node::Table(table) => {
                    leaves.extend(table.leaves().into_iter().map(|(rest, entry)| (format!("{key}.{rest}"), entry)));
                }
                _ => leaves.push((key.clone(), entry)),
            }
        }
        leaves
    }
}

/// A path of the command line that leads to no item of a list.
#[derive(Debug, thiserror::Error)]
#[error("`{list}` is a list of {count}: `{item}` is no place in it (they count from 0)")]
struct NoSuchItem {
    /// The key of the list.
    list: String,
    /// The number of its items.
    count: usize,
    /// The item as typed.
    item: String,
}

/// Sets an item of a list, or a key of an item that is a table.
fn set_item(name: &str, list: &mut [Entry], steps: &[&str], entry: Entry) -> Result<(), NoSuchItem> {
    let (count, [item, rest @ ..]) = (list.len(), steps) else { return Ok(()) };
    let inner = item.parse().ok().and_then(|index: usize| list.get_mut(index));
    match inner.map(|inner| &mut inner.node) {
        Some(Node::Table(table)) if !rest.is_empty() => table.descend(rest, entry),
        Some(node) if rest.is_empty() => {
            *node = entry.node;
            Ok(())
        }
        _ => Err(NoSuchItem { list: name.to_owned(), count, item: (*item).to_owned() }),
    }
}

impl Entry {
    /// The text of an entry that is one.
    pub(crate) fn text(&self) -> Option<&str> {
        if let Node::Value(Value::Text(text)) = &self.node { Some(text) } else { None }
    }

    /// The table of an entry that is one.
    pub(crate) fn table(&self) -> Option<&Table> {
        if let Node::Table(table) = &self.node { Some(table) } else { None }
    }

    /// The entry that a dotted path within this one leads to.
    fn find(&self, path: &str) -> Option<&Self> {
        match (&self.node, path) {
            (_, "") => Some(self),
            (Node::Table(table), path) => table.find(path),
            (Node::List(list), path) => {
                let (first, rest) = path.split_once('.').unwrap_or((path, ""));
                list.get(first.parse::<usize>().ok()?)?.find(rest)
            }
            (Node::Value(_), _) => None,
        }
    }
}

/// Finds the line of a byte offset in a text.
struct Lines {
    /// The byte at which each line begins.
    starts: Vec<usize>,
    /// The argument of the command line, if the text comes from there.
    flag: Option<Origin>,
}

impl Lines {
    fn new(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self { starts: std::iter::once(0).chain(ends.map(|(place, _)| place + 1)).collect(), flag: None }
    }

    fn flag(flag: Origin) -> Self {
        Self { starts: Vec::new(), flag: Some(flag) }
    }

    fn of(&self, place: usize) -> Origin {
        let line = || Origin::Line(self.starts.partition_point(|&start| start <= place));
        self.flag.clone().unwrap_or_else(line)
    }
}

/// A value that TOML allows but experiments do not: where it was typed, and what to do.
type Unusable = (Origin, String);

/// Turns a table of the parser into one with lines, in the order typed.
fn table(table: &DeTable<'_>, lines: &Lines) -> Result<Table, Unusable> {
    let mut typed: Vec<_> = table.iter().collect();
    typed.sort_by_key(|(key, _)| key.span().start);
    let entry = |(key, value): &(&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let key: &Spanned<std::borrow::Cow<'_, str>> = key;
        Ok((key.get_ref().to_string(), Entry { node: node(value, lines)?, origin: lines.of(key.span().start) }))
    };
    Ok(Table(typed.iter().map(entry).collect::<Result<_, _>>()?))
}

/// Turns a value of the parser into one with lines.
fn node(value: &Spanned<DeValue<'_>>, lines: &Lines) -> Result<Node, Unusable> {
    let unusable = |what: &str| Err((lines.of(value.span().start), what.to_owned()));
    Ok(match value.get_ref() {
        DeValue::String(text) => Node::Value(Value::Text(text.to_string())),
        DeValue::Boolean(flag) => Node::Value(Value::Flag(*flag)),
        DeValue::Integer(number) => match i64::from_str_radix(&number.as_str().replace('_', ""), number.radix()) {
            Ok(number) => Node::Value(Value::Whole(number)),
            Err(_) => return unusable(&format!("the number {} is too large", number.as_str())),
        },
        DeValue::Float(number) => match number.as_str().replace('_', "").parse() {
            Ok(number) => Node::Value(Value::Number(number)),
            Err(_) => return unusable(&format!("{} is no number", number.as_str())),
        },
        DeValue::Datetime(date) => return unusable(&format!("the date {date} means nothing here: put it in quotes")),
        DeValue::Array(list) => Node::List(
            list.iter()
                .map(|item| Ok(Entry { node: node(item, lines)?, origin: lines.of(item.span().start) }))
                .collect::<Result<_, Unusable>>()?,
        ),
        DeValue::Table(inner) => Node::Table(table(inner, lines)?),
    })
}
