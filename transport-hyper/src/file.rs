//! Files that somebody names.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use zeroize::Zeroizing;

use crate::secret::Secret;

/// No kubeconfig, token or certificate is longer than this.
const LARGEST: u64 = 4 << 20;

/// The text of a file. One that is too large, or has no end, is not read whole.
pub(crate) fn read(file: &Path) -> io::Result<Secret> {
    let mut bytes = Zeroizing::new(Vec::new());
    let length = File::open(file)?
        .take(LARGEST + 1)
        .read_to_end(&mut bytes)?;
    if u64::try_from(length).is_ok_and(|length| length <= LARGEST) {
        let text = std::str::from_utf8(&bytes);
        let text = text.map_err(|_| io::Error::other("it is not text in UTF-8"))?;
        return Ok(Secret::from(text.to_owned()));
    }
    Err(io::Error::other(
        "it is larger than 4 MiB; is it the right file?",
    ))
}
