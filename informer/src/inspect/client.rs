//! A client of an API server.

use std::sync::Arc;

use super::{Inspect, Inspected, Part, sealed::Sealed};
use crate::connect::Client;

impl Sealed for Client {}

impl Inspect for Client {
    fn inspected(&self) -> Inspected {
        let client = self.downgrade();
        Inspected::one(move || {
            let client = client.upgrade()?;
            Some(Part::Client(Arc::new(client)))
        })
    }
}
