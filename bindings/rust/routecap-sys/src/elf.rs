// SPDX-License-Identifier: Apache-2.0

//! A look at a file before the dynamic linker maps it: what reaches beyond the end of a file that was cut short is a SIGBUS there.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

const HEADER: usize = 64;
const HEADER_32: usize = 52;
const SEGMENT: usize = 56;
const LITTLE: u8 = 1;
const TYPE_SHARED: u16 = 3;
/// Kinds of segments that the dynamic linker reads.
const LOAD: u32 = 1;
const DYNAMIC: u32 = 2;

const OWN_ORDER: u8 = if cfg!(target_endian = "little") { LITTLE } else { 2 };
/// 0 where this does not know the machine, which is then left to the dynamic linker.
const OWN_MACHINE: u16 = if cfg!(target_arch = "x86_64") {
    62
} else if cfg!(target_arch = "aarch64") {
    183
} else {
    0
};

/// Why the dynamic linker must not see a file; `None` where nothing speaks against it, or it cannot be opened, which the dynamic linker says.
pub(crate) fn refusal(path: &Path) -> Option<String> {
    let status = std::fs::metadata(path).ok()?;
    // Asked before it is opened: a FIFO would wait for somebody to write into it.
    if !status.is_file() {
        return Some("is not a file".to_owned());
    }
    check(&mut File::open(path).ok()?, status.len()).err()
}

fn check(file: &mut (impl Read + Seek), size: u64) -> Result<(), String> {
    let mut header = Vec::with_capacity(HEADER);
    file.by_ref().take(HEADER as u64).read_to_end(&mut header).map_err(|error| format!("cannot read it: {error}"))?;
    let (class, order) = (header.get(4).copied(), header.get(5).copied());
    let (Some(class @ 1..=2), Some(order @ 1..=2)) = (class, order) else { return Err(no_header(size)) };
    if !header.starts_with(b"\x7fELF") || header.len() < if class == 2 { HEADER } else { HEADER_32 } {
        return Err(no_header(size));
    }
    let machine = if order == OWN_ORDER { u16_at(&header, 18) } else { u16_at(&header, 18).swap_bytes() };
    if class != 2 || order != OWN_ORDER || (OWN_MACHINE != 0 && machine != OWN_MACHINE) {
        let bits = u32::from(class) * 32;
        return Err(format!(
            "is for another architecture: ELF machine {machine} ({bits} bit, {}-endian), this process is {OWN_MACHINE} (64 bit, {}-endian)",
            endian(order),
            endian(OWN_ORDER)
        ));
    }
    let kind = u16_at(&header, 16);
    if kind != TYPE_SHARED {
        return Err(format!("is no shared object: ELF type {kind}, one has {TYPE_SHARED}"));
    }
    let (segment_bytes, segments) = (u16_at(&header, 54), u16_at(&header, 56));
    if usize::from(segment_bytes) != SEGMENT || segments == 0 {
        return Err(format!("is not a whole shared object: {segments} program headers of {segment_bytes} bytes"));
    }
    let (segments_at, sections_at) = (u64_at(&header, 32), u64_at(&header, 40));
    let mut table = vec![0; usize::from(segments) * SEGMENT];
    within("the program headers", segments_at, table.len() as u64, size)?;
    if sections_at != 0 {
        within("the section headers", sections_at, u64::from(u16_at(&header, 60)) * u64::from(u16_at(&header, 58)), size)?;
    }
    let read = file.seek(SeekFrom::Start(segments_at)).and_then(|_| file.read_exact(&mut table));
    read.map_err(|_| "is not a whole shared object: its program headers cannot be read".to_owned())?;
    let mut loads = false;
    for segment in table.chunks_exact(SEGMENT) {
        let kind = u32::from_ne_bytes(part(segment, 0));
        if kind == LOAD || kind == DYNAMIC {
            within("a segment", u64_at(segment, 8), u64_at(segment, 32), size)?;
        }
        loads = loads || kind == LOAD;
    }
    if loads { Ok(()) } else { Err("is not a whole shared object: no segment to load".to_owned()) }
}

fn no_header(size: u64) -> String {
    format!("is no shared object: no ELF header in its {size} bytes")
}

fn endian(order: u8) -> &'static str {
    if order == LITTLE { "little" } else { "big" }
}

fn within(what: &str, offset: u64, bytes: u64, size: u64) -> Result<(), String> {
    if offset.checked_add(bytes).is_some_and(|end| end <= size) {
        return Ok(());
    }
    Err(format!("is not a whole shared object: {what} of {bytes} bytes at {offset}, the file has {size}"))
}

/// Bytes that the caller knows to be there.
fn part<const COUNT: usize>(bytes: &[u8], at: usize) -> [u8; COUNT] {
    let mut taken = [0; COUNT];
    taken.copy_from_slice(&bytes[at..at + COUNT]);
    taken
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes(part(bytes, at))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(part(bytes, at))
}
