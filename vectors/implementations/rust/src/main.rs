//! An implementation of five domains of the vectors in Rust, with its standard library alone. It shares no code with
//! Octant; vectors/README.md describes the protocol.

mod backoff;
mod conditions;
mod glob;
mod json;
mod names;
mod policy;
mod sha256;

use json::Json;
use std::mem::replace;

fn main() {
    // Standard output is flushed after every line.
    for line in std::io::stdin().lines().map(|line| line.expect("stdin can be read")) {
        let asked = json::parse(&line);
        let input = &asked["input"];
        let output = match asked["domain"].text() {
            "sse-frames" => sse_frames(input),
            "mcp-normalization" => names::normalize(input),
            "permission-policy" => policy::decide(input),
            "oauth-pkce" => names::challenge(input),
            "backoff-timing" => backoff::time(input),
            other => panic!("{}: the domain {} is not implemented", asked["id"], other),
        };
        println!("{}", Json::object([("id", asked["id"].clone()), ("output", output)]));
    }
}

const FIELDS: [&str; 4] = ["data", "event", "id", "retry"];
const NO_FIELDS: [Json; 4] = [Json::Null, Json::Null, Json::Null, Json::Null];

fn sse_frames(input: &Json) -> Json {
    let (mut frames, mut open) = (vec![], NO_FIELDS);
    for (number, line) in split_lines(input["chunks"].list()).iter().enumerate() {
        let bom = if number == 0 { "\u{feff}" } else { "" };
        let line = line.strip_prefix(bom).unwrap_or(line);
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        let is_number = !value.is_empty() && value.bytes().all(|digit| digit.is_ascii_digit());
        match (name, &open[0]) {
            _ if line.is_empty() => {
                let ended = replace(&mut open, NO_FIELDS);
                let is_event = ended[0] != Json::Null;
                frames.extend(
                    is_event.then(|| Json::Object(FIELDS.map(String::from).into_iter().zip(ended).collect())),
                );
            }
            ("data", Json::Text(before)) => open[0] = Json::Text(format!("{}\n{}", before, value)),
            ("data", _) => open[0] = Json::Text(value.into()),
            ("event", _) => open[1] = Json::Text(value.into()),
            ("id", _) if !value.contains('\0') => open[2] = Json::Text(value.into()),
            ("retry", _) if is_number => open[3] = Json::Number(value.parse().expect("digits are a number")),
            _ => {}
        }
    }
    Json::object([("frames", Json::List(frames))])
}

/// Reads chunk by chunk. A CR at the end of one may be the first half of a CRLF. The end of the stream ends the last
/// line and its event.
fn split_lines(chunks: &[Json]) -> Vec<String> {
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
