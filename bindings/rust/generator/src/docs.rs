// SPDX-License-Identifier: Apache-2.0

//! C's documentation as rustdoc wants it: what looks like a link or a tag is escaped, outside of code.

use std::fmt::Write;

/// Appends `text` as doc comment lines, wrapped.
pub(crate) fn comment(out: &mut String, indent: &str, text: &str) {
    for (at, paragraph) in text.split("\n\n").enumerate() {
        if at > 0 {
            let _ = writeln!(out, "{indent}///");
        }
        let mut line = String::new();
        for word in escape(paragraph).split_whitespace() {
            if !line.is_empty() && indent.len() + 4 + line.len() + 1 + word.len() > 148 {
                let _ = writeln!(out, "{indent}/// {line}");
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        let _ = writeln!(out, "{indent}/// {line}");
    }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut code = false;
    for (at, character) in text.char_indices() {
        match character {
            '`' => code = !code,
            '[' | ']' | '<' | '>' | '*' if !code => out.push('\\'),
            _ => {}
        }
        // Names of C are code here, too.
        let starts_name = !code && character != '`' && is_name_start(text, at);
        if starts_name {
            let name: String = text[at..].chars().take_while(|one| one.is_ascii_alphanumeric() || *one == '_').collect();
            out.push('`');
            out.push_str(&name);
            out.push('`');
            continue;
        }
        if !code && character != '`' && inside_name(text, at) {
            continue;
        }
        out.push(character);
    }
    out
}

fn word_start(text: &str, at: usize) -> usize {
    text[..at].char_indices().rev().take_while(|(_, one)| one.is_ascii_alphanumeric() || *one == '_').last().map_or(at, |(first, _)| first)
}

/// A word with an underscore between letters is a name of code.
fn is_name(word: &str) -> bool {
    word.contains('_') && word.starts_with(|one: char| one.is_ascii_alphabetic()) && !word.ends_with('_')
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

fn word_at(text: &str, at: usize) -> &str {
    let start = word_start(text, at);
    let end = text[at..].char_indices().find(|(_, one)| !is_word(*one)).map_or(text.len(), |(offset, _)| at + offset);
    &text[start..end]
}

fn is_name_start(text: &str, at: usize) -> bool {
    text[at..].starts_with(is_word) && word_start(text, at) == at && is_name(word_at(text, at))
}

fn inside_name(text: &str, at: usize) -> bool {
    text[at..].starts_with(is_word) && word_start(text, at) != at && is_name(word_at(text, at))
}
