//! The command as a child process, whose output is passed on and kept.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use bytes::Bytes;

use crate::output::Output;

/// The status of a command that does not start, as in a shell.
pub(super) const NOT_FOUND: u8 = 127;

/// How often this process looks for the end of a silent command, and how long it waits for
/// output after this end.
const PAUSE: Duration = Duration::from_millis(200);

/// A command that has ended.
pub(super) struct Ended {
    /// The exit status; 128 and the number for a signal.
    pub(super) status: u8,
    /// True if a signal ended the command, or asked this process to end.
    pub(super) was_interrupted: bool,
    /// False if a process that the command started may still write output.
    pub(super) is_complete: bool,
    pub(super) out: Bytes,
    pub(super) err: Bytes,
}

/// Bytes from one of the two streams of the child; true for standard error.
type Chunk = (bool, Vec<u8>);

/// Runs a command to its end, without standard input.
///
/// Ctrl-C goes to the child, which belongs to the same group of processes; this process
/// waits for the end of the child.
pub(super) fn run(command: &[OsString], output: &mut Output<'_, '_>) -> io::Result<Ended> {
    // The line about the miss comes first.
    output.flush()?;
    let started = Command::new(&command[0])
        .args(&command[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) => {
            let reason = format!("the command does not start: {error}");
            output.failed_file(Path::new(&command[0]), &reason.into())?;
            return Ok(Ended {
                status: NOT_FOUND,
                was_interrupted: true,
                is_complete: true,
                out: Bytes::new(),
                err: Bytes::new(),
            });
        }
    };
    let signals = Signals::watch(&child);
    let (sender, receiver) = channel();
    pass_on(child.stdout.take(), false, sender.clone());
    pass_on(child.stderr.take(), true, sender);
    let mut kept = [Vec::new(), Vec::new()];
    let mut written = Ok(());
    let mut ended = None;
    let mut is_complete = true;
    loop {
        let (is_error, chunk) = match receiver.recv_timeout(PAUSE) {
            Ok(chunk) => chunk,
            Err(RecvTimeoutError::Disconnected) => break,
            // A process that the command started may keep its output open.
            Err(RecvTimeoutError::Timeout) if ended.is_some() => {
                is_complete = false;
                break;
            }
            Err(RecvTimeoutError::Timeout) => {
                ended = child.try_wait()?;
                continue;
            }
        };
        // A reader that went away must not end the command.
        let passed = if is_error {
            output.bytes_aside(&chunk)
        } else {
            output.bytes(&chunk).and_then(|()| output.flush())
        };
        written = written.and(passed);
        kept[usize::from(is_error)].extend(chunk);
    }
    let ended = match ended {
        Some(ended) => ended,
        None => child.wait()?,
    };
    let was_signalled = signals.end();
    output.status = status_of(ended);
    written?;
    let [out, err] = kept.map(Bytes::from);
    Ok(Ended {
        status: status_of(ended),
        was_interrupted: was_signalled || ended.code().is_none(),
        is_complete,
        out,
        err,
    })
}

/// Sends everything that a stream yields, in a thread.
fn pass_on(stream: Option<impl Read + Send + 'static>, is_error: bool, sender: Sender<Chunk>) {
    let Some(mut stream) = stream else { return };
    thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    if sender.send((is_error, buffer[..count].to_vec())).is_err() {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
    });
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
use unix::Signals;

#[cfg(unix)]
mod unix {
    use std::process::Child;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread::{self, JoinHandle};

    use rustix::process::{Pid, Signal, kill_process};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::{Handle, Signals as Watched};

    /// The signals that would end this process, while a child runs.
    pub(super) struct Signals {
        was_signalled: Arc<AtomicBool>,
        watch: Option<(Handle, JoinHandle<()>)>,
    }

    impl Signals {
        /// Notes the signals, and sends those to the child that a terminal does not send.
        pub(super) fn watch(child: &Child) -> Signals {
            let was_signalled = Arc::new(AtomicBool::new(false));
            let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            // Without handlers, a signal ends this process, and nothing is stored.
            let watch = Watched::new([SIGINT, SIGTERM, SIGHUP])
                .ok()
                .map(|mut watched| {
                    let (handle, noted) = (watched.handle(), Arc::clone(&was_signalled));
                    let thread = thread::spawn(move || {
                        for signal in watched.forever() {
                            noted.store(true, Ordering::Release);
                            if let (SIGTERM, Some(pid)) = (signal, pid) {
                                // The child may have ended.
                                let _ = kill_process(pid, Signal::TERM);
                            }
                        }
                    });
                    (handle, thread)
                });
            Signals {
                was_signalled,
                watch,
            }
        }

        /// Ends the watch; true if there was a signal.
        pub(super) fn end(self) -> bool {
            if let Some((handle, thread)) = self.watch {
                handle.close();
                // The thread ends with the handle, and does not panic.
                let _ = thread.join();
            }
            self.was_signalled.load(Ordering::Acquire)
        }
    }
}

/// Signals of systems without signals.
#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn watch(_: &std::process::Child) -> Signals {
        Signals
    }

    fn end(self) -> bool {
        false
    }
}
