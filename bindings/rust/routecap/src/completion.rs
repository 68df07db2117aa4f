// SPDX-License-Identifier: Apache-2.0

//! Awaiting outputs on the capturer's completion descriptor: one registration with tokio per runtime and capturer, no thread and no task per output.

use std::future::Future;
use std::os::fd::{AsRawFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::{Handle, Id};

use crate::output::Output;
use crate::sealed::Reader;
use crate::structs::Summary;
use crate::waiting::{Registry, Settling};
use crate::{Error, Result};

/// A capturer's side of it. The registry is shared by all runtimes, because whoever of them reads the descriptor wakes for all.
#[derive(Default)]
pub(crate) struct Completions {
    waiting: Arc<Registry>,
    reactors: Mutex<Vec<(Id, Arc<Reactor>)>>,
}

/// The descriptor is readable: somebody must look.
impl Wake for Registry {
    fn wake(self: Arc<Self>) {
        self.wake_all();
    }
}

struct Reactor {
    descriptor: AsyncFd<OwnedFd>,
}

impl Completions {
    /// The reactor of the runtime that runs here.
    fn reactor(&self, reader: &Reader) -> Result<Arc<Reactor>> {
        let runtime = Handle::try_current().map_err(|error| refused(&error))?.id();
        let mut reactors = self.reactors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, reactor)) = reactors.iter().find(|(id, _)| *id == runtime) {
            return Ok(Arc::clone(reactor));
        }
        // Those of runtimes that have ended.
        let waker = Waker::from(Arc::clone(&self.waiting));
        reactors.retain(|(_, reactor)| !matches!(reactor.descriptor.poll_read_ready(&mut Context::from_waker(&waker)), Poll::Ready(Err(_))));
        let descriptor = reader.completion_fd()?;
        // tokio has no question whether a runtime's I/O driver is enabled: a registration panics where it is not, which is caught here. Nothing is left
        // half changed, the descriptor is only dropped. Under `panic = "abort"` it ends the program, as any panic does.
        // SAFETY: the descriptor is owned and stays what it is until the registration ends.
        let registered = catch_unwind(AssertUnwindSafe(|| unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) }));
        let descriptor = registered.map_err(|_| refused(&"the runtime's I/O is not enabled"))?.map_err(|error| refused(&error))?;
        let reactor = Arc::new(Reactor { descriptor });
        reactors.push((runtime, Arc::clone(&reactor)));
        Ok(reactor)
    }
}

fn refused(error: &dyn std::fmt::Display) -> Error {
    Error::refused(crate::Code::InvalidState, format!("an output is awaited where tokio's driver does not run: {error}"))
}

impl Reactor {
    /// Empties the descriptor if it is readable, and names what has settled. Afterwards the registry is woken when more settles.
    fn turn(&self, reader: &Reader, registry: &Arc<Registry>, mut settled: impl FnMut(i64)) -> Result<()> {
        let waker = Waker::from(Arc::clone(registry));
        let mut context = Context::from_waker(&waker);
        while let Poll::Ready(ready) = self.descriptor.poll_read_ready(&mut context) {
            let mut guard = ready.map_err(|error| refused(&error))?;
            if !drain(guard.get_inner()) {
                guard.clear_ready();
            }
            // What has settled is in the library's list before the descriptor says so.
            loop {
                match reader.next_completed(Duration::ZERO) {
                    Ok(completion) => settled(completion.sequence),
                    Err(Error::Timeout) => break,
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }
}

/// An output on the descriptor of its capturer.
struct OnDescriptor<'a> {
    output: &'a mut Output,
    reader: &'a Reader,
    reactor: &'a Reactor,
    registry: &'a Arc<Registry>,
}

impl Settling for OnDescriptor<'_> {
    type Error = Error;

    fn is_ready(&mut self) -> Result<bool> {
        self.output.ready()
    }

    fn turn(&mut self, settled: impl FnMut(i64)) -> Result<()> {
        self.reactor.turn(self.reader, self.registry, settled)
    }
}

/// Whether there was something to read.
fn drain(descriptor: &OwnedFd) -> bool {
    unsafe extern "C" {
        fn read(descriptor: core::ffi::c_int, into: *mut core::ffi::c_void, bytes: usize) -> isize;
    }
    let mut count = [0_u8; 8];
    // SAFETY: an eventfd gives 8 bytes, and does not wait: the library made it so.
    unsafe { read(descriptor.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) == count.len() as isize }
}

/// The summary of a capturer that finalizes by itself ([`crate::FinalizeMode::OwnThread`]). An output that is awaited and dropped before it settled is only
/// detached, as ever.
///
/// # Errors
///
/// `INVALID_STATE` where the caller finalizes ([`crate::FinalizeMode::Caller`]), and where it has to wait but is not polled under a tokio runtime with
/// its I/O enabled (`enable_io` or `enable_all`). An output that is `Ready` already needs no runtime. tokio says that its I/O is not enabled by a panic,
/// which is caught and becomes that error; the panic hook has run by then, and with `panic = "abort"` the program ends.
impl Future for Output {
    type Output = Result<Summary>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // Ready before anything is registered, the common case of an output that is awaited late.
        match self.ready() {
            Ok(false) => {}
            Ok(true) => return Poll::Ready(self.finalize()),
            Err(error) => return Poll::Ready(Err(error)),
        }
        let reader = Reader { inner: Arc::clone(&self.inner) };
        let completions = &reader.inner.completions;
        let registry = Arc::clone(&completions.waiting);
        let reactor = match completions.reactor(&reader) {
            Ok(reactor) => reactor,
            Err(error) => return Poll::Ready(Err(error)),
        };
        let sequence = self.sequence();
        let mut source = OnDescriptor { output: &mut self, reader: &reader, reactor: &reactor, registry: &registry };
        match registry.poll(sequence, context.waker(), &mut source) {
            Poll::Ready(Ok(())) => Poll::Ready(self.finalize()),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => Poll::Pending,
        }
    }
}
