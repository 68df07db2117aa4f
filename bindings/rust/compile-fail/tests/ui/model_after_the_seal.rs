// SPDX-License-Identifier: Apache-2.0
fn main() -> routecap::Result<()> {
    let capturer = routecap::Capturer::builder(8, 1, &[0]).create()?;
    let target = capturer.add_model(routecap::Role::Target, "target")?;
    let _sealed = capturer.seal()?;
    target.add_tap(0)?;
    Ok(())
}
