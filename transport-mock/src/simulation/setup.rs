//! What a seed decides in advance.

use std::num::NonZeroU32;
use std::time::Duration;

use informer_core::processor::{Backlog, ListenerConfig, Resync};
use informer_core::queue::{QueueKind, Relist};
use informer_core::reflector::FirstState;
use informer_core::{Encodings, InformerConfig};

use super::interest::Interest;
use crate::random::Random;
use crate::{ExpiredWatch, ServerConfig};

/// The settings of one informer.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) interest: Interest,
    /// Half of the informers prefer protobuf.
    pub(super) encodings: Encodings,
    pub(super) config: InformerConfig,
    /// Whether our default rules apply.
    pub(super) is_strict: bool,
    /// Whether its memory is bounded.
    pub(super) is_bounded: bool,
    pub(super) listeners: Vec<ListenerConfig>,
}

/// A server with a short or a long history.
pub(super) fn server(random: &mut Random) -> ServerConfig {
    let mut config = ServerConfig::new(random.draw());
    config.watch_window = random.pick(&[6, 20, 100, 1024]);
    config.compact_every = Duration::from_secs(random.pick(&[60, 300]));
    if random.one_in(4) {
        config.expired_watch = ExpiredWatch::Status;
    }
    config
}

/// Any combination of queue, way to the first state, preset, memory and policy.
pub(super) fn plan(random: &mut Random) -> Plan {
    let is_bounded = random.one_in(4);
    let is_strict = is_bounded || !random.one_in(3);
    let queue = match random.one_in(2) && !is_bounded {
        true => QueueKind::InOrder,
        false => QueueKind::DeltaFifo,
    };
    let mut config = match is_strict {
        true => InformerConfig {
            queue,
            ..InformerConfig::new()
        },
        false => InformerConfig::client_go(queue),
    };
    if !is_bounded && random.one_in(4) {
        config.relist = Relist::Staged;
    }
    if random.one_in(2) {
        config.reflector.first_state = FirstState::Listed;
    }
    if random.one_in(2) {
        let size = 1 + u32::try_from(random.below(7)).unwrap_or(0);
        config.reflector.page_size = NonZeroU32::new(size);
    }
    if random.one_in(2) {
        config.resync = Some(Duration::from_secs(30));
    }
    let listeners = (0..random.below(4)).map(|_| listener(random)).collect();
    let interest = match random.one_in(2) {
        true => Interest::Everything,
        false => random.pick(&Interest::ALL),
    };
    let encodings = match random.one_in(2) {
        true => Encodings::ProtobufOrJson,
        false => Encodings::Json,
    };
    Plan {
        interest,
        encodings,
        config,
        is_strict,
        is_bounded,
        listeners,
    }
}

/// Any policy.
pub(super) fn listener(random: &mut Random) -> ListenerConfig {
    let few = random.index(5);
    ListenerConfig {
        resync: match random.below(3) {
            0 => Resync::Never,
            1 => Resync::Every(Duration::from_secs(5)),
            _ => Resync::Default,
        },
        backlog: match random.below(4) {
            0 => Backlog::Grow,
            1 => Backlog::Stall { at: few },
            _ => Backlog::Coalesce { above: few },
        },
    }
}
