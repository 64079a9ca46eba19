//! Han by the sound of it: `qzh`, `qz` and `qianzheng` all mean 签证.

use pinyin::ToPinyinMulti;

/// A single letter is the beginning of too much.
const SHORTEST: usize = 2;

/// Whether somewhere in `text` characters in a row begin with the letters of `query`, each with one letter or more.
/// Latin letters stand for themselves; `query` is folded.
pub fn sounds_like(text: &str, query: &str) -> bool {
    let letters = query.as_bytes();
    letters.len() >= SHORTEST
        && letters.iter().all(u8::is_ascii_alphabetic)
        && text.char_indices().any(|(at, first)| {
            let rest = text.get(at..).unwrap_or_default();
            first.to_pinyin_multi().is_some() && begins(rest, letters)
        })
}

/// Whether the first characters of `text` stand for all of `letters`.
///
/// Kept is how many letters the characters so far may have taken. Trying each way by itself would take 5ⁿ steps for
/// `hhh…` over n times 哈, five of whose readings begin with that letter.
fn begins(text: &str, letters: &[u8]) -> bool {
    let mut taken = vec![0];
    for character in text.chars() {
        let mut next = Vec::new();
        for from in taken {
            let rest = letters.get(from..).unwrap_or_default();
            match character.to_pinyin_multi() {
                None if rest.first().is_some_and(|&letter| character.eq_ignore_ascii_case(&char::from(letter))) => {
                    next.push(from + 1);
                }
                None => {}
                Some(readings) => {
                    for reading in readings {
                        let same =
                            reading.plain().bytes().zip(rest).take_while(|(sound, letter)| sound == *letter).count();
                        next.extend(from + 1..=from + same);
                    }
                }
            }
        }
        if next.contains(&letters.len()) {
            return true;
        }
        next.sort_unstable();
        next.dedup();
        if next.is_empty() {
            return false;
        }
        taken = next;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::sounds_like;

    #[test]
    fn initials_beginnings_and_whole_syllables_are_found() {
        for query in ["qzh", "qz", "qianzheng", "qianzh", "cailiao", "zhcl"] {
            assert!(sounds_like("下周的签证材料", query), "{query}");
        }
    }

    #[test]
    fn every_reading_of_a_character_counts() {
        assert!(sounds_like("重构", "cg") && sounds_like("重构", "zhonggou"));
    }

    #[test]
    fn a_long_name_of_one_sound_is_looked_through_at_once() {
        let name = "哈".repeat(100);
        assert!(sounds_like(&name, &"h".repeat(100)) && sounds_like(&name, &"ha".repeat(100)));
        assert!(!sounds_like(&name, &"h".repeat(101)));
    }

    #[test]
    fn latin_within_han_stands_for_itself() {
        assert!(sounds_like("给Cache分片", "gcachefp"));
    }

    #[test]
    fn other_sounds_single_letters_and_latin_alone_are_not_found() {
        assert!(!sounds_like("签证", "qx") && !sounds_like("签证", "q") && !sounds_like("cache", "ca"));
        assert!(!sounds_like("签证", "qzhx") && !sounds_like("签证", "签证") && !sounds_like("", "qz"));
    }
}
