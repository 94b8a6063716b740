//! The reader of settings.

use std::ops::RangeBounds;

use super::accepts::{Accepts, interval};
use super::setting::{Setting, SettingError};
use super::source::SettingsSource;
use super::value::{Value, number, whole};

/// Reads settings, one call for each key. It never stops at a mistake: the default takes the place
/// of a wrong value, so that all keys are asked for and all mistakes are found at once.
pub struct SettingsReader<'a> {
    given: &'a dyn SettingsSource,
    /// What was asked for, in order. A key that was asked for stays here whatever becomes of its
    /// value: what is not here is unknown.
    asked: Vec<Setting>,
    /// What was wrong with the settings, in the order in which it was found.
    pub mistakes: Vec<SettingError>,
}

impl<'a> SettingsReader<'a> {
    /// Reads settings from this source.
    pub fn new(given: &'a dyn SettingsSource) -> Self {
        Self { given, asked: Vec::new(), mistakes: Vec::new() }
    }

    /// Every key that was asked for, in order: these are known, and no others.
    pub fn asked(&self) -> &[Setting] {
        &self.asked
    }

    /// The settings that were asked for, to keep.
    pub fn into_asked(self) -> Vec<Setting> {
        self.asked
    }

    /// Reads a number within bounds.
    pub fn number(&mut self, name: &str, default: f64, within: impl RangeBounds<f64>, about: &str) -> f64 {
        self.number_or(name, Some(default), &within, about).unwrap_or(default)
    }

    /// Reads a number within bounds, or none.
    pub fn optional_number(&mut self, name: &str, within: impl RangeBounds<f64>, about: &str) -> Option<f64> {
        self.number_or(name, None, &within, about)
    }

    fn number_or(
        &mut self,
        name: &str,
        default: Option<f64>,
        within: &impl RangeBounds<f64>,
        about: &str,
    ) -> Option<f64> {
        let accepts = Accepts::Number(interval(within));
        self.read(name, accepts, default, Value::Number, |value| number(value, within), about)
    }

    /// Reads a whole number within bounds.
    pub fn whole(&mut self, name: &str, default: u64, within: impl RangeBounds<u64>, about: &str) -> u64 {
        self.whole_or(name, Some(default), &within, about).unwrap_or(default)
    }

    /// Reads a whole number within bounds, or none.
    pub fn optional_whole(&mut self, name: &str, within: impl RangeBounds<u64>, about: &str) -> Option<u64> {
        self.whole_or(name, None, &within, about)
    }

    fn whole_or(
        &mut self,
        name: &str,
        default: Option<u64>,
        within: &impl RangeBounds<u64>,
        about: &str,
    ) -> Option<u64> {
        let accepts = Accepts::Whole(interval(within));
        self.read(
            name,
            accepts,
            default,
            |number| Value::Whole(number.cast_signed()),
            |value| whole(value, within),
            about,
        )
    }

    /// Reads a value that is true or false.
    pub fn flag(&mut self, name: &str, default: bool, about: &str) -> bool {
        let accept = |value: &Value| if let Value::Flag(flag) = value { Some(*flag) } else { None };
        self.read(name, Accepts::Flag, Some(default), Value::Flag, accept, about).unwrap_or(default)
    }

    /// One of several whole numbers, the first if none is given.
    pub fn whole_among(&mut self, name: &str, numbers: &[u64], about: &str) -> u64 {
        let accept = |value: &Value| whole(value, &..).filter(|number| numbers.contains(number));
        let show = |number: u64| Value::Whole(number.cast_signed());
        let default = numbers.first().copied();
        self.read(name, Accepts::Among(numbers.to_vec()), default, show, accept, about).or(default).unwrap_or(0)
    }

