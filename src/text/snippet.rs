//! Snippets: the passage of a text that answers a query, with its matches marked.

use super::matcher::{Kind, Matcher, Matches};
use super::terms::Query;

/// A snippet's length in UTF-16 units, about.
const LENGTH: usize = 300;
/// What stands for text left out.
const ELLIPSIS: char = '…';

/// A passage on one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Snippet {
    pub(crate) text: String,
    /// Pairs of UTF-16 positions in `text`.
    pub(crate) marks: Vec<(usize, usize)>,
}

/// The passage of `text` where the query's terms lie closest together. `idf` weighs the matcher's terms.
pub(crate) fn snippet(text: &str, matcher: &Matcher, idf: &[f32], matches: &mut Matches) -> Snippet {
    matcher.find_placed(text, matches);
    let marks = marked(matcher, matches);
    let (from, to) = passage(text, matcher, idf, matches);
    let (from, to) = widen(text, from, to);
    cut(text, from, to, &marks)
}

/// The query's terms in a text, as pairs of UTF-16 positions.
pub fn highlight(text: &str, query: &str) -> Vec<(usize, usize)> {
    let matcher = Matcher::new(&Query::parse(query));
    let mut matches = Matches::default();
    matcher.find_placed(text, &mut matches);
    let mut at = Utf16::new(text);
    marked(&matcher, &matches).into_iter().map(|(start, end)| (at.position(start), at.position(end))).collect()
}

/// The bytes of the matches, ascending, those that touch joined. A character of a longer run is marked with its neighbour
/// or not at all.
fn marked(matcher: &Matcher, matches: &Matches) -> Vec<(usize, usize)> {
    let mut spans: Vec<(usize, usize)> = matches
        .list
        .iter()
        .filter(|found| {
            matcher.terms.get(usize::from(found.term)).is_some_and(|term| !matches!(term.kind, Kind::Char | Kind::Next))
        })
        .map(|found| matches.folded.source(found.start as usize, found.end as usize))
        .filter(|(start, end)| start < end)
        .collect();
    if spans.is_empty() {
        // Nothing but single characters of the query's words is here: then those are what was found.
        spans =
            matches.list.iter().map(|found| matches.folded.source(found.start as usize, found.end as usize)).collect();
    }
    spans.sort_unstable();
    let mut joined: Vec<(usize, usize)> = Vec::with_capacity(spans.len());
    for (start, end) in spans {
        match joined.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => joined.push((start, end)),
        }
    }
    joined
}

/// The bytes from the first to the last match of the best passage.
fn passage(text: &str, matcher: &Matcher, idf: &[f32], matches: &Matches) -> (usize, usize) {
    let weight = |term: u16| idf.get(usize::from(term)).copied().unwrap_or(1.0);
    let mut counts = vec![0u32; matcher.terms.len()];
    let (mut first, mut sum) = (0, 0.0f32);
    let mut best = (f32::MIN, 0, 0);
    let list = &matches.list;
    // Half of the snippet, in folded characters: the rest is for what stands around.
    let reach = (LENGTH / 2) as u32;
    for found in list {
        if let Some(count) = counts.get_mut(usize::from(found.term)) {
            *count += 1;
            // Repetitions count a little, so that of two passages the richer one is shown.
            sum += if *count == 1 { weight(found.term) } else { 0.05 * weight(found.term) };
        }
        while let Some(old) = list.get(first).filter(|old| old.start + reach < found.end) {
            if let Some(count) = counts.get_mut(usize::from(old.term)) {
                *count -= 1;
                sum -= if *count == 0 { weight(old.term) } else { 0.05 * weight(old.term) };
            }
            first += 1;
        }
        // Of passages that hold as much, the tighter one.
        let start = list.get(first).map_or(found.start, |old| old.start);
        let value = sum - 0.0001 * (found.end - start.min(found.end)) as f32;
        if value > best.0 {
            best = (value, start as usize, found.end as usize);
        }
    }
    if list.is_empty() { (0, 0) } else { matches.folded.source(best.1, best.2) }.min((text.len(), text.len()))
}

