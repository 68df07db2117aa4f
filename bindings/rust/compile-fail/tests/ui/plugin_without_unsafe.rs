// SPDX-License-Identifier: Apache-2.0
fn main() {
    let host = routecap::Backend::host();
    let plugin = routecap::Backend::open("/opt/plugin.so");
    println!("{host:?} {plugin:?}");
}
