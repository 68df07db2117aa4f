// SPDX-License-Identifier: Apache-2.0
fn main() {
    let array = routecap::Array::device(routecap::DType::Int64, 4096, 8);
    println!("{array:?}");
}
