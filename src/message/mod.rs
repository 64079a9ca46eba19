//! An entry of pi's session file, as a role and markdown that reads well.

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

    /// The role of that number.
    pub fn from_code(code: i64) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.code() == code)
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
    Header(Header),
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
    pub body: Body,
}
