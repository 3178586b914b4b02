//! An implementation of five domains of the vectors in Rust. It shares no code with Octant; vectors/README.md describes
//! the protocol.

mod backoff;
mod conditions;
mod glob;
mod json;
mod names;
mod policy;

use json::Content;
use serde_json::{json, Value};
use std::mem::replace;

fn main() {
    // Standard output is flushed after every line.
    for line in std::io::stdin().lines().map(|line| line.expect("stdin can be read")) {
        let asked: Value = serde_json::from_str(&line).expect("a question in JSON");
        let input = &asked["input"];
        let output = match asked["domain"].text() {
            "sse-frames" => sse_frames(input),
            "mcp-normalization" => names::normalize(input),
            "permission-policy" => policy::decide(input),
            "oauth-pkce" => names::challenge(input),
            "backoff-timing" => backoff::time(input),
            other => panic!("{}: the domain {} is not implemented", asked["id"], other),
        };
        println!("{}", json!({ "id": asked["id"], "output": output }));
    }
}

fn sse_frames(input: &Value) -> Value {
    let empty = || json!({ "data": null, "event": null, "id": null, "retry": null });
    let (mut frames, mut open) = (vec![], empty());
    for (number, line) in split_lines(input["chunks"].list()).iter().enumerate() {
        let bom = if number == 0 { "\u{feff}" } else { "" };
        let line = line.strip_prefix(bom).unwrap_or(line);
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        let is_number = !value.is_empty() && value.bytes().all(|digit| digit.is_ascii_digit());
        match (name, open["data"].as_str()) {
            _ if line.is_empty() => {
                let ended = replace(&mut open, empty());
                frames.extend(ended["data"].is_string().then(|| ended));
            }
            ("data", Some(before)) => open["data"] = format!("{}\n{}", before, value).into(),
            ("data", None) | ("event", _) => open[name] = value.into(),
            ("id", _) if !value.contains('\0') => open[name] = value.into(),
            ("retry", _) if is_number => open[name] = value.parse::<f64>().expect("digits").into(),
            _ => {}
        }
    }
    json!({ "frames": frames })
}

/// Reads chunk by chunk. A CR at the end of one may be the first half of a CRLF. The end of the stream ends the last
/// line and its event.
fn split_lines(chunks: &[Value]) -> Vec<String> {
    let (mut lines, mut pending, mut after_cr) = (vec![], String::new(), false);
    for char in chunks.iter().flat_map(|chunk| chunk.text().chars()) {
        match char {
            '\n' if after_cr => {}
            '\r' | '\n' => lines.push(replace(&mut pending, String::new())),
            _ => pending.push(char),
        }
        after_cr = char == '\r';
    }
    lines.extend([pending, String::new()]);
    lines
}
