//! An endpoint's settings, checked against the descriptor, with defaults. What a setting means is the protocol's.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use wirelab_schema::{ProtocolDescription, SettingDescription, SettingValues};

use crate::StackError;

/// The settings of one endpoint, checked against its stack's descriptor and with defaults filled in.
pub struct Settings(BTreeMap<String, Value>);

impl Settings {
    /// An unknown setting, or a choice that the stack does not have, is unsupported; a value of the wrong kind or out of range is a usage error.
    pub fn resolve(descriptor: &ProtocolDescription, given: &BTreeMap<String, Value>) -> Result<Self, StackError> {
        if let Some(unknown) = given.keys().find(|key| descriptor.settings.iter().all(|known| known.name != **key)) {
            return Err(StackError::Unsupported(format!("protocol `{}` has no setting `{unknown}`", descriptor.name)));
        }
        let mut resolved = BTreeMap::new();
        for setting in &descriptor.settings {
            let value = as_word(setting, given.get(&setting.name).unwrap_or(&setting.default));
            check(setting, &value)?;
            resolved.insert(setting.name.clone(), value);
        }
        for setting in &descriptor.settings {
            let chosen = resolved[&setting.name].as_str().and_then(|word| setting.stands_for.get(word));
            for (name, value) in chosen.into_iter().flatten() {
                let default = descriptor.settings.iter().find(|other| other.name == *name).map(|other| &other.default);
                if resolved.get(name) == default {
                    resolved.insert(name.clone(), value.clone());
                }
            }
        }
        Ok(Settings(resolved))
    }

    /// Value of a [`SettingValues::Boolean`] that the descriptor has.
    pub fn boolean(&self, name: &str) -> bool {
        self.value(name).as_bool().expect("checked against the descriptor")
    }

