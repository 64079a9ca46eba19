//! Ranks messages and sessions for a query.
