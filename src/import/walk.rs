//! Finds session files: where pi and omp keep them, and below whatever folder is named.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::source::Stamp;
use crate::store::folders;

/// A session file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its real path.
    pub path: PathBuf,
    /// Bytes.
    pub size: u64,
    /// What tells whether it changed since it was read.
    pub stamp: Stamp,
}

impl Found {
    /// Its path as the store knows it.
    pub fn name(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }
}

/// Something left out, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is left out.
    pub path: PathBuf,
    /// Why, for a person.
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

/// Finds the `.jsonl` files below `roots`, at any depth; fewer once `cancelled`. A root that is a file is taken whatever
/// its name.
pub fn walk(roots: &[PathBuf], cancelled: impl Fn() -> bool) -> Walked {
    let mut walk = Walk::default();
    for root in roots {
        match fs::canonicalize(root) {
            Ok(path) => walk.visit(path, true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => walk.walked.missing.push(root.clone()),
            Err(error) => walk.problem(root, &error),
        }
        while let Some(folder) = walk.folders.pop().filter(|_| !cancelled()) {
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
            if kind.is_dir() || (is_session_file(&path) && !kind.is_symlink()) {
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
                let reason = format!("a link; read once, as {}", target.display());
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
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    roots(folders::home().as_deref(), variable)
}

fn roots(home: Option<&Path>, variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let place = |path: PathBuf| folders::expand(&path, home);
    if let Some(only) = variable("PI_MEMORY_SESSIONS_DIR") {
        return vec![place(only)];
    }
    let agent = variable("PI_CODING_AGENT_DIR").map(place).or_else(|| home.map(|home| home.join(".pi/agent")));
    let settings = || agent.as_deref().and_then(session_dir).map(place);
    let mut roots: Vec<PathBuf> = Vec::new();
    let effective = variable("PI_CODING_AGENT_SESSION_DIR").map(place).or_else(settings);
    let default = agent.as_ref().map(|agent| agent.join("sessions"));
    let omp = home.map(|home| home.join(".omp/agent/sessions"));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with these files in it, each holding its own name.
    fn tree(files: &[&str]) -> tempfile::TempDir {
        let tmp = tempfile::tempdir().expect("a folder");
        for file in files {
            let path = tmp.path().join(file);
            fs::create_dir_all(path.parent().expect("inside")).expect("created");
            fs::write(path, file).expect("written");
        }
        tmp
    }

    /// What a walk finds, relative to `tmp`, in alphabetical order.
    fn found(tmp: &tempfile::TempDir, walked: &Walked) -> Vec<String> {
        let root = fs::canonicalize(tmp.path()).expect("there");
        let relative = |found: &Found| found.path.strip_prefix(&root).expect("inside").to_string_lossy().into_owned();
        let mut paths: Vec<String> = walked.files.iter().map(relative).collect();
        paths.sort();
        paths
    }

    fn walk_in(tmp: &tempfile::TempDir) -> Walked {
        walk(&[tmp.path().to_owned()], || false)
    }

    #[test]
    fn session_files_are_found_at_any_depth() {
        let tmp = tree(&["a.jsonl", "b/c/d/e.jsonl", "b/notes.txt", "f.jsonl.bak"]);
        let walked = walk_in(&tmp);
        assert_eq!(found(&tmp, &walked), ["a.jsonl", "b/c/d/e.jsonl"]);
        assert_eq!((walked.problems, walked.missing), (vec![], vec![]));
    }

    #[test]
    fn a_walk_ends_when_it_is_cancelled() {
        let tmp = tree(&["a.jsonl", "b/c/d.jsonl"]);
        let looks = std::cell::Cell::new(0);
        let walked = walk(&[tmp.path().to_owned()], || looks.replace(looks.get() + 1) == 1);
        assert_eq!(found(&tmp, &walked), ["a.jsonl"]);
    }

    #[test]
    fn the_newest_come_first() {
        let tmp = tree(&["old.jsonl", "new.jsonl"]);
        let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1000);
        let old = fs::File::options().write(true).open(tmp.path().join("old.jsonl")).expect("there");
        old.set_modified(long_ago).expect("dated");
        let walked = walk_in(&tmp);
        assert!(walked.files.first().expect("two files").path.ends_with("new.jsonl"));
        assert_eq!(walked.files.first().map(|file| file.size), Some(9));
    }

    #[test]
    fn overlapping_roots_give_each_file_once() {
        let tmp = tree(&["a.jsonl", "b/c.jsonl"]);
        let roots = [tmp.path().join("b"), tmp.path().to_owned(), tmp.path().join("b/../a.jsonl")];
        assert_eq!(found(&tmp, &walk(&roots, || false)), ["a.jsonl", "b/c.jsonl"]);
    }

    #[test]
    fn a_file_is_taken_by_any_name_when_asked_for() {
        let tmp = tree(&["talk.txt"]);
        assert_eq!(found(&tmp, &walk(&[tmp.path().join("talk.txt")], || false)), ["talk.txt"]);
    }

    #[test]
    fn a_folder_that_is_gone_is_named() {
        let tmp = tree(&["a.jsonl"]);
        let gone = tmp.path().join("gone");
        let walked = walk(&[gone.clone(), tmp.path().to_owned()], || false);
        assert_eq!((found(&tmp, &walked), walked.missing), (vec!["a.jsonl".to_owned()], vec![gone]));
    }

    #[test]
    fn a_folder_that_vanishes_during_the_walk_is_named_and_the_others_are_read() {
        let tmp = tree(&["a/a.jsonl", "b/b.jsonl"]);
        let folders = ["a", "b"].map(|name| tmp.path().join(name));
        let mut walk = Walk::default();
        for folder in &folders {
            walk.visit(folder.clone(), true);
        }
        fs::remove_dir_all(&folders[0]).expect("removed");
        while let Some(folder) = walk.folders.pop() {
            walk.folder(&folder);
        }
        let [problem] = walk.walked.problems.as_slice() else { panic!("{:?}", walk.walked.problems) };
        assert_eq!((&problem.path, problem.reason.as_str()), (&folders[0], "it vanished, or leads nowhere"));
        assert_eq!(walk.walked.files.len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_reported_and_what_they_lead_to_is_read_once() {
        use std::os::unix::fs::symlink;
        let tmp = tree(&["a/a.jsonl", "b/b.jsonl"]);
        let link = |to: &str, from: &str| symlink(tmp.path().join(to), tmp.path().join(from)).expect("linked");
        link("a/a.jsonl", "b/copy.jsonl");
        link("a", "b/loop");
        link("b", "a/loop");
        link("nowhere.jsonl", "a/broken.jsonl");
        let walked = walk_in(&tmp);
        assert_eq!(found(&tmp, &walked), ["a/a.jsonl", "b/b.jsonl"]);
        assert_eq!(walked.problems.len(), 4, "{:?}", walked.problems);
        let broken = walked.problems.iter().find(|problem| problem.path.ends_with("broken.jsonl"));
        assert!(broken.expect("reported").reason.contains("leads nowhere"));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_never_opened() {
        let tmp = tree(&["a.jsonl"]);
        let _socket = std::os::unix::net::UnixListener::bind(tmp.path().join("b.jsonl")).expect("bound");
        let walked = walk_in(&tmp);
        assert_eq!(found(&tmp, &walked), ["a.jsonl"]);
        assert_eq!(walked.problems.first().map(|problem| problem.reason.as_str()), Some("not a regular file"));
    }

    #[cfg(unix)]
    #[test]
    fn an_unreadable_folder_is_named_and_the_others_are_read() {
        use std::os::unix::fs::PermissionsExt;
        let tmp = tree(&["a/a.jsonl", "b/b.jsonl"]);
        let closed = tmp.path().join("a");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("closed");
        let walked = walk_in(&tmp);
        let as_root = fs::read_dir(&closed).is_ok();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).expect("opened");
        if as_root {
            return; // Nothing is unreadable to root.
        }
        assert_eq!(found(&tmp, &walked), ["b/b.jsonl"]);
        assert_eq!(
            walked.problems.first().map(|problem| problem.reason.as_str()),
            Some("not readable: permission denied")
        );
    }

    /// The roots below the home `/h` for these variables.
    fn roots_of(variables: &[(&str, &str)]) -> Vec<PathBuf> {
        roots(Some(Path::new("/h")), |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value))
        })
    }

    #[test]
    fn sessions_are_looked_for_where_pi_and_omp_keep_them() {
        assert_eq!(roots_of(&[]), [Path::new("/h/.pi/agent/sessions"), Path::new("/h/.omp/agent/sessions")]);
        let moved = [("PI_CODING_AGENT_DIR", "~/pi"), ("PI_CODING_AGENT_SESSION_DIR", "/s")];
        assert_eq!(
            roots_of(&moved),
            [Path::new("/s"), Path::new("/h/pi/sessions"), Path::new("/h/.omp/agent/sessions")]
        );
        assert_eq!(roots(None, |_| None), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_folder_of_our_own_setting_stands_alone() {
        assert_eq!(roots_of(&[("PI_MEMORY_SESSIONS_DIR", "~/s")]), [Path::new("/h/s")]);
    }

    #[test]
    fn pis_settings_say_where_sessions_are() {
        let tmp = tree(&[]);
        fs::write(tmp.path().join("settings.json"), r#"{"sessionDir":"~/talks"}"#).expect("written");
        let agent = tmp.path().to_string_lossy();
        let expected =
            [PathBuf::from("/h/talks"), tmp.path().join("sessions"), PathBuf::from("/h/.omp/agent/sessions")];
        assert_eq!(roots_of(&[("PI_CODING_AGENT_DIR", &agent)]), expected);
    }
}
