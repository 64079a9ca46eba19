//! Snippets: the passage of a text that answers a query, with its matches marked.
