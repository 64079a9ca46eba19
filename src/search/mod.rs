//! Ranks messages and sessions for a query.
//!
//! Candidates are fetched from the index from the query's rarest terms upwards within a budget (`anchors`), so that the
//! cost does not grow with the store; the best of them are read and scored on their text (`score`) and on the
//! conversation around them (`context`); copies count once and sessions are ranked by what they hold (`group`).

mod anchors;
mod context;
mod group;
mod scope;
mod score;

use rusqlite::Connection;

use crate::error::Result;
use crate::message::Role;
use crate::store::index;
use crate::store::lookup;
use crate::text::matcher::{Matcher, Matches};
use crate::text::snippet;
use crate::text::terms::Query;

use anchors::Anchors;
use scope::Scope;
use score::Candidates;

pub use anchors::Frequencies;
pub use score::Weights;

/// What to search, and how much to return.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Messages to return; 0 is the default of 10.
    pub limit: usize,
    /// Messages to pass over first.
    pub offset: usize,
    /// Only these projects' messages; an empty list matches nothing.
    pub projects: Option<Vec<i64>>,
    /// Only these sessions' messages; an empty list matches nothing.
    pub sessions: Option<Vec<i64>>,
    /// What to leave out, with its copies elsewhere.
    pub exclude: Vec<Exclude>,
    /// Only this role's messages.
    pub role: Option<Role>,
    /// Only messages from this time on, unix milliseconds.
    pub since: Option<i64>,
    /// Only messages before this time, unix milliseconds.
    pub until: Option<i64>,
    /// Leave out what the person keeps from the model.
    pub for_model: bool,
    /// The hits are to be shown by session: a long one does not push out the others.
    pub by_session: bool,
}

/// Messages to leave out.
#[derive(Clone, Debug)]
pub enum Exclude {
    /// A whole session.
    Session(i64),
    /// A session's messages from a place on.
    From {
        /// The session's number.
        session: i64,
        /// The first place left out.
        seq: i64,
    },
    /// A session's messages with these entry ids, and those without any.
    Entries {
        /// The session's number.
        session: i64,
        /// pi's entry ids.
        entries: Vec<String>,
    },
}

/// How much of the query the best hit holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tier {
    /// Every term.
    All,
    /// Only some.
    Some,
    /// There is no hit.
    #[default]
    None,
}

impl Tier {
    /// The name the store's users see.
    pub fn as_str(self) -> &'static str {
        match self {
            Tier::All => "all",
            Tier::Some => "some",
            Tier::None => "none",
        }
    }
}

/// One message that answers a query.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The message's row.
    pub id: i64,
    /// Its session's number.
    pub session: i64,
    /// The message's place in its session, from 1.
    pub seq: i64,
    /// pi's entry id, when known.
    pub entry: Option<String>,
    /// Unix milliseconds.
    pub ts: i64,
    /// Who said it.
    pub role: Role,
    /// Higher is better; comparable within one result only.
    pub score: f64,
    /// The passage that answers best.
    pub snippet: String,
    /// Pairs of UTF-16 positions in the snippet.
    pub marks: Vec<(usize, usize)>,
    /// Numbers of other sessions that hold a copy.
    pub copies: Vec<i64>,
}

/// What was searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Searched {
    /// Messages that the projects and sessions searched hold.
    pub messages: u64,
    /// Those sessions.
    pub sessions: u64,
    /// Unix milliseconds.
    pub oldest: Option<i64>,
}

/// A search's result.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Messages, best first.
    pub hits: Vec<Hit>,
    /// The hits' sessions, best first by all that they hold, and how many matching messages each has.
    pub sessions: Vec<(i64, usize)>,
    /// How much of the query the best hit holds.
    pub tier: Tier,
    /// Words, or single characters of unspaced scripts, that no message has.
    pub missing: Vec<String>,
    /// Matching messages, as far as they were counted.
    pub total: usize,
    /// There are more than `total`.
    pub total_is_capped: bool,
    /// No bound cut the search short.
    pub complete: bool,
    /// What was searched.
    pub searched: Searched,
}

