//! How well search finds, and what each part of the ranking is worth, on labelled sets.
//!
//! ```sh
//! cargo run --release --example quality -- --shared FOLDER [--ablation] [--limit 400] [--held-out] [--database FILE] [--weights k1=1.2,b=0.6]
//! ```
//!
//! FOLDER holds `data/qrels/SET/{docs,queries}.jsonl` and the books of `data/corpus`, which are cut into messages of 625
//! characters and put on top of the sets, so that every answer is older than some 27,000 messages that have nothing to
//! do with it. Sets whose queries all name a conversation are asked a second time limited to it.
//!
//! At most `--limit` questions of a set are asked, evenly chosen; `--held-out` asks others instead, on which no weight was
//! chosen, where a set has more.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use pi_memory_sessions::message::Role;
use pi_memory_sessions::search::{self, Frequencies, Options, Weights};
use pi_memory_sessions::store::{index, schema};
use rusqlite::Connection;
use serde_json::Value;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

struct Message {
    id: String,
    session: String,
    role: Role,
    text: String,
}

struct Question {
    text: String,
    relevant: Vec<String>,
    project: Option<String>,
}

struct Set {
    name: String,
    questions: Vec<Question>,
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (mut shared, mut ablation, mut limit, mut held_out, mut database) = (None, false, 400, false, None);
    let mut weights = Weights::default();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} wants a value"));
        match argument.as_str() {
            "--shared" => shared = Some(PathBuf::from(value()?)),
            "--ablation" => ablation = true,
            "--held-out" => held_out = true,
            "--limit" => limit = value()?.parse()?,
            "--database" => database = Some(PathBuf::from(value()?)),
            "--weights" => {
                for pair in value()?.split(',') {
                    let (name, number) = pair.split_once('=').ok_or("a weight is NAME=NUMBER")?;
                    set_weight(&mut weights, name, number.parse()?)?;
                }
            }
            _ => return Err(format!("unknown argument {argument}").into()),
        }
    }
    let shared = shared.ok_or("--shared FOLDER names the labelled sets and the books")?;
    let (messages, sets) = load(&shared, limit, held_out)?;
    let database = database.unwrap_or_else(|| {
        std::env::temp_dir().join(format!("pi-memory-quality-{}-{}.db", index::VERSION, messages.len()))
    });
    let connection = build(&database, &messages)?;
    let bytes = fs::metadata(&database)?.len() as f64;
    let text: usize = messages.iter().map(|message| message.text.len()).sum();
    println!("{} messages, store and index {:.2} times the text", messages.len(), bytes / text as f64);

    let numbers = Numbers::new(&connection, &messages)?;
    let whole = measure(&connection, &numbers, &sets, &weights, true)?;
    println!("{:<28} {}", "all", whole.show());
    if ablation {
        println!("\n{:<36} hit@10  mrr@10", "without");
        for (what, changed) in ablations(&weights) {
            let without = measure(&connection, &numbers, &sets, &changed, false)?;
            println!(
                "{what:<36} {:.3} ({:+.3})  {:.3} ({:+.3})  p50 {:.2} p95 {:.2}",
                without.hit10,
                without.hit10 - whole.hit10,
                without.mrr10,
                without.mrr10 - whole.mrr10,
                without.p50,
                without.p95
            );
        }
    }
    Ok(())
}

fn set_weight(weights: &mut Weights, name: &str, value: f32) -> Result<()> {
    match name {
        "budget" => weights.budget = value as usize,
        "candidates" => weights.candidates = value as usize,
        "prune" => weights.prune = value,
        "reach" => weights.reach = value,
        "k1" => weights.k1 = value,
        "b" => weights.b = value,
        "char" => weights.char = value,
        "whole" => weights.whole = value,
        "cohesion" => weights.cohesion = value,
        "next" => weights.next = value,
        "stem" => weights.stem = value,
        "context_length" => weights.context_length = value,
        "after" => weights.after = value,
        "answer" => weights.answer = value,
        "bring" => weights.bring = value as usize,
        "neighbours" => weights.neighbours = value,
        "session" => weights.session = value,
        "tool_error" => weights.tool_error = value,
        "own_words" => weights.own_words = value,
        _ => return Err(format!("no weight {name}").into()),
    }
    Ok(())
}

