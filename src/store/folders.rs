//! Folders as people write them: their home, `~`, and globs of those whose sessions are never kept.

use std::path::{Path, PathBuf};

use globset::{Glob, GlobSet, GlobSetBuilder};

use crate::error::{Error, Kind, Result};

/// The person's home folder, found the way Node finds it for pi: by the environment, else by the account.
pub(crate) fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| !home.as_os_str().is_empty())
}

/// `~` and `~/…` as paths below `home`; any other path as it is.
pub(crate) fn expand(path: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

/// [`expand`] below the person's own home.
pub(super) fn expand_home(path: &Path) -> PathBuf {
    expand(path, home().as_deref())
}

/// A folder's bare name; the whole path when it has none.
pub(super) fn bare_name(cwd: &str) -> &str {
    cwd.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or(cwd)
}

/// Folders whose sessions are never kept (`excludeFolders`).
pub(super) struct Excluded {
    set: GlobSet,
    fingerprint: i64,
}

impl Excluded {
    pub(super) fn new(globs: &[String]) -> Result<Excluded> {
        let wrong = |glob: &str, error: globset::Error| {
            Error::new(Kind::InvalidArgument, format!("excludeFolders: {glob:?} is not a glob ({})", error.kind()))
        };
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            let path = expand_home(Path::new(glob));
            let base = path.to_string_lossy().trim_end_matches(['/', '\\']).to_owned();
            // A folder that is named takes everything below it along.
            for pattern in [base.clone(), format!("{base}/**")] {
                set.add(Glob::new(&pattern).map_err(|error| wrong(glob, error))?);
            }
        }
        let fingerprint = super::write::digits(&globs.iter().map(|glob| glob.as_bytes()).collect::<Vec<_>>());
        Ok(Excluded { set: set.build().map_err(|error| wrong("", error))?, fingerprint })
    }

    /// A number that changes with the globs: files passed over because of other globs are looked at again.
    pub(super) fn fingerprint(&self) -> i64 {
        self.fingerprint
    }

    pub(super) fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// True when a session in this folder is never kept.
    pub(super) fn covers(&self, cwd: &str) -> bool {
        self.set.is_match(cwd)
    }
}
