// SPDX-License-Identifier: Apache-2.0
fn main() {
    let _ = routecap::Capture::new(&["three"], 1);
}
