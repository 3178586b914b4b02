use crate::conditions::{command_verdict, path_verdict, real_path, Verdict};
use crate::{glob::matches, json::Content};
use serde_json::{json, Value};
use std::fs;

/// What an argument holds.
struct Thing<'a> {
    argument: &'a str,
    kind: &'a str,
    value: Value,
}

pub fn decide(given: &Value) -> Value {
    let folder = std::env::temp_dir().join(format!("vectors-{}", std::process::id()));
    fs::create_dir(&folder).expect("a temporary folder");
    let root = real_path(&folder.to_string_lossy());
    let input: Value = serde_json::from_str(&given.to_string().replace("{root}", &root)).expect("JSON");
    for (path, content) in input["files"].fields() {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, content.text()).expect("a file");
    }
    for (path, target) in input["links"].fields() {
        std::os::unix::fs::symlink(target.text(), folder.join(path)).expect("a link");
    }
    let decided = evaluate(&root, &input);
    fs::remove_dir_all(folder).expect("the temporary folder");
    let (mode, tier, rule) = decided.unwrap_or(("prompt", "default", Value::Null));
    json!({ "mode": mode, "tier": tier, "rule": rule })
}

fn evaluate<'a>(root: &str, input: &'a Value) -> Option<(&'a str, &'static str, Value)> {
    let (name, values) = (input["call"]["name"].text(), &input["call"]["input"]);
    let (holds, mut things) = (&input["actions"][name], vec![]);
    holds.fields().iter().for_each(|(key, held)| declare(key, held, &values[key], &mut things));
    // A foreign tool does not declare what its arguments hold.
    if holds.is_null() {
        values.fields().iter().for_each(|(key, value)| declare(key, &Value::Null, value, &mut things));
        guess(values, &mut things);
    }
    let votes = ["user", "project", "local", "environment"].into_iter().filter_map(|tier| {
        let rules = input["tiers"][tier].list();
        let at = rules.iter().position(|rule| applies(root, rule, name, &things))?;
        Some((rules[at]["mode"].text(), tier, at.into()))
    });
    // The first of equally strict ones is of the highest tier.
    votes.min_by_key(|(mode, ..)| ["deny", "prompt", "allow"].iter().position(|one| one == mode))
}

fn declare<'a>(argument: &'a str, held: &'a Value, value: &Value, things: &mut Vec<Thing<'a>>) {
    let mut add = |kind, value: &Value| things.push(Thing { argument, kind, value: value.clone() });
    match (held, held.text(), value) {
        (_, "tree", Value::Null) => add("tree", &".".into()),
        (_, _, Value::Null) => {}
        (_, "patch", Value::String(patch)) => {
            let paths: Vec<&str> = patch.lines().filter_map(patched_path).collect();
            // Without one it may be about any file: a URL is a path that nobody can compare.
            let paths = if paths.is_empty() { vec!["any://"] } else { paths };
            let files = paths.iter().filter(|path| **path != "/dev/null");
            files.for_each(|path| add("path", &(*path).into()));
        }
        (_, "patch", _) => {}
        (_, kind, Value::Array(items)) if kind != "command" => {
            items.iter().for_each(|item| declare(argument, held, item, things))
        }
        (Value::Array(inner), _, fields) => inner[0].fields().iter().for_each(|(name, held)| {
            let before = things.len();
            declare(name, held, &fields[name], things);
            things[before..].iter_mut().for_each(|thing| thing.argument = argument);
        }),
        (_, "", Value::Object(_)) => add("object", value),
        (_, _, Value::Object(fields)) if fields.is_empty() => {}
        (_, kind, _) => add(if kind.is_empty() { "value" } else { kind }, value),
    }
}

fn patched_path(line: &str) -> Option<&str> {
    let starts = ["--- a/", "--- ", "+++ b/", "+++ ", "rename from ", "rename to ", "copy from ", "copy to "];
    let added = || line.strip_prefix("*** ")?.split_once(": ").map(|(_, path)| path);
    starts.iter().find_map(|start| line.strip_prefix(start)).or_else(added)
}

/// Every text in the input of a foreign tool may be a path or a command.
fn guess(value: &Value, things: &mut Vec<Thing>) {
    value.list().iter().for_each(|inner| guess(inner, things));
    value.fields().iter().for_each(|(_, inner)| guess(inner, things));
    let kinds: &[&str] = if value.is_string() { &["tree", "command", "foreign"] } else { &[] };
    things.extend(kinds.iter().map(|kind| Thing { argument: "", kind, value: value.clone() }));
}

/// A bare tool or server in the pattern stands for all in it.
fn applies(root: &str, rule: &Value, name: &str, things: &[Thing]) -> bool {
    let pattern = rule["tool_pattern"].text();
    let is_server = pattern.strip_prefix("mcp__").map_or(false, |server| !server.contains("__"));
    let below = format!("{}{}", pattern, if is_server { "__*" } else { ".*" });
    let is_bare = !pattern.contains(['.', '*', '?', '{', '}', '[', ']']);
    let is_named = matches(pattern, name) || (is_bare && matches(&below, name));
    let is_allow = rule["mode"].text() == "allow";
    is_named
        && rule["args"]
            .fields()
            .iter()
            .all(|(argument, wanted)| holds(root, argument, wanted, is_allow, things))
}

fn holds(root: &str, argument: &str, wanted: &Value, is_allow: bool, things: &[Thing]) -> bool {
    let is_command = argument == "command" && wanted[0].is_string();
    let is_list = wanted.is_array() && !is_command;
    let choices = if is_list { wanted.list() } else { std::slice::from_ref(wanted) };
    let best = |thing| choices.iter().map(|choice| judge(root, thing, choice)).max();
    let mut found = things.iter().filter(|thing| is_about(argument, thing)).filter_map(best).peekable();
    if is_allow {
        return found.peek().is_some() && found.all(|verdict| verdict == Verdict::Sure);
    }
    found.any(|verdict| verdict >= Verdict::Maybe)
}

/// A condition on path or command looks at every such argument, any other at the argument of its name.
fn is_about(argument: &str, thing: &Thing) -> bool {
    match argument {
        "path" => ["path", "tree", "foreign"].contains(&thing.kind),
        "command" => ["command", "environment", "foreign"].contains(&thing.kind),
        name => thing.argument == name,
    }
}

fn judge(root: &str, Thing { kind, value, .. }: &Thing, wanted: &Value) -> Verdict {
    match (*kind, value) {
        ("path" | "tree", _) => path_verdict(root, value.text(), wanted.text(), *kind == "tree"),
        ("command", _) => command_verdict(value, wanted),
        ("object", _) => Verdict::Maybe,
        ("value", Value::String(text)) if matches(wanted.text(), text) => Verdict::Sure,
        ("value", _) if value == wanted => Verdict::Sure,
        _ => Verdict::No,
    }
}
