//! The face JavaScript sees.
