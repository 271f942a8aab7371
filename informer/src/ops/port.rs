//! What all connections share, and how requests are answered.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::{Bytes, Incoming};
use hyper::{Method, Request, StatusCode};
use informer_core::ObjectKey;
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, timeout};

use super::contents::{Contents, Found, Opener, Wanted};
use super::feed::{BEAT, Followed, Hub, Past, TICK};
use super::guard::Guard;
use super::health::{trouble_alive, trouble_ready};
use super::moments::Timelines;
use super::overview::Overview;
use super::question::{Question, not_found};
use super::reply::{Body, Dumping, EVENTS, HTML, JSON, METRICS, Refusal, Reply, json, reply, text};
use crate::inspect::{InformerPart, Inventory, Named, Parts};
use crate::metrics::Metrics;

const INSPECTOR: &str = include_str!("inspector.html");

/// What all connections share.
pub(super) struct Port {
    pub(super) inventory: Arc<Inventory>,
    /// The informers whose bodies may be shown.
    pub(super) openers: Vec<Opener>,
    pub(super) guard: Guard,
    pub(super) fresh_within: Duration,
    pub(super) hub: Arc<Hub>,
    pub(super) opened: Instant,
    /// How many answers may look at all objects at the same time.
    pub(super) scans: Arc<Semaphore>,
}

/// An object and its history.
#[derive(Serialize)]
struct Remembered {
    #[serde(flatten)]
    found: Found,
    history: Option<Vec<Past>>,
}

impl Port {
    pub(super) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Reply, Infallible> {
        let answer = match self.guard.check(&request) {
            Ok(()) => self.find_answer(&request).await,
            Err(refusal) => Err(refusal),
        };
        Ok(answer.unwrap_or_else(|refusal| refusal.reply()))
    }

    async fn find_answer(&self, request: &Request<Incoming>) -> Result<Reply, Refusal> {
        let uri = request.uri();
        let only_head = request.method() == Method::HEAD;
        match Question::parse(uri.path(), uri.query().unwrap_or_default())? {
            Question::Inspector => {
                let page = Bytes::from_static(INSPECTOR.as_bytes());
                Ok(reply(StatusCode::OK, HTML, Body::Whole(page)))
            }
            Question::Alive => Ok(healthy(&trouble_alive(&self.parts()))),
            Question::Ready { within } => {
                let within = within.unwrap_or(self.fresh_within);
                Ok(healthy(&trouble_ready(&self.parts(), within)))
            }
            Question::Metrics => {
                let text = Metrics::over(Arc::clone(&self.inventory)).text();
                Ok(reply(StatusCode::OK, METRICS, Body::Whole(text.into())))
            }
            Question::Status => json(&Overview::of(self, &self.parts())),
            Question::Timeline => json(&Timelines::of(&self.parts().informers)),
            Question::Events if only_head => {
                Ok(reply(StatusCode::OK, EVENTS, Body::Whole(Bytes::new())))
            }
            Question::Events => match self.hub.open() {
                Some(page) => Ok(reply(StatusCode::OK, EVENTS, Body::Feed(page))),
                None => Err(Refusal::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "Too many pages are open; close one.",
                )),
            },
            Question::Object { informer, key } => self.object(&informer, &key),
            Question::Select { informer, wanted } => self.select(&informer, *wanted).await,
            Question::Dump { informer, bodies } => self.dump(&informer, bodies),
        }
    }

    fn parts(&self) -> Parts {
        self.inventory.parts()
    }

    /// The objects of an informer, with bodies if they may be shown.
    pub(super) fn contents(&self, informer: &Named<dyn InformerPart>) -> Arc<dyn Contents> {
        let identity = informer.part.identity();
        let opener = self.openers.iter().find(|it| it.identity == identity);
        let opened = opener.and_then(|opener| (opener.open)());
        opened.unwrap_or_else(|| Arc::clone(&informer.part).contents())
    }

    fn informer(&self, id: &str) -> Result<Named<dyn InformerPart>, Refusal> {
        let informers = self.parts().informers;
        let found = informers.into_iter().find(|it| it.name == id);
        found.ok_or_else(|| {
            not_found(format!(
                "There is no informer {id:?}; /status lists those there are."
            ))
        })
    }

    fn object(&self, informer: &str, key: &ObjectKey) -> Result<Reply, Refusal> {
        let informer = self.informer(informer)?;
        let Some(mut found) = self.contents(&informer).object(key) else {
            let name = informer.name;
            return Err(not_found(format!(
                "{name} has no object {:?}.",
                key.to_string()
            )));
        };
        let history = self.hub.history(informer.part.identity(), &found.key);
        if let Some(last) = history.as_ref().and_then(|past| past.last()) {
            found.provenance.cause = Some(last.cause.clone());
            found.provenance.seconds_ago = Some(last.seconds_ago);
        }
        json(&Remembered { found, history })
    }

    /// A selection may look at every object, so it does not run among the tasks of informers.
    async fn select(&self, informer: &str, wanted: Wanted) -> Result<Reply, Refusal> {
        let contents = self.contents(&self.informer(informer)?);
        let scan = self.scan()?;
        let selected = tokio::task::spawn_blocking(move || {
            // Kept until the end, even if nobody waits any more.
            let _scan = scan;
            contents.select(&wanted)
        });
        let selected = selected.await.map_err(Refusal::broken)?;
        json(&selected.map_err(Refusal::bad_request)?)
    }

    fn dump(&self, informer: &str, bodies: bool) -> Result<Reply, Refusal> {
        let informer = self.informer(informer)?;
        let contents = self.contents(&informer);
        if let Some(why) = contents.why_no_bodies().filter(|_| bodies) {
            return Err(Refusal::new(StatusCode::FORBIDDEN, why));
        }
        let pieces = contents.dump(&informer.name, bodies);
        let dump = Body::Dump(Dumping::new(pieces, self.scan()?));
        Ok(reply(StatusCode::OK, JSON, dump))
    }

    /// The right to look at all objects.
    fn scan(&self) -> Result<OwnedSemaphorePermit, Refusal> {
        let scan = Arc::clone(&self.scans).try_acquire_owned();
        scan.map_err(|_| {
            Refusal::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "Too many dumps and selections run; try again when one has ended.",
            )
        })
    }

    /// Feeds the open pages, as long as there are any.
    pub(super) async fn feed(self: Arc<Self>) {
        loop {
            if self.hub.is_wanted() {
                self.follow().await;
            }
            self.hub.changed().await;
        }
    }

    /// Follows all informers until no page is open.
    async fn follow(&self) {
        let mut followed = Followed::default();
        let mut until_beat = 0;
        let mut count: u32 = 0;
        while self.hub.is_wanted() {
            if until_beat == 0 {
                let parts = self.parts();
                followed.follow(&self.hub, &parts.informers);
                followed.tell_moments(&self.hub, &parts.informers);
                self.hub.send("status", &Overview::of(self, &parts));
                until_beat = BEAT;
            }
            until_beat = match timeout(TICK, self.hub.changed()).await {
                Err(_) => until_beat - 1,
                // A new page sees a status soon. Pages that come and go make no more of them than this.
                Ok(()) => {
                    sleep(TICK).await;
                    0
                }
            };
            followed.pull(&self.hub);
            count = count.wrapping_add(1);
            self.hub.flush(&followed, count);
        }
    }
}

/// 200, or 503 with the reasons.
fn healthy(trouble: &[String]) -> Reply {
    if trouble.is_empty() {
        return text(StatusCode::OK, "ok\n".to_owned());
    }
    text(StatusCode::SERVICE_UNAVAILABLE, trouble.join("\n") + "\n")
}
