// SPDX-License-Identifier: Apache-2.0
fn main() -> routecap::Result<()> {
    let sealed = routecap::Capturer::builder(8, 1, &[0]).create()?.seal()?;
    sealed.add_model(routecap::Role::Draft, "late")?;
    Ok(())
}
