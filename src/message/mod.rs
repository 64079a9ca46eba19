//! An entry of pi's session file, as a role and markdown that reads well.
//!
//! [`records`] reads a line of a file, [`parse`] what pi's events carry; both end in the same rendering.

mod json;
mod render;

use std::borrow::Cow;
use std::ops::Range;

use chrono::DateTime;
use memchr::{memchr, memmem};

pub use json::Malformed;
use json::{Cursor, NOT_JSON};

/// Who said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The person, or their own `!command`.
    User,
    /// The model's text and its tool calls.
    Assistant,
    /// A tool call that failed.
    ToolError,
    /// A compaction's or an abandoned branch's summary.
    Summary,
}

impl Role {
    /// Every role.
    pub const ALL: [Role; 4] = [Role::User, Role::Assistant, Role::ToolError, Role::Summary];

    /// The name the store's users see.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::ToolError => "tool_error",
            Role::Summary => "summary",
        }
    }

    /// The role of that name.
    pub fn parse(name: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.as_str() == name)
    }

    /// The number the store keeps.
    pub fn code(self) -> i64 {
        match self {
            Role::User => 0,
            Role::Assistant => 1,
            Role::ToolError => 2,
            Role::Summary => 3,
        }
    }

    /// The role of that number; of a number nobody knows, the model's.
    pub fn from_code(code: i64) -> Role {
        Role::ALL.into_iter().find(|role| role.code() == code).unwrap_or(Role::Assistant)
    }
}

/// A session's header line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// pi's session id.
    pub id: String,
    /// The folder the session was started in.
    pub cwd: String,
    /// Unix milliseconds; 0 when the header has no time.
    pub started_at: i64,
    /// pi's `parentSession`: the file this session was forked from.
    pub parent_file: Option<String>,
    /// A title some hosts (omp) keep in the header.
    pub name: Option<String>,
}

/// What we keep of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Who said it.
    pub role: Role,
    /// Markdown, cut at 20,000 UTF-16 units.
    pub text: String,
    /// The text was cut.
    pub truncated: bool,
    /// The person's `!!command`: kept for the person, never shown to the model.
    pub private: bool,
    /// pi's tool call id of a tool's error: tells apart errors that share role, time and text.
    pub call: Option<String>,
}

/// What an entry says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// The session's header.
    Header(Header),
    /// A message to keep.
    Kept(Kept),
    /// A known entry of which nothing is kept; the role it would have had, when it is a message.
    Nothing(Option<Role>),
    /// The session's name; `None` when it was cleared.
    Name(Option<String>),
    /// An entry type nobody knows yet.
    Unknown(String),
}

/// One line of pi's session file, or a bare message as pi's events carry it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// pi's entry id; absent in format version 1 and in bare messages.
    pub id: Option<String>,
    /// The entry this one follows.
    pub parent: Option<String>,
    /// Unix milliseconds: the message's own time, else its entry's; 0 when neither is known.
    pub ts: i64,
    /// What it says.
    pub body: Body,
}

/// What the person's settings say of rendering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Keep what extensions tell the model (`custom_message`), as the user's words.
    pub custom_messages: bool,
}

/// One entry, or a bare message `{role, content, timestamp}` as pi's events carry it.
///
/// Of a bare extension's message nothing is kept: pi's file gives it another time than the event, so that the two would
/// not be known for one. The file's tail brings it.
pub fn parse(json: &[u8], rules: &Rules) -> Result<Entry, Malformed> {
    let mut cursor = Cursor::new(json, 0);
    let read = Fields::read(&mut cursor)?;
    if cursor.peek().is_some() {
        return Err(NOT_JSON);
    }
    match read.0.kind {
        Some(_) => entry(read, rules),
        None => message(&read.0, &Fields::default(), &Rules::default()),
    }
}

/// The entries of one line of a session file, each with its place in the line: one, as pi writes them, or several when
/// a line end went missing. What is no entry is reported beside the good ones.
pub fn records<'a>(line: &'a [u8], rules: &'a Rules) -> Records<'a> {
    Records { line, at: 0, rules }
}

