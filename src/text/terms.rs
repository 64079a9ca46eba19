//! Terms: what the index holds of a text, and what a query asks of it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hash, Hasher};

use rust_stemmers::{Algorithm, Stemmer};

use super::fold::{Folded, character, class, push_text};
use super::{Cut, cut};

/// The longest word that is told apart from another, in characters.
const LONGEST_WORD: usize = 64;
/// A query is read up to this many words or characters; what follows is left out.
pub(crate) const LONGEST_QUERY: usize = 400;

/// Stems the indexer remembers.
const STEMS_KEPT: usize = 20_000;

/// A hasher that makes do with one multiplication for each word: fast, and good enough where no key is chosen to collide.
#[derive(Clone, Copy, Default)]
pub(crate) struct FastHasher(u64);

impl Hasher for FastHasher {
    fn finish(&self) -> u64 {
        // The map takes its place from the low bits, which a multiplication leaves the poorest.
        self.0.rotate_left(26)
    }
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
            self.write_u64(u64::from_le_bytes(word));
        }
    }
    fn write_u8(&mut self, byte: u8) {
        self.write_u64(byte.into());
    }
    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }
    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(26) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    fn write_i64(&mut self, word: i64) {
        self.write_u64(word as u64);
    }
    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}

/// Makes [`FastHasher`]s for the maps and sets of a search.
pub(crate) type FastHash = BuildHasherDefault<FastHasher>;

fn hash(text: &str) -> u64 {
    let mut hasher = FastHasher::default();
    text.hash(&mut hasher);
    hasher.finish()
}

/// The term of a folded word: its English stem.
pub(crate) fn stem(word: &str) -> Cow<'_, str> {
    thread_local!(static ENGLISH: Stemmer = Stemmer::create(Algorithm::English));
    if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'\'') {
        return Cow::Borrowed(word);
    }
    ENGLISH.with(|english| english.stem(word))
}

/// The word `[start, end)`, cut at the longest that is told apart.
pub(crate) fn push_word(units: &[u32], start: usize, end: usize, into: &mut String) {
    into.clear();
    push_text(units.get(start..end.min(start + LONGEST_WORD)).unwrap_or_default(), into);
}

/// The distinct terms of a text, with a space between each two.
pub fn index_terms(text: &str) -> String {
    thread_local!(static INDEXER: RefCell<Indexer> = RefCell::default());
    INDEXER.with(|indexer| match indexer.try_borrow_mut() {
        Ok(mut indexer) => indexer.terms(text),
        Err(_) => Indexer::default().terms(text),
    })
}

/// A query, cut the way texts are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query {
    /// Its characters and words, in order.
    pub(crate) atoms: Vec<Atom>,
    /// The terms of its identifiers and the like, which its atoms are parts of.
    pub(crate) wholes: Vec<String>,
    /// What stood in quotes.
    pub(crate) phrases: Vec<Phrase>,
    /// The query was longer than is read.
    pub(crate) cut_short: bool,
}

/// A character or word of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Atom {
    /// As written, folded.
    pub(crate) text: String,
    /// What the index holds for it.
    pub(crate) term: String,
    /// A character of a script written without spaces.
    pub(crate) unspaced: bool,
    /// Nothing stands between it and the atom before it.
    pub(crate) glued: bool,
}

/// Quoted text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Phrase {
    /// Folded characters, each run of white space one space.
    pub(crate) units: Vec<u32>,
    /// The atoms that stand in it.
    pub(crate) atoms: std::ops::Range<usize>,
}

impl Query {
    /// Reads a query: text, and text in double quotes. A quote without its partner is no quote.
    pub(crate) fn parse(query: &str) -> Query {
        let folded = Folded::new(query);
        let units = folded.units();
        let mut parsed = Query::default();
        let quotes: Vec<usize> =
            (0..units.len()).filter(|&at| units.get(at).copied().map(character) == Some('"')).collect();
        let mut from = 0;
        for pair in quotes.chunks_exact(2) {
            let &[open, close] = pair else { continue };
            parsed.read(units.get(from..open).unwrap_or_default());
            let quoted = units.get(open + 1..close).unwrap_or_default();
            let start = parsed.atoms.len();
            parsed.read(quoted);
            let end = parsed.atoms.len();
            let mut text = Vec::with_capacity(quoted.len());
            squeeze(quoted, &mut text);
            if !text.is_empty() && end > start {
                parsed.phrases.push(Phrase { units: text, atoms: start..end });
            }
            from = close + 1;
        }
        parsed.read(units.get(from..).unwrap_or_default());
        parsed
    }