    /// One of several words, the first if none is given.
    pub fn choice<C: Copy>(&mut self, name: &str, choices: &[(&str, C)], about: &str) -> C {
        let accepts = Accepts::Choice(choices.iter().map(|(word, _)| (*word).to_owned()).collect());
        let place =
            |value: &Value| choices.iter().position(|(word, _)| matches!(value, Value::Text(given) if given == word));
        let word = |place: usize| Value::Text(choices[place].0.to_owned());
        choices[self.read(name, accepts, Some(0), word, place, about).unwrap_or(0)].1
    }

    /// One of several words, or none.
    pub fn optional_choice<C: Copy>(&mut self, name: &str, choices: &[(&str, C)], about: &str) -> Option<C> {
        let given = self.given.get(name).is_some();
        let chosen = self.choice(name, choices, about);
        if !given {
            self.unset(name);
        }
        given.then_some(chosen)
    }

    /// A number within bounds, or, given or not, a word; none is the word.
    pub fn number_or_word(
        &mut self,
        name: &str,
        word: &str,
        within: impl RangeBounds<f64>,
        about: &str,
    ) -> Option<f64> {
        let accepts = Accepts::WordOrNumber(word.to_owned(), interval(&within));
        let accept = |value: &Value| match *value {
            Value::Text(ref given) if given == word => Some(None),
            _ => number(value, &within).map(Some),
        };
        let show = |value: Option<f64>| value.map_or_else(|| Value::from(word), Value::Number);
        self.read(name, accepts, Some(None), show, accept, about).flatten()
    }

    /// A whole number within bounds, or, given or not, a word; none is the word.
    pub fn whole_or_word(&mut self, name: &str, word: &str, within: impl RangeBounds<u64>, about: &str) -> Option<u64> {
        let accepts = Accepts::WordOrWhole(word.to_owned(), interval(&within));
        let accept = |value: &Value| match *value {
            Value::Text(ref given) if given == word => Some(None),
            _ => whole(value, &within).map(Some),
        };
        let show =
            |value: Option<u64>| value.map_or_else(|| Value::from(word), |number| Value::Whole(number.cast_signed()));
        self.read(name, accepts, Some(None), show, accept, about).flatten()
    }

    /// Notes that a key needs nothing after all, because others say it.
    pub fn unset(&mut self, name: &str) {
        self.set(name, None);
    }

    /// Writes down another value for a key that was asked for.
    fn set(&mut self, name: &str, value: Option<Value>) {
        self.asked.iter_mut().filter(|key| key.name == name).for_each(|key| key.value.clone_from(&value));
    }

    /// Asks for keys that mean nothing beside others: to give one of them is a mistake.
    pub fn idle<R>(&mut self, why: &str, read: impl FnOnce(&mut Self) -> R) -> R {
        let (asked, mistakes) = (self.asked.len(), self.mistakes.len());
        let result = read(self);
        self.mistakes.truncate(mistakes);
        for place in asked..self.asked.len() {
            self.asked[place].value = None;
            let name = self.asked[place].name.clone();
            if self.given.get(&name).is_some() {
                self.mistake(&name, why);
            }
        }
        result
    }

    /// A text of some kind, or none. The examples are texts that are accepted.
    pub fn text(&mut self, name: &str, what: &str, examples: [&str; 2], about: &str) -> Option<String> {
        let accepts = Accepts::Text { what: what.to_owned(), examples: examples.map(str::to_owned) };
        self.text_of(name, accepts, about)
    }

    fn text_of(&mut self, name: &str, accepts: Accepts, about: &str) -> Option<String> {
        let accept = |value: &Value| if let Value::Text(text) = value { Some(text.clone()) } else { None };
        self.read(name, accepts, None, Value::Text, accept, about)
    }

    /// A text that is needed, given in place under `name` or as a file under `file`. It is written
    /// down in place, so that the file need not be there the next time.
    pub fn text_or_file(&mut self, name: &str, file: &str, examples: [&str; 2], about: &str) -> String {
        let given = [name, file].iter().any(|key| self.given.get(key).is_some());
        let text = self.optional_text_or_file(name, file, examples, about);
        if !given {
            self.mistake(file, format!("it is needed: give `{file} = \"PATH\"`, or the text as `{name}`"));
        }
        text.unwrap_or_default()
    }

