//! Finds session files: where pi and omp keep them, and below whatever folder is named.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::source::Stamp;

/// A session file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its real path.
    pub path: PathBuf,
    pub size: u64,
    /// What tells whether it changed since it was read.
    pub stamp: Stamp,
}

/// Something left out, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub path: PathBuf,
    pub reason: String,
}

/// What a walk finds.
#[derive(Clone, Debug, Default)]
pub struct Walked {
    /// Newest first, each file once.
    pub files: Vec<Found>,
    /// Links, and what could not be read.
    pub problems: Vec<Problem>,
    /// Roots that are not there.
    pub missing: Vec<PathBuf>,
}

/// Finds the `.jsonl` files below `roots`, at any depth. A root that is a file is taken whatever its name.
pub fn walk(roots: &[PathBuf]) -> Walked {
    let mut walk = Walk::default();
    for root in roots {
        match fs::canonicalize(root) {
            Ok(path) => walk.visit(path, true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => walk.walked.missing.push(root.clone()),
            Err(error) => walk.problem(root, &error),
        }
        while let Some(folder) = walk.folders.pop() {
            walk.folder(&folder);
        }
    }
    let mut walked = walk.walked;
    walked.files.sort_by(|a, b| b.stamp.mtime.cmp(&a.stamp.mtime).then_with(|| b.path.cmp(&a.path)));
    walked
}

#[derive(Default)]
struct Walk {
    walked: Walked,
    /// Every folder and file met, by real path: roots may overlap, and links may lead anywhere.
    seen: HashSet<PathBuf>,
    folders: Vec<PathBuf>,
}

impl Walk {
    fn folder(&mut self, folder: &Path) {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => return self.problem(folder, &error),
        };
        for entry in entries {
            let (path, kind) = match entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))) {
                Ok(found) => found,
                Err(error) => return self.problem(folder, &error),
            };
            if kind.is_dir() || is_session_file(&path) && !kind.is_symlink() {
                self.visit(path, false);
            } else if kind.is_symlink() {
                self.link(&path);
            }
        }
    }

    /// A link leads to a folder or to a file with the right name; anything else it leads to is no business of ours.
    fn link(&mut self, path: &Path) {
        match fs::canonicalize(path) {
            Ok(target) if target.is_dir() || is_session_file(path) => {
                let reason = if self.seen.contains(&target) || self.walked.files.iter().any(|file| file.path == target)
                {
                    format!("a link; {} is read once, by its own path", target.display())
                } else {
                    format!("a link; read as {}", target.display())
                };
                self.walked.problems.push(Problem { path: path.to_owned(), reason });
                self.visit(target, true);
            }
            Ok(_) => {}
            Err(error) if is_session_file(path) || error.kind() != io::ErrorKind::NotFound => {
                self.problem(path, &error);
            }
            Err(_) => {}
        }
    }

    /// Takes a real path that may lead to a session file or a folder.
    fn visit(&mut self, path: PathBuf, named: bool) {
        let meta = match fs::metadata(&path) {
            Ok(meta) => meta,
            Err(error) => return self.problem(&path, &error),
        };
        if !self.seen.insert(path.clone()) {
            return;
        }
        if meta.is_dir() {
            self.folders.push(path);
        } else if meta.is_file() && (named || is_session_file(&path)) {
            self.walked.files.push(Found { size: meta.len(), stamp: Stamp::of(&meta), path });
        } else {
            self.walked.problems.push(Problem { path, reason: "not a regular file".into() });
        }
    }

    fn problem(&mut self, path: &Path, error: &io::Error) {
        let reason = match error.kind() {
            io::ErrorKind::PermissionDenied => "not readable: permission denied".into(),
            io::ErrorKind::NotFound => "it vanished, or leads nowhere".into(),
            _ => error.to_string(),
        };
        self.walked.problems.push(Problem { path: path.to_owned(), reason });
    }
}

fn is_session_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl")
}

/// Where pi and omp keep their sessions by this process's environment; not all need exist.
///
/// `PI_MEMORY_SESSIONS_DIR` alone, when it is set. Else pi's own settings, its default folder and omp's. What only pi
/// knows (`--session-dir`, a project's settings) the extension names itself.
pub fn default_roots() -> Vec<PathBuf> {
    roots(|name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from))
}

fn roots(variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let home = variable("HOME").or_else(|| variable("USERPROFILE"));
    let place = |path: PathBuf| match (path.strip_prefix("~"), &home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path,
    };
    if let Some(only) = variable("PI_MEMORY_SESSIONS_DIR") {
        return vec![place(only)];
    }
    let agent = variable("PI_CODING_AGENT_DIR").map(place).or_else(|| home.as_ref().map(|home| home.join(".pi/agent")));
    let settings = || agent.as_deref().and_then(session_dir).map(place);
    let mut roots: Vec<PathBuf> = Vec::new();
    let effective = variable("PI_CODING_AGENT_SESSION_DIR").map(place).or_else(settings);
    let default = agent.as_ref().map(|agent| agent.join("sessions"));
    let omp = home.as_ref().map(|home| home.join(".omp/agent/sessions"));
    for root in [effective, default, omp].into_iter().flatten() {
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    roots
}

/// `sessionDir` of pi's global settings.
fn session_dir(agent: &Path) -> Option<PathBuf> {
    let settings: serde_json::Value = serde_json::from_slice(&fs::read(agent.join("settings.json")).ok()?).ok()?;
    settings.get("sessionDir")?.as_str().filter(|folder| !folder.is_empty()).map(PathBuf::from)
}
