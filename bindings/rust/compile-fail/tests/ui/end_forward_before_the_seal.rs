// SPDX-License-Identifier: Apache-2.0
fn main() -> routecap::Result<()> {
    let capturer = routecap::Capturer::builder(8, 1, &[0]).create()?;
    capturer.end_forward(&routecap::Forward::new(0))?;
    Ok(())
}
