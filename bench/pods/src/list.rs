//! All pods as the body of a list, piece by piece.

use crate::{FIRST_VERSION, Pods};

/// Gives the body of a list in pieces, and holds no more than one of them and one pod.
#[derive(Debug)]
pub struct Pieces<'a> {
    pods: &'a Pods,
    size: usize,
    next: usize,
    /// The pod that is written.
    pod: String,
    /// What did not fit into the last piece.
    rest: Vec<u8>,
}

impl<'a> Pieces<'a> {
    pub(crate) const fn new(pods: &'a Pods, size: usize) -> Self {
        Self {
            pods,
            size: if size == 0 { 1 } else { size },
            next: 0,
            pod: String::new(),
            rest: Vec::new(),
        }
    }

    /// Puts the next piece into `piece`, in place of what was there. All have the same length but
    /// the last, so they end anywhere. `false` after the last.
    pub fn next_into(&mut self, piece: &mut Vec<u8>) -> bool {
        while self.rest.len() < self.size && self.next <= self.pods.len() {
            self.write_next();
        }
        piece.clear();
        let end = self.rest.len().min(self.size);
        piece.extend(self.rest.drain(..end));
        !piece.is_empty()
    }

    /// Writes the next pod, with what comes before the first and after the last.
    fn write_next(&mut self) {
        self.pod.clear();
        if self.next == 0 {
            let version = FIRST_VERSION + self.pods.len() as u64;
            self.pod = format!(
                r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"{version}"}},"items":["#
            );
        }
        if self.next < self.pods.len() {
            if self.next > 0 {
                self.pod.push(',');
            }
            self.pods.write(self.next, &mut self.pod);
        } else {
            self.pod.push_str("]}\n");
        }
        self.next += 1;
        self.rest.extend_from_slice(self.pod.as_bytes());
    }
}
