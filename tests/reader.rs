//! Whatever a session file holds, reading it neither panics nor loses a good line beside a bad one.

use std::io::Read;

use pi_memory_sessions::import::lines::Lines;
use pi_memory_sessions::message::{self, Body, Entry, Rules, parse, records};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

const RULES: Rules = Rules { custom_messages: true };

fn text(entry: Entry) -> Option<String> {
    if let Body::Kept(kept) = entry.body { Some(kept.text) } else { None }
}

fn line(content: &Value) -> String {
    json!({ "type": "message", "id": "e1", "timestamp": "2026-10-15T14:02:00Z",
            "message": { "role": "user", "content": content } })
    .to_string()
}

/// The messages of a file.
fn messages(file: &[u8]) -> Vec<String> {
    let (mut lines, mut found) = (Lines::new(file, 0, 1), Vec::new());
    while let Some(line) = lines.next_line().expect("memory is readable") {
        found.extend(records(line.bytes, &RULES).filter_map(|(_, entry)| entry.ok().and_then(text)));
    }
    found
}

/// JSON of any shape, a few levels deep.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((any::<String>(), inner), 0..4).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Text that looks like a session file from afar.
fn almost() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(br#"{"type":"message","timestamp":1,"message":{"role":"user","content":""#.to_vec()),
        Just(br#"{"type":"toolCall","name":"x","arguments":{"#.to_vec()),
        Just(br#""role":"toolResult","isError":true,"content":["#.to_vec()),
        prop_oneof!["\\{", "\\}", "\\[", "\\]", "\"", ",", ":", "\n", "\\\\u[dD][8-9a-f]{0,3}"]
            .prop_map(String::into_bytes),
        vec(any::<u8>(), 0..6),
    ];
    vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Hands out a few bytes a time.
struct Slowly<'a>(&'a [u8], u64);

impl Read for Slowly<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.by_ref().take(self.1).read(buffer)
    }
}

proptest! {
    #[test]
    fn any_bytes_are_taken_apart_once_from_left_to_right(line in almost()) {
        let mut at = 0;
        for (place, _) in records(&line, &RULES) {
            prop_assert!(at <= place.start && place.start < place.end && place.end <= line.len());
            at = place.end;
        }
        let _ = (parse(&line, &RULES), message::is_whole(&line));
    }

    #[test]
    fn what_is_said_is_kept_as_it_was_said(said in "\\PC{0,40}\\n?.{0,40}") {
        let kept = messages(format!("{}\n", line(&said.clone().into())).as_bytes());
        let expected: Vec<String> = if said.trim().is_empty() { vec![] } else { vec![said.replace('\0', "\u{fffd}")] };
        prop_assert_eq!(kept, expected);
    }

    #[test]
    fn whatever_else_an_entry_holds_it_is_read(first in value(), second in value()) {
        let line = json!({ "zzz": first, "type": "message", "timestamp": 1, "details": second,
                           "message": { "details": first, "role": "user", "content": "said", "usage": second } });
        prop_assert_eq!(messages(format!("{line}\n").as_bytes()), ["said"]);
    }

    #[test]
    fn arguments_are_written_as_json_stringify_does(arguments in value()) {
        let content = json!([{ "type": "toolCall", "name": "x", "arguments": arguments }]);
        let message = json!({ "role": "assistant", "content": content });
        let rendered = text(parse(message.to_string().as_bytes(), &RULES).expect("a message")).expect("kept");
        let whole = arguments.to_string().replace("\\u0000", "\u{fffd}");
        if whole.encode_utf16().count() <= 300 {
            prop_assert_eq!(rendered, format!("→ x({whole})"));
        } else {
            prop_assert!(rendered.encode_utf16().count() <= 300 + "→ x(…)".encode_utf16().count());
        }
    }

    #[test]
    fn damage_to_one_line_costs_no_other(at in 0.0..1.0_f64, cut in 0..40_usize, junk in almost()) {
        let mut damaged = line(&"damaged".into()).into_bytes();
        let from = (damaged.len() as f64 * at) as usize;
        let junk = junk.into_iter().filter(|&byte| byte != b'\n');
        damaged.splice(from..(from + cut).min(damaged.len()), junk);
        let file = [line(&"before".into()).as_bytes(), &damaged, line(&"after".into()).as_bytes(), b""].join(&b'\n');
        let kept = messages(&file);
        prop_assert_eq!(kept.first().map(String::as_str), Some("before"));
        prop_assert_eq!(kept.last().map(String::as_str), Some("after"));
    }

    #[test]
    fn a_whole_entry_survives_a_broken_one_before_it_on_its_line(at in 0.0..1.0_f64) {
        let broken = line(&"broken 锁".into());
        let half = &broken.as_bytes()[..(broken.len() as f64 * at) as usize];
        let file = [half, line(&"whole".into()).as_bytes(), b"\n"].concat();
        prop_assert_eq!(messages(&file), ["whole"]);
    }

    #[test]
    fn lines_are_the_same_however_they_come_and_wherever_reading_stops(file in almost(), step in 1..9_u64, stop in 0..4_usize) {
        let read = |from: u64, line, step| {
            let mut lines = Lines::new(Slowly(&file[from as usize..], step), from, line);
            let mut found = Vec::new();
            while let Some(record) = lines.next_line().expect("memory is readable") {
                found.push((record.line, record.start, record.end, record.bytes.to_vec()));
            }
            found
        };
        let whole = read(0, 1, 1 << 20);
        prop_assert_eq!(&read(0, 1, step), &whole);
        if let Some((line, _, end, _)) = whole.get(stop).filter(|_| stop + 1 < whole.len()) {
            prop_assert_eq!(read(*end, line + 1, step), whole.get(stop + 1..).unwrap_or_default());
        }
    }
}
