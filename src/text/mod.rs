//! Text: folding, terms and snippets.