/// Widens a passage to the snippet's length, to the borders of sentences or words.
fn widen(text: &str, from: usize, to: usize) -> (usize, usize) {
    let inside = utf16(text.get(from..to).unwrap_or_default());
    let room = LENGTH.saturating_sub(inside);
    // A third of the room before the passage; what one side does not need the other may have.
    let before = text.get(..from).unwrap_or_default();
    let after = text.get(to..).unwrap_or_default();
    let all_before = utf16_up_to(before.chars().rev(), room);
    let all_after = utf16_up_to(after.chars(), room);
    let want_before = (room / 3).max(room.saturating_sub(all_after)).min(all_before);
    let want_after = (room - want_before).min(all_after);
    let start = start_of(before, want_before);
    let end = to + end_of(after, want_after);
    (start, end)
}

fn utf16(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

fn utf16_up_to(chars: impl Iterator<Item = char>, most: usize) -> usize {
    let mut sum = 0;
    for c in chars {
        sum += c.len_utf16();
        if sum >= most {
            return most;
        }
    }
    sum
}

/// Where to start so that about `want` units of `before` are shown.
fn start_of(before: &str, want: usize) -> usize {
    let mut sum = 0;
    let mut word = None;
    let mut sentence = None;
    let mut previous = before.len();
    for (at, c) in before.char_indices().rev() {
        // `previous` is where the text after `c` starts.
        if c.is_whitespace() || !c.is_ascii() {
            word = Some(previous);
        }
        if ends_sentence(c) {
            sentence = Some(previous);
        }
        sum += c.len_utf16();
        if sum > want {
            // A sentence's border when it does not cost more than half of what there is.
            let enough = |at: &usize| (before.len() - at) * 2 >= before.len() - previous;
            return sentence.filter(enough).or(word.filter(enough)).unwrap_or(previous);
        }
        previous = at;
    }
    0
}

/// Where to end so that about `want` units of `after` are shown.
fn end_of(after: &str, want: usize) -> usize {
    let mut sum = 0;
    let mut word = None;
    let mut sentence = None;
    for (at, c) in after.char_indices() {
        if c.is_whitespace() || !c.is_ascii() {
            word = Some(at);
        }
        sum += c.len_utf16();
        if sum > want {
            let enough = |end: &usize| end * 2 >= at;
            return sentence.filter(enough).or(word.filter(enough)).unwrap_or(at);
        }
        if ends_sentence(c) {
            sentence = Some(at + c.len_utf8());
        }
    }
    after.len()
}

fn ends_sentence(c: char) -> bool {
    matches!(c, '\n' | '。' | '！' | '？' | '；' | '!' | '?')
}

/// The bytes `[from, to)` of `text` on one line, with the marks that fall into them.
fn cut(text: &str, from: usize, to: usize, marks: &[(usize, usize)]) -> Snippet {
    let mut out = Snippet::default();
    let mut at = 0;
    let mut push = |c: char, out: &mut String| {
        out.push(c);
        at += c.len_utf16();
        at
    };
    let before = text.get(..from).unwrap_or_default();
    let mut position = 0;
    if !before.trim().is_empty() {
        position = push(ELLIPSIS, &mut out.text);
    }
    let mut marks = marks.iter().copied().filter(|&(start, end)| start < to && end > from).peekable();
    let mut open: Option<usize> = None;
    let mut space = false;
    let mut started = false;
    for (offset, c) in text.get(from..to).unwrap_or_default().char_indices() {
        let here = from + offset;
        if let (Some(start), Some(&(_, end))) = (open, marks.peek())
            && here >= end
        {
            out.marks.push((start, position));
            open = None;
            marks.next();
        }
        if c.is_whitespace() {
            space = true;
            continue;
        }
        if space && started {
            position = push(' ', &mut out.text);
        }
        space = false;
        started = true;
        while marks.peek().is_some_and(|&(_, end)| end <= here) {
            marks.next();
        }
        if open.is_none() && marks.peek().is_some_and(|&(start, _)| start <= here) {
            open = Some(position);
        }
        position = push(c, &mut out.text);
    }
    if let Some(start) = open {
        out.marks.push((start, position));
    }
    if !text.get(to..).unwrap_or_default().trim().is_empty() {
        push(ELLIPSIS, &mut out.text);
    }
    out
}

/// Turns ascending byte positions of a text into UTF-16 ones.
struct Utf16<'a> {
    text: &'a str,
    byte: usize,
    unit: usize,
}

impl<'a> Utf16<'a> {
    fn new(text: &'a str) -> Self {
        Utf16 { text, byte: 0, unit: 0 }
    }

    fn position(&mut self, byte: usize) -> usize {
        self.unit += utf16(self.text.get(self.byte..byte).unwrap_or_default());
        self.byte = byte.max(self.byte);
        self.unit
    }
}
