//! Time zones of the IANA data base. The only module that knows `jiff`.

use jiff::tz::TimeZone;

use super::date::{Date, LocalTime};

/// Region of the IANA data base.
#[derive(Debug, Clone)]
pub struct Region(TimeZone);

impl Region {
    /// The region of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        TimeZone::get(name).ok().filter(|zone| zone.iana_name().is_some()).map(Self)
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// Seconds east of UTC at that local date and time; in a gap or fold the offset before it holds.
    fn offset_at(&self, date: Date, time: LocalTime) -> i32 {
        match civil(date, time).map(|local| self.0.to_ambiguous_timestamp(local).compatible()) {
            Some(Ok(instant)) => self.0.to_offset(instant).seconds(),
            _ => 0,
        }
    }

    /// Seconds east of UTC at the moment when it is that date and time in UTC.
    fn offset_when(&self, date: Date, time: LocalTime) -> i32 {
        match civil(date, time).map(|utc| TimeZone::UTC.to_timestamp(utc)) {
            Some(Ok(instant)) => self.0.to_offset(instant).seconds(),
            _ => 0,
        }
    }
}

impl PartialEq for Region {
    fn eq(&self, other: &Self) -> bool {
        self.0.iana_name() == other.0.iana_name()
    }
}

/// The date and time to the second as jiff has it. The rules of zones repeat with the calendar's 400 years, so a year beyond jiff's range
/// has an equal one inside.
fn civil(date: Date, time: LocalTime) -> Option<jiff::civil::DateTime> {
    let year = match date.year() {
        y if y > 9000 => 2400 + (y % 400),
        y if y < -9000 => -8000 + y.rem_euclid(400),
        y => y,
    };
    let day = (i8::try_from(date.month()).ok()?, i8::try_from(date.day()).ok()?);
    let clock = (
        i8::try_from(time.hour()).ok()?,
        i8::try_from(time.minute()).ok()?,
        i8::try_from(time.second()).ok()?,
    );
    let year = i16::try_from(year).ok()?;
    jiff::civil::DateTime::new(year, day.0, day.1, clock.0, clock.1, clock.2, 0).ok()
}

/// Zone of a time: an offset, or a region of the IANA data base.
#[derive(Debug, Clone, PartialEq)]
pub enum Zone {
    /// Seconds east of UTC, at most 18 hours either way (`Z`, `+02:00`).
    Offset(i32),
    /// A region, written `@Europe/Paris`.
    Region(Region),
}

impl Zone {
    /// The region of that IANA name.
    #[must_use]
    pub fn region(name: &str) -> Option<Self> {
        Region::named(name).map(Self::Region)
    }

    /// The region's name.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Offset(_) => None,
            Self::Region(region) => Some(region.name()),
        }
    }

    /// Seconds east of UTC at that local date and time; in a gap or fold the offset before it holds.
    #[must_use]
    pub fn offset_at(&self, date: Date, time: LocalTime) -> i32 {
        match self {
            Self::Offset(seconds) => *seconds,
            Self::Region(region) => region.offset_at(date, time),
        }
    }

    /// Seconds east of UTC at the moment when it is that date and time in UTC.
    pub(super) fn offset_when(&self, date: Date, time: LocalTime) -> i32 {
        match self {
            Self::Offset(seconds) => *seconds,
            Self::Region(region) => region.offset_when(date, time),
        }
    }
}
