//! Checks the request rate.

use std::collections::VecDeque;
use std::time::Duration;

use informer_core::Instant;
use informer_core::transport::Request;

/// The limit per minute: a burst of five, and one every three seconds.
const MOST: usize = 5 + 20;

const MINUTE: Duration = Duration::from_secs(60);

/// The request times of one informer. Whatever the server does, an informer sends at most [`MOST`]
/// requests in any minute. Only a page that follows one at least half full does not count.
#[derive(Debug, Default)]
pub(super) struct Requests {
    times: VecDeque<Instant>,
    /// The page that was requested last.
    page: Option<String>,
}

impl Requests {
    /// Checks a request that follows a list or page with `listed` objects. The error says why it is
    /// not allowed.
    pub(super) fn request(
        &mut self,
        request: Request<'_>,
        listed: usize,
        now: Instant,
    ) -> Result<(), String> {
        let last = self.page.take();
        if let Request::List { page, limit, .. } = request {
            self.page = page.map(str::to_owned);
            if last.is_some() && last == self.page {
                return Err("the same page is asked for again".to_owned());
            }
            let enough = |limit: u32| listed * 2 >= limit as usize;
            if page.is_some() && limit.is_some_and(enough) {
                return Ok(());
            }
        }
        self.times.push_back(now);
        while self.times.front().is_some_and(|at| at.after(MINUTE) < now) {
            self.times.pop_front();
        }
        match self.times.len() {
            0..=MOST => Ok(()),
            many => Err(format!("{many} requests within a minute")),
        }
    }
}
