//! The rendering rules: a message as markdown, or nothing.

use super::json::{self, Cursor, Malformed};
use super::{Body, Fields, Kept, Role, Rules};

/// A message's longest text, in UTF-16 units; the cut shows as a last `…`.
pub(super) const LONGEST: usize = 20_000;
/// What is kept of a failed tool's or command's output.
const OUTPUT: usize = 500;
/// What is kept of a tool call's arguments.
const ARGUMENTS: usize = 300;
/// Stands for an image, in every locale.
const IMAGE: &str = "[图片]";

/// A message by its role.
pub(super) fn message(fields: &Fields<'_>, rules: &Rules) -> Result<Body, Malformed> {
    let role = fields.role().ok_or(Malformed("a message without a role"))?;
    Ok(match role.as_ref() {
        "user" => kept(Role::User, spoken(fields, Role::User)?),
        "assistant" => kept(Role::Assistant, spoken(fields, Role::Assistant)?),
        "toolResult" => tool_result(fields)?,
        "bashExecution" => command(fields),
        "custom" | "hookMessage" => custom(fields, rules)?,
        "compactionSummary" | "branchSummary" => summary(fields),
        "system" | "developer" | "fileMention" => Body::Nothing(None),
        other => Body::Unknown(format!("message/{other}")),
    })
}

/// A compaction or a branch summary, whole.
pub(super) fn summary(fields: &Fields<'_>) -> Body {
    kept(Role::Summary, fields.summary.and_then(json::text).unwrap_or_default().into_owned())
}

/// An extension's message to the model: its text, as the user's, when the rules ask for it.
pub(super) fn custom(fields: &Fields<'_>, rules: &Rules) -> Result<Body, Malformed> {
    if rules.custom_messages { Ok(kept(Role::User, spoken(fields, Role::User)?)) } else { Ok(Body::Nothing(None)) }
}

fn kept(role: Role, mut text: String) -> Body {
    if text.trim().is_empty() {
        return Body::Nothing(Some(role));
    }
    let truncated = cut(&mut text, LONGEST, "…");
    Body::Kept(Kept { role, text, truncated, private: false, call: None })
}

/// The words of a message: text, images and, from the model, tool calls.
fn spoken(fields: &Fields<'_>, role: Role) -> Result<String, Malformed> {
    let mut out = String::new();
    blocks(fields.content, |block| match block.kind().as_deref() {
        Some("text") => {
            let text = block.text.and_then(json::text).unwrap_or_default();
            if !text.trim().is_empty() {
                line(&mut out, &text);
            }
        }
        Some("image") => line(&mut out, IMAGE),
        Some("toolCall") if role == Role::Assistant => {
            let name = block.name.and_then(json::text).unwrap_or_default();
            if !is_ours(&name) {
                let mut arguments = json::compact(block.arguments.unwrap_or_default(), ARGUMENTS);
                if cut(&mut arguments, ARGUMENTS, "") {
                    arguments.push('…');
                }
                line(&mut out, &format!("→ {name}({arguments})"));
            }
        }
        _ => {}
    })?;
    Ok(out)
}

/// A tool's error. A success is known by its role and flag alone: its content, most of a file, is not looked at.
fn tool_result(fields: &Fields<'_>) -> Result<Body, Malformed> {
    if fields.is_error != Some(b"true") {
        return Ok(Body::Nothing(Some(Role::ToolError)));
    }
    let name = fields.tool_name.and_then(json::text).unwrap_or("tool".into());
    if is_ours(&name) {
        return Ok(Body::Nothing(Some(Role::ToolError)));
    }
    let mut output = spoken(fields, Role::ToolError)?;
    cut(&mut output, OUTPUT, "");
    let text = format!("✗ {name}: {output}");
    let call = fields.tool_call_id.and_then(json::text).map(|call| call.into_owned());
    Ok(match kept(Role::ToolError, text) {
        Body::Kept(kept) => Body::Kept(Kept { call, ..kept }),
        nothing => nothing,
    })
}

/// The person's own `!command`, or `!!command`, which the model never saw.
fn command(fields: &Fields<'_>) -> Body {
    let command = fields.command.and_then(json::text).unwrap_or_default();
    if command.trim().is_empty() {
        return Body::Nothing(Some(Role::User));
    }
    let private = fields.exclude == Some(b"true");
    let mut text = format!("{} {command}", if private { "!!" } else { "!" });
    let cancelled = fields.cancelled == Some(b"true");
    let code = fields.exit_code.and_then(json::number).filter(|&code| code != 0);
    if cancelled || code.is_some() {
        line(&mut text, &code.map_or("✗ cancelled".into(), |code| format!("✗ exit {code}")));
        let mut output = fields.output.and_then(json::text).unwrap_or_default().into_owned();
        cut(&mut output, OUTPUT, "");
        if !output.trim().is_empty() {
            line(&mut text, &output);
        }
    }
    match kept(Role::User, text) {
        Body::Kept(kept) => Body::Kept(Kept { private, ..kept }),
        nothing => nothing,
    }
}

/// Our own tools, under whatever prefix: a search must not find earlier searches.
fn is_ours(tool: &str) -> bool {
    tool.ends_with("session_search") || tool.ends_with("session_read")
}

/// Walks content: an array of blocks, or a string that stands for one text block.
fn blocks<'a>(content: Option<&'a [u8]>, mut each: impl FnMut(Fields<'a>)) -> Result<(), Malformed> {
    let Some(content) = content else { return Ok(()) };
    let one_text = |text| Fields { kind: Some(b"\"text\""), text: Some(text), ..Fields::default() };
    let mut cursor = Cursor::new(content, 0);
    match cursor.peek() {
        Some(b'"') => each(one_text(content)),
        Some(b'[') => cursor.array(|cursor| {
            match cursor.peek() {
                Some(b'{') => each(Fields::read(cursor)?.0),
                Some(b'"') => each(one_text(cursor.string()?)),
                _ => {
                    cursor.value()?;
                }
            }
            Ok(())
        })?,
        _ => {}
    }
    Ok(())
}

/// Adds a part on a line of its own.
fn line(out: &mut String, part: &str) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(part);
}

/// Cuts to `limit` UTF-16 units, `mark` included, between characters; says whether it had to.
fn cut(text: &mut String, limit: usize, mark: &str) -> bool {
    if text.len() <= limit {
        return false;
    }
    let room = limit.saturating_sub(mark.encode_utf16().count());
    let (mut units, mut end) = (0, 0);
    for (at, character) in text.char_indices() {
        if units <= room {
            end = at;
        }
        units += character.len_utf16();
        if units > limit {
            text.truncate(end);
            text.push_str(mark);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_to(text: &str, limit: usize, mark: &str) -> (String, bool) {
        let mut text = text.to_owned();
        let cut = cut(&mut text, limit, mark);
        (text, cut)
    }

    #[test]
    fn a_cut_counts_utf16_units_and_splits_no_character() {
        assert_eq!(cut_to("ab😀", 4, ""), ("ab😀".into(), false));
        assert_eq!(cut_to("ab😀", 3, ""), ("ab".into(), true));
        assert_eq!(cut_to("锁锁锁锁", 3, ""), ("锁锁锁".into(), true));
        assert_eq!(cut_to("锁锁锁", 3, "…"), ("锁锁锁".into(), false));
    }

    #[test]
    fn the_mark_of_a_cut_counts_too() {
        assert_eq!(cut_to("abcde", 4, "…"), ("abc…".into(), true));
        assert_eq!(cut_to("ab😀cd", 4, "…"), ("ab…".into(), true));
    }
}
