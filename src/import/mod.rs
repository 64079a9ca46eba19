//! Streams what is new in pi's session files into the store.
