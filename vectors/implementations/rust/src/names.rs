use crate::json::Content;
use serde_json::{json, Value};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

const MAX_SERVER: usize = 26;
const MAX_NAME: usize = 60;
const HASH_DIGITS: usize = 8;

pub fn normalize(input: &Value) -> Value {
    let (mut servers, mut names, mut taken) = (HashMap::new(), HashMap::new(), vec![]);
    let named = input["places"].list().iter().map(|place| {
        let (server, tool) = (place["server"].text(), place["tool"].text());
        let start = servers.entry(server).or_insert_with(|| {
            let parts = server.split(|char: char| !(char.is_ascii_alphanumeric() || char == '-'));
            let part = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_");
            format!("mcp__{}__", fit("", or_else(part, "server"), server, MAX_SERVER, &mut taken))
        });
        let name = names.entry((server, tool)).or_insert_with(|| {
            let is_allowed = |char: char| char.is_ascii_alphanumeric() || "_-".contains(char);
            let part = tool.chars().map(|char| if is_allowed(char) { char } else { '_' }).collect();
            fit(start, or_else(part, "tool"), tool, MAX_NAME, &mut taken)
        });
        name.clone()
    });
    json!({ "names": named.collect::<Vec<_>>() })
}

fn or_else(text: String, other: &str) -> String {
    if text.is_empty() {
        other.into()
    } else {
        text
    }
}

/// Cuts a part that is too long or taken, and adds a hash of the original.
fn fit(start: &str, part: String, original: &str, room: usize, taken: &mut Vec<String>) -> String {
    let (mut name, mut salted) = (format!("{}{}", start, part), original.to_string());
    let most = part.len().min(room - start.len() - HASH_DIGITS - 1);
    while name.len() > room || taken.contains(&name) {
        let digest = format!("{:x}", Sha256::digest(&salted));
        name = format!("{}{}_{}", start, part[..most].trim_end_matches('_'), &digest[..HASH_DIGITS]);
        salted.push('#');
    }
    taken.push(name.clone());
    name
}

pub fn challenge(input: &Value) -> Value {
    let verifier = input["verifier"].text();
    let is_unreserved = |char: char| char.is_ascii_alphanumeric() || "-._~".contains(char);
    if !(43..=128).contains(&verifier.len()) || !verifier.chars().all(is_unreserved) {
        return json!({ "error": "invalid_verifier" });
    }
    json!({ "challenge": to_base64url(&Sha256::digest(verifier)) })
}

/// Without padding.
fn to_base64url(bytes: &[u8]) -> String {
    const SIGNS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let sextets = bytes.chunks(3).flat_map(|three| {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | u32::from(*three.get(at).unwrap_or(&0)));
        (0..=three.len()).map(move |at| bits >> (18 - 6 * at) & 63)
    });
    sextets.map(|six| char::from(SIGNS[six as usize])).collect()
}
