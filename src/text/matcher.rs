//! Finds a query's terms in a text.

use std::collections::HashMap;

use super::fold::{Folded, class, code};
use super::terms::{FastHash, Query, push_word, stem};
use super::{Cut, cut};

/// What sort of term a query's term is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One character of a run that has pairs; it weighs little.
    Char,
    /// One character that stands alone.
    Single,
    /// Two characters that stand together.
    Pair,
    /// A word, by its stem.
    Word,
    /// An identifier or the like, as written.
    Whole,
    /// Two words, or a word and a character, one after the other. The index does not hold these.
    Next,
}

/// One distinct term of a query.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    /// As the index holds it.
    pub(crate) text: String,
    pub(crate) kind: Kind,
    /// How often the query says it.
    pub(crate) times: u32,
}

/// A term found in a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Match {
    /// Which of the matcher's terms.
    pub(crate) term: u16,
    /// The word is the query's own, not just of the same stem.
    pub(crate) exact: bool,
    /// Which character or word of the text its last atom is, counted from 1.
    pub(crate) place: u32,
    /// Where it stands in the folded text.
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// What a text was found to hold. Reusable.
#[derive(Default)]
pub(crate) struct Matches {
    pub(crate) folded: Folded,
    pub(crate) list: Vec<Match>,
    /// Characters and words of the text.
    pub(crate) length: u32,
    word: String,
    /// For words of the texts read so far, by their hash, the query's term they are and whether exactly; stemming each
    /// again would be most of the cost of English.
    met: HashMap<u64, Option<(u16, bool)>, FastHash>,
}

/// A query's terms, ready to be found in many texts.
#[derive(Default)]
pub(crate) struct Matcher {
    pub(crate) terms: Vec<Term>,
    phrases: Vec<Vec<u32>>,
    /// A bit for each character of the basic plane, which the other planes' share: most characters of a text end here.
    some_chars: Vec<u64>,
    chars: HashMap<u32, u16, FastHash>,
    /// Bits for the first two letters of the query's words and identifiers.
    some_words: Vec<u64>,
    exact: HashMap<String, u16, FastHash>,
    stems: HashMap<String, u16, FastHash>,
    wholes: HashMap<String, u16, FastHash>,
    pairs: HashMap<(u16, u16), u16, FastHash>,
}

/// Bits that characters are folded onto.
const CHAR_BITS: usize = 1 << 16;
/// Bits that the first two letters of words are folded onto.
const WORD_BITS: usize = 1 << 10;

fn test(bits: &[u64], bit: usize) -> bool {
    bits.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 != 0)
}

fn set(bits: &mut [u64], bit: usize) {
    if let Some(word) = bits.get_mut(bit / 64) {
        *word |= 1 << (bit % 64);
    }
}

/// The bit of a word's first two letters; stemming can turn y into i and takes nothing off the front.
fn word_bit(units: &[u32]) -> usize {
    const Y: u32 = 'y' as u32;
    let letter = |at: usize| match units.get(at).map_or(0, |&unit| code(unit)) {
        Y => 'i' as u32,
        letter => letter,
    };
    (letter(0) * 31 + letter(1)) as usize % WORD_BITS
}

