//! Processor time and memory that a process used, from /proc.

use std::fs;

/// Linux counts processor time in hundredths of a second for user space, whatever the kernel's own tick.
const TICKS_PER_SECOND: f64 = 100.0;

/// Processor seconds that a process used so far; none when it is gone or there is no /proc.
pub fn cpu_seconds(pid: u32) -> Option<f64> {
    let fields = stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?;
    Some((fields.user + fields.system) as f64 / TICKS_PER_SECOND)
}

/// The same over the children of a process, and the process itself.
pub fn family_cpu_seconds(parent: u32) -> Option<f64> {
    let mut ticks = 0;
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let Some(fields) = fs::read_to_string(entry.path().join("stat")).ok().and_then(|text| stat(&text))
        else {
            continue;
        };
        if pid == parent || fields.parent == parent {
            ticks += fields.user + fields.system;
        }
    }
    Some(ticks as f64 / TICKS_PER_SECOND)
}

/// Resident megabytes (10^6 bytes).
pub fn resident_megabytes(pid: u32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kibibytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1_024.0 / 1_000_000.0)
}

struct Stat {
    parent: u32,
    user: u64,
    system: u64,
}

/// Fields 4, 14 and 15; the name before them may hold spaces and brackets.
fn stat(text: &str) -> Option<Stat> {
    let (_, rest) = text.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    Some(Stat {
        parent: fields.get(1)?.parse().ok()?,
        user: fields.get(11)?.parse().ok()?,
        system: fields.get(12)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_from_behind_the_name() {
        let text = "42 (a) b) S 7 1 1 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 4 0 100 1 1";
        let fields = stat(text).unwrap();
        assert_eq!((fields.parent, fields.user, fields.system), (7, 250, 50));
        assert!(stat("nothing").is_none());
    }

    #[test]
    fn this_process_uses_something() {
        if !std::path::Path::new("/proc/self/stat").exists() {
            eprintln!("skipped: no /proc");
            return;
        }
        assert!(cpu_seconds(std::process::id()).unwrap() >= 0.0);
        assert!(resident_megabytes(std::process::id()).unwrap() > 1.0);
        assert!(cpu_seconds(u32::MAX).is_none());
    }
}