/// What the steps of one search share.
struct Job<'a> {
    connection: &'a Connection,
    matcher: &'a Matcher,
    options: &'a Options,
    scope: &'a Scope,
    left_out: &'a group::LeftOut<'a>,
    weights: &'a Weights,
}

/// Searches.
///
/// # Errors
/// SQLite's.
pub fn search(connection: &Connection, cache: &mut Frequencies, query: &str, options: &Options) -> Result<Found> {
    search_with(connection, cache, query, options, &Weights::default())
}

/// Searches with other weights than the default; for measuring what each part of the ranking is worth.
///
/// # Errors
/// SQLite's.
pub fn search_with(
    connection: &Connection,
    cache: &mut Frequencies,
    query: &str,
    options: &Options,
    weights: &Weights,
) -> Result<Found> {
    // One read transaction: every statement sees the same messages, and the file is locked once.
    let _snapshot = connection.is_autocommit().then(|| connection.unchecked_transaction()).transpose()?;
    let query = Query::parse(query);
    let mut found = Found {
        complete: !query.cut_short,
        searched: group::searched(connection, cache, options)?,
        ..Found::default()
    };
    let averages = index::averages(connection)?;
    let matcher = Matcher::new(&query);
    let left_out = group::LeftOut::new(connection, &options.exclude)?;
    if matcher.terms.is_empty() {
        return Ok(found);
    }
    let limit = if options.limit == 0 { 10 } else { options.limit };
    let wanted = limit.saturating_add(options.offset);

    let mut matches = Matches::default();
    let over = (&found.searched, averages.messages);
    let mut exact = false;
    let (mut anchors, scope, mut scored) = loop {
        let Some(scope) = Scope::new(connection, cache, &query, options, over, exact)? else { return Ok(found) };
        let anchors = anchors::fetch(connection, cache, &query, &matcher, &scope, averages, weights)?;
        let job = Job { connection, matcher: &matcher, options, scope: &scope, left_out: &left_out, weights };
        let scored = rank(&job, &anchors, &mut matches, wanted)?;
        // What the rows left out of a few postings says nothing about the many that were not read.
        exact = !exact && scope.post_filters && scored.messages.len() < score::PAGE && is_cut_short(&scored, &anchors);
        if !exact {
            break (anchors, scope, scored);
        }
    };
    // Further pages: what was shown stays, and what the index alone decides comes after it.
    if scope.post_filters && scored.messages.len() < wanted && is_cut_short(&scored, &anchors) {
        let Some(scope) = Scope::new(connection, cache, &query, options, over, true)? else { return Ok(found) };
        anchors = anchors::fetch(connection, cache, &query, &matcher, &scope, averages, weights)?;
        let job = Job { connection, matcher: &matcher, options, scope: &scope, left_out: &left_out, weights };
        scored.restart();
        rank_further(&mut scored, &mut score::Reader::new(&job, &anchors, &mut matches)?, &anchors, wanted)?;
    }
    let unread = scored.unread(&anchors);
    found.missing = anchors.missing;
    // What quotes, broad filters and the ends of a stretch of time leave out, only the rows tell.
    let is_counted = !matcher.has_quotes() && !scope.post_filters && options.since.is_none() && options.until.is_none();
    found.total = if is_counted { anchors.candidates.len() - scored.left_out } else { 0 }.max(scored.messages.len());
    found.total_is_capped = anchors.capped || !is_counted && unread > 0;
    found.complete &= !(matcher.has_quotes() && (anchors.capped || unread > 0));
    if let Some(best) = scored.messages.first() {
        found.tier = if best.has_all && found.missing.is_empty() { Tier::All } else { Tier::Some };
    }
    let ranks = group::ranks(&scored.messages);
    let mut sessions: Vec<(i64, group::Rank)> = Vec::new();
    let mut passed_over = 0;
    for message in &scored.messages {
        if found.hits.len() == limit {
            break;
        }
        let Some((place, copies)) = group::place(connection, options, message)? else { continue };
        if passed_over < options.offset {
            passed_over += 1;
            continue;
        }
        if let Some(&rank) = ranks.get(&message.session)
            && sessions.iter().all(|(session, _)| *session != place.session)
        {
            sessions.push((place.session, rank));
        }
        let text = lookup::text(connection, message.id)?;
        let snippet = snippet::snippet(text.as_deref().unwrap_or_default(), &matcher, &anchors.idf, &mut matches);
        found.hits.push(Hit {
            id: place.id,
            session: place.session,
            seq: place.seq,
            entry: place.entry,
            ts: message.ts,
            role: message.role,
            score: message.score.into(),
            snippet: snippet.text,
            marks: snippet.marks,
            copies,
        });
    }
    sessions.sort_by(|a, b| b.1.score.total_cmp(&a.1.score));
    found.sessions = sessions.into_iter().map(|(session, rank)| (session, rank.messages)).collect();
    Ok(found)
}

