//! A forgiving walk over JSON text: it cuts values out in one pass and builds none.
//!
//! Session files have lived through crashes, editors and other programs. A strict parser loses a whole message to one
//! bad escape, and builds the nine tenths of a file that are then dropped. This one looks at brackets, quotes and
//! commas only, in a loop that deep nesting cannot overflow, and repairs strings when they are read.

use std::borrow::Cow;
use std::fmt;

use memchr::memchr2;

/// Why a line is no entry, in words for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub(crate) &'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Malformed {}

pub(crate) const NOT_JSON: Malformed = Malformed("not JSON");
pub(crate) const CUT_OFF: Malformed = Malformed("cut off in the middle");

/// A place in JSON text. The slices it returns are raw: strings come with their quotes and escapes.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8], at: usize) -> Self {
        Cursor { bytes, at }
    }

    pub fn position(&self) -> usize {
        self.at
    }

    /// The next byte that is not blank. NUL is blank: lost blocks of a file come back as NUL bytes.
    pub fn peek(&mut self) -> Option<u8> {
        while let Some(&byte) = self.bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0) {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    /// Takes the next byte that is not blank.
    pub fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn expect(&mut self, wanted: u8) -> Result<(), Malformed> {
        match self.next() {
            Some(byte) if byte == wanted => Ok(()),
            Some(_) => Err(NOT_JSON),
            None => Err(CUT_OFF),
        }
    }

    /// Walks an object; `member` gets each raw key and must take its value.
    pub fn object(
        &mut self,
        mut member: impl FnMut(&'a [u8], &mut Self) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        self.expect(b'{')?;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            let key = self.string()?;
            self.expect(b':')?;
            member(key, self)?;
            match self.next() {
                Some(b',') => {}
                Some(b'}') => return Ok(()),
                Some(_) => return Err(NOT_JSON),
                None => return Err(CUT_OFF),
            }
        }
    }

    /// Walks an array; `element` must take each value.
    pub fn array(&mut self, mut element: impl FnMut(&mut Self) -> Result<(), Malformed>) -> Result<(), Malformed> {
        self.expect(b'[')?;
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            element(self)?;
            match self.next() {
                Some(b',') => {}
                Some(b']') => return Ok(()),
                Some(_) => return Err(NOT_JSON),
                None => return Err(CUT_OFF),
            }
        }
    }

    /// Takes a value of any kind.
    pub fn value(&mut self) -> Result<&'a [u8], Malformed> {
        match self.peek() {
            Some(b'"') => return self.string(),
            Some(b'{' | b'[') => return self.nested(),
            Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {}
            Some(_) => return Err(NOT_JSON),
            None => return Err(CUT_OFF),
        }
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.')) {
            self.at += 1;
        }
        Ok(self.since(start))
    }

    /// Takes a string, quotes included.
    pub fn string(&mut self) -> Result<&'a [u8], Malformed> {
        self.expect(b'"')?;
        let start = self.at - 1;
        self.close_string()?;
        Ok(self.since(start))
    }

    fn close_string(&mut self) -> Result<(), Malformed> {
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let found = memchr2(b'"', b'\\', rest).ok_or(CUT_OFF)?;
            if rest.get(found) == Some(&b'"') {
                self.at += found + 1;
                return Ok(());
            }
            self.at += found + 2;
        }
    }

    fn nested(&mut self) -> Result<&'a [u8], Malformed> {
        let start = self.at;
        let mut depth = 0_usize;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'"' => self.close_string()?,
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(self.since(start));
                    }
                }
                _ => {}
            }
        }
        Err(CUT_OFF)
    }

    fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }
}

/// The text of a raw string, repaired: a lone surrogate, a NUL and bytes that are not UTF-8 become U+FFFD, an escape
/// that JSON does not know stays as it is written. `None` when the value is no string.
pub(crate) fn text(raw: &[u8]) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix(b"\"")?;
    Some(unescape(inner.strip_suffix(b"\"").unwrap_or(inner)))
}

/// The text of a raw string's inside.
pub(crate) fn unescape(inner: &[u8]) -> Cow<'_, str> {
    if memchr2(b'\\', 0, inner).is_none() {
        return String::from_utf8_lossy(inner);
    }
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(found) = memchr2(b'\\', 0, rest) {
        out.push_str(&String::from_utf8_lossy(rest.get(..found).unwrap_or_default()));
        let here = rest.get(found..).unwrap_or_default();
        let (character, length) = escape(here);
        match character {
            Some(character) => out.push(character),
            None => out.push('\\'),
        }
        rest = here.get(length..).unwrap_or_default();
    }
    out.push_str(&String::from_utf8_lossy(rest));
    Cow::Owned(out)
}

