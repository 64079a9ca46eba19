//! One folding for index and query: what differs only in width, case, script variant or accents becomes the same.
//!
//! NFKC, lower case, Traditional Han to Simplified, marks off Latin and Greek letters, invisible characters dropped. Each
//! folded character remembers where in the source it came from, so that what is found can be shown.
//!
//! Nearly every character folds to one character by a table lookup; tables of 256 are made when a text first needs them.

#![allow(clippy::indexing_slicing, reason = "only tables of 256 are indexed, and only by a byte")]

use std::sync::OnceLock;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{compose, is_combining_mark};

use super::han;

/// What a folded character is, as bits beside it.
pub(crate) mod class {
    /// A letter or mark of a script written with spaces, lower case or without case.
    pub(crate) const LOWER: u32 = 1 << 24;
    /// A letter that was upper case.
    pub(crate) const UPPER: u32 = 1 << 25;
    /// A digit.
    pub(crate) const DIGIT: u32 = 1 << 26;
    /// ASCII punctuation that identifiers, paths and versions hold.
    pub(crate) const JOINER: u32 = 1 << 27;
    /// A character of a script written without reliable spaces.
    pub(crate) const UNSPACED: u32 = 1 << 28;
    /// White space.
    pub(crate) const SPACE: u32 = 1 << 29;
    /// What words are made of.
    pub(crate) const WORD: u32 = LOWER | UPPER | DIGIT;
}

/// Unicode's scalar values fit below the class bits.
const CHAR: u32 = (1 << 21) - 1;
/// Folds to several characters, or to one found without the table.
const EXPANDS: u32 = 1 << 21;
/// May become one character with the one before it.
const ATTACHES: u32 = 1 << 22;
/// Folds to nothing.
const DROPS: u32 = 1 << 23;
const SPECIAL: u32 = EXPANDS | ATTACHES | DROPS;

/// A folded text. Reusable: folding clears it first.
#[derive(Default)]
pub(crate) struct Folded {
    /// Folded characters with their class bits.
    units: Vec<u32>,
    /// Where in the source, in bytes, each came from.
    at: Vec<u32>,
    source_len: usize,
}

impl Folded {
    /// The folding of `text`.
    pub(crate) fn new(text: &str) -> Folded {
        let mut folded = Folded::default();
        folded.set(text);
        folded
    }

    /// Folds `text` into this.
    pub(crate) fn set(&mut self, text: &str) {
        self.fold::<true>(text);
    }

    /// Folds `text` into this, without remembering where it came from.
    pub(crate) fn set_unplaced(&mut self, text: &str) {
        self.fold::<false>(text);
    }

    fn fold<const PLACED: bool>(&mut self, text: &str) {
        self.units.clear();
        self.at.clear();
        self.units.reserve(text.len());
        if PLACED {
            self.at.reserve(text.len());
        }
        self.source_len = text.len();
        let ascii = page(0);
        let mut rest = text;
        while !rest.is_empty() {
            let at = text.len() - rest.len();
            let length = rest.bytes().position(|byte| !byte.is_ascii()).unwrap_or(rest.len());
            let (plain, after) = rest.split_at(length);
            self.units.extend(plain.bytes().map(|byte| ascii[usize::from(byte)]));
            if PLACED {
                self.at.extend(at as u32..(at + length) as u32);
            }
            let mut chars = after.char_indices();
            rest = loop {
                let here = chars.as_str();
                let Some((offset, c)) = chars.next() else { break "" };
                if c.is_ascii() {
                    break here;
                }
                let entry = entry(c);
                if entry & SPECIAL == 0 {
                    self.units.push(entry);
                    if PLACED {
                        self.at.push((at + length + offset) as u32);
                    }
                } else {
                    self.special(c, entry, (at + length + offset) as u32);
                }
            };
        }
    }

    #[cold]
    fn special(&mut self, c: char, entry: u32, at: u32) {
        if entry & DROPS != 0 {
            return;
        }
        if entry & ATTACHES != 0 {
            let mark = char::from_u32(entry & CHAR).unwrap_or(c);
            if self.attach(mark) {
                return;
            }
            self.push(mark, at);
            return;
        }
        expand(c, |c| {
            // Half-width kana bring their voicing marks along as characters of their own.
            if !(is_attaching(c) && self.attach(c)) {
                self.push(c, at);
            }
        });
    }

    fn push(&mut self, c: char, at: u32) {
        self.units.push(c as u32 | classify(c, false));
        self.at.push(at);
    }

