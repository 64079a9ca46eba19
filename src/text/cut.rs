//! Cuts folded text into what is indexed and matched.
//!
//! Scripts written without spaces give their characters; everything else gives words. An identifier gives its words, and
//! itself: `src/storeIndex.ts` gives `src`, `store`, `index`, `ts` and `storeindex`, `storeindex.ts`, `src/storeindex.ts`.

#![allow(clippy::indexing_slicing, reason = "every start and end comes from `cut`, which stays within the units")]

use super::fold::{character, class, code};

/// A piece of folded text: where it starts and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// One character of a script written without spaces.
    Char(usize),
    /// A word without parts.
    Word(usize, usize),
    /// Something that has parts, each of which was reported before it.
    Whole(usize, usize),
}

/// The longest identifier that is a term of its own, in characters.
const LONGEST_WHOLE: usize = 64;
/// More changes between letters and digits than this, and it is a number or a hash rather than words.
const HASH_CHANGES: usize = 3;

/// Calls `sink` with each piece, in the order of their ends; a whole comes after its parts.
#[inline]
pub(crate) fn cut(units: &[u32], mut sink: impl FnMut(Cut)) {
    let mut at = 0;
    while let Some(&unit) = units.get(at) {
        if unit & class::UNSPACED != 0 {
            sink(Cut::Char(at));
            at += 1;
        } else if unit & (class::WORD | class::JOINER) != 0 {
            let (mut seen, mut joiners, mut capitals, mut end) = (0, 0, 0, at);
            while let Some(part) =
                units.get(end).map(|unit| unit & (class::WORD | class::JOINER)).filter(|&part| part != 0)
            {
                seen |= part;
                joiners += u32::from(part == class::JOINER);
                capitals += u32::from(part == class::UPPER);
                end += 1;
            }
            // Nearly all words of prose: no capital but the first letter, and a full stop at most.
            let stop = u32::from(units.get(end - 1).is_some_and(|&unit| code(unit) == u32::from('.')));
            let capital = u32::from(unit & class::UPPER != 0);
            if joiners == stop && capitals == capital && seen & class::DIGIT == 0 && end - at > stop as usize {
                sink(Cut::Word(at, end - stop as usize));
            } else {
                compound(units, at, end, &mut sink);
            }
            at = end;
        } else {
            at += 1;
        }
    }
}

/// A run of letters, digits and joiners: its words, its pieces between slashes and the like, and itself.
fn compound(units: &[u32], start: usize, end: usize, sink: &mut impl FnMut(Cut)) {
    let (start, end) = trim(units, start, end);
    let mut at = start;
    let mut piece = start;
    let mut pieces = 0;
    while at < end {
        let unit = units[at];
        if unit & class::WORD != 0 {
            let run = at;
            while at < end && units[at] & class::WORD != 0 {
                at += 1;
            }
            at = contraction(units, run, at, end, sink);
        } else {
            if splits(unit) {
                pieces += 1;
                whole(units, piece, at, sink);
                piece = at + 1;
            }
            at += 1;
        }
    }
    if pieces > 0 {
        whole(units, piece, end, sink);
        if end - start <= LONGEST_WHOLE && units[start..end].iter().any(|unit| unit & class::WORD != 0) {
            sink(Cut::Whole(start, end));
        }
    } else {
        whole(units, start, end, sink);
    }
}

/// Reports `[start, end)` when it has joiners, apostrophes aside; a plain word or run was reported already.
fn whole(units: &[u32], start: usize, end: usize, sink: &mut impl FnMut(Cut)) {
    let (start, end) = trim(units, start, end);
    if start >= end || end - start > LONGEST_WHOLE {
        return;
    }
    let piece = &units[start..end];
    let joins = |&unit: &u32| unit & class::WORD == 0 && character(unit) != '\'';
    if piece.iter().any(joins) && piece.iter().any(|unit| unit & class::WORD != 0) {
        sink(Cut::Whole(start, end));
    }
}

/// Takes sentence punctuation off the end and what means nothing in front off the start: `C++`, `C#`, `100%`, `.env`,
/// `--no-session`, `$HOME`, `/recall` and `#12` keep theirs.
fn trim(units: &[u32], mut start: usize, mut end: usize) -> (usize, usize) {
    let plain = |unit: Option<&u32>| unit.is_some_and(|unit| unit & class::WORD != 0);
    if plain(units.get(start)) && plain(units.get(end.saturating_sub(1))) {
        return (start, end);
    }
    let is = |at: usize, set: &str| {
        units.get(at).is_some_and(|&unit| unit & class::WORD == 0 && set.contains(character(unit)))
    };
    while start < end && is(end - 1, ".:-/='&~@$_\\") {
        end -= 1;
    }
    while start < end
        && (is(start, ":+=%&'\\") || is(start, "/.-#_~@$") && (start + 1 == end || is(start + 1, ":=&'%+")))
    {
        start += 1;
    }
    (start, end)
}

