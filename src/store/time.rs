//! Times as people write them. A day is a local day.

use chrono::{DateTime, Datelike, Days, Local, NaiveDate, NaiveDateTime, NaiveTime, TimeZone};

use crate::error::{Error, Kind, Result};

/// Unix milliseconds now.
pub fn now() -> i64 {
    chrono::Utc::now().timestamp_millis()
}

/// `2026-10-15 14:02`, local.
pub fn local_minute(ms: i64) -> String {
    match Local.timestamp_millis_opt(ms).earliest() {
        Some(time) => time.format("%Y-%m-%d %H:%M").to_string(),
        None => String::new(),
    }
}

/// The start of the local week (Monday) that holds this time, unix milliseconds.
pub fn week_start(ms: i64) -> i64 {
    let Some(time) = Local.timestamp_millis_opt(ms).earliest() else { return ms };
    let days = Days::new(u64::from(time.weekday().num_days_from_monday()));
    time.date_naive().checked_sub_days(days).and_then(start_of).unwrap_or(ms)
}

/// The first millisecond meant by `text`: an ISO date (a local day), or an ISO time (local unless it names a zone).
pub fn since(text: &str) -> Result<i64> {
    match parse(text)? {
        Moment::Day(day) => start_of(day).ok_or_else(|| wrong(text)),
        Moment::Instant(ms) => Ok(ms),
    }
}

/// The first millisecond no longer meant by an upper bound: the day after an ISO date, the millisecond after a time.
pub fn until(text: &str) -> Result<i64> {
    match parse(text)? {
        Moment::Day(day) => day.checked_add_days(Days::new(1)).and_then(start_of).ok_or_else(|| wrong(text)),
        Moment::Instant(ms) => Ok(ms.saturating_add(1)),
    }
}

enum Moment {
    Day(NaiveDate),
    Instant(i64),
}

fn parse(text: &str) -> Result<Moment> {
    let text = text.trim();
    if let Ok(day) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        return Ok(Moment::Day(day));
    }
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Ok(Moment::Instant(time.timestamp_millis()));
    }
    ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"]
        .iter()
        .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())
        .and_then(|time| Local.from_local_datetime(&time).earliest())
        .map(|time| Moment::Instant(time.timestamp_millis()))
        .ok_or_else(|| wrong(text))
}

/// Midnight, or the first moment after it where a change of the clock leaves it out.
fn start_of(day: NaiveDate) -> Option<i64> {
    let midnight = day.and_time(NaiveTime::MIN);
    (0..4)
        .find_map(|hours| Local.from_local_datetime(&(midnight + chrono::Duration::hours(hours))).earliest())
        .map(|time| time.timestamp_millis())
}

fn wrong(text: &str) -> Error {
    let text: String = text.chars().take(40).collect();
    Error::new(Kind::InvalidArgument, format!("{text:?} is no date; write 2026-10-15 or 2026-10-15T14:02"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000;

    #[test]
    fn until_a_day_includes_that_day() {
        let (from, to) = (since("2026-10-15").unwrap(), until("2026-10-15").unwrap());
        assert!((to - from - DAY).abs() <= 3_600_000);
    }

    #[test]
    fn a_time_with_a_zone_is_exact() {
        assert_eq!(since("2026-10-15T14:02:00Z").unwrap(), 1_792_072_920_000);
        assert_eq!(since("2026-10-15T14:02:00+08:00").unwrap(), 1_792_072_920_000 - 8 * 3_600_000);
    }

    #[test]
    fn a_word_is_no_date() {
        assert_eq!(since("yesterday").unwrap_err().kind(), Kind::InvalidArgument);
    }

    #[test]
    fn a_week_starts_on_its_monday() {
        let thursday = since("2026-10-15").unwrap();
        assert_eq!(week_start(thursday + DAY / 2), since("2026-10-12").unwrap());
    }
}
