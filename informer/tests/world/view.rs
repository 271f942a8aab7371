//! What a server has, to compare it with what informers show and tell.

use informer_test_support::View;
use informer_transport_mock::Server;

pub fn view_of(server: &Server) -> View {
    let pods = server.objects("pods");
    pods.map(|pod| {
        (
            pod.key().to_owned(),
            format!("{}@{}", pod.uid(), pod.revision()),
        )
    })
    .collect()
}