/// The character an escape (or a NUL) at the start of `bytes` means, and its length; `None` when JSON knows no such escape.
fn escape(bytes: &[u8]) -> (Option<char>, usize) {
    let character = match bytes {
        [0, ..] => return (Some(char::REPLACEMENT_CHARACTER), 1),
        [_, b'n', ..] => '\n',
        [_, b't', ..] => '\t',
        [_, b'r', ..] => '\r',
        [_, b'b', ..] => '\u{8}',
        [_, b'f', ..] => '\u{c}',
        [_, b @ (b'"' | b'\\' | b'/'), ..] => char::from(*b),
        [_, b'u', digits @ ..] => {
            let Some(first) = hex4(digits) else { return (None, 1) };
            let second = match digits {
                [_, _, _, _, b'\\', b'u', digits @ ..] => hex4(digits),
                _ => None,
            };
            if let (0xD800..0xDC00, Some(low @ 0xDC00..0xE000)) = (first, second) {
                return (char::from_u32(0x10000 + ((first - 0xD800) << 10) + (low - 0xDC00)), 12);
            }
            let character = char::from_u32(first).filter(|&c| c != '\0').unwrap_or(char::REPLACEMENT_CHARACTER);
            return (Some(character), 6);
        }
        _ => return (None, 1),
    };
    (Some(character), 2)
}

fn hex4(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.get(..4).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// A raw number, whole.
pub(crate) fn number(raw: &[u8]) -> Option<i64> {
    let digits = std::str::from_utf8(raw).ok()?;
    digits.parse().ok().or_else(|| digits.parse::<f64>().ok().filter(|n| n.is_finite()).map(|n| n as i64))
}

/// Writes a raw value as `JSON.stringify` does: order of keys and spelling of numbers kept, blanks between them
/// dropped, and no more escapes than needed. Stops soon after `limit` characters.
pub(crate) fn compact(raw: &[u8], limit: usize) -> String {
    let mut out = String::new();
    let mut cursor = Cursor::new(raw, 0);
    // A character is one byte at least, so this many bytes hold more than `limit` UTF-16 units.
    while out.len() <= limit * 4 {
        match cursor.peek() {
            None => break,
            Some(b'"') => {
                let Ok(string) = cursor.string() else { break };
                let inner = string.get(1..string.len() - 1).unwrap_or_default();
                // Six bytes are the longest spelling of a unit; what this cuts is cut again by the caller.
                quote(&unescape(inner.get(..limit * 6 + 12).unwrap_or(inner)), &mut out);
            }
            Some(byte) => {
                out.push(if byte.is_ascii() { char::from(byte) } else { char::REPLACEMENT_CHARACTER });
                cursor.next();
            }
        }
    }
    out
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> String {
        text(json.as_bytes()).expect("a string").into_owned()
    }

    #[test]
    fn escapes_are_read() {
        assert_eq!(read(r#""a\n\t\"\\\/\u4e2d\ud83d\ude00""#), "a\n\t\"\\/中😀");
    }

    #[test]
    fn a_lone_surrogate_and_a_nul_are_replaced() {
        assert_eq!(read(r#""a\ud800b\udc00\ud800\u0041\u0000c""#), "a\u{fffd}b\u{fffd}\u{fffd}A\u{fffd}c");
        assert_eq!(read("\"a\0b\""), "a\u{fffd}b");
    }

    #[test]
    fn an_unknown_escape_stays_as_written() {
        assert_eq!(read(r#""C:\Users \u12 \x41""#), "C:\\Users \\u12 \\x41");
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced() {
        assert_eq!(text(b"\"a\xffb\\n\xc3\"").as_deref(), Some("a\u{fffd}b\n\u{fffd}"));
    }

    #[test]
    fn a_value_is_cut_out_whatever_it_holds() {
        let mut cursor = Cursor::new(br#" {"a":["}",{"b":"\""}]} , 1.5e3]"#, 0);
        assert_eq!(cursor.value(), Ok(br#"{"a":["}",{"b":"\""}]}"#.as_slice()));
        assert_eq!(cursor.next(), Some(b','));
        assert_eq!(cursor.value(), Ok(b"1.5e3".as_slice()));
    }

    #[test]
    fn nesting_without_end_overflows_nothing() {
        let deep = "[".repeat(1_000_000);
        assert_eq!(Cursor::new(deep.as_bytes(), 0).value(), Err(CUT_OFF));
        let closed = format!("{deep}{}", "]".repeat(1_000_000));
        assert_eq!(Cursor::new(closed.as_bytes(), 0).value().map(<[u8]>::len), Ok(2_000_000));
    }

    #[test]
    fn compacting_keeps_key_order_and_numbers() {
        let raw = r#"{ "b" : 1.0, "a" : [ 1e3 , "x y\u4e2d\/\u001f" ] }"#;
        assert_eq!(compact(raw.as_bytes(), 300), r#"{"b":1.0,"a":[1e3,"x y中/\u001f"]}"#);
    }
}