/// Whether `text` holds whole JSON objects and nothing after them: a last line without line end that is not half-written.
pub fn is_whole(text: &[u8]) -> bool {
    let mut cursor = Cursor::new(text, 0);
    while cursor.peek().is_some() {
        if cursor.object(|_, cursor| cursor.value().map(drop)).is_err() {
            return false;
        }
    }
    true
}

/// See [`records`].
pub struct Records<'a> {
    line: &'a [u8],
    at: usize,
    rules: &'a Rules,
}

impl Iterator for Records<'_> {
    type Item = (Range<usize>, Result<Entry, Malformed>);

    fn next(&mut self) -> Option<Self::Item> {
        let Some(start) = self.start() else {
            let lost = self.at == 0 && memchr(0, self.line).is_some();
            self.at = self.line.len();
            let reason = Malformed("nothing but NUL bytes, where a crash lost what was written");
            return lost.then_some((0..self.at, Err(reason)));
        };
        let mut cursor = Cursor::new(self.line, start);
        let result = Fields::read(&mut cursor).and_then(|read| {
            self.at = cursor.position();
            entry(read, self.rules)
        });
        if self.at <= start {
            self.at = self.next_entry(start);
        }
        Some((start..self.at, result))
    }
}

impl Records<'_> {
    /// Where the next record starts, past blanks and byte-order marks.
    fn start(&mut self) -> Option<usize> {
        const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
        let mut cursor = Cursor::new(self.line, self.at);
        cursor.peek();
        while self.line.get(cursor.position()..).is_some_and(|rest| rest.starts_with(BYTE_ORDER_MARK)) {
            cursor = Cursor::new(self.line, cursor.position() + BYTE_ORDER_MARK.len());
            cursor.peek();
        }
        (cursor.position() < self.line.len()).then(|| cursor.position())
    }

    /// Where a whole entry starts behind a broken one, as when pi went on writing after a crash; else the line's end.
    /// pi writes `type` first; a bounded number of tries keeps a hostile line from costing more than its length.
    fn next_entry(&self, after: usize) -> usize {
        const TRIES: usize = 64;
        let rest = self.line.get(after + 1..).unwrap_or_default();
        memmem::find_iter(rest, b"{\"type\":\"")
            .map(|found| after + 1 + found)
            .take(TRIES)
            .find(|&start| {
                let mut cursor = Cursor::new(self.line, start);
                Fields::read(&mut cursor).is_ok_and(|(fields, _)| fields.timestamp.is_some() && fields.kind.is_some())
                    && matches!(cursor.peek(), None | Some(b'{'))
            })
            .unwrap_or(self.line.len())
    }
}

/// The raw values of the members we know, of an entry, a message or a content block.
#[derive(Default)]
struct Fields<'a> {
    kind: Option<&'a [u8]>,
    id: Option<&'a [u8]>,
    parent: Option<&'a [u8]>,
    timestamp: Option<&'a [u8]>,
    role: Option<&'a [u8]>,
    content: Option<&'a [u8]>,
    text: Option<&'a [u8]>,
    name: Option<&'a [u8]>,
    arguments: Option<&'a [u8]>,
    tool_name: Option<&'a [u8]>,
    tool_call_id: Option<&'a [u8]>,
    is_error: Option<&'a [u8]>,
    command: Option<&'a [u8]>,
    output: Option<&'a [u8]>,
    exit_code: Option<&'a [u8]>,
    cancelled: Option<&'a [u8]>,
    exclude: Option<&'a [u8]>,
    summary: Option<&'a [u8]>,
    cwd: Option<&'a [u8]>,
    parent_session: Option<&'a [u8]>,
    branched_from: Option<&'a [u8]>,
    title: Option<&'a [u8]>,
}

impl<'a> Fields<'a> {
    /// Reads an object, and the object its `message` is, in one pass.
    fn read(cursor: &mut Cursor<'a>) -> Result<(Self, Option<Self>), Malformed> {
        let (mut fields, mut message) = (Fields::default(), None);
        cursor.object(|key, cursor| {
            if key == b"\"message\"" && cursor.peek() == Some(b'{') {
                let inner = message.insert(Fields::default());
                cursor.object(|key, cursor| inner.take(key, cursor))
            } else {
                fields.take(key, cursor)
            }
        })?;
        Ok((fields, message))
    }

