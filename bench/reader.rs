//! How fast session files are read: `cargo run --release --example reader [FILE…]`.
//!
//! Without files, over generated ones of successful tool results; with them, over those.

use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::time::Instant;

use pi_memory_sessions::import::lines::Lines;
use pi_memory_sessions::message::{self, Body, Rules};

/// Bytes of each generated file.
const SIZE: usize = 200 << 20;

fn main() -> std::io::Result<()> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    if files.is_empty() {
        for length in [2_000, 50_000, 1_000_000, 50_000_000] {
            let file = tool_results(length);
            measure(&format!("tool results of {length} bytes"), file.as_bytes())?;
        }
    }
    for file in &files {
        measure(file, File::open(file)?)?;
    }
    Ok(())
}

fn measure(name: &str, source: impl Read) -> std::io::Result<()> {
    let (rules, started) = (Rules::default(), Instant::now());
    let (mut entries, mut kept, mut bad) = (0, 0, 0);
    let mut lines = Lines::new(source, 0, 1);
    while let Some(line) = lines.next_line()? {
        for (_, entry) in message::records(line.bytes, &rules) {
            entries += 1;
            kept += usize::from(entry.as_ref().is_ok_and(|entry| matches!(entry.body, Body::Kept(_))));
            bad += usize::from(entry.is_err());
            black_box(&entry);
        }
    }
    let (bytes, seconds) = (lines.position().0 as f64 / 1e6, started.elapsed().as_secs_f64());
    println!("{name}: {entries} entries, {kept} kept, {bad} bad, {bytes:.0} MB at {:.0} MB/s", bytes / seconds);
    Ok(())
}

/// A file of tool results of about this length each: source code, escaped as pi escapes it.
fn tool_results(length: usize) -> String {
    let code =
        "\\tconst row = { \\\"key\\\": `${a}{b}`, n: 12 };\\n\\n  // 缓存 of rows, kept by their path \\\\ name\\n";
    let text = code.repeat(length.div_ceil(code.len()));
    let mut file = String::with_capacity(SIZE + length);
    while file.len() < SIZE {
        let id = file.len();
        file.push_str(&format!(
            r#"{{"type":"message","id":"{id:08x}","parentId":null,"timestamp":"2026-10-15T14:02:00.000Z","message":{{"role":"toolResult","toolCallId":"c{id}","toolName":"read","content":[{{"type":"text","text":"{text}"}}],"details":{{"bytes":{length}}},"isError":false,"timestamp":1792072920000}}}}"#
        ));
        file.push('\n');
    }
    file
}
