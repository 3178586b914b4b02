//! JSON, which the standard library lacks. The input comes from the tester, so a malformed one ends the program.

#[derive(Clone, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub fn object<const N: usize>(fields: [(&str, Json); N]) -> Json {
        Json::Object(fields.map(|(name, value)| (name.into(), value)).into())
    }
    pub fn text(&self) -> &str {
        if let Json::Text(text) = self {
            text
        } else {
            ""
        }
    }
    pub fn number(&self) -> f64 {
        if let Json::Number(number) = self {
            *number
        } else {
            0.0
        }
    }
    pub fn list(&self) -> &[Json] {
        if let Json::List(list) = self {
            list
        } else {
            &[]
        }
    }
    pub fn fields(&self) -> &[(String, Json)] {
        if let Json::Object(fields) = self {
            fields
        } else {
            &[]
        }
    }
}

/// The field of an object; null when it is absent.
impl std::ops::Index<&str> for Json {
    type Output = Json;
    fn index(&self, name: &str) -> &Json {
        self.fields().iter().find(|field| field.0 == name).map_or(&Json::Null, |field| &field.1)
    }
}

impl std::fmt::Display for Json {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Json::Null => write!(out, "null"),
            Json::Bool(value) => write!(out, "{}", value),
            Json::Number(value) => write!(out, "{}", value),
            Json::Text(text) => write!(out, "\"{}\"", escape(text)),
            Json::List(items) => {
                write!(out, "[{}]", items.iter().map(Json::to_string).collect::<Vec<_>>().join(","))
            }
            Json::Object(fields) => {
                let fields = fields.iter().map(|(name, value)| format!("\"{}\":{}", escape(name), value));
                write!(out, "{{{}}}", fields.collect::<Vec<_>>().join(","))
            }
        }
    }
}

fn escape(text: &str) -> String {
    let is_sign = |char| char < ' ' || char == '"' || char == '\\';
    text.chars()
        .map(|char| if is_sign(char) { format!("\\u{:04x}", char as u32) } else { char.into() })
        .collect()
}

pub fn parse(mut text: &str) -> Json {
    read(&mut text)
}

fn read(rest: &mut &str) -> Json {
    *rest = rest.trim_start();
    match rest.as_bytes()[0] {
        b'{' => Json::Object(read_items(rest, '}', |rest| {
            let name = read(rest).text().into();
            *rest = rest.trim_start().strip_prefix(':').expect("a colon");
            (name, read(rest))
        })),
        b'[' => Json::List(read_items(rest, ']', read)),
        b'"' => Json::Text(read_text(rest)),
        _ => {
            let (word, after) = rest.split_at(rest.find([',', ']', '}']).unwrap_or(rest.len()));
            *rest = after;
            match word.trim_end() {
                "null" => Json::Null,
                "true" | "false" => Json::Bool(word.starts_with('t')),
                number => Json::Number(number.parse().expect("a JSON value")),
            }
        }
    }
}

fn read_items<Item>(rest: &mut &str, end: char, read_item: fn(&mut &str) -> Item) -> Vec<Item> {
    *rest = rest[1..].trim_start();
    let mut items = vec![];
    while !rest.starts_with(end) {
        items.push(read_item(rest));
        *rest = rest.trim_start().trim_start_matches(',').trim_start();
    }
    *rest = &rest[1..];
    items
}

/// Collected as UTF-16, since two escapes may be one character.
fn read_text(rest: &mut &str) -> String {
    let (mut units, mut chars) = (vec![], rest[1..].chars());
    loop {
        match chars.next().expect("the end of the text") {
            '"' => break,
            '\\' => units.push(match chars.next().expect("an escape") {
                'u' => {
                    u16::from_str_radix(&chars.by_ref().take(4).collect::<String>(), 16).expect("four digits")
                }
                sign => "bfnrt".find(sign).map_or(sign as u16, |at| [8, 12, 10, 13, 9][at]),
            }),
            char => units.extend(char.encode_utf16(&mut [0; 2]).iter()),
        }
    }
    *rest = chars.as_str();
    String::from_utf16_lossy(&units)
}
