// SPDX-License-Identifier: Apache-2.0

use std::io::{self, Cursor, ErrorKind, Read};

use routecap::{Code, DType, DecodeHints, EncodeOptions, Format, FrameError, Frames, Record};

use crate::scene::Scene;

/// Two rows, layers 0 and 1, K = 2, E = 300; the forms below are written here, by hand.
const IDS: [u16; 8] = [1, 299, 3, 4, 5, 6, 7, 258];

fn record() -> Record {
    Record::builder(300, 2, &[0, 1]).ids(&IDS).create().unwrap()
}

fn text(record: &Record, format: Format, options: &EncodeOptions) -> String {
    String::from_utf8(record.encode(format, options).unwrap()).unwrap()
}

fn base64(bytes: &[u8]) -> String {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for at in 0..4 {
            out.push(if at <= three.len() { digits[(bits >> (18 - 6 * at) & 63) as usize] as char } else { '=' });
        }
    }
    out
}

fn little<T: Copy, const N: usize>(numbers: &[T], bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    numbers.iter().flat_map(|number| bytes(*number)).collect()
}

#[test]
fn forms_as_they_are_written_by_hand() {
    let (record, none) = (record(), EncodeOptions::new());
    let wide: Vec<i32> = IDS.iter().copied().map(i32::from).collect();
    assert_eq!(text(&record, Format::SgLang, &none), base64(&little(&wide, i32::to_le_bytes)));
    assert_eq!(text(&record, Format::SgLang, &none.dtype(DType::UInt16)), base64(&little(&IDS, u16::to_le_bytes)));
    let lists: Vec<Vec<Vec<u16>>> = serde_json::from_str(&text(&record, Format::Lists, &none)).unwrap();
    assert_eq!(lists, [[[1, 299], [3, 4]], [[5, 6], [7, 258]]]);
    let prime: serde_json::Value = serde_json::from_str(&text(&record, Format::Prime, &none)).unwrap();
    assert_eq!(prime, serde_json::json!({"data": base64(&little(&IDS, u16::to_le_bytes)), "shape": [2, 2, 2], "start": 0, "dtype": "uint16"}));
    let nemo = format!("nrlre1:int16:2x2x2:{}", base64(&little(&IDS, u16::to_le_bytes)));
    assert_eq!(text(&record, Format::NeMo, &none), nemo);
    let npy = record.encode(Format::Npy, &none.dtype(DType::Int64)).unwrap();
    let header = usize::from(u16::from_le_bytes([npy[8], npy[9]]));
    let told = String::from_utf8_lossy(&npy[10..10 + header]);
    assert!(npy.starts_with(b"\x93NUMPY") && told.contains("'<i8'") && told.contains("(2, 2, 2)"), "{told}");
    let long: Vec<i64> = IDS.iter().copied().map(i64::from).collect();
    assert_eq!(&npy[10 + header..], little(&long, i64::to_le_bytes));
    assert_eq!(text(&record, Format::Vllm, &none.dtype(DType::Int64)), base64(&npy));
    assert!(text(&record, Format::Csv, &none.turn(3).decode_start(1)).lines().count() > 4);
}

#[test]
fn every_form_is_named_told_and_read_back() {
    let record = record();
    let hints = DecodeHints::new().start(0).num_experts(300).top_k(2).num_layers(2);
    assert_eq!(Format::ALL.len(), 9);
    for form in Format::ALL.iter().copied() {
        let mut encoded = b"before".to_vec();
        record.encode_into(&mut encoded, form, &EncodeOptions::new()).unwrap();
        assert!(encoded.starts_with(b"before"));
        let encoded = &encoded[6..];
        if form == Format::SgLang {
            assert_eq!(Format::detect(encoded).unwrap_err().code(), Code::NotFound);
        } else {
            assert_eq!(Format::detect(encoded).unwrap(), form);
        }
        assert_eq!(form.to_string().parse::<Format>().unwrap(), form);
        let decoded = Record::decode(form, encoded, &hints).unwrap();
        assert_eq!(decoded.to_i32(), record.to_i32(), "{form}");
    }
    assert_eq!(Format::Unknown(99).name(), "unknown");
}

#[test]
fn hints_and_options() {
    let flat = base64(&[1, 2, 3, 4]);
    let hints = DecodeHints::new().start(7).rows(2).num_experts(8).top_k(2).layer_ids(&[6]).dtype(DType::UInt8);
    let decoded = Record::decode(Format::SgLang, flat.as_bytes(), &hints).unwrap();
    assert_eq!((decoded.info().start, decoded.info().rows, decoded.layer_ids()), (7, 2, &[6][..]));
    assert_eq!(Record::decode(Format::SgLang, flat.as_bytes(), &hints.rows(3)).unwrap_err().code(), Code::InvalidArgument);
    // Three rows of one layer, the second missing: refused where the form cannot say it, unless told how to write it.
    let holes = Record::builder(8, 2, &[0]).ids(&[1_u8, 2, 0, 0, 3, 4]).validity(&[0b101]).create().unwrap();
    assert!(holes.encode(Format::SgLang, &EncodeOptions::new()).unwrap_err().text().contains('1'));
    let lists = |options: EncodeOptions| text(&holes, Format::Lists, &options).replace(' ', "");
    assert_eq!(lists(EncodeOptions::new().missing_as_minus_one()), "[[[1,2]],[[-1,-1]],[[3,4]]]");
    assert_eq!(lists(EncodeOptions::new().missing_as(7)), "[[[1,2]],[[7,0]],[[3,4]]]");
    let packed = holes.encode(Format::Frame, &EncodeOptions::new().zstd_level(3)).unwrap();
    assert_eq!(Record::from_frame(&packed).unwrap(), holes);
    let turn = holes.encode(Format::Csv, &EncodeOptions::new().turn(4)).unwrap();
    let hints = DecodeHints::new().num_experts(8);
    assert_eq!(Record::decode(Format::Csv, &turn, &hints.turn(4)).unwrap().to_i32(), holes.to_i32());
    assert!(Record::decode(Format::Csv, &turn, &hints.turn(5)).is_err());
}

