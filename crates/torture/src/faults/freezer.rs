//! Stops a process as a container or a laptop lid does: it is not told, and no signal wakes it.

use std::path::{Path, PathBuf};

use super::Fit;

const ROOT: &str = "/sys/fs/cgroup/freezer";

/// A process that stands still until this is dropped.
pub(super) struct Frozen {
    group: PathBuf,
    pid: u32,
}

pub(super) fn fit() -> Fit {
    let tried = Path::new(ROOT).join(format!("torture-{}", std::process::id()));
    let is_ours = std::fs::create_dir(&tried).is_ok() && tried.join("freezer.state").exists();
    let _ = std::fs::remove_dir(tried);
    Fit::given(is_ours, "there is no freezer at /sys/fs/cgroup/freezer that we may use")
}

impl Frozen {
    pub(super) fn new(pid: u32) -> std::io::Result<Self> {
        let group = Path::new(ROOT).join(format!("torture-{}-{pid}", std::process::id()));
        std::fs::create_dir_all(&group)?;
        let frozen = Self { group, pid };
        std::fs::write(frozen.group.join("cgroup.procs"), pid.to_string())?;
        std::fs::write(frozen.group.join("freezer.state"), "FROZEN")?;
        Ok(frozen)
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        let _ = std::fs::write(self.group.join("freezer.state"), "THAWED");
        // It may have ended meanwhile; the group is empty in either case.
        let _ = std::fs::write(Path::new(ROOT).join("cgroup.procs"), self.pid.to_string());
        let _ = std::fs::remove_dir(&self.group);
    }
}
