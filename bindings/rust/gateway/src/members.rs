// SPDX-License-Identifier: Apache-2.0

//! Members of a JSON object, read one by one. What is of another kind than is due, or out of its range, is refused by name, value and limit. A member
//! that is null was left out.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::form::Wrong;

/// Token ids and positions are 31-bit numbers in every server.
pub(crate) const LARGEST: i64 = (1 << 31) - 1;

/// What an error shows of a value.
const LONGEST_SHOWN: usize = 60;

/// A text as one JSON value.
pub(crate) fn parsed(what: &str, text: &[u8]) -> Result<Value, Wrong> {
    let text = std::str::from_utf8(text).map_err(|error| format!("the {what} is no UTF-8 at byte {}", error.valid_up_to()))?;
    serde_json::from_str(text).map_err(|error| format!("the {what} is no JSON: {error}"))
}

/// A value as an error shows it: on one line, and not all of a long one.
pub(crate) fn shown(value: &Value) -> String {
    clipped(&value.to_string())
}

pub(crate) fn clipped(text: &str) -> String {
    if text.len() <= LONGEST_SHOWN {
        return text.to_owned();
    }
    format!("{}...", until(text, LONGEST_SHOWN - 3))
}

/// A text's beginning, of so many bytes at most.
pub(crate) fn until(text: &str, mut end: usize) -> &str {
    end = end.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn whole_of(name: &str, value: &Value, allowed: &RangeInclusive<i64>) -> Result<i64, Wrong> {
    let refused = || format!("{name} is {}, allowed are whole numbers {} .. {}", shown(value), allowed.start(), allowed.end());
    value.as_i64().filter(|number| allowed.contains(number)).ok_or_else(refused)
}

/// An object's members.
pub(crate) struct Members<'a> {
    /// What stands before a name in what is said of it: nothing, or `choices[0].`.
    before: String,
    values: Option<&'a Map<String, Value>>,
}

impl<'a> Members<'a> {
    /// Those of a value that must be an object.
    pub(crate) fn of(name: &str, before: String, value: &'a Value) -> Result<Self, Wrong> {
        let values = value.as_object().ok_or_else(|| format!("{name} is {}, not an object", shown(value)))?;
        Ok(Self { before, values: Some(values) })
    }

    fn get(&self, name: &str) -> Option<&'a Value> {
        self.values?.get(name).filter(|value| !value.is_null())
    }

    pub(crate) fn whole(&self, name: &str, allowed: &RangeInclusive<i64>, otherwise: i64) -> Result<i64, Wrong> {
        self.get(name).map_or(Ok(otherwise), |value| whole_of(&format!("{}{name}", self.before), value, allowed))
    }

    pub(crate) fn flag(&self, name: &str) -> Result<bool, Wrong> {
        let Some(value) = self.get(name) else { return Ok(false) };
        value.as_bool().ok_or_else(|| format!("{}{name} is {}, allowed are true and false", self.before, shown(value)))
    }

    pub(crate) fn text(&self, name: &str) -> Result<&'a str, Wrong> {
        let Some(value) = self.get(name) else { return Ok("") };
        value.as_str().ok_or_else(|| format!("{}{name} is {}, not a text", self.before, shown(value)))
    }

    /// A member that must be there.
    pub(crate) fn list(&self, name: &str) -> Result<&'a [Value], Wrong> {
        let value = self.get(name).ok_or_else(|| format!("{}{name} is missing", self.before))?;
        value.as_array().map(Vec::as_slice).ok_or_else(|| format!("{}{name} is {}, not a list", self.before, shown(value)))
    }

    /// A member that is an empty object where it was left out.
    pub(crate) fn object(&self, name: &str) -> Result<Self, Wrong> {
        let name = format!("{}{name}", self.before);
        let before = format!("{name}.");
        match self.get(&name[self.before.len()..]) {
            Some(value) => Self::of(&name, before, value),
            None => Ok(Self { before, values: None }),
        }
    }

    /// A list of so many token ids.
    pub(crate) fn tokens(&self, name: &str, allowed: &RangeInclusive<usize>) -> Result<Vec<i64>, Wrong> {
        let list = self.list(name)?;
        if !allowed.contains(&list.len()) {
            return Err(format!("{}{name} has {} tokens, allowed are {} .. {}", self.before, list.len(), allowed.start(), allowed.end()));
        }
        let ids = 0..=LARGEST;
        let token = |(at, value): (usize, &Value)| match value.as_i64().filter(|id| ids.contains(id)) {
            Some(id) => Ok(id),
            None => whole_of(&format!("{}{name}[{at}]", self.before), value, &ids),
        };
        list.iter().enumerate().map(token).collect()
    }

    /// A member that holds rows, as a text or as an object, or null.
    pub(crate) fn rows(&self, name: &str, object: bool) -> Result<Value, Wrong> {
        match self.get(name) {
            None => Ok(Value::Null),
            Some(value) if object && !value.is_object() => Err(format!("{}{name} is {}, not an object", self.before, shown(value))),
            Some(value) if !object && !value.is_string() => Err(format!("{}{name} is {}, not a text", self.before, shown(value))),
            Some(value) => Ok(value.clone()),
        }
    }
}
