// SPDX-License-Identifier: Apache-2.0
fn main() -> routecap::Result<()> {
    let capturer = routecap::Capturer::builder(8, 1, &[0]).create()?;
    let id = capturer.add_model(routecap::Role::Target, "target")?.add_tap(0)?;
    let sealed = capturer.seal()?;
    let mut tap = sealed.tap(id)?;
    let ids = [1_u8];
    let capture = routecap::Capture::new(&ids, 1);
    std::thread::scope(|scope| {
        scope.spawn(|| tap.capture(&capture));
        scope.spawn(|| tap.capture(&capture));
    });
    Ok(())
}
