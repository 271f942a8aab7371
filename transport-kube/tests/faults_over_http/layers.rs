//! Tokens that a layer of the user shows, over HTTP/2.

use std::time::Duration;

use crate::client;
use crate::followed::in_every_way;
use crate::tokens::is_rotated;

#[tokio::test]
async fn a_token_that_a_layer_shows_is_rotated_while_a_watch_runs() {
    in_every_way(|way| is_rotated(way, client::with_token_layer, Duration::ZERO)).await;
}