/// Each part of the ranking switched off, one at a time.
fn ablations(all: &Weights) -> Vec<(&'static str, Weights)> {
    vec![
        ("single characters", Weights { char: 0.0, ..*all }),
        ("identifiers as written", Weights { whole: 0.0, ..*all }),
        ("cohesion of pairs", Weights { cohesion: f32::INFINITY, ..*all }),
        ("words in order", Weights { next: 0.0, ..*all }),
        ("the very word over its stem", Weights { stem: 1.0, ..*all }),
        ("the length of the text", Weights { b: 0.0, ..*all }),
        ("neighbours", Weights { neighbours: 0.0, bring: 0, ..*all }),
        ("neighbours brought along", Weights { bring: 0, ..*all }),
        ("questions before", Weights { answer: 0.0, ..*all }),
        (
            "short messages leaning more",
            Weights { context_length: 1e9, neighbours: all.neighbours / 2.0, session: all.session / 2.0, ..*all },
        ),
        ("the session's share", Weights { session: 0.0, ..*all }),
        ("roles", Weights { tool_error: 0.0, own_words: 0.0, ..*all }),
        ("no candidate passed over for few anchors", Weights { prune: 0.0, ..*all }),
        ("no candidate passed over for what it cannot reach", Weights { reach: f32::INFINITY, ..*all }),
        ("half the budget of postings", Weights { budget: all.budget / 2, ..*all }),
        ("four times the budget", Weights { budget: all.budget * 4, ..*all }),
        ("half the candidates", Weights { candidates: all.candidates / 2, ..*all }),
        ("twice the candidates", Weights { candidates: all.candidates * 2, ..*all }),
    ]
}

fn jsonl(path: &Path) -> Result<Vec<Value>> {
    fs::read_to_string(path)?
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| Ok(serde_json::from_str(line)?))
        .collect()
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn load(shared: &Path, limit: usize, held_out: bool) -> Result<(Vec<Message>, Vec<Set>)> {
    let (mut messages, mut sets) = (Vec::new(), Vec::new());
    for folder in sorted(&shared.join("data/qrels"))? {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for doc in jsonl(&folder.join("docs.jsonl"))? {
            messages.push(Message {
                id: format!("{name}/{}", text(&doc["id"])),
                session: format!("{name}/{}", doc["conv"].as_str().unwrap_or("all")),
                role: if doc["role"] == "user" { Role::User } else { Role::Assistant },
                text: text(&doc["text"]),
            });
        }
        let mut kept = jsonl(&folder.join("queries.jsonl"))?;
        kept.retain(|query| {
            query["relevant"].as_array().is_some_and(|relevant| !relevant.is_empty())
                && query["category"] != "adversarial"
                && query["category"] != 5
        });
        let mut chosen = evenly(kept.len(), limit);
        if held_out {
            let known: HashSet<usize> = chosen.into_iter().collect();
            let others: Vec<usize> = (0..kept.len()).filter(|number| !known.contains(number)).collect();
            chosen = evenly(others.len(), limit).into_iter().map(|number| others[number]).collect();
        }
        let questions = chosen
            .into_iter()
            .map(|number| &kept[number])
            .map(|query| Question {
                text: text(&query["query"]),
                relevant: query["relevant"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|id| format!("{name}/{}", text(id)))
                    .collect(),
                project: query["conv"].as_str().map(|conv| format!("{name}/{conv}")),
            })
            .collect();
        sets.push(Set { name, questions });
    }
    for folder in sorted(&shared.join("data/corpus"))? {
        for book in sorted(&folder)? {
            let characters: Vec<char> = fs::read_to_string(&book)?.chars().collect();
            for (number, part) in characters.chunks(625).enumerate() {
                messages.push(Message {
                    id: String::new(),
                    session: format!("hay/{}/{}", book.display(), number / 200),
                    role: if number % 2 == 1 { Role::Assistant } else { Role::User },
                    text: part.iter().collect(),
                });
            }
        }
    }
    sets.retain(|set: &Set| !set.questions.is_empty());
    Ok((messages, sets))
}

/// At most `limit` numbers below `count`, evenly spread.
fn evenly(count: usize, limit: usize) -> Vec<usize> {
    let step = f64::max(1.0, count as f64 / limit as f64);
    (0..limit.min(count)).map(|number| (number as f64 * step) as usize).collect()
}

fn project_of(session: &str) -> &str {
    if session.starts_with("hay/") { "hay" } else { session }
}

/// The store of these messages, made at first use and kept.
fn build(path: &Path, messages: &[Message]) -> Result<Connection> {
    let fresh = !path.exists();
    let mut connection = Connection::open(path)?;
    connection.set_prepared_statement_cache_capacity(128);
    // As the store opens its connections.
    connection.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.execute_batch(
        "pragma journal_mode = wal; pragma synchronous = off; pragma cache_size = -16000; pragma mmap_size = 268435456",
    )?;
    if !fresh {
        return Ok(connection);
    }
    schema::create(&connection)?;
    let start = Instant::now();
    let mut projects: HashMap<&str, i64> = HashMap::new();
    let mut sessions: HashMap<&str, (i64, i64)> = HashMap::new();
    let mut ts = 1_735_689_600_000i64;
    for (batch, part) in messages.chunks(200).enumerate() {
        let transaction = connection.transaction()?;
        for (number, message) in part.iter().enumerate() {
            ts += 1000;
            let id = (batch * 200 + number + 1) as i64;
            let next = projects.len() as i64 + 1;
            let project = *projects.entry(project_of(&message.session)).or_insert(next);
            if project == next {
                transaction
                    .execute("insert into project values (?, ?, ?)", (project, project_of(&message.session), "p"))?;
            }
            let next = sessions.len() as i64 + 1;
            let (session, seq) = sessions.entry(&message.session).or_insert((next, 0));
            *seq += 1;
            if *seq == 1 {
                transaction.execute(
                    "insert into session (id, key, project, started_at, messages) values (?, ?, ?, ?, 1)",
                    (*session, &message.session, project, ts),
                )?;
            }
            transaction
                .prepare_cached(
                    "insert into msg (id, session, seq, ts, role, flags, entry, hash, text) values (?, ?, ?, ?, ?, 0, ?, ?, ?)",
                )?
                .execute((id, *session, *seq, ts, message.role.code(), format!("{id:08x}"), id.wrapping_mul(0x9e37_79b9_7f4a_7c15u64 as i64), &message.text))?;
            let doc = index::Doc {
                text: &message.text,
                terms: None,
                role: message.role,
                ts,
                sessions: &[*session],
                projects: &[project],
            };
            index::add(&transaction, id, &doc)?;
        }
        transaction.commit()?;
        while index::segments(&connection)? > 40 && index::merge_step(&connection, 64)? {}
    }
    while index::merge_step(&connection, 1000)? {}
    connection.execute_batch("pragma wal_checkpoint(truncate)")?;
    println!(
        "built in {:.1} s, {:.0} messages a second",
        start.elapsed().as_secs_f64(),
        messages.len() as f64 / start.elapsed().as_secs_f64()
    );
    Ok(connection)
}

