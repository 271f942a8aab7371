//! Points in time, as seconds.

use super::HeaderError;
use crate::decode::protobuf::wire::{Message, Value};

/// Reads the seconds of a time. A message without them is the time zero, which counts as missing.
pub(super) fn read_time(time: &[u8], seconds: &mut Option<i64>) -> Result<(), HeaderError> {
    const SECONDS: u32 = 1;
    if let Some(short) = short_time(time) {
        *seconds = Some(short);
        return Ok(());
    }
    let mut message = Message::new(time);
    while let Some(field) = message.next()? {
        // Servers write both fields, even if they are zero.
        let found = match field.value {
            Value::Number(number) if field.number == SECONDS => number.cast_signed(),
            _ => seconds.unwrap_or_default(),
        };
        *seconds = Some(found);
    }
    Ok(())
}

/// The seconds of a time as servers write it: a number of five bytes, from the year 1978 to 3058, and no
/// nanoseconds.
pub(super) fn short_time(time: &[u8]) -> Option<i64> {
    const FIXED: u64 = u64::from_le_bytes([0xff, 0x80, 0x80, 0x80, 0x80, 0x80, 0xff, 0xff]);
    const SHORT: u64 = u64::from_le_bytes([0x08, 0x80, 0x80, 0x80, 0x80, 0x00, 0x10, 0x00]);
    let time = u64::from_le_bytes(time.try_into().ok()?);
    if time & FIXED != SHORT {
        return None;
    }
    let group = |at: u64| (time >> (8 + 8 * at) & 0x7f) << (7 * at);
    let seconds = group(0) | group(1) | group(2) | group(3) | group(4);
    Some(seconds.cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_time_is_what_its_fields_say() {
        for (time, short) in [
            (b"\x08\xc5\xc3\xf4\xd7\x06\x10\x00", Some(1_794_974_149)),
            (b"\x08\x80\x80\x80\x80\x01\x10\x00", Some(1 << 28)),
            (b"\x08\xff\xff\xff\xff\x7f\x10\x00", Some((1 << 35) - 1)),
            // Another number, a longer or a shorter one, nanoseconds, and another field behind it.
            (b"\x10\xc5\xc3\xf4\xd7\x06\x10\x00", None),
            (b"\x08\xc5\xc3\xf4\xd7\x86\x10\x00", None),
            (b"\x08\xc5\xc3\xf4\x57\x10\x10\x00", None),
            (b"\x08\xc5\xc3\xf4\xd7\x06\x10\x01", None),
            (b"\x08\xc5\xc3\xf4\xd7\x06\x18\x00", None),
        ] {
            assert_eq!(short_time(time), short, "{time:?}");
            let mut read = None;
            let mut message = Message::new(time);
            while let Ok(Some(field)) = message.next() {
                if let (1, Value::Number(number)) = (field.number, field.value) {
                    read = Some(number.cast_signed());
                }
            }
            if short.is_some() {
                assert_eq!(short, read, "{time:?}");
            }
        }
        assert_eq!(short_time(b"\x08\xc5\xc3\xf4\xd7\x06\x10"), None);
        assert_eq!(short_time(b"\x08\xc5\xc3\xf4\xd7\x06\x10\x00\x18"), None);
    }
}
