//! The settings of a group as the summary shows them.

use fabnet_core::settings::Value;
use serde_json::{Map, Value as Json};

use crate::plan::Group;

/// The algorithm's keys as a table, and every other key of the grid by its dotted path.
pub(super) fn run_settings(group: &Group) -> Map<String, Json> {
    let mut map = Map::new();
    for (key, value) in &group.algorithm.settings {
        match key.split_once('.') {
            None => _ = map.insert(key.clone(), json(value)),
            Some((table, key)) => {
                if let Json::Object(table) = map.entry(table).or_insert_with(|| Json::Object(Map::new())) {
                    table.insert(key.to_owned(), json(value));
                }
            }
        }
    }
    for path in &group.grid {
        map.insert(path.clone(), group.value(path).as_ref().map_or(Json::Null, json));
    }
    map
}

fn json(value: &Value) -> Json {
    match value {
        Value::Flag(flag) => Json::from(*flag),
        Value::Whole(number) => Json::from(*number),
        Value::Number(number) => Json::from(*number),
        Value::Text(text) => Json::from(text.as_str()),
    }
}
