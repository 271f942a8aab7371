//! The objects of a server, to compare with caches and notifications.

use informer_test_support::View;
use informer_transport_mock::Server;

pub fn view_of(server: &Server) -> View {
    let pods = server.objects("pods");
    pods.map(|pod| {
        (
            pod.key().to_owned(),
            format!("{}@{}", pod.uid(), pod.version()),
        )
    })
    .collect()
}
