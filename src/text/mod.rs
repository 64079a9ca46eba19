//! Text: folding, terms and snippets.

mod cut;
pub mod fold;
mod han;
pub(crate) mod matcher;
pub(crate) mod pinyin;
pub(crate) mod snippet;
pub mod terms;

pub(crate) use cut::{Cut, cut};
pub use snippet::highlight;
