//! By how much the resident memory of this process grows for a moment.

use std::fs;

/// The growth of the peak during `work`, in bytes; None where the system does
/// not tell, or cannot forget an earlier peak.
pub(crate) fn peak_growth(work: impl FnOnce()) -> Option<u64> {
    // Writing 5 makes Linux forget the peak so far.
    let before = fs::write("/proc/self/clear_refs", "5")
        .ok()
        .and_then(|()| status("VmRSS:"));
    work();
    Some(status("VmHWM:")?.saturating_sub(before?))
}

fn status(key: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1024)
}
