// SPDX-License-Identifier: Apache-2.0
fn main() -> routecap::Result<()> {
    let capturer = routecap::Capturer::builder(8, 1, &[0]).create()?;
    let id = capturer.add_model(routecap::Role::Target, "target")?.add_tap(0)?;
    let sealed = capturer.seal()?;
    let tap = sealed.tap(id)?;
    drop(sealed);
    println!("{:?}", tap.is_enabled());
    Ok(())
}
