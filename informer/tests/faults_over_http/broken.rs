//! Watches that break: cut, reset, stalled, or sent byte by byte.

use std::time::Duration;

use informer::informer_core::reflector::ReflectorConfig;
use informer::{Failure, FirstState, InformerConfig};
use informer_transport_mock::Server;
use informer_transport_mock::http::{HttpConfig, serve};

use crate::client;
use crate::followed::{Followed, WAYS, change, impatient, server, touch};
use crate::wire::{Mishap, Wire};

/// Breaks a watch, and checks that the informer recovers, with and without the history of the server.
async fn breaks(mishap: Mishap, failure: Failure, idle: Option<Duration>) {
    for way in WAYS {
        for forgets in [false, true] {
            let what = format!("{mishap:?}, {way:?}, forgets: {forgets}");
            let server = server();
            let running = serve(server.clone(), HttpConfig::new()).await.unwrap();
            let wire = Wire::new(running.address()).await;
            let behaviour = impatient(way);
            let behaviour = InformerConfig {
                reflector: ReflectorConfig {
                    idle: idle.or(behaviour.reflector.idle),
                    ..behaviour.reflector
                },
                ..behaviour
            };
            let mut pods = Followed::new(&client::plain(&wire.url()), behaviour);
            pods.catches_up(&server, &what).await;
            touch(&server, "a");
            pods.catches_up(&server, &what).await;

            wire.spoil(mishap);
            touch(&server, "a");
            pods.fails(failure, &what).await;
            change(&server, "d");
            if forgets {
                server.with(Server::restart);
            }
            pods.catches_up(&server, &what).await;
            pods.knows_who_vanished(&what);
            assert!(wire.is_used_up(), "{what}");
            // A streamed list and the watch after it arrive as gzip members, if the client can read them.
            if way.0 == FirstState::Streamed {
                let is_packed = wire.has_carried("content-encoding: gzip");
                assert_eq!(is_packed, client::UNPACKS_STREAMS, "{what}");
            }
            running.stop().await;
        }
    }
}

#[tokio::test]
async fn a_body_cut_in_the_middle_of_an_object() {
    breaks(Mishap::Cut, Failure::Broken, None).await;
}

#[tokio::test]
async fn a_connection_reset() {
    breaks(Mishap::Reset, Failure::Broken, None).await;
}

#[tokio::test]
async fn a_closed_connection() {
    breaks(Mishap::HangUp, Failure::Broken, None).await;
}

#[tokio::test]
async fn a_stalled_stream() {
    let idle = Duration::from_millis(300);
    breaks(Mishap::Stall, Failure::Idle, Some(idle)).await;
}

#[tokio::test]
async fn a_stream_sent_byte_by_byte() {
    for way in WAYS {
        let what = format!("{way:?}");
        let server = server();
        let running = serve(server.clone(), HttpConfig::new()).await.unwrap();
        let wire = Wire::crumbling(running.address()).await;
        let mut pods = Followed::new(&client::plain(&wire.url()), impatient(way));
        pods.catches_up(&server, &what).await;
        touch(&server, "a");
        pods.catches_up(&server, &what).await;
        change(&server, "d");
        server.with(Server::restart);
        pods.catches_up(&server, &what).await;
        pods.knows_who_vanished(&what);
        running.stop().await;
    }
}
