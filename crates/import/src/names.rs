//! Names that rows have, numbered in the order in which they are met.

use std::collections::BTreeMap;

/// Names of classes or sites.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    numbers: BTreeMap<String, u32>,
    names: Vec<String>,
}

impl Names {
    /// The number of a name; a new name gets the next one.
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        number
    }

    /// All names, by their numbers.
    pub(crate) fn all(&self) -> &[String] {
        &self.names
    }

    /// Takes the last new name back.
    pub(crate) fn forget_last(&mut self) {
        if let Some(name) = self.names.pop() {
            self.numbers.remove(&name);
        }
    }

    /// How many names there are.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The names in order: as numbers if all are whole numbers, else by their letters.
    pub(crate) fn sorted(&self) -> Vec<String> {
        let mut names = self.names.clone();
        if names.iter().all(|name| name.parse::<i64>().is_ok()) {
            names.sort_by_key(|name| name.parse::<i64>().unwrap_or_default());
        } else {
            names.sort();
        }
        names
    }

    /// For each number, the place of its name in a list that holds all names.
    pub(crate) fn places_in(&self, list: &[String]) -> Vec<u32> {
        let place = |name: &String| list.iter().position(|other| other == name).unwrap_or_default() as u32;
        self.names.iter().map(place).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(names: &[&str]) -> Vec<String> {
        let mut all = Names::default();
        for name in names {
            all.number(name);
        }
        all.sorted()
    }

    #[test]
    fn whole_numbers_are_sorted_as_numbers_and_all_else_by_letters() {
        assert_eq!(sorted(&["10", "9", "-1", "9"]), ["-1", "9", "10"]);
        assert_eq!(sorted(&["10", "9", "b", "a"]), ["10", "9", "a", "b"]);
    }

    #[test]
    fn numbers_lead_to_places_in_a_list() {
        let mut names = Names::default();
        assert_eq!([names.number("b"), names.number("a"), names.number("b")], [0, 1, 0]);
        assert_eq!(names.places_in(&names.sorted()), [1, 0]);
    }
}