    fn take(&mut self, key: &'a [u8], cursor: &mut Cursor<'a>) -> Result<(), Malformed> {
        let place = match key {
            b"\"type\"" => &mut self.kind,
            b"\"id\"" => &mut self.id,
            b"\"parentId\"" => &mut self.parent,
            b"\"timestamp\"" => &mut self.timestamp,
            b"\"role\"" => &mut self.role,
            b"\"content\"" => &mut self.content,
            b"\"text\"" => &mut self.text,
            b"\"name\"" => &mut self.name,
            b"\"arguments\"" => &mut self.arguments,
            b"\"toolName\"" => &mut self.tool_name,
            b"\"toolCallId\"" => &mut self.tool_call_id,
            b"\"isError\"" => &mut self.is_error,
            b"\"command\"" => &mut self.command,
            b"\"output\"" => &mut self.output,
            b"\"exitCode\"" => &mut self.exit_code,
            b"\"cancelled\"" => &mut self.cancelled,
            b"\"excludeFromContext\"" => &mut self.exclude,
            b"\"summary\"" => &mut self.summary,
            b"\"cwd\"" => &mut self.cwd,
            b"\"parentSession\"" => &mut self.parent_session,
            b"\"branchedFrom\"" => &mut self.branched_from,
            b"\"title\"" => &mut self.title,
            _ => return cursor.value().map(drop),
        };
        *place = Some(cursor.value()?);
        Ok(())
    }

    fn kind(&self) -> Option<Cow<'a, str>> {
        self.kind.and_then(json::text)
    }

    fn role(&self) -> Option<Cow<'a, str>> {
        self.role.and_then(json::text)
    }

    fn time(&self) -> Option<i64> {
        let raw = self.timestamp?;
        let ms = match json::text(raw) {
            Some(iso) => DateTime::parse_from_rfc3339(&iso).ok()?.timestamp_millis(),
            None => json::number(raw)?,
        };
        // JavaScript's Date goes no further.
        (1..=8_640_000_000_000_000).contains(&ms).then_some(ms)
    }
}

/// A string member that is there and not empty.
fn string(raw: Option<&[u8]>) -> Option<String> {
    raw.and_then(json::text).filter(|text| !text.trim().is_empty()).map(Cow::into_owned)
}

fn entry((fields, inner): (Fields<'_>, Option<Fields<'_>>), rules: &Rules) -> Result<Entry, Malformed> {
    let kind = fields.kind().ok_or(Malformed("an object that is no entry of a session"))?;
    let body = match kind.as_ref() {
        "message" => return message(&inner.ok_or(Malformed("a message entry without its message"))?, &fields, rules),
        "session" => return header(&fields),
        "compaction" | "branch_summary" => render::summary(&fields),
        "custom_message" => render::custom(&fields, rules)?,
        "session_info" => Body::Name(string(fields.name).map(|name| name.trim().to_owned())),
        // omp's: a slot in the first line, and a later change.
        "title" | "title_change" => Body::Name(string(fields.title).map(|name| name.trim().to_owned())),
        "thinking_level_change" | "model_change" | "usage" | "label" | "custom" | "context_edit" => Body::Nothing(None),
        // omp's own bookkeeping.
        "service_tier_change"
        | "model_usage"
        | "mode_change"
        | "session_init"
        | "reset_boundary"
        | "ttsr_injection"
        | "credential_pin" => Body::Nothing(None),
        other => Body::Unknown(other.to_owned()),
    };
    Ok(Entry { id: string(fields.id), parent: string(fields.parent), ts: fields.time().unwrap_or(0), body })
}

fn message(message: &Fields<'_>, entry: &Fields<'_>, rules: &Rules) -> Result<Entry, Malformed> {
    Ok(Entry {
        id: string(entry.id),
        parent: string(entry.parent),
        ts: message.time().or_else(|| entry.time()).unwrap_or(0),
        body: render::message(message, rules)?,
    })
}

