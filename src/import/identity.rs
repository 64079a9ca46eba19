//! Which session a file holds: pi's header says it; where there is none, the first entries and the file's name have to.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use chrono::NaiveDateTime;

use crate::message::{self, Body, Entry, Header, Rules};

/// Session files beside a headerless one that are asked for the folder they share.
const SIBLINGS: usize = 16;
/// A header is short; more is not read of a sibling.
const HEADER_BYTES: u64 = 4096;

/// A session, and what the person should know of how it was recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub header: Header,
    pub note: Option<String>,
}

/// True for a header that is certainly pi's: pi always writes its time, which other agents' headers lack.
pub fn settles(entry: &Entry) -> bool {
    matches!(&entry.body, Body::Header(header) if header.started_at > 0)
}

/// Whose session `path` holds, by its first entries; the reason when it is none of pi's.
pub fn identify(path: &Path, first: &[&Entry]) -> Result<Identity, String> {
    let headers =
        || first.iter().filter_map(|entry| if let Body::Header(header) = &entry.body { Some(header) } else { None });
    if let Some(header) = headers().find(|header| header.started_at > 0) {
        return Ok(Identity { header: header.clone(), note: None });
    }
    if let Some(agent) = first.iter().find_map(|entry| agent(entry)) {
        return Err(format!("a session of {agent}, not of pi"));
    }
    let began = first.iter().map(|entry| entry.ts).find(|&ts| ts > 0).unwrap_or(0);
    if let Some(header) = headers().next() {
        return Ok(Identity { header: Header { started_at: began, ..header.clone() }, note: None });
    }
    if first.iter().all(|entry| matches!(entry.body, Body::Unknown(_))) {
        return Err("not a session of pi: none of its first lines is an entry of one".to_owned());
    }
    let (id, time) = by_name(path);
    let cwd = by_folder(path);
    let place = if cwd.is_empty() { "an unknown folder" } else { cwd.as_str() };
    let note = format!("no session header; taken as session {id} in {place}, by the file's name");
    Ok(Identity {
        header: Header { id, cwd, started_at: time.unwrap_or(began), ..Header::default() },
        note: Some(note),
    })
}

/// The agent that writes entries of this type, where it is known not to be pi.
fn agent(entry: &Entry) -> Option<&'static str> {
    let Body::Unknown(kind) = &entry.body else { return None };
    Some(match kind.as_str() {
        "user" | "assistant" | "summary" | "file-history-snapshot" | "queue-operation" | "progress" => "Claude Code",
        "session_meta" | "response_item" | "event_msg" | "turn_context" => "Codex",
        "session_start" => "Factory Droid",
        "session.start" | "user.message" | "assistant.message" => "GitHub Copilot",
        "gemini" => "Gemini CLI",
        kind if kind.contains('/') && !kind.starts_with("message/") => "DeepSeek",
        _ => return None,
    })
}

/// The id and the time in a name of pi's: `<time>_<id>.jsonl`; else the whole name is the id.
fn by_name(path: &Path) -> (String, Option<i64>) {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if let Some((time, id)) = name.split_once('_')
        && let Ok(time) = NaiveDateTime::parse_from_str(time, "%Y-%m-%dT%H-%M-%S-%3fZ")
        && !id.is_empty()
    {
        return (id.to_owned(), Some(time.and_utc().timestamp_millis()));
    }
    (name, None)
}

/// The session's folder by its file's: `--home-me-api--` is `/home/me/api` or `/home/me-api`, which only another
/// session in it can tell. Empty when the file lies in no folder of that kind.
fn by_folder(path: &Path) -> String {
    let folder = path.parent().unwrap_or(Path::new(""));
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let Some(inner) = name.strip_prefix("--").and_then(|name| name.strip_suffix("--")) else { return String::new() };
    let siblings = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    siblings
        .filter(|sibling| sibling != path && sibling.extension().is_some_and(|extension| extension == "jsonl"))
        // Opening a pipe waits for whoever writes to it.
        .filter(|sibling| sibling.is_file())
        .take(SIBLINGS)
        .filter_map(|sibling| header_cwd(&sibling))
        .find(|cwd| encoded(cwd) == inner)
        .unwrap_or_else(|| format!("/{}", inner.replace('-', "/")))
}