fn hash(units: &[u32]) -> u64 {
    units.iter().fold(units.len() as u64, |hash, &unit| {
        (hash.rotate_left(23) ^ u64::from(code(unit))).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

impl Matcher {
    /// The terms of a query.
    pub(crate) fn new(query: &Query) -> Matcher {
        let mut matcher =
            Matcher { some_chars: vec![0; CHAR_BITS / 64], some_words: vec![0; WORD_BITS / 64], ..Matcher::default() };
        matcher.phrases = query.phrases.iter().map(|phrase| phrase.units.clone()).collect();
        let atoms = &query.atoms;
        let tight = |at: usize| {
            // Whether this atom and the one before it are one pair of characters.
            at.checked_sub(1)
                .and_then(|before| atoms.get(before))
                .zip(atoms.get(at))
                .is_some_and(|(a, b)| a.unspaced && b.unspaced && b.glued)
        };
        let mut ids = Vec::with_capacity(atoms.len());
        for (at, atom) in atoms.iter().enumerate() {
            let kind = match (atom.unspaced, tight(at) || tight(at + 1)) {
                (false, _) => Kind::Word,
                (true, true) => Kind::Char,
                (true, false) => Kind::Single,
            };
            let id = matcher.add(&atom.term, kind);
            ids.push(id);
            if atom.unspaced {
                if let Some(code) = atom.text.chars().next().map(u32::from) {
                    matcher.chars.insert(code, id);
                    set(&mut matcher.some_chars, code as usize % CHAR_BITS);
                }
            } else {
                let units = Folded::new(&atom.text);
                set(&mut matcher.some_words, word_bit(units.units()));
                matcher.exact.insert(atom.text.clone(), id);
                matcher.stems.insert(atom.term.clone(), id);
            }
        }
        for at in 1..atoms.len() {
            let (Some(&a), Some(&b)) = (ids.get(at - 1), ids.get(at)) else { continue };
            let (Some(first), Some(second)) = (atoms.get(at - 1), atoms.get(at)) else { continue };
            let (text, kind) = if tight(at) {
                (format!("{}{}", first.term, second.term), Kind::Pair)
            } else {
                (format!("{} {}", first.term, second.term), Kind::Next)
            };
            let id = matcher.add(&text, kind);
            matcher.pairs.insert((a, b), id);
        }
        for whole in &query.wholes {
            // A whole that is also one of the query's words needs no term of its own.
            if !matcher.stems.contains_key(whole) {
                let id = matcher.add(whole, Kind::Whole);
                matcher.wholes.insert(whole.clone(), id);
                set(&mut matcher.some_words, word_bit(Folded::new(whole).units()));
            }
        }
        matcher
    }

    /// The number of a term, which is new or said again. A query has at most some thousand: see
    /// [`super::terms::LONGEST_QUERY`].
    fn add(&mut self, text: &str, kind: Kind) -> u16 {
        // A character that stands alone somewhere is a term wherever it stands.
        let of = |kind: Kind| if kind == Kind::Char { Kind::Single } else { kind };
        let found = self.terms.iter_mut().enumerate().find(|(_, term)| of(term.kind) == of(kind) && term.text == text);
        if let Some((at, term)) = found {
            term.times += 1;
            if kind == Kind::Single {
                term.kind = kind;
            }
            return at as u16;
        }
        self.terms.push(Term { text: text.to_owned(), kind, times: 1 });
        (self.terms.len() - 1) as u16
    }

    /// Finds the terms in a text that has every quoted phrase as written; false when it has not. What was in `matches`
    /// is gone.
    pub(crate) fn find(&self, text: &str, matches: &mut Matches) -> bool {
        matches.folded.set_unplaced(text);
        let has_phrases = self.has_phrases(&matches.folded);
        if has_phrases {
            self.find_folded(matches);
        }
        has_phrases
    }

    /// Finds the terms in a text whose places will be asked for.
    pub(crate) fn find_placed(&self, text: &str, matches: &mut Matches) {
        matches.folded.set(text);
        self.find_folded(matches);
    }

    fn find_folded(&self, matches: &mut Matches) {
        let Matches { folded, list, length, word, met, .. } = matches;
        list.clear();
        let units = folded.units();
        let mut finding = Finding { matcher: self, units, list, word, met, before: None };
        let mut place = 0;
        // Most pieces end at one bit: what follows is kept out of the loop.
        cut(units, |piece| match piece {
            Cut::Char(at) => {
                place += 1;
                let code = units.get(at).map_or(0, |&unit| code(unit));
                if test(&self.some_chars, code as usize % CHAR_BITS) {
                    finding.char(code, place, at);
                }
            }
            Cut::Word(start, end) => {
                place += 1;
                if test(&self.some_words, word_bit(units.get(start..end).unwrap_or_default())) {
                    finding.word(place, start, end);
                }
            }
            Cut::Whole(start, end) => {
                if test(&self.some_words, word_bit(units.get(start..end).unwrap_or_default())) {
                    finding.whole(place, start, end);
                }
            }
        });
        *length = place;
    }

    /// Which term a word or identifier of a text is, and whether it is the query's very word: `typescript` answers
    /// `TypeScript`, and `contentlessdelete` `contentlessDelete`.
    fn word(&self, word: &str) -> Option<(u16, bool)> {
        if let Some(&id) = self.exact.get(word) {
            return Some((id, true));
        }
        let stem = stem(word);
        if let Some(&id) = self.wholes.get(stem.as_ref()) {
            return Some((id, true));
        }
        self.stems.get(stem.as_ref()).map(|&id| (id, false))
    }

    /// The query quotes something.
    pub(crate) fn has_quotes(&self) -> bool {
        !self.phrases.is_empty()
    }

    /// Whether every quoted phrase stands in the folded text, as written.
    fn has_phrases(&self, folded: &Folded) -> bool {
        self.phrases.iter().all(|phrase| holds(folded.units(), phrase))
    }
}

/// A walk through a text.
struct Finding<'a> {
    matcher: &'a Matcher,
    units: &'a [u32],
    list: &'a mut Vec<Match>,
    word: &'a mut String,
    met: &'a mut HashMap<u64, Option<(u16, bool)>, FastHash>,
    /// The atom before this one, when the query has it: its place, end and term.
    before: Option<(u32, u32, u16)>,
}

impl Finding<'_> {
    #[inline(never)]
    fn char(&mut self, code: u32, place: u32, at: usize) {
        if let Some(&term) = self.matcher.chars.get(&code) {
            self.atom(Match { term, exact: true, place, start: at as u32, end: at as u32 + 1 });
        }
    }

    #[inline(never)]
    fn word(&mut self, place: u32, start: usize, end: usize) {
        if let Some((term, exact)) = self.known(start, end) {
            self.atom(Match { term, exact, place, start: start as u32, end: end as u32 });
        }
    }

    #[inline(never)]
    fn whole(&mut self, place: u32, start: usize, end: usize) {
        if let Some((term, exact)) = self.known(start, end) {
            self.list.push(Match { term, exact, place, start: start as u32, end: end as u32 });
        }
    }

    fn known(&mut self, start: usize, end: usize) -> Option<(u16, bool)> {
        let units = self.units.get(start..end).unwrap_or_default();
        *self.met.entry(hash(units)).or_insert_with(|| {
            push_word(units, 0, units.len(), self.word);
            self.matcher.word(self.word)
        })
    }

    /// Notes an atom, and the pair it makes with the one before it.
    fn atom(&mut self, found: Match) {
        let Match { term, place, start, end, .. } = found;
        self.list.push(found);
        if let Some((was, ended, first)) = self.before.filter(|&(was, ..)| was + 1 == place)
            && let Some(&pair) = self.matcher.pairs.get(&(first, term))
        {
            let is_pair = self.matcher.terms.get(usize::from(pair)).is_some_and(|term| term.kind == Kind::Pair);
            if !is_pair || ended == start {
                let before = self.list.iter().rev().find(|found| found.place == was && found.end == ended);
                let start = before.map_or(start, |found| found.start);
                self.list.push(Match { term: pair, exact: true, place, start, end });
            }
        }
        self.before = Some((place, end, term));
    }
}

/// Whether a squeezed phrase stands in a text, any white space being one space, and not inside longer words.
fn holds(text: &[u32], phrase: &[u32]) -> bool {
    let (Some(&first), Some(&last)) = (phrase.first(), phrase.last()) else { return true };
    let is_word = |unit: Option<&u32>| unit.is_some_and(|&unit| unit & class::WORD != 0);
    let ends = |start: usize| {
        let mut at = start;
        for &wanted in phrase {
            let unit = *text.get(at)?;
            if wanted & unit & class::SPACE != 0 {
                at += text.get(at..)?.iter().take_while(|&&unit| unit & class::SPACE != 0).count();
            } else if code(wanted) == code(unit) {
                at += 1;
            } else {
                return None;
            }
        }
        Some(at)
    };
    text.iter().enumerate().filter(|&(_, &unit)| code(unit) == code(first)).any(|(start, _)| {
        ends(start).is_some_and(|end| {
            let before = start.checked_sub(1).and_then(|before| text.get(before));
            !(is_word(Some(&first)) && is_word(before) || is_word(Some(&last)) && is_word(text.get(end)))
        })
    })
}
