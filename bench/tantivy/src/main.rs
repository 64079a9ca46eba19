//! The limit that searches are held against: a Tantivy index of the same terms, asked the same questions.
//!
//! `bench-tantivy FOLDER QUESTIONS INDEX` indexes the session files below FOLDER into the empty folder INDEX, asks each line
//! of the file QUESTIONS for its ten best messages, and prints one JSON object: messages, loadMs, bytes and the times in ms.
//! The index ranks and nothing else: it keeps no text, and cuts no snippets.

use std::error::Error;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Instant;

use pi_memory_sessions::import::{lines::Lines, walk::walk};
use pi_memory_sessions::message::{self, Body, Rules};
use pi_memory_sessions::text::terms::index_terms;
use tantivy::collector::TopDocs;
use tantivy::merge_policy::NoMergePolicy;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{FAST, Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{DocAddress, Index, IndexWriter, Searcher, Term, doc};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Bytes that the writer collects before it writes a segment.
const WRITER_MEMORY: usize = 400_000_000;
/// Hits asked for.
const HITS: usize = 10;

fn main() -> Result<()> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [folder, questions, to] = arguments.as_slice() else {
        return Err("usage: bench-tantivy FOLDER QUESTIONS INDEX".into());
    };

    let mut schema = Schema::builder();
    let indexing =
        TextFieldIndexing::default().set_tokenizer("whitespace").set_index_option(IndexRecordOption::WithFreqs);
    let terms = schema.add_text_field("terms", TextOptions::default().set_indexing_options(indexing));
    let number = schema.add_u64_field("number", FAST);
    let index = Index::create_in_dir(to, schema.build())?;

    let start = Instant::now();
    let messages = load(&index, folder, terms, number)?;
    let load = start.elapsed();

    let searcher = index.reader()?.searcher();
    let questions = fs::read_to_string(questions)?;
    let questions: Vec<&str> = questions.lines().collect();
    // Once to warm up, once to measure.
    questions.iter().try_for_each(|question| ask(&searcher, terms, question).map(drop))?;
    let mut times = Vec::with_capacity(questions.len());
    for question in questions {
        let start = Instant::now();
        ask(&searcher, terms, question)?;
        times.push(start.elapsed().as_secs_f64() * 1000.0);
    }
    let loaded = load.as_secs_f64() * 1000.0;
    let bytes = size(to)?;
    println!("{}", serde_json::json!({ "messages": messages, "loadMs": loaded, "bytes": bytes, "times": times }));
    Ok(())
}

/// Indexes every message of the session files, into one segment: as fast as it gets.
fn load(index: &Index, folder: &Path, terms: Field, number: Field) -> Result<u64> {
    let mut writer: IndexWriter = index.writer(WRITER_MEMORY)?;
    // Merging once, at the end: what the default policy has begun by then is in the way.
    writer.set_merge_policy(Box::new(NoMergePolicy));
    let (rules, mut count) = (Rules::default(), 0);
    for found in walk(&[folder.to_owned()], || false).files {
        let mut lines = Lines::new(File::open(&found.path)?, 0, 1);
        while let Some(line) = lines.next_line()? {
            for (_, entry) in message::records(line.bytes, &rules) {
                if let Ok(message::Entry { body: Body::Kept(kept), .. }) = entry {
                    writer.add_document(doc!(terms => index_terms(&kept.text), number => count))?;
                    count += 1;
                }
            }
        }
    }
    writer.commit()?;
    let segments = index.searchable_segment_ids()?;
    if segments.len() > 1 {
        writer.merge(&segments).wait()?;
    }
    writer.wait_merging_threads()?;
    Ok(count)
}

/// The best messages that hold any of the question's terms, by BM25.
fn ask(searcher: &Searcher, terms: Field, question: &str) -> Result<Vec<(f32, DocAddress)>> {
    let any = index_terms(question)
        .split_whitespace()
        .map(|term| {
            let query = TermQuery::new(Term::from_field_text(terms, term), IndexRecordOption::WithFreqs);
            (Occur::Should, Box::new(query) as Box<dyn Query>)
        })
        .collect();
    Ok(searcher.search(&BooleanQuery::new(any), &TopDocs::with_limit(HITS).order_by_score())?)
}

fn size(folder: &Path) -> Result<u64> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.metadata()?.len())).sum()
}
