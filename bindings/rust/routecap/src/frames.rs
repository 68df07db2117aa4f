// SPDX-License-Identifier: Apache-2.0

//! Frames, the library's own form, through `std::io`.

use std::io::{self, ErrorKind, Read, Write};

use crate::enums::Format;
use crate::record::Record;
use crate::wire::{DecodeHints, EncodeOptions};
use crate::{Error, Result};

/// What every version of a frame begins with, and the frame's size behind it (capi/docs/frame.md).
const START: [u8; 16] = [0x89, b'R', b'C', b'A', b'P', b'\r', b'\n', 0x1a, 1, 0, 0, 0, 4, 3, 2, 1];
const HEAD: usize = 24;

/// A frame that could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The input failed, or ended inside a frame ([`ErrorKind::UnexpectedEof`]).
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The bytes are no frame that this library reads.
    #[error(transparent)]
    Record(#[from] Error),
}

/// So that `?` works where a function gives [`Result`]. Of an input or output that failed, kind and text stay.
impl From<FrameError> for Error {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::Record(error) => error,
            FrameError::Io(error) => Error::Io { kind: error.kind(), text: error.to_string().into_boxed_str() },
        }
    }
}

impl Record {
    /// Writes the record as a frame; bytes written.
    pub fn write_to(&self, writer: &mut impl Write) -> std::result::Result<u64, FrameError> {
        let frame = self.encode(Format::Frame, &EncodeOptions::new())?;
        writer.write_all(&frame)?;
        Ok(frame.len() as u64)
    }

    /// Reads one frame, and not a byte more; `None` at the end of the input. It takes no more memory than has been read, whatever size the frame claims.
    pub fn read_from(reader: &mut impl Read) -> std::result::Result<Option<Record>, FrameError> {
        let mut head = [0; HEAD];
        let got = read_up_to(reader, &mut head)?;
        if got == 0 {
            return Ok(None);
        }
        // What does not begin like a frame is the library's to refuse: it says what is wrong, also of another version.
        let known = got.min(START.len());
        if head[..known] != START[..known] {
            return whole(&head[..got]).map(Some).map_err(Into::into);
        }
        if got < HEAD {
            return Err(io::Error::from(ErrorKind::UnexpectedEof).into());
        }
        let size = i64::from_le_bytes(head[16..].try_into().unwrap_or_default());
        let Some(rest) = u64::try_from(size).ok().and_then(|size| size.checked_sub(HEAD as u64)) else {
            return whole(&head).map(Some).map_err(Into::into);
        };
        let mut frame = head.to_vec();
        if reader.take(rest).read_to_end(&mut frame)? as u64 != rest {
            return Err(io::Error::from(ErrorKind::UnexpectedEof).into());
        }
        whole(&frame).map(Some).map_err(Into::into)
    }

    /// The record as one frame.
    pub fn to_frame(&self) -> Result<Vec<u8>> {
        self.encode(Format::Frame, &EncodeOptions::new())
    }

    /// Reads one frame.
    pub fn from_frame(frame: &[u8]) -> Result<Record> {
        whole(frame)
    }
}

fn whole(frame: &[u8]) -> Result<Record> {
    Record::decode(Format::Frame, frame, &DecodeHints::new())
}

fn read_up_to(reader: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < into.len() {
        match reader.read(&mut into[got..]) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

/// The records of frames that stand one behind the other. It ends at the end of the input, or behind an error.
#[derive(Debug)]
pub struct Frames<R> {
    reader: Option<R>,
}

impl<R: Read> Frames<R> {
    /// Frames of an input. It is read in small pieces: buffer it.
    #[must_use]
    pub fn new(reader: R) -> Self {
        Self { reader: Some(reader) }
    }
}

impl<R: Read> Iterator for Frames<R> {
    type Item = std::result::Result<Record, FrameError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = Record::read_from(self.reader.as_mut()?).transpose();
        if !matches!(next, Some(Ok(_))) {
            self.reader = None;
        }
        next
    }
}

#[cfg(feature = "serde")]
mod with_serde {
    use serde::de::{Deserialize, Deserializer, Error, Visitor};
    use serde::ser::{Error as _, Serialize, Serializer};

    use super::{DecodeHints, EncodeOptions, Format, Record};

    /// A frame: its bytes, or its base64 in forms that people read.
    impl Serialize for Record {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let options = EncodeOptions::new();
            if serializer.is_human_readable() {
                let text = self.encode(Format::FrameBase64, &options).map_err(S::Error::custom)?;
                return serializer.serialize_str(&String::from_utf8_lossy(&text));
            }
            serializer.serialize_bytes(&self.encode(Format::Frame, &options).map_err(S::Error::custom)?)
        }
    }

    struct Frame(Format);

    impl Visitor<'_> for Frame {
        type Value = Record;

        fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(out, "a {}", self.0)
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Record, E> {
            self.visit_bytes(text.as_bytes())
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Record, E> {
            Record::decode(self.0, bytes, &DecodeHints::new()).map_err(E::custom)
        }
    }

    impl<'de> Deserialize<'de> for Record {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            if deserializer.is_human_readable() {
                return deserializer.deserialize_str(Frame(Format::FrameBase64));
            }
            deserializer.deserialize_bytes(Frame(Format::Frame))
        }
    }
}
