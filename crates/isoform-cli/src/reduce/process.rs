//! One run of a command, which ends by itself, after some time, or with this process.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The longest pause between two looks at a running command.
const PAUSE: Duration = Duration::from_millis(20);

/// How long a command may take to end once it was asked to.
#[cfg(unix)]
const PATIENCE: Duration = Duration::from_millis(500);

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// With an exit status; 128 and the number for a signal.
    Status(u8),
    /// Not in the time that it had.
    Timeout,
    /// With this process, which a signal asked to end.
    Interrupted,
}

/// The destinations of what a command prints.
pub(super) struct Streams(Option<[PathBuf; 2]>);

impl Streams {
    /// Nobody needs the output.
    pub(super) fn dropped() -> Streams {
        Streams(None)
    }

    /// The output goes to two files: a pipe would stay open as long as any process that the
    /// command started.
    pub(super) fn kept_in(folder: &Path) -> io::Result<Streams> {
        let files = [folder.join("stdout"), folder.join("stderr")];
        for file in &files {
            File::create(file)?;
        }
        Ok(Streams(Some(files)))
    }

    fn open(&self) -> io::Result<[Stdio; 2]> {
        let Some([out, err]) = &self.0 else {
            return Ok([Stdio::null(), Stdio::null()]);
        };
        Ok([File::create(out)?.into(), File::create(err)?.into()])
    }

    /// True if one of the two has this text.
    pub(super) fn contain(&self, text: &str) -> io::Result<bool> {
        let wanted = text.as_bytes();
        for file in self.0.iter().flatten() {
            let bytes = std::fs::read(file)?;
            if wanted.is_empty() || bytes.windows(wanted.len()).any(|part| part == wanted) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Runs a command to its end. The command has a group of processes of its own, all of which
/// end if its time is over.
pub(super) fn run(
    words: &[OsString],
    streams: &Streams,
    timeout: Option<Duration>,
    interrupts: &Interrupts,
) -> io::Result<End> {
    let [out, err] = streams.open()?;
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let start = Instant::now();
    let mut child = command.spawn()?;
    // Most checks are short.
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            // A signal of the terminal may have reached the command by another way.
            return Ok(match interrupts.status() {
                0 => End::Status(status_of(status)),
                _ => End::Interrupted,
            });
        }
        if interrupts.status() != 0 {
            end(&mut child)?;
            return Ok(End::Interrupted);
        }
        if timeout.is_some_and(|timeout| start.elapsed() >= timeout) {
            end(&mut child)?;
            return Ok(End::Timeout);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(PAUSE);
    }
}

/// Asks a command to end, and ends it if it does not.
fn end(child: &mut Child) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};

        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            // The group may have ended.
            let _ = kill_process_group(pid, Signal::TERM);
            let start = Instant::now();
            while child.try_wait()?.is_none() && start.elapsed() < PATIENCE {
                thread::sleep(Duration::from_millis(5));
            }
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
    // The command may have ended.
    let _ = child.kill();
    child.wait()?;
    Ok(())
}

fn status_of(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            return u8::try_from(128 + signal).unwrap_or(u8::MAX);
        }
    }
    status.code().map_or(u8::MAX, |code| (code & 0xff) as u8)
}

#[cfg(unix)]
pub(super) use unix::Interrupts;

#[cfg(unix)]
mod unix {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use signal_hook::SigId;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::{flag, low_level};

    /// The signals that would end this process, from now on.
    pub(in super::super) struct Interrupts {
        status: Arc<AtomicUsize>,
        handlers: Vec<SigId>,
    }

    impl Interrupts {
        pub(in super::super) fn watch() -> Interrupts {
            let status = Arc::new(AtomicUsize::new(0));
            let handlers = [SIGINT, SIGTERM, SIGHUP].into_iter().filter_map(|signal| {
                let code = usize::try_from(128 + signal).ok()?;
                // Without a handler, the signal ends this process, and nothing is written.
                flag::register_usize(signal, Arc::clone(&status), code).ok()
            });
            let handlers = handlers.collect();
            Interrupts { status, handlers }
        }

        /// The exit status after the last signal, and 0 if there was none.
        pub(in super::super) fn status(&self) -> u8 {
            self.status.load(Ordering::Acquire) as u8
        }
    }

    impl Drop for Interrupts {
        fn drop(&mut self) {
            for handler in self.handlers.drain(..) {
                low_level::unregister(handler);
            }
        }
    }
}

/// Signals of systems without signals.
#[cfg(not(unix))]
pub(super) struct Interrupts;

#[cfg(not(unix))]
impl Interrupts {
    pub(super) fn watch() -> Interrupts {
        Interrupts
    }

    pub(super) fn status(&self) -> u8 {
        0
    }
}
