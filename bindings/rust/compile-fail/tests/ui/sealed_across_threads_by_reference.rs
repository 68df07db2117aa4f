// SPDX-License-Identifier: Apache-2.0
fn main() -> routecap::Result<()> {
    let sealed = routecap::Capturer::builder(8, 1, &[0]).create()?.seal()?;
    std::thread::scope(|scope| {
        scope.spawn(|| sealed.release_all(routecap::Stream::DEFAULT));
    });
    Ok(())
}