/// The candidates that were read, `wanted` of them if there are as many, best first by all that is known of them. More of
/// them are wanted for a further page: they come after the same ones.
fn rank(job: &Job<'_>, anchors: &Anchors, matches: &mut Matches, wanted: usize) -> Result<Candidates> {
    let mut reader = score::Reader::new(job, anchors, matches)?;
    let mut scored = Candidates::first(&mut reader, anchors)?;
    context::rank(&mut scored.messages, &mut reader)?;
    if job.options.by_session {
        group::diversify(&mut scored.messages, 0);
    }
    rank_further(&mut scored, &mut reader, anchors, wanted)?;
    Ok(scored)
}

/// Adds further candidates until there are `wanted`.
fn rank_further(
    scored: &mut Candidates,
    reader: &mut score::Reader<'_>,
    anchors: &Anchors,
    wanted: usize,
) -> Result<()> {
    let Job { options, weights, matcher, .. } = *reader.job;
    // A phrase may be in none of its candidates: reading on in vain has to end.
    let most = match (matcher.has_quotes(), options.offset) {
        (false, _) => usize::MAX,
        (true, 0) => score::READ,
        (true, _) => 2 * score::READ,
    };
    while scored.messages.len() < wanted && scored.unread(anchors) > 0 && reader.read < most {
        let from = scored.messages.len();
        scored.further(reader, anchors)?;
        context::rank_further(&mut scored.messages, from, weights);
        if options.by_session {
            group::diversify(&mut scored.messages, from);
        }
    }
    Ok(())
}

