//! How sure a condition of a rule is to be about a path or a command.

use crate::{glob::matches, json::Content};
use serde_json::Value;
use std::fs;

/// An allow rule needs all to be sure; for a deny or prompt rule one maybe is enough.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    No,
    Maybe,
    Sure,
}
use Verdict::{Maybe, No, Sure};

/// An allow rule looks at the entry and its target; others at the name, too, above and below.
pub fn path_verdict(root: &str, uri: &str, glob: &str, is_tree: bool) -> Verdict {
    if is_ref(uri) {
        return No;
    }
    let path = match to_path(uri) {
        Some(path) if !glob.starts_with('~') => path,
        _ => return Maybe,
    };
    let named = clean(&under(root, &path));
    let (folder, name) = named.rsplit_once('/').expect("an absolute path");
    let (entry, real) = (format!("{}/{}", real_path(folder), name), real_path(&named));
    let is_tree = is_tree && !fs::metadata(&real).map_or(false, |about| about.is_file());
    let mut exact = under(root, glob.strip_prefix("./").unwrap_or(glob));
    if exact.ends_with('/') {
        exact += "**";
    }
    let has_folder = glob.trim_end_matches('/').contains('/');
    let wide = if has_folder { exact.clone() } else { under(root, &format!("**/{}", glob)) };
    let below = if is_tree { &["", "/\x01", "/\x01/\x01"][..] } else { &[""] };
    if [&entry, &real]
        .iter()
        .all(|path| below.iter().all(|name| matches(&exact, &format!("{}{}", path, name))))
    {
        return Sure;
    }
    let is_in = |path: &str| path.match_indices('/').any(|(at, _)| matches(&wide, &path[..at]));
    // The whole names before the first sign.
    let end =
        wide.find(|char| "*?[]{}\\".contains(char)).map_or(wide.len(), |at| wide[..at].rfind('/').unwrap());
    let [named, entry, real, fixed] = [&named, &entry, &real, &wide[..end]].map(|path| format!("{}/", path));
    let meets = is_tree && (real.starts_with(&fixed) || fixed.starts_with(&real));
    if meets || is_in(&named) || is_in(&entry) || is_in(&real) {
        Maybe
    } else {
        No
    }
}

/// `stdout:proc_1`, `blob:sha256:…`: content that has no path.
fn is_ref(uri: &str) -> bool {
    let is_word = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == b'-')
    };
    let parts: Vec<&str> = uri.split([':', '_']).collect();
    parts.len() == 3 && uri.contains(':') && parts.iter().all(|part| is_word(part))
}

/// None for the address of something that is not a file here.
fn to_path(uri: &str) -> Option<String> {
    let (scheme, place) = uri.split_once(':').unwrap_or_default();
    if !scheme.eq_ignore_ascii_case("file") {
        return (!place.starts_with("//") && !uri.contains('\0')).then(|| uri.into());
    }
    let place = place.strip_prefix("//")?;
    let mut parts = place.strip_prefix("localhost").unwrap_or(place).split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend(part[2..].bytes());
    }
    let is_local = bytes.first() == Some(&b'/') && !place.contains(['?', '#']) && !bytes.contains(&0);
    is_local.then(|| String::from_utf8(bytes).ok())?
}

fn under(root: &str, path: &str) -> String {
    if path.starts_with('/') {
        path.into()
    } else {
        format!("{}/{}", root, path)
    }
}

fn clean(path: &str) -> String {
    let mut parts = vec![];
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        parts.push(part);
        if part == ".." {
            parts.truncate(parts.len().saturating_sub(2));
        }
    }
    format!("/{}", parts.join("/"))
}

/// Follows links, also those whose target does not exist yet.
pub fn real_path(path: &str) -> String {
    if let Ok(real) = fs::canonicalize(path) {
        return real.to_string_lossy().into();
    }
    let (folder, name) = path.rsplit_once('/').expect("an absolute path");
    let folder = real_path(if folder.is_empty() { "/" } else { folder });
    match fs::read_link(path) {
        Ok(target) => real_path(&clean(&under(&folder, &target.to_string_lossy()))),
        Err(_) => format!("{}/{}", folder, name),
    }
}

/// An allow rule needs one plain command; others take all words of a script as one command.
pub fn command_verdict(command: &Value, prefix: &Value) -> Verdict {
    let [words, prefix] =
        [command, prefix].map(|list| list.list().iter().map(Content::text).collect::<Vec<_>>());
    let is_list = command.is_array();
    let script = if is_list { words.join(" ") } else { command.text().into() };
    let plain = if is_list { Some(words) } else { plain_words(&script) };
    if plain.map_or(false, |words| words.starts_with(&prefix)) {
        return Sure;
    }
    let is_open = script.contains(['$', '`', '{', '*', '?', '[']) || script.contains("<<");
    let is_open = is_open || ['\'', '"'].iter().any(|quote| script.matches(*quote).count() % 2 == 1);
    if is_open && (!is_list || runs_text(&script)) {
        return Maybe;
    }
    let (bare, mut wanted) = (script.replace(['\'', '"', '\\'], ""), &prefix[..]);
    for word in bare.split(|char: char| char.is_whitespace() || ";&|()<>".contains(char)) {
        let is_name = wanted.len() == prefix.len() && !prefix[0].contains('/');
        let word = if is_name { word.rsplit('/').next().unwrap_or(word) } else { word };
        wanted = wanted.strip_prefix(&[word]).unwrap_or(wanted);
    }
    if wanted.is_empty() {
        Maybe
    } else {
        No
    }
}

/// Whether a word between others says that the next one is a script.
fn runs_text(script: &str) -> bool {
    let words: Vec<&str> = script.split(' ').collect();
    let is_flag = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.ends_with(['c', 'e']);
    let mut inner = words.iter().take(words.len() - 1).skip(1);
    inner.any(|word| ["--command", "--eval", "eval"].contains(word) || is_flag(word))
}

/// The words of a script that is one command without variables, signs or substitutions.
fn plain_words(script: &str) -> Option<Vec<&str>> {
    const BLANKS: [char; 2] = [' ', '\t'];
    let (mut words, mut rest) = (vec![], script.trim_matches(&BLANKS[..]));
    while let Some(first) = rest.chars().next() {
        let is_quoted = ['\'', '"'].contains(&first) && !words.is_empty();
        let end = rest.find(BLANKS).unwrap_or(rest.len());
        let (word, after) = if is_quoted { rest[1..].split_once(first)? } else { rest.split_at(end) };
        let is_fine = |char: char| match first {
            '\'' => !"\r\n\0".contains(char),
            '"' => !"$`\\!\r\n\0".contains(char),
            _ => char.is_alphanumeric() || "_@%+:,./-".contains(char) || (char == '=' && !words.is_empty()),
        };
        if !word.chars().all(is_fine) || !(after.is_empty() || after.starts_with(BLANKS)) {
            return None;
        }
        words.push(word);
        rest = after.trim_start_matches(BLANKS);
    }
    Some(words)
}
