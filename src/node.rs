//! The face JavaScript sees: one class, plain objects and conversions.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use napi::bindgen_prelude::{FnArgs, Function, JsObjectValue, Object, Unknown};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi::{Env, JsValue, ValueType};
use napi_derive::napi;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Kind};
use crate::message::{self, Role, Rules};
use crate::store::{self, Store, time};
use crate::{import, text};

/// An error's `code`.
pub struct Code(Kind);

impl AsRef<str> for Code {
    fn as_ref(&self) -> &str {
        self.0.code()
    }
}

type Result<T> = std::result::Result<T, napi::Error<Code>>;

impl From<Error> for napi::Error<Code> {
    fn from(error: Error) -> Self {
        napi::Error::new(Code(error.kind()), error.to_string())
    }
}

fn invalid(message: impl Into<String>) -> napi::Error<Code> {
    Error::new(Kind::InvalidArgument, message).into()
}

fn internal(error: napi::Error) -> napi::Error<Code> {
    Error::new(Kind::Internal, error.reason.clone()).into()
}

#[napi]
pub struct MemoryStore {
    store: Arc<Store>,
}

#[napi]
impl MemoryStore {
    #[napi(constructor, catch_unwind)]
    pub fn new(env: Env, options: Option<Unknown>) -> Result<Self> {
        let options: StoreOptions = plain(&env, options, "options")?;
        let store = Store::open(store::Options {
            path: options.path.filter(|path| !path.is_empty()).map(PathBuf::from),
            exclude_folders: options.exclude_folders,
            rules: Rules { custom_messages: options.keep_extension_messages },
        })?;
        Ok(MemoryStore { store })
    }

    #[napi(catch_unwind)]
    pub fn begin(&self, env: Env, session: Unknown) -> Result<()> {
        let session: Session = plain(&env, Some(session), "session")?;
        Ok(self.store.begin(&session.into())?)
    }

