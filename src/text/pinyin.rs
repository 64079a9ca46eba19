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

fn begins(text: &str, letters: &[u8]) -> bool {
    let (Some(&letter), Some(first)) = (letters.first(), text.chars().next()) else {
        return letters.is_empty();
    };
    let rest = text.get(first.len_utf8()..).unwrap_or_default();
    let Some(readings) = first.to_pinyin_multi() else {
        return first.to_ascii_lowercase() == char::from(letter) && begins(rest, letters.get(1..).unwrap_or_default());
    };
    readings.into_iter().any(|reading| {
        let same = reading.plain().bytes().zip(letters).take_while(|(sound, letter)| sound == *letter).count();
        (1..=same).any(|taken| begins(rest, letters.get(taken..).unwrap_or_default()))
    })
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
    fn latin_within_han_stands_for_itself() {
        assert!(sounds_like("给Cache分片", "gcachefp"));
    }

    #[test]
    fn other_sounds_single_letters_and_latin_alone_are_not_found() {
        assert!(!sounds_like("签证", "qx") && !sounds_like("签证", "q") && !sounds_like("cache", "ca"));
        assert!(!sounds_like("签证", "qzhx") && !sounds_like("签证", "签证") && !sounds_like("", "qz"));
    }
}
