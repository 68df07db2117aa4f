// SPDX-License-Identifier: Apache-2.0
fn main() -> routecap::Result<()> {
    let record = routecap::Record::builder(8, 1, &[0]).ids(&[3_u8]).create()?;
    let row = record.rows().next();
    drop(record);
    println!("{:?}", row.map(|row| row.position()));
    Ok(())
}