    #[napi(catch_unwind)]
    pub fn capture<'env>(&self, env: &'env Env, session_id: Unknown, entry: Unknown) -> Result<Object<'env>> {
        let session = string(session_id, "sessionId")?;
        if entry.get_type().map_err(internal)? != ValueType::Object {
            return Err(invalid("entry is no object; give a line of pi's session file or a message"));
        }
        let json = stringify(env, entry).map_err(|error| invalid(format!("entry cannot be read: {}", error.reason)))?;
        let entry = message::parse(json.as_bytes(), self.store.rules())
            .map_err(|malformed| invalid(format!("entry is no entry of pi's: {malformed}")))?;
        let captured = self.store.capture(&session, &entry)?;
        captured_object(env, captured).map_err(internal)
    }

    #[napi(catch_unwind)]
    pub fn tail(&self, session_id: Unknown, file: Unknown) -> Result<Tail> {
        Ok(import::tail(&self.store, &string(session_id, "sessionId")?, string(file, "file")?.as_ref())?.into())
    }

    #[napi(catch_unwind)]
    pub fn pause(&self, session_id: Unknown) -> Result<()> {
        Ok(self.store.pause(&string(session_id, "sessionId")?)?)
    }

    #[napi(catch_unwind)]
    pub fn resume(&self, session_id: Unknown) -> Result<()> {
        Ok(self.store.resume(&string(session_id, "sessionId")?)?)
    }

    #[napi(catch_unwind)]
    pub fn paused(&self, session_id: Unknown) -> Result<bool> {
        Ok(self.store.is_paused(&string(session_id, "sessionId")?)?)
    }

    #[napi(catch_unwind)]
    pub fn search(&self, env: Env, query: Unknown, options: Option<Unknown>) -> Result<SearchResult> {
        let query = string(query, "query")?;
        let options: SearchOptions = plain(&env, options, "options")?;
        Ok(self.store.search(&query, &options.try_into()?)?.into())
    }

    #[napi(catch_unwind)]
    pub fn words(&self, typed: Unknown) -> Result<Vec<String>> {
        Ok(self.store.words(&string(typed, "typed")?, 8)?)
    }

    #[napi(catch_unwind)]
    pub fn read(&self, env: Env, session_id: Unknown, options: Option<Unknown>) -> Result<Window> {
        let session = string(session_id, "sessionId")?;
        let options: ReadOptions = plain(&env, options, "options")?;
        let span = store::Span {
            around: options.around.map(integer),
            before: count(options.before, 4, 0, 1000),
            after: count(options.after, 6, 0, 1000),
            for_model: options.for_model,
        };
        let highlight = short_option(options.highlight, "highlight")?;
        let window = self.store.read(&session, &span)?;
        Ok(Window::of(window, highlight.as_deref()))
    }

    #[napi(catch_unwind)]
    pub fn sessions(&self, env: Env, options: Option<Unknown>) -> Result<Vec<SessionSummary>> {
        let options: SessionsOptions = plain(&env, options, "options")?;
        let limit = count(options.limit, 20, 1, 100_000);
        let offset = count(options.offset, 0, 0, usize::MAX);
        let query = short_option(options.query, "query")?;
        let sessions = self.store.sessions(limit, offset, options.project.as_deref(), query.as_deref())?;
        Ok(sessions.into_iter().map(SessionSummary::from).collect())
    }

    #[napi(catch_unwind)]
    pub fn projects(&self, env: Env, options: Option<Unknown>) -> Result<Vec<Project>> {
        let options: ProjectsOptions = plain(&env, options, "options")?;
        let query = short_option(options.query, "query")?;
        let projects = self.store.projects(query.as_deref())?;
        Ok(projects
            .into_iter()
            .map(|one| Project { project: one.project, cwd: one.cwd, sessions: one.sessions, last_at: one.last_at })
            .collect())
    }

    #[napi(catch_unwind)]
    pub fn import<'env>(&self, env: &'env Env, options: Option<Unknown>) -> Result<Object<'env>> {
        let cancel = Arc::new(AtomicBool::new(false));
        let mut progress = None;
        if let Some(given) = &options
            && given.get_type().map_err(internal)? == ValueType::Object
        {
            // SAFETY: the value was just seen to be an object.
            let given: Object = unsafe { given.cast() }.map_err(internal)?;
            let wrong = |error: napi::Error| invalid(format!("options: {}", error.reason));
            if let Some(call) = given.get::<Function<ImportProgress, ()>>("onProgress").map_err(wrong)? {
                let call = call
                    .build_threadsafe_function()
                    .callee_handled::<false>()
                    .max_queue_size::<16>()
                    .build()
                    .map_err(|error| invalid(format!("onProgress is no function ({})", error.reason)))?;
                progress = Some(call);
            }
            if let Some(signal) = given.get::<Object>("signal").map_err(wrong)? {
                listen(env, &signal, &cancel)
                    .map_err(|error| invalid(format!("signal is no AbortSignal ({})", error.reason)))?;
            }
        }
        let options: ImportOptions = plain(env, options, "options")?;
        let options = import::Options::from(options);
        let store = Arc::clone(&self.store);
        promise(
            env,
            move || {
                import::import(&store, &options, &cancel, |now| {
                    if let Some(call) = &progress {
                        call.call((*now).into(), ThreadsafeFunctionCallMode::NonBlocking);
                    }
                })
            },
            ImportReport::from,
        )
    }

    #[napi(catch_unwind)]
    pub fn waiting<'env>(&self, env: &'env Env, options: Option<Unknown>) -> Result<Object<'env>> {
        let options = import::Options::from(plain::<ImportOptions>(env, options, "options")?);
        let store = Arc::clone(&self.store);
        promise(env, move || import::waiting(&store, &options), Waiting::from)
    }

    #[napi(catch_unwind)]
    pub fn forget<'env>(&self, env: &'env Env, options: Unknown) -> Result<Object<'env>> {
        let options: ForgetOptions = plain(env, Some(options), "options")?;
        let message = options.message.map(|MessageId::Number(id)| id);
        // Cutting it to a whole number would forget another message.
        if let Some(id) = message.filter(|id| id.fract() != 0.0) {
            return Err(invalid(format!("message {id} is no message's id; take one that a search returned")));
        }
        let conditions = store::Conditions {
            session: options.session,
            message: message.map(integer),
            project: options.project,
            since: options.since.map(Moment::since).transpose()?,
            until: options.until.map(Moment::until).transpose()?,
            dry_run: options.dry_run,
        };
        let store = Arc::clone(&self.store);
        promise(env, move || store.forget(&conditions), ForgetReport::from)
    }

    #[napi(catch_unwind)]
    pub fn check<'env>(&self, env: &'env Env, options: Option<Unknown>) -> Result<Object<'env>> {
        let options: CheckOptions = plain(env, options, "options")?;
        let store = Arc::clone(&self.store);
        promise(env, move || store.check(options.repair), Health::from)
    }

    #[napi(catch_unwind)]
    pub fn stats<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        let store = Arc::clone(&self.store);
        promise(env, move || store.stats(), Stats::from)
    }

    #[napi(catch_unwind)]
    pub fn notice(&self) -> Option<String> {
        self.store.notice()
    }

    #[napi(catch_unwind)]
    pub fn close(&self) {
        self.store.close();
    }
}

