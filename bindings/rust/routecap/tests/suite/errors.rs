// SPDX-License-Identifier: Apache-2.0

use routecap::{Backend, Capture, Capturer, Code, DecodeHints, Error, Format, Forward, Read, Record, Role, SlotUnit, Stream, TapId};

use crate::scene::{K, Scene};

fn record() -> Record {
    Record::builder(8, 1, &[0]).ids(&[3_u8]).create().unwrap()
}

#[test]
fn each_mistake_has_its_code_and_one_line() {
    let scene = Scene::new();
    let one = [1_i32, 2, 3, 4];
    let frame = record().to_frame().unwrap();
    let capture = |capture: Capture<'_>| scene.sealed.tap(scene.targets[0]).unwrap().capture(&capture).unwrap_err();
    let decode = |format, bytes: &[u8]| Record::decode(format, bytes, &DecodeHints::new()).unwrap_err();
    let mut newer = frame.clone();
    newer[8] = 9;
    let memory = || -> routecap::Result<()> {
        // More than there are addresses; allocated at the seal.
        let large = Capturer::builder(256, 8, &[0]).max_forward_tokens(1 << 46).num_slots(8).create()?;
        large.add_model(Role::Target, "target")?.add_tap(0)?;
        large.seal()?;
        Ok(())
    };
    // SAFETY: there is no plugin for toasters.
    let toaster = unsafe { Backend::open("toaster") };
    let cases: Vec<(&str, Error, Code, &str)> = vec![
        ("columns", capture(Capture::new(&one, 2)), Code::InvalidArgument, "columns is 2"),
        ("half a row", capture(Capture::new(&[1_i32; 6], 4)), Code::InvalidArgument, "24 bytes, which end inside a row of 4 columns of Int32"),
        ("less than a row", capture(Capture::new(&one, 5)), Code::InvalidArgument, "16 bytes, which end inside a row of 5 columns of Int32"),
        (
            "half a strided row",
            capture(Capture::new(&[1_i32; 9], 4).ids_row_stride(32)),
            Code::InvalidArgument,
            "36 bytes, which end inside a row of 4 columns of Int32 at a row stride of 32 bytes",
        ),
        ("row", capture(Capture::new(&one, 4).first_row(64)), Code::OutOfRange, "64"),
        ("short", capture(Capture::new(&one, 4).tokens(2)), Code::InvalidArgument, "32"),
        ("row ids", capture(Capture::new(&one, 4).row_ids(&[0_i64])), Code::InvalidArgument, "the row ids are Int64, not Int32"),
        ("tap number", scene.sealed.tap(TapId(99)).unwrap_err(), Code::NotFound, "99"),
        ("slot", scene.sealed.slot_info(1024).unwrap_err(), Code::OutOfRange, "1024"),
        ("release -1", scene.sealed.release_slots(SlotUnit::Slot, &[-1_i64], Stream::DEFAULT).unwrap_err(), Code::OutOfRange, "-1"),
        ("tags", scene.sealed.end_forward(&Forward::new(1).tags(&[1_i32])).unwrap_err(), Code::InvalidArgument, "tags are Int32"),
        ("experts", Capturer::builder(0, 1, &[0]).create().unwrap_err(), Code::OutOfRange, "num_experts"),
        (
            "name",
            Capturer::builder(8, 1, &[0]).max_forward_tokens(1).create().unwrap().add_model(Role::Target, "a\0b").unwrap_err(),
            Code::InvalidArgument,
            "zero",
        ),
        ("memory", memory().unwrap_err(), Code::OutOfMemory, ""),
        ("backend", toaster.unwrap_err(), Code::NotFound, "toaster"),
        ("sequence", scene.sealed.read(&Read::new(&[1_i64], 2).after_sequence(5)).unwrap_err(), Code::OutOfRange, "5"),
        ("format", "xml".parse::<Format>().unwrap_err(), Code::NotFound, "frame"),
        ("detect", Format::detect(b"hello").unwrap_err(), Code::NotFound, ""),
        ("truncated", decode(Format::Frame, &frame[..60]), Code::Corrupt, ""),
        ("behind", decode(Format::Frame, &[&frame[..], &[0]].concat()), Code::Corrupt, "1 bytes"),
        ("version", decode(Format::Frame, &newer), Code::VersionMismatch, "9"),
        ("hint", decode(Format::SgLang, b"AAAA"), Code::InvalidArgument, ""),
        ("dtype", record().ids_as::<i32>().unwrap_err(), Code::InvalidArgument, "UInt8, not Int32"),
        ("ids of E", Record::builder(8, 1, &[0]).ids(&[3_i32]).create().unwrap_err(), Code::InvalidArgument, "UInt8, not Int32"),
        ("unknown", record().append(&record(), routecap::Overlap::Unknown(77)).unwrap_err(), Code::InvalidArgument, "77"),
    ];
    for (name, error, code, text) in cases {
        assert_eq!(error.code(), code, "{name}: {error}");
        assert!(error.text().contains(text), "{name}: {error}; want {text}");
        let shown = error.to_string();
        assert!(!shown.contains(['\n', '\0']) && shown.starts_with(code.name()), "{name}: {shown:?}");
    }
}

