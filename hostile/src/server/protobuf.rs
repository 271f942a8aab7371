//! Bodies in protobuf, as far as informers of pods need them.

/// The media type.
pub(crate) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// The first bytes of every object that is not in a list, and of every list.
pub(crate) const MAGIC: &[u8] = b"k8s\0";

/// A number in groups of seven bits.
pub(crate) fn number(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            bytes.push(low & 0x7f);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

/// The tag and the length of a field of bytes. Its number is below 16.
pub(crate) fn begin(field: u8, length: u64) -> Vec<u8> {
    [vec![field << 3 | 2], number(length)].concat()
}

/// A field with text, bytes or a message.
pub(crate) fn field(field: u8, value: impl AsRef<[u8]>) -> Vec<u8> {
    let value = value.as_ref();
    [&begin(field, value.len() as u64), value].concat()
}

/// An object or a list with its type.
pub(crate) fn wrapped(kind: &str, object: &[u8]) -> Vec<u8> {
    let kind = [field(1, "v1"), field(2, kind)].concat();
    let ends = [field(3, ""), field(4, "")].concat();
    [MAGIC, &field(1, kind), &field(2, object), &ends].concat()
}

/// A pod without its type, as in a list.
pub(crate) fn pod(name: &str, version: &str) -> Vec<u8> {
    let metadata = [
        field(1, name),
        field(3, "web"),
        field(5, name),
        field(6, version),
    ];
    field(1, metadata.concat())
}

/// A list of these objects.
pub(crate) fn list(version: &str, items: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let items: Vec<u8> = items.flat_map(|item| field(2, item)).collect();
    wrapped("PodList", &[metadata_of_list(version), items].concat())
}

pub(crate) fn metadata_of_list(version: &str) -> Vec<u8> {
    field(1, field(2, version))
}

/// A message of a watch, after its length.
pub(crate) fn frame(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    [&length.to_be_bytes(), message].concat()
}

/// An event with what stands in the place of its object.
pub(crate) fn event_with(kind: &str, object: &[u8]) -> Vec<u8> {
    frame(&[field(1, kind), field(2, field(1, object))].concat())
}

/// An event of a pod.
pub(crate) fn event(kind: &str, pod: &[u8]) -> Vec<u8> {
    event_with(kind, &wrapped("Pod", pod))
}

pub(crate) fn bookmark(version: &str) -> Vec<u8> {
    event("BOOKMARK", &field(1, field(6, version)))
}

/// The bookmark that ends a streamed list.
pub(crate) fn end_bookmark(version: &str) -> Vec<u8> {
    let mark = [field(1, "k8s.io/initial-events-end"), field(2, "true")];
    let metadata = [field(6, version), field(12, mark.concat())];
    event("BOOKMARK", &field(1, metadata.concat()))
}