/// More messages may match than were read.
fn is_cut_short(scored: &Candidates, anchors: &Anchors) -> bool {
    anchors.capped || scored.unread(anchors) > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::schema;

    const HOUR: i64 = 3_600_000;

    /// A store of messages, one an hour, each text in the session it names: "session: text".
    struct Corpus(Connection);

    impl Corpus {
        fn new(messages: &[(i64, &str)]) -> Corpus {
            let connection = Connection::open_in_memory().unwrap();
            schema::create(&connection).unwrap();
            let corpus = Corpus(connection);
            for (at, &(session, text)) in messages.iter().enumerate() {
                corpus.add(at as i64 + 1, session, Role::User, text);
            }
            corpus
        }

        /// Adds a message; a session's project has its number.
        fn add(&self, id: i64, session: i64, role: Role, text: &str) {
            let doc = index::Doc { text, terms: None, role, ts: id * HOUR, sessions: &[session], projects: &[session] };
            self.row(id, session, role, Some(text), None);
            index::add(&self.0, id, &doc).unwrap();
        }

        fn row(&self, id: i64, session: i64, role: Role, text: Option<&str>, origin: Option<i64>) {
            let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| self.0.execute(sql, values).unwrap();
            run("insert or ignore into project values (?, ?, ?)", &[&session, &format!("/p/{session}"), &"p"]);
            run(
                "insert into session (id, key, project, started_at, last_at, messages) values (?1, 's' || ?1, ?1, ?2, ?3, 1)
                 on conflict do update set messages = messages + 1, last_at = max(last_at, excluded.last_at)",
                &[&session, &(session * HOUR), &(id * HOUR)],
            );
            let seq: i64 = self
                .0
                .query_row("select count(*) + 1 from msg where session = ?", [session], |row| row.get(0))
                .unwrap();
            run(
                "insert into msg (id, session, seq, ts, role, flags, entry, origin, hash, text)
                 values (?, ?, ?, ?, ?, 0, ?, ?, ?, ?)",
                &[&id, &session, &seq, &(id * HOUR), &role.code(), &format!("e{id}"), &origin, &id, &text],
            );
        }

        /// The message `origin` again, in a fork.
        fn copy(&self, id: i64, session: i64, origin: i64, text: &str, sessions: &[i64]) {
            self.row(id, session, Role::User, None, Some(origin));
            let before = index::Doc {
                text,
                terms: None,
                role: Role::User,
                ts: origin * HOUR,
                sessions: &sessions[..sessions.len() - 1],
                projects: &sessions[..sessions.len() - 1],
            };
            index::remove(&self.0, origin, &before).unwrap();
            index::add(&self.0, origin, &index::Doc { sessions, projects: sessions, ..before }).unwrap();
        }

        fn find(&self, query: &str) -> Found {
            self.find_with(query, &Options::default())
        }

        fn find_with(&self, query: &str, options: &Options) -> Found {
            search(&self.0, &mut Frequencies::default(), query, options).unwrap()
        }

        fn ids(&self, query: &str) -> Vec<i64> {
            self.find(query).hits.iter().map(|hit| hit.id).collect()
        }
    }

    fn small() -> Corpus {
        Corpus::new(&[
            (1, "我们用读写锁保护缓存，写入时先加锁再更新索引。"),
            (2, "缓存索引的优化方案：按项目分片，热点放在内存里。"),
            (3, "Vue 的响应式是用 Proxy 实现的，依赖在 getter 里收集。"),
            (4, "我的簽證下週到期，要去領事館續簽。"),
            (5, "这个 API 返回 404，检查一下路由。"),
            (6, "修改youer服务端的登录接口，让它返回令牌。"),
            (7, "让 codex 执行任务，完成后汇报结果。"),
            (8, "これですべての設定が終わりました。再起動してください。"),
            (9, "한국어 검색이 잘 되는지 확인해 주세요."),
            (10, "FTS5 with contentless_delete=1 does not forget a row's terms."),
            (11, "rm -rf is dangerous; do not use find / in scripts."),
            (12, "测试覆盖率到 100% 了，可以发布。"),
            (13, "We port the engine from C++ to Rust; C is only for the bindings."),
            (14, "桂林在广西，山水甲天下。"),
            (15, "把值存缓冲区里，满了再写盘。"),
            (16, "The university library opens at nine."),
            (17, "天气不错，晚上去散步，顺便买点水果回来。"),
        ])
    }

    #[test]
    fn the_queries_people_type_find_their_message_first() {
        let corpus = small();
        for (query, wanted) in [
            ("锁", 1),
            ("缓存", 2),
            ("我一直搞不清楚响应式是怎么实现的", 3),
            ("上次讨论过的缓存索引优化方案", 2),
            ("簽證", 4),
            ("签证", 4),
            ("ＡＰＩ", 5),
            ("修改youer服务端", 6),
            ("codex执行任务", 7),
            ("すべての設定", 8),
            ("한국어 검색", 9),
            ("contentless delete", 10),
            ("contentlessDelete", 10),
            ("DO NOT USE FIND /", 11),
            ("100%", 12),
            ("C++", 13),
            ("广西 OR 桂林", 14),
            ("universities", 16),
        ] {
            assert!(corpus.ids(query).iter().take(2).any(|&id| id == wanted), "{query}: {:?}", corpus.ids(query));
        }
    }

    #[test]
    fn characters_in_another_order_are_another_word() {
        let corpus = small();
        let found = corpus.find("存缓");
        assert_eq!(found.hits[0].id, 15);
        let without = Corpus::new(&[(1, "缓存"), (2, "别的")]);
        assert_eq!(without.find("\"存缓\"").tier, Tier::None);
        let found = without.find("存缓");
        assert_eq!((found.tier, found.hits[0].id), (Tier::Some, 1));
    }

    #[test]
    fn a_sentence_of_three_hundred_characters_finds_what_it_is_about() {
        let query = format!("{}缓存索引的优化方案", "我想知道你还记不记得那天下午说过的事情，".repeat(15));
        assert_eq!(small().ids(&query)[0], 2);
    }

    #[test]
    fn the_word_itself_comes_before_its_relatives() {
        let corpus = Corpus::new(&[(1, "the university"), (2, "the universe"), (3, "the university")]);
        assert_eq!(corpus.ids("universe")[0], 2);
    }

    #[test]
    fn no_character_is_an_operator() {
        let corpus = small();
        for query in [
            "",
            " ",
            "\"",
            "\"\"",
            "*",
            "a* NEAR(b",
            "AND",
            "NOT OR AND",
            "^锁",
            "terms:锁",
            "!s1",
            "(((",
            "-锁",
            "\u{0}锁",
        ] {
            corpus.find(query);
        }
        assert!(corpus.ids("!s1").is_empty());
        assert_eq!(corpus.ids("terms:锁 NEAR(")[0], 1);
    }

    #[test]
    fn quoted_text_occurs_as_written() {
        let corpus =
            Corpus::new(&[(1, "delete the index first"), (2, "the first index, delete"), (3, "re-index first aid")]);
        assert_eq!(corpus.ids("\"the index  FIRST\""), [1]);
        assert_eq!(corpus.ids("\"index first\""), [3, 1]);
        assert!(corpus.ids("\"ndex first\"").is_empty());
    }

    #[test]
    fn a_filter_never_starves_the_result() {
        let corpus = Corpus::new(&[]);
        for id in 1..5000 {
            corpus.add(id, if id % 2000 == 7 { 2 } else { 1 }, Role::Assistant, "缓存 of the cache, again");
        }
        let only = |projects| Options { projects: Some(projects), ..Options::default() };
        let found = corpus.find_with("cache", &only(vec![2]));
        assert_eq!((found.hits.len(), found.total, found.searched.messages), (3, 3, 3));
        assert!(corpus.find_with("cache", &only(vec![])).hits.is_empty());
        let day = Options { since: Some(100 * HOUR), until: Some(103 * HOUR), ..Options::default() };
        let mut ids: Vec<i64> = corpus.find_with("cache", &day).hits.iter().map(|hit| hit.id).collect();
        ids.sort_unstable();
        assert_eq!(ids, [100, 101, 102]);
        let role = Options { role: Some(Role::User), ..Options::default() };
        assert_eq!(corpus.find_with("cache", &role).tier, Tier::None);
    }

    #[test]
    fn a_broad_filter_never_starves_the_result_either() {
        // Half of the messages are the person's, but of those with the word only the two oldest.
        let corpus = Corpus::new(&[]);
        for id in 1..8000 {
            match id {
                3 | 5 => corpus.add(id, id, Role::User, "the cache"),
                _ if id % 2 == 0 => corpus.add(id, 1, Role::Assistant, "the cache"),
                _ => corpus.add(id, 1, Role::User, "else"),
            }
        }
        let role = Options { role: Some(Role::User), ..Options::default() };
        let found = corpus.find_with("cache", &role);
        assert_eq!(found.hits.iter().map(|hit| hit.id).collect::<Vec<_>>(), [5, 3]);
        assert!(found.complete && !found.total_is_capped && found.total == 2);
        let copied = Options { projects: Some(vec![1]), ..Options::default() };
        assert_eq!(corpus.find_with("cache", &copied).hits.len(), 10);
    }

    #[test]
    fn a_broad_filter_is_met_by_any_copy() {
        let corpus = Corpus::new(&[(1, "zebra"), (1, "lion"), (2, "zebra again")]);
        corpus.copy(10, 2, 1, "zebra", &[1, 2]);
        let fork = Options { sessions: Some(vec![2]), ..Options::default() };
        let ids: Vec<i64> = corpus.find_with("zebra", &fork).hits.iter().map(|hit| hit.id).collect();
        assert_eq!(ids, [10, 3]);
    }

    #[test]
    fn an_open_stretch_of_time_is_as_exact_as_a_closed_one() {
        let corpus = Corpus::new(&[]);
        for id in 1..4000 {
            corpus.add(id, 1, Role::User, "cache");
        }
        let ids = |since, until| {
            let options = Options { since, until, limit: 50, ..Options::default() };
            let mut ids: Vec<i64> = corpus.find_with("cache", &options).hits.iter().map(|hit| hit.id).collect();
            ids.sort_unstable();
            ids
        };
        assert_eq!(ids(None, Some(4 * HOUR)), [1, 2, 3]);
        assert_eq!(ids(Some(3997 * HOUR), None), [3997, 3998, 3999]);
        assert!(ids(Some(4000 * HOUR), None).is_empty() && ids(None, Some(HOUR)).is_empty());
    }

    #[test]
    fn a_clock_wrong_by_centuries_slows_no_search() {
        let corpus = Corpus::new(&[]);
        for id in 1..3000 {
            corpus.add(id, 1, Role::User, "cache");
        }
        corpus.add(494_000_000, 2, Role::User, "cache");
        let lately = Options { since: Some(2998 * HOUR), ..Options::default() };
        let ids: Vec<i64> = corpus.find_with("cache", &lately).hits.iter().map(|hit| hit.id).collect();
        assert!(ids.contains(&2998) && ids.contains(&2999) && !ids.contains(&2997));
        let ever = Options { since: Some(-8_640_000_000_000_000), until: Some(3 * HOUR), ..Options::default() };
        assert_eq!(corpus.find_with("cache", &ever).hits.len(), 2);
    }

    #[test]
    fn camel_case_in_quotes_finds_the_word_in_lower_case_and_the_reverse() {
        let corpus = Corpus::new(&[(1, "We use TypeScript here"), (2, "typescript it is"), (3, "a type of script")]);
        for query in ["\"TypeScript\"", "\"typescript\""] {
            let mut ids = corpus.ids(query);
            ids.sort_unstable();
            assert_eq!(ids, [1, 2], "{query}");
        }
    }

    #[test]
    fn every_page_that_was_counted_can_be_reached() {
        let corpus = Corpus::new(&[]);
        for id in 1..180 {
            corpus.add(id, id, Role::User, if id % 9 == 0 { "cache cache shard" } else { "the cache" });
        }
        let mut ids = Vec::new();
        for offset in (0..200).step_by(10) {
            let page = Options { offset, ..Options::default() };
            ids.extend(corpus.find_with("cache shard", &page).hits.iter().map(|hit| hit.id));
        }
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 179);
    }

    #[test]
    fn hundreds_of_sessions_can_be_left_out() {
        let corpus = Corpus::new(&[(1, "cache"), (2, "cache")]);
        let exclude = (2..1000).map(Exclude::Session).collect();
        let found = corpus.find_with("cache", &Options { exclude, ..Options::default() });
        assert_eq!(found.hits.iter().map(|hit| hit.id).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn a_phrase_of_common_words_is_found_among_all_that_have_them() {
        let corpus = Corpus::new(&[(1, "it is what it is")]);
        for id in 2..2500 {
            corpus.add(id, 2, Role::User, "what it is, is it");
        }
        let phrase = "\"it is what it is\"";
        assert_eq!(corpus.ids(phrase), [1]);
        assert_eq!(corpus.ids(&format!("{phrase} unheard")), [1]);
        assert!(corpus.ids("\"it is unheard\"").is_empty());
        assert!(corpus.find(phrase).complete && corpus.find("what it is").complete);
        for id in 2500..4000 {
            corpus.add(id, 2, Role::User, "what it is, is it");
        }
        let found = corpus.find(phrase);
        assert!(found.hits.is_empty() && !found.complete, "what was not looked at is owned up to");
    }

    #[test]
    fn copies_count_once_and_are_left_out_together() {
        let corpus = Corpus::new(&[(5, "zebra crossing"), (6, "another text")]);
        corpus.copy(10, 3, 1, "zebra crossing", &[5, 3]);
        let found = corpus.find("zebra");
        let shown: Vec<_> = found.hits.iter().map(|hit| (hit.id, hit.session, hit.copies.clone())).collect();
        assert_eq!(shown, [(10, 3, vec![5])]);
        let in_fork = Options { sessions: Some(vec![5]), ..Options::default() };
        assert_eq!(corpus.find_with("zebra", &in_fork).hits[0].id, 1);
        for exclude in [
            Exclude::Session(3),
            Exclude::From { session: 3, seq: 1 },
            Exclude::Entries { session: 3, entries: vec!["e10".to_owned()] },
        ] {
            let left = corpus.find_with("zebra", &Options { exclude: vec![exclude], ..Options::default() });
            assert!(left.hits.is_empty() && left.tier == Tier::None && left.total == 0);
        }
    }

    #[test]
    fn a_question_brings_its_answer_along() {
        let corpus =
            Corpus::new(&[(1, "What pets does Melanie keep?"), (1, "Two cats and a parrot."), (2, "Nothing here")]);
        assert!(corpus.ids("which pets Melanie keeps at home").contains(&2));
    }

    #[test]
    fn the_answer_says_what_is_missing_and_what_was_searched() {
        let found = small().find("缓存 zzyzx 鱻");
        assert_eq!(found.missing, ["zzyzx", "鱻"]);
        assert_eq!(found.tier, Tier::Some);
        assert_eq!((found.searched.messages, found.searched.sessions, found.searched.oldest), (17, 17, Some(HOUR)));
        assert_eq!(small().find("缓存 优化").tier, Tier::All);
    }

    #[test]
    fn a_session_ranks_by_all_it_holds() {
        let corpus = Corpus::new(&[
            (1, "sharding of the cache by project"),
            (2, "cache"),
            (1, "the cache again, its shards"),
            (1, "cache sharding is done"),
            (3, "something else entirely"),
        ]);
        assert_eq!(corpus.find("cache sharding").sessions[0], (1, 3));
    }

    #[test]
    fn a_long_session_leaves_room_for_others_where_hits_are_shown_by_session() {
        let long = (0..30).map(|_| (1, "the cache is sharded by project"));
        let corpus = Corpus::new(
            &long.chain([(2, "the cache has shards, among much else that is said here")]).collect::<Vec<_>>(),
        );
        let sessions = |by_session| {
            let options = Options { by_session, ..Options::default() };
            let found = corpus.find_with("sharded cache project", &options);
            assert_eq!(found.hits.len(), 10);
            found.sessions.iter().map(|&(session, _)| session).collect::<Vec<_>>()
        };
        assert_eq!(sessions(false), [1]);
        assert_eq!(sessions(true), [1, 2]);
    }

    #[test]
    fn pages_put_together_are_the_whole_result_and_repeat_nothing() {
        let words = ["cat", "dog", "the cat sat?", "a dog and a cat", "on the mat with the cat", "nothing", "cat cat"];
        let messages: Vec<(i64, &str)> = (0..900).map(|n: i64| (n % 40, words[(n * n % 7) as usize])).collect();
        let corpus = Corpus::new(&messages);
        let role = Some(Role::User);
        for options in [
            Options::default(),
            Options { by_session: true, ..Options::default() },
            Options { role, ..Options::default() },
            Options { since: Some(100 * HOUR), by_session: true, ..Options::default() },
        ] {
            let ids = |limit, offset| {
                let found = corpus.find_with("cat on the mat", &Options { limit, offset, ..options.clone() });
                found.hits.iter().map(|hit| hit.id).collect::<Vec<_>>()
            };
            let whole = ids(900, 0);
            let pages: Vec<i64> = (0..30).flat_map(|page| ids(30, 30 * page)).collect();
            assert_eq!(pages, whole);
            let distinct: std::collections::HashSet<i64> = whole.iter().copied().collect();
            assert_eq!(distinct.len(), whole.len());
            let matching = messages.iter().enumerate().filter(|(at, (_, text))| {
                *text != "dog" && *text != "nothing" && (*at as i64 + 1) * HOUR >= options.since.unwrap_or(0)
            });
            assert_eq!(whole.len(), matching.count());
        }
    }

    #[test]
    fn snippets_mark_what_folding_changed() {
        let corpus = Corpus::new(&[(1, "😀 ﬁle for the ＡＰＩ and 簽證")]);
        let hit = &corpus.find("file api 签证").hits[0];
        let units: Vec<u16> = hit.snippet.encode_utf16().collect();
        let marked: Vec<String> =
            hit.marks.iter().map(|&(start, end)| String::from_utf16_lossy(&units[start..end])).collect();
        assert_eq!(marked, ["ﬁle", "ＡＰＩ", "簽證"]);
    }
}