fn splits(unit: u32) -> bool {
    matches!(character(unit), '/' | '\\' | ':' | '@' | '=' | '&')
}

/// English endings after an apostrophe: `'s` is left out, `don't` and `we'll` are one word. Returns where the
/// run goes on.
fn contraction(units: &[u32], start: usize, end: usize, limit: usize, sink: &mut impl FnMut(Cut)) -> usize {
    let is_apostrophe = units.get(end).is_some_and(|&unit| character(unit) == '\'');
    if end < limit && is_apostrophe {
        let rest = &units[end + 1..limit];
        let length = rest.iter().take_while(|&&unit| unit & class::WORD != 0).count();
        let mut ending = String::new();
        super::fold::push_text(&rest[..length.min(3)], &mut ending);
        match ending.as_str() {
            "s" => {
                words(units, start, end, sink);
                return end + 2;
            }
            "t" | "d" | "m" | "ll" | "re" | "ve" => {
                sink(Cut::Word(start, end + 1 + length));
                return end + 1 + length;
            }
            _ => {}
        }
    }
    words(units, start, end, sink);
    end
}

/// A run of letters and digits: its words at changes of case and between letters and digits, and itself.
fn words(units: &[u32], start: usize, end: usize, sink: &mut impl FnMut(Cut)) {
    let kind = |at: usize| units.get(at).map_or(0, |unit| unit & class::WORD);
    let digit = |at: usize| kind(at) == class::DIGIT;
    let changes = (start + 1..end).filter(|&at| digit(at) != digit(at - 1)).count();
    let letters = |mut at: usize, forward: bool| {
        // Whether the letters that begin (or end) at `at` are more than one.
        at = if forward { at + 1 } else { at.wrapping_sub(1) };
        at >= start && at < end && !digit(at)
    };
    let border = |at: usize| {
        let (before, here) = (kind(at - 1), kind(at));
        if digit(at) != digit(at - 1) {
            return changes <= HASH_CHANGES && if digit(at) { letters(at - 1, false) } else { letters(at, true) };
        }
        // camelCase, and the last capital of HTTPServer belongs to Server.
        before == class::LOWER && here == class::UPPER
            || before == class::UPPER && here == class::UPPER && at + 1 < end && kind(at + 1) == class::LOWER
    };
    let mut from = start;
    for at in start + 1..end {
        if border(at) {
            sink(Cut::Word(from, at));
            from = at;
        }
    }
    sink(Cut::Word(from, end));
    if from > start && end - start <= LONGEST_WHOLE {
        sink(Cut::Whole(start, end));
    }
}

#[cfg(test)]
mod tests {
    use super::super::fold::{Folded, push_text};
    use super::*;

    fn pieces(text: &str) -> String {
        let folded = Folded::new(text);
        let mut out = Vec::new();
        cut(folded.units(), |piece| {
            let (start, end, mark) = match piece {
                Cut::Char(at) => (at, at + 1, ""),
                Cut::Word(start, end) => (start, end, ""),
                Cut::Whole(start, end) => (start, end, "*"),
            };
            let mut shown = String::from(mark);
            push_text(&folded.units()[start..end], &mut shown);
            out.push(shown);
        });
        out.join(" ")
    }

    #[test]
    fn identifiers_give_their_words_and_themselves() {
        assert_eq!(pieces("contentless_delete"), "contentless delete *contentless_delete");
        assert_eq!(pieces("contentlessDelete"), "contentless delete *contentlessdelete");
        assert_eq!(pieces("HTTPServer2"), "http server 2 *httpserver2");
        assert_eq!(pieces("src/a.ts,"), "src a ts *a.ts *src/a.ts");
        assert_eq!(pieces("v1.2.3"), "v1 2 3 *v1.2.3");
        assert_eq!(pieces("node.js."), "node js *node.js");
        assert_eq!(pieces("C++ C# .env --no-session 0x1F"), "c *c++ c *c# env *.env no session *--no-session 0x1f");
        assert_eq!(pieces("user@host"), "user host *user@host");
        assert_eq!(pieces("100%"), "100 *100%");
        assert_eq!(pieces("/recall import"), "recall */recall import");
    }

    #[test]
    fn prose_gives_plain_words() {
        assert_eq!(pieces("The end. It's John's; don't - we'll (see)"), "the end it john don't we'll see");
        assert_eq!(pieces("-- ++ ... # = '"), "");
    }

    #[test]
    fn latin_glued_to_han_splits_in_both_orders() {
        assert_eq!(pieces("修改youer服务端"), "修 改 youer 服 务 端");
        assert_eq!(pieces("codex执行任务v2"), "codex 执 行 任 务 v2");
    }

    #[test]
    fn a_hash_is_one_word() {
        assert_eq!(pieces("4f3ab9c1d2"), "4f3ab9c1d2");
    }
}