fn header(fields: &Fields<'_>) -> Result<Entry, Malformed> {
    let started_at = fields.time().unwrap_or(0);
    let header = Header {
        id: string(fields.id).ok_or(Malformed("a session header without an id"))?,
        cwd: string(fields.cwd).unwrap_or_default(),
        started_at,
        parent_file: string(fields.parent_session).or_else(|| string(fields.branched_from)),
        name: string(fields.title),
    };
    Ok(Entry { id: None, parent: None, ts: started_at, body: Body::Header(header) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> Entry {
        parse(line.as_bytes(), &Rules::default()).expect("an entry")
    }

    /// The message of an entry around `message`.
    fn kept(message: &str) -> Kept {
        match body(message) {
            Body::Kept(kept) => kept,
            other => panic!("kept nothing: {other:?}"),
        }
    }

    fn body(message: &str) -> Body {
        one(&format!(
            r#"{{"type":"message","id":"e1","parentId":null,"timestamp":"2026-10-15T14:02:00Z","message":{message}}}"#
        ))
        .body
    }

    fn text(message: &str) -> String {
        kept(message).text
    }

    /// The texts of a line's messages; what is no entry as its reason in brackets.
    fn all(line: &[u8]) -> Vec<String> {
        records(line, &Rules::default())
            .map(|(_, result)| match result {
                Ok(Entry { body: Body::Kept(kept), .. }) => kept.text,
                Ok(entry) => format!("{:?}", entry.body),
                Err(reason) => format!("[{reason}]"),
            })
            .collect()
    }

    fn user(text: &str) -> String {
        format!(
            r#"{{"type":"message","id":"{text}","timestamp":"2026-10-15T14:02:00Z","message":{{"role":"user","content":"{text}"}}}}"#
        )
    }

    #[test]
    fn what_a_user_says_is_kept_with_images_named() {
        let message = r#"{"role":"user","content":[{"type":"text","text":"看这个"},{"type":"image","data":"AA==","mimeType":"image/png"}]}"#;
        assert_eq!(text(message), "看这个\n[图片]");
        assert_eq!(kept(message).role, Role::User);
        assert_eq!(text(r#"{"role":"user","content":"a\nb"}"#), "a\nb");
    }

    #[test]
    fn thinking_is_left_out_and_tool_calls_are_lines() {
        let message = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Reading."},
            {"type":"toolCall","id":"c","name":"read","arguments":{ "path": "src/a.ts", "limit": 1.0 }},{"type":"futureBlock","text":"x"}]}"#;
        assert_eq!(text(message), "Reading.\n→ read({\"path\":\"src/a.ts\",\"limit\":1.0})");
    }

    #[test]
    fn arguments_are_cut_at_300_characters() {
        let long = "锁".repeat(400);
        let call = text(&format!(
            r#"{{"role":"assistant","content":[{{"type":"toolCall","name":"write","arguments":{{"text":"{long}"}}}}]}}"#
        ));
        assert_eq!(call, format!("→ write({{\"text\":\"{}…)", "锁".repeat(300 - 9)));
    }

    #[test]
    fn our_own_tools_are_never_rendered() {
        let call = |name: &str| format!(r#"{{"type":"toolCall","name":"{name}","arguments":{{"query":"缓存"}}}}"#);
        for name in ["session_search", "session_read", "mem_session_search"] {
            let alone = format!(r#"{{"role":"assistant","content":[{}]}}"#, call(name));
            assert_eq!(body(&alone), Body::Nothing(Some(Role::Assistant)));
            let beside = format!(r#"{{"role":"assistant","content":[{{"type":"text","text":"好"}},{}]}}"#, call(name));
            assert_eq!(text(&beside), "好");
            let error = format!(r#"{{"role":"toolResult","toolName":"{name}","isError":true,"content":"no store"}}"#);
            assert_eq!(body(&error), Body::Nothing(Some(Role::ToolError)));
        }
    }

    #[test]
    fn only_a_failed_tool_is_kept_with_its_first_500_characters() {
        let result = |error: &str| {
            format!(
                r#"{{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{{"type":"text","text":"{}"}}]{error}}}"#,
                "错".repeat(600)
            )
        };
        assert_eq!(body(&result(r#","isError":false"#)), Body::Nothing(Some(Role::ToolError)));
        assert_eq!(body(&result("")), Body::Nothing(Some(Role::ToolError)));
        let kept = kept(&result(r#","isError":true"#));
        assert_eq!((kept.role, kept.call.as_deref()), (Role::ToolError, Some("c1")));
        assert_eq!(kept.text, format!("✗ bash: {}", "错".repeat(500)));
    }

    #[test]
    fn a_command_is_kept_and_its_output_only_when_it_failed() {
        let run = |rest: &str| format!(r#"{{"role":"bashExecution","command":"ls","output":"a\nb"{rest}}}"#);
        assert_eq!(text(&run(r#","exitCode":0"#)), "! ls");
        assert_eq!(text(&run(r#","exitCode":2"#)), "! ls\n✗ exit 2\na\nb");
        assert_eq!(text(&run(r#","cancelled":true"#)), "! ls\n✗ cancelled\na\nb");
        let private = kept(&run(r#","exitCode":0,"excludeFromContext":true"#));
        assert!(private.private);
        assert_eq!((private.role, private.text.as_str()), (Role::User, "!! ls"));
    }

    #[test]
    fn a_message_is_cut_at_20000_units_and_says_so() {
        let kept = kept(&format!(r#"{{"role":"user","content":"{}😀b"}}"#, "a".repeat(19_998)));
        assert_eq!(kept.text, format!("{}…", "a".repeat(19_998)));
        assert!(kept.truncated);
        let whole = text(&format!(r#"{{"role":"user","content":"{}😀"}}"#, "a".repeat(19_998)));
        assert_eq!(whole.encode_utf16().count(), 20_000);
    }

    #[test]
    fn summaries_are_kept_whole() {
        for line in [
            r#"{"type":"compaction","id":"e","timestamp":"2026-10-15T14:02:00Z","summary":"so far"}"#,
            r#"{"type":"branch_summary","id":"e","timestamp":"2026-10-15T14:02:00Z","summary":"so far"}"#,
            r#"{"role":"compactionSummary","summary":"so far","timestamp":1792072920000}"#,
        ] {
            let entry = one(line);
            assert_eq!(entry.ts, 1_792_072_920_000);
            assert!(matches!(entry.body, Body::Kept(Kept { role: Role::Summary, text, .. }) if text == "so far"));
        }
    }

    #[test]
    fn extension_messages_are_kept_only_when_configured() {
        let line = r#"{"type":"custom_message","customType":"x","content":"hi","display":true,"id":"e","timestamp":"2026-10-15T14:02:00Z"}"#;
        assert_eq!(one(line).body, Body::Nothing(None));
        for role in ["custom", "hookMessage"] {
            assert_eq!(body(&format!(r#"{{"role":"{role}","content":"hi"}}"#)), Body::Nothing(None));
        }
        let kept = parse(line.as_bytes(), &Rules { custom_messages: true }).expect("an entry").body;
        assert!(matches!(kept, Body::Kept(Kept { role: Role::User, text, .. }) if text == "hi"));
    }

    #[test]
    fn an_entry_is_named_placed_and_timed() {
        let entry = one(
            r#"{"message":{"timestamp":5,"content":"x","role":"user"},"timestamp":"2026-10-15T14:02:00Z","parentId":"p","id":"e","type":"message"}"#,
        );
        assert_eq!((entry.id.as_deref(), entry.parent.as_deref(), entry.ts), (Some("e"), Some("p"), 5));
        assert_eq!(one(&user("x")).ts, 1_792_072_920_000);
        assert_eq!(one(r#"{"role":"user","content":"x"}"#).ts, 0);
        assert_eq!(one(r#"{"role":"user","content":"x","timestamp":1e300}"#).ts, 0);
    }

    #[test]
    fn a_header_says_whose_session_it_is() {
        let Body::Header(header) = one(r#"{"type":"session","version":3,"id":"s","timestamp":"2026-10-15T14:02:00.000Z","cwd":"/w","branchedFrom":"/p.jsonl","title":"t"}"#).body else {
            panic!("no header");
        };
        let expected = Header {
            id: "s".into(),
            cwd: "/w".into(),
            started_at: 1_792_072_920_000,
            parent_file: Some("/p.jsonl".into()),
            name: Some("t".into()),
        };
        assert_eq!(header, expected);
    }

    #[test]
    fn names_come_and_go() {
        assert_eq!(one(r#"{"type":"session_info","id":"e","name":" 缓存 "}"#).body, Body::Name(Some("缓存".into())));
        assert_eq!(one(r#"{"type":"session_info","id":"e","name":""}"#).body, Body::Name(None));
        assert_eq!(
            one(r#"{"type":"title","v":1,"title":"t","updatedAt":"","pad":"   "}"#).body,
            Body::Name(Some("t".into()))
        );
    }

    #[test]
    fn known_entries_are_dropped_and_new_ones_named() {
        for kind in ["model_change", "thinking_level_change", "usage", "label", "custom", "context_edit"] {
            assert_eq!(one(&format!(r#"{{"type":"{kind}","id":"e"}}"#)).body, Body::Nothing(None));
        }
        assert_eq!(body(r#"{"role":"system","content":"","sections":{}}"#), Body::Nothing(None));
        assert_eq!(one(r#"{"type":"hologram","id":"e"}"#).body, Body::Unknown("hologram".into()));
        assert_eq!(body(r#"{"role":"hologram"}"#), Body::Unknown("message/hologram".into()));
    }

    #[test]
    fn nothing_said_is_nothing_kept() {
        assert_eq!(
            body(r#"{"role":"assistant","content":[],"stopReason":"aborted"}"#),
            Body::Nothing(Some(Role::Assistant))
        );
        assert_eq!(body(r#"{"role":"user","content":" \n"}"#), Body::Nothing(Some(Role::User)));
    }

    #[test]
    fn two_records_on_one_line_are_both_read() {
        for between in ["", " ", "\0\0", "\r\n"] {
            assert_eq!(all(format!("{}{between}{}", user("a"), user("b")).as_bytes()), ["a", "b"]);
        }
    }

    #[test]
    fn a_record_behind_a_broken_one_is_read() {
        let whole = user("a");
        let half = &whole[..whole.len() - 20];
        assert_eq!(all(format!("{half}{}{}", user("b"), user("c")).as_bytes()), ["[not JSON]", "b", "c"]);
        assert_eq!(all(format!("garbage {}", user("b")).as_bytes()), ["[not JSON]", "b"]);
        assert_eq!(all(format!("{} garbage", user("b")).as_bytes()), ["b", "[not JSON]"]);
    }

    #[test]
    fn a_line_that_is_no_entry_says_why() {
        assert_eq!(all(b"not json"), ["[not JSON]"]);
        assert_eq!(all(user("a").as_bytes().get(..40).expect("longer")), ["[cut off in the middle]"]);
        assert_eq!(all(br#"{"a":1}"#), ["[an object that is no entry of a session]"]);
        assert_eq!(all(br#"{"type":"message","id":"a"}"#), ["[a message entry without its message]"]);
        assert_eq!(all(br#"{"role":"user","content":"bare"}"#), ["[an object that is no entry of a session]"]);
        assert_eq!(all(b"\0\0\r"), ["[nothing but NUL bytes, where a crash lost what was written]"]);
        assert!(all(b" \r").is_empty());
    }

    #[test]
    fn damage_that_reads_well_is_repaired() {
        assert_eq!(all("\u{feff}\0{\"type\":\"message\",\"id\":\"a\",\"message\":{\"role\":\"user\",\"content\":\"a\u{1}\tb\"}}\0\0\r".as_bytes()), ["a\u{1}\tb"]);
        assert_eq!(all(user(r"C:\Users \ud800 \u4e2d").as_bytes()), ["C:\\Users \u{fffd} 中"]);
        assert_eq!(
            all(b"{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"a\xff\xfeb\"}}"),
            ["a\u{fffd}\u{fffd}b"]
        );
    }

    #[test]
    fn a_hostile_line_costs_no_more_than_its_length() {
        let line = format!("{{{}", r#"{"type":"x","timestamp":1,"#.repeat(200_000));
        assert_eq!(all(line.as_bytes()), ["[not JSON]"]);
        let deep = format!(r#"{{"type":"message","message":{{"role":"user","content":{}"#, "[".repeat(3_000_000));
        assert_eq!(all(deep.as_bytes()), ["[cut off in the middle]"]);
    }
}