    fn read(&mut self, units: &[u32]) {
        let mut word = String::new();
        let mut ended = None;
        // Where the last atom starts: a whole whose parts were too many to be read is none.
        let mut last = None;
        cut(units, |piece| {
            let (start, end) = match piece {
                Cut::Char(at) => (at, at + 1),
                Cut::Word(start, end) | Cut::Whole(start, end) => (start, end),
            };
            push_word(units, start, end, &mut word);
            if let Cut::Whole(..) = piece {
                if last >= Some(start) {
                    self.wholes.push(stem(&word).into_owned());
                }
                return;
            }
            if self.atoms.len() >= LONGEST_QUERY {
                self.cut_short = true;
                return;
            }
            let unspaced = matches!(piece, Cut::Char(_));
            let term = if unspaced { word.clone() } else { stem(&word).into_owned() };
            self.atoms.push(Atom { text: word.clone(), term, unspaced, glued: ended == Some(start) });
            last = Some(start);
            ended = Some(end);
        });
    }
}

/// Appends folded units with each run of white space made one space and none at the ends.
pub(crate) fn squeeze(units: &[u32], into: &mut Vec<u32>) {
    let mut space = false;
    for &unit in units {
        if unit & class::SPACE != 0 {
            space = true;
        } else {
            if space && !into.is_empty() {
                into.push(class::SPACE | ' ' as u32);
            }
            space = false;
            into.push(unit);
        }
    }
}

#[derive(Default)]
struct Indexer {
    folded: Folded,
    chars: HashSet<u64, FastHash>,
    words: HashSet<u64, FastHash>,
    stemmed: HashSet<u64, FastHash>,
    word: String,
    /// Stems of words met lately, by the word's hash: stemming is most of the cost of English.
    stems: HashMap<u64, Box<str>, FastHash>,
}

impl Indexer {
    fn terms(&mut self, text: &str) -> String {
        let Indexer { folded, chars, words, stemmed, word, stems } = self;
        folded.set_unplaced(text);
        chars.clear();
        words.clear();
        stemmed.clear();
        if stems.len() > STEMS_KEPT {
            stems.clear();
        }
        let units = folded.units();
        let mut out = String::with_capacity(text.len() * 2);
        let mut before: Option<(usize, char)> = None;
        cut(units, |piece| match piece {
            Cut::Char(at) => {
                let c = units.get(at).copied().map_or(' ', character);
                if chars.insert(c as u64) {
                    out.push(c);
                    out.push(' ');
                }
                if let Some((_, first)) = before.filter(|&(place, _)| place + 1 == at)
                    && chars.insert((first as u64) << 32 | c as u64)
                {
                    out.push(first);
                    out.push(c);
                    out.push(' ');
                }
                before = Some((at, c));
            }
            Cut::Word(start, end) | Cut::Whole(start, end) => {
                push_word(units, start, end, word);
                let key = hash(word);
                if words.insert(key) {
                    let stem = stems.entry(key).or_insert_with(|| stem(word).into());
                    if stemmed.insert(hash(stem)) {
                        out.push_str(stem);
                        out.push(' ');
                    }
                }
            }
        });
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_gives_each_term_once() {
        assert_eq!(index_terms("缓存缓存 cached caches Cache"), "缓 存 缓存 存缓 cach ");
    }

    #[test]
    fn white_space_parts_characters() {
        assert_eq!(index_terms("缓 存"), "缓 存 ");
    }

    #[test]
    fn an_endless_word_is_cut() {
        assert_eq!(index_terms(&"a".repeat(1 << 20)).len(), LONGEST_WORD + 1);
    }

    #[test]
    fn no_term_starts_like_a_filter() {
        assert!(index_terms("!s1 !!x! a!b 中!p5").split(' ').all(|term| !term.starts_with('!')));
    }

    #[test]
    fn quotes_make_phrases_and_a_lone_quote_does_not() {
        let query = Query::parse("before \"全文  检索\" after");
        assert_eq!(query.phrases.len(), 1);
        assert_eq!(query.phrases[0].atoms, 1..5);
        assert_eq!(query.atoms.len(), 6);
        assert!(Query::parse("5\" disk").phrases.is_empty());
        assert!(Query::parse("\"\" \"...\"").phrases.is_empty());
    }

    #[test]
    fn an_identifier_is_a_term_beside_its_words() {
        let query = Query::parse("see src/a.ts 中");
        let atoms: Vec<&str> = query.atoms.iter().map(|atom| atom.term.as_str()).collect();
        assert_eq!(atoms, ["see", "src", "a", "ts", "中"]);
        assert_eq!(query.wholes, ["a.ts", "src/a.ts"]);
        assert!(!query.atoms[4].glued);
    }
}
