// SPDX-License-Identifier: Apache-2.0
fn settle(sealed: &routecap::Sealed) -> routecap::Result<()> {
    let mut output = sealed.end_forward(&routecap::Forward::new(0))?;
    std::thread::spawn(move || output.finalize());
    output.ready()?;
    Ok(())
}

fn main() {
    let _ = settle;
}