/// Which row is which labelled message, and which number which project has.
struct Numbers {
    rows: HashMap<String, i64>,
    projects: HashMap<String, i64>,
}

impl Numbers {
    fn new(connection: &Connection, messages: &[Message]) -> Result<Numbers> {
        let rows = messages.iter().enumerate().filter(|(_, message)| !message.id.is_empty());
        let rows = rows.map(|(number, message)| (message.id.clone(), number as i64 + 1)).collect();
        let mut select = connection.prepare("select cwd, id from project")?;
        let projects =
            select.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<std::result::Result<_, _>>()?;
        Ok(Numbers { rows, projects })
    }
}

#[derive(Default)]
struct Figures {
    questions: usize,
    hit1: f64,
    hit10: f64,
    mrr10: f64,
    p50: f64,
    p95: f64,
    max: f64,
}

impl Figures {
    fn show(&self) -> String {
        format!(
            "n {:>4}  hit@1 {:.3}  hit@10 {:.3}  mrr@10 {:.3}  p50 {:.2} p95 {:.2} max {:.1} ms",
            self.questions, self.hit1, self.hit10, self.mrr10, self.p50, self.p95, self.max
        )
    }

    fn times(&mut self, mut times: Vec<f64>) {
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times.get((times.len() as f64 * share) as usize).copied().unwrap_or_default();
        (self.p50, self.p95, self.max) = (at(0.5), at(0.95), times.last().copied().unwrap_or_default());
    }
}

fn measure(connection: &Connection, numbers: &Numbers, sets: &[Set], weights: &Weights, show: bool) -> Result<Figures> {
    let mut cache = Frequencies::default();
    let (mut whole, mut all_times, mut count) = (Figures::default(), Vec::new(), 0.0);
    for set in sets {
        for scoped in [false, true] {
            if scoped && set.questions.iter().any(|question| question.project.is_none()) {
                continue;
            }
            let (mut figures, mut times) = (Figures::default(), Vec::new());
            for question in &set.questions {
                let project =
                    question.project.as_ref().filter(|_| scoped).and_then(|project| numbers.projects.get(project));
                let options =
                    Options { limit: 10, projects: project.map(|&project| vec![project]), ..Options::default() };
                let start = Instant::now();
                let found = search::search_with(connection, &mut cache, &question.text, &options, weights)?;
                times.push(start.elapsed().as_secs_f64() * 1000.0);
                let wanted: Vec<i64> =
                    question.relevant.iter().filter_map(|id| numbers.rows.get(id).copied()).collect();
                let first = found.hits.iter().position(|hit| wanted.contains(&hit.id));
                figures.hit1 += f64::from(first == Some(0));
                figures.hit10 += f64::from(first.is_some());
                figures.mrr10 += first.map_or(0.0, |first| 1.0 / (first + 1) as f64);
            }
            let n = times.len().max(1) as f64;
            figures.questions = times.len();
            (figures.hit1, figures.hit10, figures.mrr10) = (figures.hit1 / n, figures.hit10 / n, figures.mrr10 / n);
            all_times.extend_from_slice(&times);
            figures.times(times);
            if show {
                println!("{:<28} {}", format!("{}{}", set.name, if scoped { " (scoped)" } else { "" }), figures.show());
            }
            if !scoped {
                count += 1.0;
                whole.questions += figures.questions;
                whole.hit1 += figures.hit1;
                whole.hit10 += figures.hit10;
                whole.mrr10 += figures.mrr10;
            }
        }
    }
    (whole.hit1, whole.hit10, whole.mrr10) = (whole.hit1 / count, whole.hit10 / count, whole.mrr10 / count);
    whole.times(all_times);
    Ok(whole)
}
