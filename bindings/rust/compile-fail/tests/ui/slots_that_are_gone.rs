// SPDX-License-Identifier: Apache-2.0
fn main() {
    let forward = {
        let slots = vec![1_i64];
        routecap::Forward::new(1).slots(&slots)
    };
    println!("{forward:?}");
}