    /// Whether the descriptor has a [`SettingValues::Boolean`] of that name which is true.
    pub fn is_on(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Value of a [`SettingValues::Choice`] that the descriptor has.
    pub fn choice(&self, name: &str) -> &str {
        self.value(name).as_str().expect("checked against the descriptor")
    }

    /// Value of a [`SettingValues::Integer`] that the descriptor has.
    pub fn integer(&self, name: &str) -> i64 {
        self.value(name).as_i64().expect("checked against the descriptor")
    }

    /// Value of a [`SettingValues::Integer`] that was given as a number; none of one that the descriptor does not have, or that is a word.
    pub fn given(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(Value::as_u64)
    }

    fn value(&self, name: &str) -> &Value {
        self.0.get(name).unwrap_or_else(|| panic!("the descriptor has `{name}`"))
    }
}

/// A setting that is true or false.
pub fn boolean(name: &str, default: bool, about: &str) -> SettingDescription {
    describe(name, SettingValues::Boolean, json!(default), about)
}

/// A setting that is one of some words, the first being the default.
pub fn choice(name: &str, choices: &[&str], about: &str) -> SettingDescription {
    let values = SettingValues::Choice { choices: choices.iter().map(ToString::to_string).collect() };
    describe(name, values, json!(choices[0]), about)
}

/// A setting that is a whole number.
pub fn integer(name: &str, range: (i64, i64), unit: &str, default: i64, about: &str) -> SettingDescription {
    let values =
        SettingValues::Integer { minimum: range.0, maximum: range.1, unit: unit.to_owned(), words: Vec::new() };
    describe(name, values, json!(default), about)
}

/// The longest silence that a setting names, in milliseconds: a week, for devices that send once in days.
pub const LONGEST_MS: i64 = 604_800_000;

/// What a setting that was not given leaves to the workload or the library.
pub const DEFAULT: &str = "default";

/// A setting that is a whole number, or [`DEFAULT`], which `about` explains.
pub fn integer_if_given(name: &str, range: (i64, i64), unit: &str, about: &str) -> SettingDescription {
    let words = vec![DEFAULT.to_owned()];
    let values = SettingValues::Integer { minimum: range.0, maximum: range.1, unit: unit.to_owned(), words };
    describe(name, values, json!(DEFAULT), about)
}

fn describe(name: &str, values: SettingValues, default: Value, about: &str) -> SettingDescription {
    SettingDescription { name: name.to_owned(), about: about.to_owned(), values, default, stands_for: BTreeMap::new() }
}

/// A number that spells a choice, such as version 5, is that choice.
fn as_word(setting: &SettingDescription, value: &Value) -> Value {
    let SettingValues::Choice { choices } = &setting.values else { return value.clone() };
    let number = value.as_number().map(ToString::to_string);
    number.filter(|number| choices.contains(number)).map_or_else(|| value.clone(), Value::from)
}

fn check(setting: &SettingDescription, value: &Value) -> Result<(), StackError> {
    let name = &setting.name;
    match &setting.values {
        SettingValues::Boolean if value.is_boolean() => Ok(()),
        SettingValues::Boolean => Err(StackError::Usage(format!("setting `{name}` is {value}, not true or false"))),
        SettingValues::Choice { choices } => match value.as_str() {
            Some(word) if choices.iter().any(|choice| choice == word) => Ok(()),
            Some(word) => {
                Err(StackError::Unsupported(format!("setting `{name}` is `{word}`, not one of {}", choices.join(", "))))
            }
            None => Err(StackError::Usage(format!("setting `{name}` is {value}, not one of {}", choices.join(", ")))),
        },
        SettingValues::Integer { words, .. } if words.iter().any(|word| value == word) => Ok(()),
        SettingValues::Integer { minimum, maximum, unit, .. } => match value.as_i64() {
            Some(number) if (*minimum..=*maximum).contains(&number) => Ok(()),
            _ => Err(StackError::Usage(format!(
                "setting `{name}` is {value}, not a whole number from {minimum} to {maximum} {unit}"
            ))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(key: &str, value: Value) -> Result<Settings, StackError> {
        let mut descriptor = crate::find("raw-tcp").expect("registered").descriptor();
        descriptor.settings =
            vec![boolean("flag", false, ""), choice("word", &["a", "b"], ""), integer("count", (1, 9), "", 5, "")];
        Settings::resolve(&descriptor, &BTreeMap::from([(key.to_owned(), value)]))
    }

    #[test]
    fn defaults_fill_what_is_not_given() {
        let settings = resolve("word", json!("b")).expect("a known word");
        assert_eq!((settings.boolean("flag"), settings.choice("word"), settings.integer("count")), (false, "b", 5));
    }

    #[test]
    fn a_number_that_may_be_left_to_the_library_is_there_only_if_it_was_given() {
        let mut descriptor = crate::find("raw-tcp").expect("registered").descriptor();
        descriptor.settings = vec![integer_if_given("window", (1, 9), "bytes", "")];
        let resolve = |value| Settings::resolve(&descriptor, &BTreeMap::from([("window".to_owned(), value)]));
        assert_eq!(resolve(json!(7)).expect("in range").given("window"), Some(7));
        assert_eq!(resolve(json!("default")).expect("a known word").given("window"), None);
        for wrong in [json!("most"), json!(0), json!(10)] {
            assert!(matches!(resolve(wrong), Err(StackError::Usage(_))));
        }
    }

    #[test]
    fn a_named_choice_sets_values_of_settings_left_at_their_default() {
        let mut descriptor = crate::find("raw-tcp").expect("registered").descriptor();
        let mut profile = choice("profile", &["none", "small"], "");
        let values = [("window", 3), ("table", 4)].map(|(name, value)| (name.to_owned(), json!(value)));
        profile.stands_for = [("small".to_owned(), values.into())].into();
        let number = |name| integer_if_given(name, (1, 9), "", "");
        descriptor.settings = vec![profile, number("window"), number("table")];
        let given = [("profile".to_owned(), json!("small")), ("table".to_owned(), json!(9))].into();
        let settings = Settings::resolve(&descriptor, &given).expect("known");
        assert_eq!((settings.given("window"), settings.given("table")), (Some(3), Some(9)));
        let none = Settings::resolve(&descriptor, &BTreeMap::new()).expect("defaults");
        assert_eq!((none.given("window"), none.given("table")), (None, None));
    }

    #[test]
    fn a_number_that_spells_a_choice_is_that_choice() {
        let mut descriptor = crate::find("raw-tcp").expect("registered").descriptor();
        descriptor.settings = vec![choice("version", &["1.3", "5"], "")];
        let resolve = |value| Settings::resolve(&descriptor, &BTreeMap::from([("version".to_owned(), value)]));
        for (value, word) in [(json!(5), "5"), (json!(1.3), "1.3"), (json!("5"), "5")] {
            assert_eq!(resolve(value).expect("a choice").choice("version"), word);
        }
        assert!(matches!(resolve(json!(4)), Err(StackError::Usage(_))));
    }

    #[test]
    fn an_unknown_setting_or_choice_is_unsupported() {
        assert!(matches!(resolve("colour", json!(1)), Err(StackError::Unsupported(_))));
        assert!(matches!(resolve("word", json!("c")), Err(StackError::Unsupported(_))));
    }

    #[test]
    fn a_value_of_the_wrong_kind_is_a_usage_error() {
        for (key, value) in [("flag", json!("yes")), ("word", json!(1)), ("count", json!(10)), ("count", json!(1.5))] {
            assert!(matches!(resolve(key, value), Err(StackError::Usage(_))), "{key}");
        }
    }
}
