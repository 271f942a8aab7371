//! The known part of an answer: a list, or the events with which a watch begins.

use std::ops::Range;
use std::sync::Arc;

use bytes::{BufMut as _, Bytes, BytesMut};

use crate::cutter::Cutter;
use crate::state::{Verb, write_event};

/// Writes pods one after the other, and gives pieces of the size that the cutter wants.
pub(crate) struct Parts {
    start: Bytes,
    pods: Arc<[Bytes]>,
    range: Range<usize>,
    form: Form,
    end: Bytes,
    cutter: Cutter,
    waiting: BytesMut,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Elements,
    Events,
}

impl Parts {
    /// A body that is at hand.
    pub(crate) fn text(text: Bytes, cutter: &Cutter) -> Self {
        Self::new(
            text,
            Arc::new([]),
            0..0,
            Form::Elements,
            Bytes::new(),
            cutter,
        )
    }

    /// Elements of a list between a start and an end.
    pub(crate) fn list(
        start: Bytes,
        pods: Arc<[Bytes]>,
        range: Range<usize>,
        end: Bytes,
        cutter: &Cutter,
    ) -> Self {
        Self::new(start, pods, range, Form::Elements, end, cutter)
    }

    /// An event for each pod, then a bookmark.
    pub(crate) fn added(pods: Arc<[Bytes]>, bookmark: Bytes, cutter: &Cutter) -> Self {
        let all = 0..pods.len();
        Self::new(Bytes::new(), pods, all, Form::Events, bookmark, cutter)
    }

    fn new(
        start: Bytes,
        pods: Arc<[Bytes]>,
        range: Range<usize>,
        form: Form,
        end: Bytes,
        cutter: &Cutter,
    ) -> Self {
        Self {
            start,
            pods,
            range,
            form,
            end,
            cutter: cutter.clone(),
            waiting: BytesMut::new(),
        }
    }

    /// The next piece.
    pub(crate) fn next(&mut self) -> Option<Bytes> {
        let size = self.cutter.bytes();
        self.waiting.reserve(size);
        while self.waiting.len() < size && self.write() {}
        if self.waiting.is_empty() {
            return None;
        }
        let end = self.waiting.len().min(size);
        Some(self.waiting.split_to(end).freeze())
    }

    /// Writes the next part, if there is one.
    fn write(&mut self) -> bool {
        if !self.start.is_empty() {
            self.waiting.put(std::mem::take(&mut self.start));
            return true;
        }
        if let Some(number) = self.range.next() {
            let pod = self.pods.get(number).map_or(&[][..], |pod| &**pod);
            match self.form {
                Form::Events => write_event(&mut self.waiting, Verb::Added, pod),
                Form::Elements => {
                    self.waiting.put_slice(pod);
                    if !self.range.is_empty() {
                        self.waiting.put_u8(b',');
                    }
                }
            }
            return true;
        }
        let end = std::mem::take(&mut self.end);
        self.waiting.put_slice(&end);
        !end.is_empty()
    }
}
