//! Bounded reading of the files that a configuration names.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use zeroize::Zeroizing;

use crate::secret::Secret;

/// The largest kubeconfig, token or certificate file that is read.
const LARGEST: u64 = 4 << 20;

/// The text of a regular file, for what is read again and again. A pipe would block until someone writes to it,
/// and a device may do anything.
pub(crate) fn read(file: &Path) -> io::Result<Secret> {
    if !std::fs::metadata(file)?.is_file() {
        return Err(io::Error::other(
            "it is not a regular file; a token or certificate must be in one",
        ));
    }
    read_once(file)
}

/// The text of anything that can be read once, such as a kubeconfig that another program writes into a pipe.
/// Reading stops at the limit, so a huge or endless file does no harm.
pub(crate) fn read_once(file: &Path) -> io::Result<Secret> {
    let mut bytes = Zeroizing::new(Vec::new());
    let length = File::open(file)?
        .take(LARGEST + 1)
        .read_to_end(&mut bytes)?;
    if u64::try_from(length).is_ok_and(|length| length <= LARGEST) {
        let text = std::str::from_utf8(&bytes);
        let text = text.map_err(|_| io::Error::other("the file is not UTF-8 text"))?;
        return Ok(Secret::from(text.to_owned()));
    }
    Err(io::Error::other(
        "the file is larger than 4 MiB; is it the right one?",
    ))
}
