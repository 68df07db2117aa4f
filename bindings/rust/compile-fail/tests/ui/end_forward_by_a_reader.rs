// SPDX-License-Identifier: Apache-2.0
fn end(reader: &routecap::Reader) -> routecap::Result<routecap::Output> {
    reader.end_forward(&routecap::Forward::new(0))
}

fn main() {
    let _ = end;
}
