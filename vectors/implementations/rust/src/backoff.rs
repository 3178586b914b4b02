use crate::json::Content;
use serde_json::{json, Value};

pub fn time(input: &Value) -> Value {
    // A float holds no 2^1024, and zero times infinity is not a number.
    let longest = |attempt: f64| {
        let factor = 2_f64.powf(attempt.min(1023.0));
        (input["base_ms"].number() * factor).min(input["max_ms"].number())
    };
    if !input["headers"].is_null() {
        return json!({ "retry_after_ms": retry_after(input) });
    }
    if !input["attempts"].is_null() {
        let attempts = input["attempts"].list().iter();
        return json!({ "caps_ms": attempts.map(|attempt| longest(attempt.number())).collect::<Vec<_>>() });
    }
    let reset = input["reset_after"].number() as usize;
    let delays = input["random"].list().iter().enumerate().map(|(at, random)| {
        let attempt = if at >= reset { at - reset } else { at };
        random.number() * longest(attempt as f64)
    });
    json!({ "delays_ms": delays.collect::<Vec<_>>() })
}

fn retry_after(input: &Value) -> Option<f64> {
    let after = input["headers"]["retry-after"].text();
    to_number(input["headers"]["retry-after-ms"].text())
        .or_else(|| to_number(after).map(|seconds| seconds * 1000.0))
        .or_else(|| to_time(after).map(|time| (time - input["now"].number()).max(0.0)))
        .or_else(|| in_words(&input["text"].text().to_lowercase()))
}

/// Digits, with a fraction or not.
fn to_number(text: &str) -> Option<f64> {
    let is_number =
        text.split('.').all(|part| !part.is_empty() && part.bytes().all(|one| one.is_ascii_digit()));
    if is_number {
        text.parse().ok()
    } else {
        None
    }
}

/// "Please try again in 1.2s", "retry after 20 sec".
fn in_words(text: &str) -> Option<f64> {
    ["try again in", "try again after", "retry in", "retry after"].iter().find_map(|words| {
        let rest = text.split_once(words)?.1.trim_start();
        let (number, unit) = rest.split_at(rest.find(|char: char| !"0123456789.".contains(char))?);
        let unit: String = unit.trim_start().chars().take_while(|char| char.is_alphanumeric()).collect();
        let factor = if unit.starts_with("ms") { 1.0 } else { 1000.0 };
        let is_known = unit == "s" || unit.starts_with("ms") || unit.starts_with("sec");
        if is_known {
            to_number(number).map(|number| number * factor)
        } else {
            None
        }
    })
}

/// The milliseconds of a date such as "Wed, 21 Oct 2026 07:28:30 GMT".
fn to_time(text: &str) -> Option<f64> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let mut words = text.strip_suffix(" GMT")?.split(' ').skip(1);
    let (day, month, year, clock) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let (day, year): (i64, i64) = (day.parse().ok()?, year.parse().ok()?);
    // Years that begin in March end with the leap day.
    let month = (MONTHS.find(month)? as i64 / 3 + 10) % 12;
    let year = if month >= 10 { year - 1 } else { year };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719_469;
    let seconds = clock.split(':').try_fold(0, |sum, part| Some(sum * 60 + part.parse::<i64>().ok()?))?;
    Some((days * 86_400 + seconds) as f64 * 1000.0)
}