#[test]
fn answers_are_no_faults() {
    let mut scene = Scene::with(|builder| builder.pipeline_depth(1));
    scene.capture(1);
    let mut output = scene.sealed.end_forward(&Forward::new(1).slots(&[3_i64])).unwrap();
    scene.capture(1);
    assert_eq!(scene.sealed.end_forward(&Forward::new(1).slots(&[4_i64])).unwrap_err(), Error::Busy);
    let waited = scene.sealed.end_forward_within(&Forward::new(1).slots(&[4_i64]), std::time::Duration::from_millis(3));
    assert_eq!(waited.unwrap_err().to_string(), "BUSY: every staging block is in flight");
    assert_eq!(output.wait(std::time::Duration::ZERO).unwrap_err(), Error::Timeout);
    assert!(!output.ready().unwrap());
    let lacking = scene.sealed.read(&Read::new(&[3_i64], 2).after_sequence(1)).unwrap_err();
    assert_eq!(lacking.to_string(), "NOT_READY: sequence 1 is lacking");
    assert!(matches!(lacking, Error::NotReady { sequence: Some(1), .. }) && lacking.text().is_empty());
    assert_eq!(output.finalize().unwrap_err().to_string(), "NOT_READY");
    // A dropped output leaves its rows missing and frees its block (R33).
    drop(output);
    let mut output = scene.sealed.end_forward(&Forward::new(1).slots(&[4_i64])).unwrap();
    output.copy_to_host(Stream::DEFAULT).unwrap();
    output.finalize().unwrap();
    assert_eq!(scene.sealed.stats().unwrap().dropped, 1);
    scene.capture(2);
    scene.sealed.discard_forward(Stream::DEFAULT).unwrap();
    assert_eq!(scene.sealed.stats().unwrap().discarded_forwards, 1);
}

#[test]
fn a_tap_has_one_caller() {
    let scene = Scene::new();
    let tap = scene.sealed.tap(scene.targets[1]).unwrap();
    let error = scene.sealed.tap(scene.targets[1]).unwrap_err();
    assert_eq!((error.code(), error.text()), (Code::InvalidState, "tap 2 is in use; a tap has one caller"));
    let other = scene.sealed.owned_tap(scene.targets[0]).unwrap();
    assert!(tap.is_enabled().unwrap() && other.id() == scene.targets[0]);
    assert!(!scene.sealed.tap(scene.drafts[0]).unwrap().is_enabled().unwrap());
    // A denied tap looks at nothing (R18), not even at how many rows there are.
    scene.sealed.tap(scene.drafts[0]).unwrap().capture(&Capture::new(&[1_u8; K + 1], K as i32)).unwrap();
    assert_eq!(scene.sealed.stats().unwrap().suppressed, 1);
    drop(tap);
    scene.sealed.tap(scene.targets[1]).unwrap().capture(&Capture::new(&[1_u8; K], K as i32)).unwrap();
}

#[test]
fn every_text_belongs_to_its_call() {
    let scene = Scene::new();
    let reader = scene.sealed.reader();
    std::thread::scope(|scope| {
        for worker in 0..64_i64 {
            let reader = &reader;
            scope.spawn(move || {
                for index in 0..20_000_i64 {
                    let number = 1024 + worker * 1_000_000 + index;
                    let (error, want) = if (worker + index) % 2 == 0 {
                        (reader.slot_info(number).unwrap_err(), format!("OUT_OF_RANGE: slot is {number},"))
                    } else {
                        let read = Read::new(&[1_i64], 2).start(number);
                        (reader.read(&read).unwrap_err(), format!("OUT_OF_RANGE: start is {number},"))
                    };
                    let told = error.to_string();
                    assert!(told.starts_with(&want), "worker {worker}, call {index}: {told}, want {want}");
                }
            });
        }
    });
}

/// C ends a text at its first zero byte: `"host\0x"` would be taken for `"host"`.
#[test]
fn a_name_with_a_zero_byte_is_refused() {
    type Call<'a> = (&'a str, &'a str, &'a str, Box<dyn Fn(&str) -> routecap::Result<()> + 'a>);
    let capturer = Capturer::builder(8, 1, &[0]).max_forward_tokens(1).create().unwrap();
    // SAFETY: the name is the built-in backend's, or refused before anything is looked for.
    let open = |name: &str| unsafe { Backend::open(name) }.map(drop);
    // SAFETY: as above.
    let open_device = |name: &str| unsafe { Backend::open_device(name, 0, 1) }.map(drop);
    // SAFETY: as above.
    let search = |name: &str| unsafe { Backend::search(name) }.map(drop);
    let calls: [Call<'_>; 5] = [
        ("add_model", "the model's name", "target", Box::new(|name| capturer.add_model(Role::Target, name).map(drop))),
        ("open", "the backend's name", "host", Box::new(open)),
        ("open_device", "the backend's name", "host", Box::new(open_device)),
        ("search", "the backend's name", "host", Box::new(search)),
        ("parse", "the form's name", "frame", Box::new(|name| name.parse::<Format>().map(drop))),
    ];
    for (called, what, good, call) in calls {
        for given in [format!("{good}\0"), format!("{good}\0x"), format!("\0{good}"), "\0".to_owned()] {
            let error = call(&given).unwrap_err();
            assert_eq!((error.code(), error.text()), (Code::InvalidArgument, &*format!("{what} has a zero byte: {given:?}")), "{called}");
        }
        call(good).unwrap();
    }
    // Whatever takes a text is in the list: a parameter `&str` of a public function, and FromStr.
    let listing = include_str!("../../public-api.txt");
    let taken: Vec<&str> = listing.lines().filter(|line| line.contains(": &str") || line.contains("FromStr for")).collect();
    assert_eq!(taken.len(), 5, "{taken:#?}");
}
