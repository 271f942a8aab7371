//! Expressions such as `(MIT OR Apache-2.0) AND Unicode-3.0`.

/// Whether an expression can be met with the licences of a list. `None` if it cannot be read.
///
/// `WITH` joins a licence and its exception to one name; `/` is an old way to write `OR`.
pub(crate) fn is_met(expression: &str, allowed: &[String]) -> Option<bool> {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ")
        .replace(" WITH ", "+WITH+");
    let words: Vec<_> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let met = any(&mut rest, allowed)?;
    rest.is_empty().then_some(met)
}

fn any(rest: &mut &[&str], allowed: &[String]) -> Option<bool> {
    let mut met = all(rest, allowed)?;
    while let ["OR", others @ ..] = *rest {
        *rest = others;
        met |= all(rest, allowed)?;
    }
    Some(met)
}

fn all(rest: &mut &[&str], allowed: &[String]) -> Option<bool> {
    let mut met = one(rest, allowed)?;
    while let ["AND", others @ ..] = *rest {
        *rest = others;
        met &= one(rest, allowed)?;
    }
    Some(met)
}

fn one(rest: &mut &[&str], allowed: &[String]) -> Option<bool> {
    let (first, others) = rest.split_first()?;
    *rest = others;
    match *first {
        "(" => {
            let met = any(rest, allowed)?;
            let (")", others) = rest.split_first().map(|(it, others)| (*it, others))? else {
                return None;
            };
            *rest = others;
            Some(met)
        }
        ")" | "OR" | "AND" | "WITH" => None,
        name => {
            let name = name.replace("+WITH+", " WITH ");
            Some(allowed.contains(&name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_decided() {
        let allowed = [
            "MIT",
            "Apache-2.0",
            "Apache-2.0 WITH LLVM-exception",
            "Unicode-3.0",
        ];
        let allowed = allowed.map(str::to_owned);
        for (expression, expected) in [
            ("MIT", Some(true)),
            ("GPL-3.0", Some(false)),
            ("GPL-3.0 OR MIT", Some(true)),
            ("GPL-3.0/MIT", Some(true)),
            ("GPL-3.0 AND MIT", Some(false)),
            ("(MIT OR GPL-3.0) AND Unicode-3.0", Some(true)),
            ("MIT OR GPL-3.0 AND GPL-2.0", Some(true)),
            ("GPL-2.0 AND (MIT OR GPL-3.0)", Some(false)),
            ("Apache-2.0 WITH LLVM-exception", Some(true)),
            ("MIT WITH LLVM-exception", Some(false)),
            ("MIT OR", None),
            ("(MIT", None),
            ("MIT)", None),
            ("MIT Apache-2.0", None),
            ("", None),
        ] {
            assert_eq!(is_met(expression, &allowed), expected, "{expression}");
        }
    }
}
