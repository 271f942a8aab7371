//! A listener that checks its notifications for consistency.

use informer_core::Notification;
use informer_core::processor::ListenerId;
use informer_test_support::{Fold, Strictness, View, stamp};

use super::Pod;

pub struct Observer {
    pub id: ListenerId,
    fold: Fold<String>,
    pub told: usize,
}

impl Observer {
    pub const fn new(id: ListenerId, strictness: Strictness) -> Self {
        Self {
            id,
            fold: Fold::new(strictness),
            told: 0,
        }
    }

    pub fn check(&mut self, notification: &Notification<Pod>) {
        self.told += 1;
        self.fold.tell(notification, stamp).unwrap();
    }

    pub fn view(&self) -> View {
        self.fold.view()
    }
}
