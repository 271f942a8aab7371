//! Room in memory for objects that are about to be read.

use std::hint::black_box;

/// What the objects of one turn of a driver may need: a typed pod takes five times its JSON.
const ROOM: usize = 3 << 19;

/// Fewer bytes bring few objects, which are not worth it.
const MANY: usize = 16 << 10;

/// Makes room for the new objects that `bytes` bring, if they are many.
///
/// glibc grows the heap of a thread by what is missing, a page or two at a time, with a system call each, and
/// gives back what is free at its end. A full state would need a call for nearly every page of it. An
/// allocation that is larger, and freed at once, grows the heap in one step. It also tells glibc that such
/// sizes come and go, so the whole process keeps up to 3 MiB that are free at the end of a heap. Memory that
/// nobody writes to is not resident.
pub(crate) fn make_room(bytes: &[u8]) {
    if bytes.len() >= MANY {
        drop(black_box(Vec::<u8>::with_capacity(ROOM)));
    }
}