    /// Joins a mark to the character before it; false when it stands alone.
    fn attach(&mut self, mark: char) -> bool {
        let Some(last) = self.units.last_mut() else { return false };
        let Some(before) = char::from_u32(*last & CHAR) else { return false };
        if let Some(whole) = compose(before, mark) {
            let mut folded = *last;
            expand(whole, |c| folded = c as u32 | classify(c, false));
            // A capital with a mark stays a capital.
            if *last & class::UPPER != 0 {
                folded = folded & !class::LOWER | class::UPPER;
            }
            *last = folded;
            return true;
        }
        // Marks above and below letters say nothing about which letter it is, in scripts we strip them from.
        ('\u{300}'..='\u{36f}').contains(&mark)
    }

    /// Folded characters with their class bits.
    pub(crate) fn units(&self) -> &[u32] {
        &self.units
    }

    /// The source bytes that the folded characters `[start, end)` came from.
    pub(crate) fn source(&self, start: usize, end: usize) -> (usize, usize) {
        let from = self.at.get(start).map_or(self.source_len, |&at| at as usize);
        let Some(&last) = end.checked_sub(1).and_then(|last| self.at.get(last)) else { return (from, from) };
        let rest = self.at.get(end..).unwrap_or_default();
        let to = rest.iter().find(|&&at| at > last).map_or(self.source_len, |&at| at as usize);
        (from, to.max(from))
    }
}

/// The character of a folded unit.
pub(crate) fn character(unit: u32) -> char {
    char::from_u32(code(unit)).unwrap_or(' ')
}

/// The code point of a folded unit.
pub(crate) const fn code(unit: u32) -> u32 {
    unit & CHAR
}

/// The folded characters as text.
pub(crate) fn push_text(units: &[u32], into: &mut String) {
    into.extend(units.iter().map(|&unit| character(unit)));
}

/// What a character folds to, as text.
pub fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_text(Folded::new(text).units(), &mut out);
    out
}

type Page = [u32; 256];
static PAGES: [OnceLock<Box<Page>>; 256] = [const { OnceLock::new() }; 256];

#[inline]
fn page(number: usize) -> &'static Page {
    const NONE: Page = [0; 256];
    PAGES.get(number).map_or(&NONE, |page| page.get_or_init(|| make_page(number)))
}

#[inline]
fn entry(c: char) -> u32 {
    let code = c as usize;
    if code < 1 << 16 { page(code >> 8)[code & 255] } else { make_entry(c) }
}

#[cold]
fn make_page(number: usize) -> Box<Page> {
    let mut page = Box::new([0; 256]);
    for (low, slot) in page.iter_mut().enumerate() {
        if let Some(c) = char::from_u32((number << 8 | low) as u32) {
            *slot = make_entry(c);
        }
    }
    page
}

fn make_entry(c: char) -> u32 {
    if is_invisible(c) {
        return DROPS;
    }
    if is_attaching(c) {
        return ATTACHES | c as u32;
    }
    let mut folded = [' '; 2];
    let mut count = 0;
    expand(c, |c| {
        if let Some(slot) = folded.get_mut(count) {
            *slot = c;
        }
        count += 1;
    });
    match count {
        0 => DROPS,
        1 if !is_attaching(folded[0]) => folded[0] as u32 | classify(folded[0], c.is_uppercase()),
        _ => EXPANDS,
    }
}

/// Calls `sink` with each character that `c` alone folds to.
fn expand(c: char, mut sink: impl FnMut(char)) {
    let bare = std::iter::once(c).nfd().next().is_some_and(is_stripped_of_marks);
    let mut lower = |c: char| match c {
        'ß' | 'ẞ' => ['s', 's'].into_iter().for_each(&mut sink),
        'ς' => sink('σ'),
        '’' | '‘' => sink('\''),
        // Capitals may come of the decomposition only, and the dotted I becomes two characters.
        _ => c.to_lowercase().filter(|&c| !(bare && is_combining_mark(c))).map(simplified).for_each(&mut sink),
    };
    if bare {
        for c in std::iter::once(c).nfkd().filter(|&c| !is_combining_mark(c)) {
            lower(c);
        }
    } else {
        std::iter::once(c).nfkc().for_each(lower);
    }
}

/// Latin and Greek letters are the same with and without accents; й and が are letters of their own.
fn is_stripped_of_marks(c: char) -> bool {
    matches!(c, 'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' | '\u{370}'..='\u{3ff}')
}

