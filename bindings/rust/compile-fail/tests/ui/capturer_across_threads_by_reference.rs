// SPDX-License-Identifier: Apache-2.0
fn sync<T: Sync>() {}

fn main() {
    sync::<routecap::Capturer>();
}