fn header_cwd(path: &Path) -> Option<String> {
    let mut head = Vec::new();
    File::open(path).ok()?.take(HEADER_BYTES).read_to_end(&mut head).ok()?;
    let rules = Rules::default();
    // omp's header comes second.
    head.split(|&byte| byte == b'\n').take(2).find_map(|line| match message::parse(line, &rules).ok()?.body {
        Body::Header(header) => Some(header.cwd),
        _ => None,
    })
}

/// A folder as pi spells it in a file name, without the dashes around it.
fn encoded(cwd: &str) -> String {
    cwd.strip_prefix(['/', '\\']).unwrap_or(cwd).replace(['/', '\\', ':'], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(path: &str, lines: &[&str]) -> Result<Identity, String> {
        let rules = Rules::default();
        let entries: Vec<Entry> =
            lines.iter().map(|l| message::parse(l.as_bytes(), &rules).expect("an entry")).collect();
        identify(Path::new(path), &entries.iter().collect::<Vec<_>>())
    }

    const HEADER: &str = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-10-15T14:02:00Z","cwd":"/w"}"#;
    const MESSAGE: &str =
        r#"{"type":"message","id":"e","timestamp":"2026-10-15T14:02:00Z","message":{"role":"user","content":"x"}}"#;

    #[test]
    fn a_header_says_it_wherever_it_stands() {
        let title = r#"{"type":"title","v":1,"title":"t","updatedAt":"","pad":"   "}"#;
        for lines in [&[HEADER, MESSAGE][..], &[title, HEADER], &[MESSAGE, MESSAGE, HEADER]] {
            let found = identity("/x/name.jsonl", lines).expect("a session");
            assert_eq!((found.header.id.as_str(), found.header.cwd.as_str(), found.note), ("s1", "/w", None));
        }
    }

    #[test]
    fn without_a_header_the_file_name_says_it_and_the_person_is_told() {
        let path = "/gone/--home-me-api--/2024-01-15T10-30-00-000Z_abc-1.jsonl";
        let found = identity(path, &[MESSAGE]).expect("a session");
        assert_eq!((found.header.id.as_str(), found.header.cwd.as_str()), ("abc-1", "/home/me/api"));
        assert_eq!(found.header.started_at, 1_705_314_600_000);
        assert!(found.note.is_some_and(|note| note.contains("abc-1") && note.contains("/home/me/api")));
        let plain = identity("/gone/talk.jsonl", &[MESSAGE]).expect("a session").header;
        assert_eq!((plain.id.as_str(), plain.cwd.as_str(), plain.started_at), ("talk", "", 1_792_072_920_000));
    }

    #[test]
    fn a_session_in_the_same_folder_knows_its_dashes() {
        let tmp = tempfile::tempdir().expect("a folder");
        let folder = tmp.path().join("--home-me-api--");
        fs::create_dir(&folder).expect("created");
        fs::write(folder.join("a.jsonl"), HEADER.replace("/w", "/home/me-api")).expect("written");
        let path = folder.join("b.jsonl");
        let found = identity(&path.to_string_lossy(), &[MESSAGE]).expect("a session");
        assert_eq!(found.header.cwd, "/home/me-api");
    }

    #[test]
    fn another_agents_file_is_named() {
        let refused = |lines: &[&str]| identity("/x/a.jsonl", lines).expect_err("left out");
        assert!(
            refused(&[r#"{"type":"user","sessionId":"x","message":{"role":"user","content":"hi"}}"#])
                .contains("Claude Code")
        );
        assert!(refused(&[r#"{"type":"session_meta","payload":{}}"#]).contains("Codex"));
        let deepseek = r#"{"type":"session","version":0,"id":"session-1","createdAt":1787320263519,"cwd":"/w"}"#;
        assert!(refused(&[deepseek, r#"{"type":"user/message","seq":7}"#]).contains("DeepSeek"));
        assert!(refused(&[r#"{"type":"row","n":1}"#]).starts_with("not a session of pi"));
        assert!(refused(&[]).starts_with("not a session of pi"));
    }

    #[test]
    fn a_header_without_a_time_is_still_a_header() {
        let bare = r#"{"type":"session","id":"s1","cwd":"/w"}"#;
        let found = identity("/x/a.jsonl", &[bare, MESSAGE]).expect("a session");
        assert_eq!((found.header.id.as_str(), found.header.started_at), ("s1", 1_792_072_920_000));
    }
}