/// Gives one byte at a time, and an interruption before each.
struct Slow<'a>(&'a [u8], bool);

impl Read for Slow<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(ErrorKind::Interrupted.into());
        }
        let more = self.0.len().min(into.len()).min(1);
        into[..more].copy_from_slice(&self.0[..more]);
        self.0 = &self.0[more..];
        Ok(more)
    }
}

#[test]
fn frames_in_a_stream() {
    let first = record();
    let second = first.slice_positions(1..2).unwrap();
    let mut stream = Vec::new();
    let written = first.write_to(&mut stream).unwrap() + second.write_to(&mut stream).unwrap();
    assert_eq!(written, stream.len() as u64);
    let read: Vec<Record> = Frames::new(Slow(&stream, false)).map(Result::unwrap).collect();
    assert!(read.len() == 2 && read[0] == first && read[1] == second);
    // Not a byte more than the frame.
    let mut behind = Cursor::new([&first.to_frame().unwrap()[..], b"tail"].concat());
    assert_eq!(Record::read_from(&mut behind).unwrap().unwrap(), first);
    let mut rest = String::new();
    behind.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "tail");
    assert!(Record::read_from(&mut io::empty()).unwrap().is_none());
    // Cut anywhere inside, it is an end inside a frame, and never a record.
    for cut in 1..stream.len() - second.to_frame().unwrap().len() {
        match Record::read_from(&mut &stream[..cut]) {
            Err(FrameError::Io(error)) => assert_eq!(error.kind(), ErrorKind::UnexpectedEof),
            other => panic!("{cut}: {other:?}"),
        }
    }
    for (bytes, code) in
        [(&b"hello"[..], Code::Corrupt), (&[0x89, b'R', b'C', b'A', b'P', b'\r', b'\n', 0x1a, 9, 0, 0, 0, 4, 3, 2, 1][..], Code::VersionMismatch)]
    {
        let bytes = [bytes, &[0; 30]].concat();
        let mut frames = Frames::new(&bytes[..]);
        match frames.next() {
            Some(Err(FrameError::Record(error))) => assert_eq!(error.code(), code, "{error}"),
            other => panic!("{other:?}"),
        }
        assert!(frames.next().is_none());
    }
    // A size that is a lie costs no memory: the input ends.
    let mut lie = first.to_frame().unwrap();
    lie[16..24].copy_from_slice(&(1_i64 << 50).to_le_bytes());
    assert!(matches!(Record::read_from(&mut &lie[..]), Err(FrameError::Io(error)) if error.kind() == ErrorKind::UnexpectedEof));
}

/// What goes wrong with a frame goes through `?` in a function of this crate's result.
#[test]
fn a_frame_error_is_an_error() {
    struct Broken;

    impl io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::new(ErrorKind::ConnectionReset, "the peer is gone"))
        }
    }

    impl io::Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::from(ErrorKind::OutOfMemory))
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn read(input: &mut impl io::Read) -> routecap::Result<Record> {
        let frame = Record::read_from(input)?;
        Ok(frame.expect("a frame"))
    }

    fn write(record: &Record, output: &mut impl io::Write) -> routecap::Result<u64> {
        Ok(record.write_to(output)?)
    }

    let record = record();
    let frame = record.to_frame().unwrap();
    assert_eq!(read(&mut &frame[..]).unwrap(), record);
    assert_eq!(write(&record, &mut Vec::new()).unwrap(), frame.len() as u64);
    for (error, kind, code, text) in [
        (read(&mut Broken).unwrap_err(), ErrorKind::ConnectionReset, Code::InvalidArgument, "the peer is gone"),
        (read(&mut &frame[..40]).unwrap_err(), ErrorKind::UnexpectedEof, Code::Corrupt, "unexpected end of file"),
        (write(&record, &mut Broken).unwrap_err(), ErrorKind::OutOfMemory, Code::OutOfMemory, "out of memory"),
    ] {
        assert!(matches!(&error, routecap::Error::Io { kind: came, .. } if *came == kind), "{error:?}");
        assert_eq!((error.code(), error.text(), error.to_string().as_str()), (code, text, text));
    }
    // What the library refuses stays what it is.
    let refused = read(&mut &b"hello, this is no frame at all"[..]).unwrap_err();
    assert!(matches!(refused, routecap::Error::Refused { .. }) && refused.code() == Code::Corrupt, "{refused:?}");
}

#[test]
fn slots_to_a_form_in_one_pass() {
    let mut scene = Scene::new();
    scene.forward(&[4, 5, 6]);
    let read = routecap::Read::new(&[4_i64, 5, 6], 4);
    let record = scene.sealed.read(&read).unwrap();
    for form in [Format::Frame, Format::Prime, Format::NeMo] {
        let mut passed = b"x".to_vec();
        scene.sealed.encode_into(&mut passed, &read, form, &EncodeOptions::new()).unwrap();
        assert_eq!(passed[1..], record.encode(form, &EncodeOptions::new()).unwrap());
    }
}
