pub fn matches(glob: &str, text: &str) -> bool {
    let inner =
        glob.split_once('{').and_then(|(_, rest)| rest.split_once('}')).map_or("", |(inner, _)| inner);
    if inner.is_empty() {
        return fits(&glob.chars().collect::<Vec<_>>(), &text.chars().collect::<Vec<_>>());
    }
    inner.split(',').any(|one| matches(&glob.replacen(&format!("{{{}}}", inner), one, 1), text))
}

fn fits(glob: &[char], text: &[char]) -> bool {
    let end = glob.iter().position(|&char| char == ']').unwrap_or(0);
    let skips = |end: usize, rest| (0..=end).any(|at| fits(rest, &text[at..]));
    match (glob, text) {
        ([], _) => text.is_empty(),
        (['/', '*', '*'], _) => text.is_empty() || text[0] == '/',
        (['*', '*', '/', rest @ ..], _) => {
            fits(rest, text) || (1..=text.len()).any(|at| text[at - 1] == '/' && fits(rest, &text[at..]))
        }
        (['*', '*', rest @ ..], _) => skips(text.len(), rest),
        (['*', rest @ ..], _) => skips(text.iter().position(|&char| char == '/').unwrap_or(text.len()), rest),
        (['?', rest @ ..], [one, after @ ..]) => *one != '/' && fits(rest, after),
        (['[', ..], [one, after @ ..]) if end > 1 => {
            let is_not = matches!(glob[1], '!' | '^');
            let class = &glob[1 + usize::from(is_not)..end];
            let in_range = class.windows(3).any(|part| part[1] == '-' && (part[0]..=part[2]).contains(one));
            (class.contains(one) || in_range) != is_not && fits(&glob[end + 1..], after)
        }
        (['\\', sign, rest @ ..] | [sign, rest @ ..], [one, after @ ..]) => sign == one && fits(rest, after),
        _ => false,
    }
}