// What comes from JavaScript. Options are plain data: JSON says which kind is wrong, in words.

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct StoreOptions {
    path: Option<String>,
    exclude_folders: Vec<String>,
    keep_extension_messages: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Session {
    id: String,
    #[serde(default)]
    cwd: String,
    #[serde(default)]
    started_at: f64,
    name: Option<String>,
    file: Option<String>,
    parent_file: Option<String>,
    parent: Option<String>,
}

impl From<Session> for store::Session {
    fn from(session: Session) -> Self {
        store::Session {
            id: session.id,
            cwd: session.cwd,
            started_at: integer(session.started_at),
            name: session.name,
            file: session.file,
            parent_file: session.parent_file,
            parent: session.parent,
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SearchOptions {
    limit: Option<f64>,
    offset: Option<f64>,
    project: Option<String>,
    session: Option<String>,
    exclude: Vec<Exclusion>,
    role: Option<String>,
    #[serde(deserialize_with = "given")]
    since: Option<Moment>,
    #[serde(deserialize_with = "given")]
    until: Option<Moment>,
    for_model: bool,
    by_session: bool,
}

impl TryFrom<SearchOptions> for store::Query {
    type Error = Error;

    fn try_from(options: SearchOptions) -> std::result::Result<Self, Error> {
        let role = options.role.map(|role| {
            Role::parse(&role).ok_or_else(|| {
                let known = "user, assistant, tool_error or summary";
                Error::new(Kind::InvalidArgument, format!("role: {role:?} is none of {known}"))
            })
        });
        Ok(store::Query {
            limit: count(options.limit, 10, 1, 100),
            offset: count(options.offset, 0, 0, 1_000_000),
            project: options.project,
            session: options.session,
            exclude: options.exclude.into_iter().map(store::Exclusion::from).collect(),
            role: role.transpose()?,
            since: options.since.map(Moment::since).transpose()?,
            until: options.until.map(Moment::until).transpose()?,
            for_model: options.for_model,
            by_session: options.by_session,
        })
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "exclude lists session ids, { session, fromSeq } and { session, entries }")]
enum Exclusion {
    Session(String),
    From {
        session: String,
        #[serde(rename = "fromSeq")]
        from_seq: f64,
    },
    Entries {
        session: String,
        entries: Vec<String>,
    },
}

impl From<Exclusion> for store::Exclusion {
    fn from(exclusion: Exclusion) -> Self {
        match exclusion {
            Exclusion::Session(session) => store::Exclusion::Session(session),
            Exclusion::From { session, from_seq } => store::Exclusion::From(session, integer(from_seq)),
            Exclusion::Entries { session, entries } => store::Exclusion::Entries(session, entries),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "message is the number of one, as a search returned it")]
enum MessageId {
    Number(f64),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "since and until are unix milliseconds or an ISO date")]
enum Moment {
    Ms(f64),
    Text(String),
}

impl Moment {
    fn since(self) -> std::result::Result<i64, Error> {
        match self {
            Moment::Ms(ms) => Ok(integer(ms)),
            Moment::Text(text) => time::since(&text),
        }
    }

    /// The first millisecond that is too late.
    fn until(self) -> std::result::Result<i64, Error> {
        match self {
            Moment::Ms(ms) => Ok(integer(ms).saturating_add(1)),
            Moment::Text(text) => time::until(&text),
        }
    }
}

/// Of a member that is there, null is not nothing: JSON writes null for NaN and for a date that is none.
fn given<'de, D: serde::Deserializer<'de>, T: Deserialize<'de>>(value: D) -> std::result::Result<Option<T>, D::Error> {
    T::deserialize(value).map(Some)
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ReadOptions {
    around: Option<f64>,
    before: Option<f64>,
    after: Option<f64>,
    highlight: Option<String>,
    for_model: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SessionsOptions {
    limit: Option<f64>,
    offset: Option<f64>,
    project: Option<String>,
    query: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ProjectsOptions {
    query: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ImportOptions {
    from: Option<OneOrMany>,
    also: Vec<String>,
}

impl From<ImportOptions> for import::Options {
    fn from(options: ImportOptions) -> Self {
        import::Options {
            from: OneOrMany::paths(options.from),
            also: options.also.into_iter().map(PathBuf::from).collect(),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "from is a path or a list of paths")]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    fn paths(given: Option<OneOrMany>) -> Vec<PathBuf> {
        match given {
            None => Vec::new(),
            Some(OneOrMany::One(path)) => vec![PathBuf::from(path)],
            Some(OneOrMany::Many(paths)) => paths.into_iter().map(PathBuf::from).collect(),
        }
    }
}

/// A condition that is not understood must not be one fewer: what is forgotten is gone.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ForgetOptions {
    #[serde(default, deserialize_with = "given")]
    session: Option<String>,
    #[serde(default, deserialize_with = "given")]
    message: Option<MessageId>,
    #[serde(default, deserialize_with = "given")]
    project: Option<String>,
    #[serde(default, deserialize_with = "given")]
    since: Option<Moment>,
    #[serde(default, deserialize_with = "given")]
    until: Option<Moment>,
    #[serde(default)]
    dry_run: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CheckOptions {
    repair: bool,
}

// What goes to JavaScript; index.d.ts documents each field.

#[napi(object, object_from_js = false)]
pub struct Tail {
    pub stored: i64,
    pub changed: i64,
    pub behind: i64,
}

impl From<import::Tail> for Tail {
    fn from(tail: import::Tail) -> Self {
        Tail { stored: number(tail.stored), changed: number(tail.changed), behind: number(tail.behind) }
    }
}

#[napi(object, object_from_js = false)]
pub struct Hit {
    pub id: i64,
    pub session_id: String,
    pub seq: i64,
    pub entry_id: Option<String>,
    pub ts: i64,
    pub role: &'static str,
    pub score: f64,
    pub snippet: String,
    pub marks: Vec<Vec<u32>>,
    pub copies: Vec<String>,
}

#[napi(object, object_from_js = false)]
pub struct Searched {
    pub messages: i64,
    pub sessions: i64,
    pub oldest: Option<i64>,
}

#[napi(object, object_from_js = false)]
pub struct SearchResult {
    pub hits: Vec<Hit>,
    pub sessions: Vec<SessionSummary>,
    pub tier: &'static str,
    pub missing: Vec<String>,
    pub total: i64,
    pub total_is_capped: bool,
    pub complete: bool,
    pub searched: Searched,
    pub took_ms: f64,
}

impl From<store::Answer> for SearchResult {
    fn from(answer: store::Answer) -> Self {
        let hits = answer.hits.into_iter().map(|hit| Hit {
            id: hit.id,
            session_id: hit.session,
            seq: hit.seq,
            entry_id: hit.entry,
            ts: hit.ts,
            role: hit.role.as_str(),
            score: hit.score,
            snippet: hit.snippet,
            marks: marks(hit.marks),
            copies: hit.copies,
        });
        let sessions = answer
            .sessions
            .into_iter()
            .map(|(summary, matches)| SessionSummary { matches: Some(number(matches)), ..summary.into() });
        SearchResult {
            hits: hits.collect(),
            sessions: sessions.collect(),
            tier: answer.tier.as_str(),
            missing: answer.missing,
            total: number(answer.total),
            total_is_capped: answer.total_is_capped,
            complete: answer.complete,
            searched: Searched {
                messages: number(answer.messages),
                sessions: number(answer.searched_sessions),
                oldest: answer.oldest,
            },
            took_ms: answer.took.as_secs_f64() * 1000.0,
        }
    }
}

#[napi(object, object_from_js = false)]
pub struct SessionSummary {
    pub id: String,
    pub cwd: String,
    pub started_at: i64,
    pub name: Option<String>,
    pub file: Option<String>,
    pub parent_file: Option<String>,
    pub parent: Option<String>,
    pub project: String,
    pub last_at: i64,
    pub messages: i64,
    pub opening: String,
    pub matches: Option<i64>,
}

impl From<store::SessionSummary> for SessionSummary {
    fn from(summary: store::SessionSummary) -> Self {
        let store::SessionSummary { session, project, last_at, messages, opening, .. } = summary;
        SessionSummary {
            id: session.id,
            cwd: session.cwd,
            started_at: session.started_at,
            name: session.name,
            file: session.file,
            parent_file: session.parent_file,
            parent: session.parent,
            project,
            last_at,
            messages,
            opening,
            matches: None,
        }
    }
}

#[napi(object, object_from_js = false)]
pub struct Message {
    pub id: i64,
    pub seq: i64,
    pub entry_id: Option<String>,
    pub ts: i64,
    pub role: &'static str,
    pub text: String,
    pub truncated: bool,
    pub marks: Option<Vec<Vec<u32>>>,
}

#[napi(object, object_from_js = false)]
pub struct More {
    pub before: i64,
    pub after: i64,
}

#[napi(object, object_from_js = false)]
pub struct Window {
    pub session: SessionSummary,
    pub messages: Vec<Message>,
    pub more: More,
}

impl Window {
    fn of(window: store::Window, highlight: Option<&str>) -> Window {
        let messages = window.messages.into_iter().map(|message| Message {
            id: message.id,
            seq: message.seq,
            entry_id: message.entry,
            ts: message.ts,
            role: message.role.as_str(),
            marks: highlight.map(|query| marks(text::highlight(&message.text, query))),
            text: message.text,
            truncated: message.truncated,
        });
        Window {
            messages: messages.collect(),
            session: window.session.into(),
            more: More { before: number(window.before as u64), after: number(window.after as u64) },
        }
    }
}

#[napi(object, object_from_js = false)]
pub struct Project {
    pub project: String,
    pub cwd: String,
    pub sessions: i64,
    pub last_at: i64,
}

#[napi(object, object_from_js = false)]
pub struct ImportProgress {
    pub files: i64,
    pub files_done: i64,
    pub bytes: i64,
    pub bytes_done: i64,
    pub stored: i64,
}

impl From<import::Progress> for ImportProgress {
    fn from(progress: import::Progress) -> Self {
        ImportProgress {
            files: number(progress.files as u64),
            files_done: number(progress.files_done as u64),
            bytes: number(progress.bytes),
            bytes_done: number(progress.bytes_done),
            stored: number(progress.stored),
        }
    }
}

#[napi(object, object_from_js = false)]
pub struct Skipped {
    pub file: String,
    pub line: Option<i64>,
    pub reason: String,
}

#[napi(object, object_from_js = false)]
pub struct ImportReport {
    pub folders: Vec<String>,
    pub files: i64,
    pub sessions: i64,
    pub stored: i64,
    pub duplicates: i64,
    pub bytes: i64,
    pub elapsed_ms: f64,
    pub cancelled: bool,
    pub skipped: Vec<Skipped>,
    pub unknown_types: std::collections::HashMap<String, i64>,
}

impl From<import::Report> for ImportReport {
    fn from(report: import::Report) -> Self {
        let skipped = report.skipped.into_iter().map(|skipped| Skipped {
            file: skipped.file,
            line: skipped.line.map(number),
            reason: skipped.reason,
        });
        ImportReport {
            folders: report.folders,
            files: number(report.files as u64),
            sessions: number(report.sessions as u64),
            stored: number(report.stored),
            duplicates: number(report.duplicates),
            bytes: number(report.bytes),
            elapsed_ms: report.elapsed_ms,
            cancelled: report.cancelled,
            skipped: skipped.collect(),
            unknown_types: report.unknown_types.into_iter().map(|(kind, count)| (kind, number(count))).collect(),
        }
    }
}

#[napi(object, object_from_js = false)]
pub struct Waiting {
    pub files: i64,
    pub all: i64,
    pub bytes: i64,
    pub folders: Vec<String>,
}

impl From<import::Waiting> for Waiting {
    fn from(waiting: import::Waiting) -> Self {
        Waiting {
            files: number(waiting.files as u64),
            all: number(waiting.all as u64),
            bytes: number(waiting.bytes),
            folders: waiting.folders,
        }
    }
}

#[napi(object, object_from_js = false)]
pub struct Week {
    pub start: i64,
    pub messages: i64,
}

#[napi(object, object_from_js = false)]
pub struct ProjectCount {
    pub project: String,
    pub sessions: i64,
    pub messages: i64,
}

#[napi(object, object_from_js = false)]
pub struct Stats {
    pub path: String,
    pub bytes: i64,
    pub schema: i64,
    pub messages: i64,
    pub sessions: i64,
    pub projects: i64,
    pub oldest: Option<i64>,
    pub newest: Option<i64>,
    pub weeks: Vec<Week>,
    pub top_projects: Vec<ProjectCount>,
}

impl From<store::Stats> for Stats {
    fn from(stats: store::Stats) -> Self {
        let weeks = stats.weeks.into_iter().map(|week| Week { start: week.start, messages: week.messages });
        let top = stats.top_projects.into_iter().map(|one| ProjectCount {
            project: one.project,
            sessions: one.sessions,
            messages: one.messages,
        });
        Stats {
            path: stats.path,
            bytes: number(stats.bytes),
            schema: stats.schema,
            messages: stats.messages,
            sessions: stats.sessions,
            projects: stats.projects,
            oldest: stats.oldest,
            newest: stats.newest,
            weeks: weeks.collect(),
            top_projects: top.collect(),
        }
    }
}

#[napi(object, object_from_js = false)]
pub struct ForgetReport {
    pub sessions: i64,
    pub messages: i64,
    pub still_in: Vec<String>,
}

impl From<store::Forgotten> for ForgetReport {
    fn from(forgotten: store::Forgotten) -> Self {
        ForgetReport {
            sessions: number(forgotten.sessions),
            messages: number(forgotten.messages),
            still_in: forgotten.still_in,
        }
    }
}

#[napi(object, object_from_js = false)]
pub struct Health {
    pub ok: bool,
    pub problems: Vec<String>,
    pub repaired: Vec<String>,
}

impl From<store::Health> for Health {
    fn from(health: store::Health) -> Self {
        Health { ok: health.ok, problems: health.problems, repaired: health.repaired }
    }
}

// Conversions.

/// A count as JavaScript has it.
fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A JavaScript number as an integer: fractions are cut, what is out of range is clamped.
fn integer(value: f64) -> i64 {
    value as i64
}

fn count(value: Option<f64>, default: usize, least: usize, most: usize) -> usize {
    value.map_or(default, |value| value as usize).clamp(least, most)
}

fn marks(pairs: Vec<(usize, usize)>) -> Vec<Vec<u32>> {
    let position = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    pairs.into_iter().map(|(from, to)| vec![position(from), position(to)]).collect()
}

fn string(value: Unknown, name: &str) -> Result<String> {
    if value.get_type().map_err(internal)? != ValueType::String {
        return Err(invalid(format!("{name} is no string")));
    }
    // SAFETY: the value was just seen to be a string.
    let text = unsafe { value.cast() }.map_err(internal)?;
    short(text, name)
}

/// Longer than any query or id: reading it would only hold up the event loop.
const LONGEST: usize = 2 << 20;

fn short(text: String, name: &str) -> Result<String> {
    if text.len() > LONGEST {
        return Err(invalid(format!("{name} is too long: {} bytes, at most {LONGEST}", text.len())));
    }
    Ok(text)
}

/// [`short`], of an option.
fn short_option(text: Option<String>, name: &str) -> Result<Option<String>> {
    text.map(|text| short(text, name)).transpose()
}

/// JSON.stringify of the host: the very text pi writes into its session file.
fn stringify(env: &Env, value: Unknown) -> napi::Result<String> {
    let json: Object = env.get_global()?.get_named_property("JSON")?;
    let stringify: Function<Unknown, String> = json.get_named_property("stringify")?;
    stringify.call(value)
}

/// By hand: what the macro makes of a struct defines properties the slow way, and a capture is short.
fn captured_object(env: &Env, captured: store::Captured) -> napi::Result<Object<'_>> {
    let mut object = Object::new(env)?;
    object.set_named_property("stored", captured.stored)?;
    match captured.id {
        Some(id) => object.set_named_property("id", id)?,
        None => object.set_named_property("id", napi::bindgen_prelude::Null)?,
    }
    Ok(object)
}

/// A plain object; absent, undefined and null are its default.
fn plain<T: DeserializeOwned>(env: &Env, value: Option<Unknown>, name: &str) -> Result<T> {
    let json = match value {
        Some(value) => match value.get_type().map_err(internal)? {
            ValueType::Undefined | ValueType::Null => "{}".to_owned(),
            ValueType::Object => stringify(env, value).map_err(|error| invalid(format!("{name}: {}", error.reason)))?,
            _ => return Err(invalid(format!("{name} is no object"))),
        },
        None => "{}".to_owned(),
    };
    serde_json::from_str(&repaired(json)).map_err(|error| invalid(format!("{name}: {error}")))
}

/// `JSON.stringify` escapes lone surrogates only: they are replaced, as in what is stored.
fn repaired(json: String) -> String {
    if !json.contains("\\ud") {
        return json;
    }
    let mut out = String::with_capacity(json.len());
    let mut rest = json.as_str();
    while let Some((before, escape)) = rest.find('\\').and_then(|at| rest.split_at_checked(at)) {
        out.push_str(before);
        let lone = escape.starts_with("\\ud");
        let Some((escape, after)) = escape.split_at_checked(if lone { 6 } else { 2 }) else { break };
        out.push_str(if lone { "\\ufffd" } else { escape });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Sets `cancel` when the signal is aborted.
fn listen(env: &Env, signal: &Object, cancel: &Arc<AtomicBool>) -> napi::Result<()> {
    if signal.get::<bool>("aborted")?.unwrap_or(false) {
        cancel.store(true, Ordering::Relaxed);
        return Ok(());
    }
    let cancel = Arc::clone(cancel);
    let abort = env.create_function_from_closure::<(), (), _>("abort", move |_| {
        cancel.store(true, Ordering::Relaxed);
        Ok(())
    })?;
    type AddListener<'a> = Function<'a, FnArgs<(&'a str, Function<'a, (), ()>)>, ()>;
    let add: AddListener<'_> = signal.get_named_property("addEventListener")?;
    add.apply(*signal, FnArgs::from(("abort", abort)))
}

/// Runs `work` on a thread of its own (the host's pool is small and shared with its file access) and settles a promise.
fn promise<'env, T: Send + 'static, J: napi::bindgen_prelude::ToNapiValue + 'static>(
    env: &'env Env,
    work: impl FnOnce() -> std::result::Result<T, Error> + Send + 'static,
    convert: impl FnOnce(T) -> J + Send + 'static,
) -> Result<Object<'env>> {
    type Resolver<J> = Box<dyn FnOnce(Env) -> napi::Result<J> + Send>;
    let (deferred, promise) = env.create_deferred::<J, Resolver<J>>().map_err(internal)?;
    std::thread::Builder::new()
        .name("memory".to_owned())
        .spawn(move || {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|_| {
                Err(Error::new(Kind::Internal, "the memory store failed inside; please report it"))
            });
            deferred.resolve(Box::new(move |env| match result {
                Ok(value) => Ok(convert(value)),
                Err(error) => Err(rejection(&env, &error)),
            }));
        })
        .map_err(|error| napi::Error::new(Code(Kind::Io), format!("no thread for background work: {error}")))?;
    Ok(promise)
}

/// An error with our `code`, as a promise is rejected with.
fn rejection(env: &Env, error: &Error) -> napi::Error {
    let build = || {
        let mut object = env.create_error(napi::Error::from_reason(error.to_string()))?;
        object.set("code", error.kind().code())?;
        Ok::<_, napi::Error>(napi::Error::from(object.to_unknown()))
    };
    build().unwrap_or_else(|_| napi::Error::from_reason(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_the_wrong_kind_is_refused_with_what_it_may_be() {
        for (options, may_be) in [
            (r#"{"since":true}"#, "unix milliseconds or an ISO date"),
            (r#"{"until":null}"#, "unix milliseconds or an ISO date"),
            (r#"{"exclude":[5]}"#, "session ids"),
        ] {
            let said = serde_json::from_str::<SearchOptions>(options).err().map(|error| error.to_string());
            assert!(said.is_some_and(|said| said.contains(may_be)), "{options}");
        }
    }
}