    /// The same for a text that may be left out.
    pub fn optional_text_or_file(
        &mut self,
        name: &str,
        file: &str,
        examples: [&str; 2],
        about: &str,
    ) -> Option<String> {
        let text = self.text(name, "a text", examples, about);
        let accepts = Accepts::File { instead_of: name.to_owned() };
        let path = self.text_of(file, accepts, &format!("a file with what `{name}` would hold"));
        let contents = match (text, path) {
            (Some(text), None) => Ok(text),
            (None, Some(path)) => self.given.read(&path),
            (None, None) => return None,
            (Some(_), Some(_)) => Err(format!("give `{file}` or `{name}`, not both")),
        };
        match contents {
            Ok(contents) => {
                self.unset(file);
                self.set(name, Some(Value::Text(contents.clone())));
                Some(contents)
            }
            Err(message) => {
                self.mistake(file, message);
                None
            }
        }
    }

    /// Notes something wrong that shows only when values are seen together.
    pub fn mistake(&mut self, key: &str, message: impl Into<String>) {
        self.mistakes.push(SettingError { key: key.to_owned(), message: message.into() });
    }

    /// The value that was given, whatever it is.
    pub fn given(&self, name: &str) -> Option<Value> {
        self.given.get(name)
    }

    fn read<V>(
        &mut self,
        name: &str,
        accepts: Accepts,
        default: Option<V>,
        show: impl Fn(V) -> Value,
        accept: impl Fn(&Value) -> Option<V>,
        about: &str,
    ) -> Option<V> {
        let given = self.given.get(name);
        let mut value = given.as_ref().and_then(&accept);
        if let (Some(given), None) = (&given, &value) {
            self.mistake(name, format!("{given} is not usable: it is {accepts}"));
        }
        value = value.or(default);
        // Written down as accepted, so that 1 and 1.0 are the same setting.
        let value = value.map(&show);
        let result = value.as_ref().and_then(&accept);
        self.asked.push(Setting { name: name.to_owned(), accepts, value, about: about.to_owned() });
        result
    }
}

#[cfg(test)]
mod tests {
    use super::super::POSITIVE;
    use super::*;

    #[test]
    fn what_is_asked_for_is_what_is_known_checked_and_written_down() {
        let given = [("a", Value::Whole(2)), ("b", 1.5.into()), ("c", "no".into()), ("f", Value::Whole(-1))];
        let mut keys = SettingsReader::new(&given);
        assert_eq!(keys.number("a", 0.5, 0.0.., "…"), 2.0);
        assert_eq!(keys.number("b", 0.5, 0.0..=1.0, "…"), 0.5);
        assert!(keys.choice("c", &[("yes", true), ("never", false)], "…"));
        assert!(keys.flag("d", true, "…"));
        assert_eq!(keys.optional_number("e", POSITIVE, "…"), None);
        assert_eq!(keys.whole("f", 3, 1.., "…"), 3);
        let known: Vec<_> = keys.asked.iter().map(|key| (key.name.as_str(), key.value.clone())).collect();
        let of = |value: Value| Some(value);
        assert_eq!(
            known,
            [
                ("a", of(2.0.into())),
                ("b", of(0.5.into())),
                ("c", of("yes".into())),
                ("d", of(true.into())),
                ("e", None),
                ("f", of(Value::Whole(3)))
            ]
        );
        let messages: Vec<_> = keys.mistakes.iter().map(|mistake| mistake.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "1.5 is not usable: it is a number, at least 0 and at most 1",
                "\"no\" is not usable: it is \"yes\" or \"never\"",
                "-1 is not usable: it is a whole number, at least 1"
            ]
        );
        assert_eq!(keys.asked[4].accepts.to_string(), "a number, above 0");
    }
}