/// Marks that join the letter before them, and the vowels and finals of a Hangul syllable.
fn is_attaching(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}' | '\u{1161}'..='\u{1175}' | '\u{11a8}'..='\u{11c2}')
}

/// Characters that nobody sees and that only steer layout.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{e0000}'..='\u{e0fff}')
}

fn simplified(c: char) -> char {
    static TABLE: OnceLock<Vec<(char, char)>> = OnceLock::new();
    if (c as u32) < 0x3400 {
        return c;
    }
    let table = TABLE.get_or_init(|| {
        let mut pairs = han::VARIANTS.chars();
        std::iter::from_fn(|| Some((pairs.next()?, pairs.next()?))).collect()
    });
    match table.binary_search_by_key(&c, |&(from, _)| from) {
        Ok(found) => table.get(found).map_or(c, |&(_, to)| to),
        Err(_) => c,
    }
}

fn classify(c: char, was_upper: bool) -> u32 {
    match c {
        'a'..='z' if was_upper => class::UPPER,
        'a'..='z' => class::LOWER,
        '0'..='9' => class::DIGIT,
        '.' | '_' | '-' | '/' | '@' | ':' | '+' | '#' | '\\' | '~' | '$' | '=' | '%' | '&' | '\'' => class::JOINER,
        '\0'..='\x7f' if c.is_whitespace() => class::SPACE,
        '\0'..='\x7f' => 0,
        _ if is_unspaced(c) => class::UNSPACED,
        _ if c.is_numeric() => class::DIGIT,
        _ if c.is_alphabetic() || is_combining_mark(c) => class::LOWER,
        _ if c.is_whitespace() => class::SPACE,
        _ => 0,
    }
}

/// Letters and marks of scripts that are written without reliable spaces between words.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        // Thai, Lao, Myanmar, Khmer with their vowels and tones.
        '\u{e01}'..='\u{e3a}' | '\u{e40}'..='\u{e4e}' | '\u{e81}'..='\u{ece}' | '\u{edc}'..='\u{edf}'
        | '\u{1000}'..='\u{103f}' | '\u{1050}'..='\u{109f}' | '\u{1780}'..='\u{17d3}'
        // Hangul.
        | '\u{1100}'..='\u{11ff}' | '\u{3131}'..='\u{318e}' | '\u{a960}'..='\u{a97c}' | '\u{ac00}'..='\u{d7fb}'
        // Kana, bopomofo, iteration marks, the Han zero, and Yi.
        | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{312f}' | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}' | '\u{a000}'..='\u{a48c}'
        // Han.
        | '\u{2e80}'..='\u{2fd5}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{fad9}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_case_ligatures_and_accents_do_not_matter() {
        assert_eq!(fold("ＡＰＩ ﬁle Straße Ｃａｆé cafe\u{301} Ångström"), "api file strasse cafe cafe angstrom");
        assert_eq!(fold("ΑΘΉΝΑΣ №"), "αθηνασ no");
    }

    #[test]
    fn traditional_and_variant_characters_fold_to_simplified() {
        assert_eq!(fold("簽證 緩存 裡裏 爲為 気戦 看著"), "签证 缓存 里里 为为 气战 看着");
    }

    #[test]
    fn letters_that_need_their_mark_keep_it() {
        assert_eq!(fold("ｶﾞｷﾞ か\u{3099} が"), "ガギ が が");
        assert_eq!(fold("Йод и\u{306}од"), "йод йод");
        assert_eq!(fold("\u{1112}\u{1161}\u{11ab} 한"), "한 한");
    }

    #[test]
    fn folding_twice_changes_nothing_in_the_basic_plane() {
        for c in ('\u{0}'..='\u{ffff}').filter(|&c| !is_attaching(c)) {
            let once = fold(&c.to_string());
            assert_eq!(fold(&once), once, "U+{:04X}", c as u32);
        }
    }

    #[test]
    fn positions_lead_back_to_the_source() {
        let text = "x ﬁ e\u{301}簽";
        let folded = Folded::new(text);
        let shown = |start, end| {
            let (from, to) = folded.source(start, end);
            text.get(from..to).unwrap_or("?")
        };
        assert_eq!(shown(2, 3), "ﬁ");
        assert_eq!(shown(4, 4), "");
        assert_eq!(shown(5, 6), "e\u{301}");
        assert_eq!(shown(6, 7), "簽");
    }

    #[test]
    fn a_flood_of_marks_ends() {
        let flood = format!("a{}b", "\u{301}".repeat(100_000));
        assert_eq!(fold(&flood), "ab");
    }
}
