//! From names to resources, with old and new servers.
use crate::rig::server::{Call, Cluster};
use informer_core::Failure;
use informer_transport_hyper::{Client, Reach, ResolveError};

const CORE: &str = r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
    {"metadata":{"creationTimestamp":null},"versions":[{"version":"v1","freshness":"Current","resources":[
        {"resource":"nodes","responseKind":{"group":"","version":"","kind":"Node"},"scope":"Cluster",
         "singularResource":"node","verbs":["get","list","watch"],"shortNames":["no"]},
        {"resource":"pods","responseKind":{"group":"","version":"","kind":"Pod"},"scope":"Namespaced",
         "singularResource":"pod","verbs":["create","list","watch"],"shortNames":["po"],
         "subresources":[{"subresource":"log"}]}]}]}]}"#;

const GROUPS: &str = r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
    {"metadata":{"name":"apps"},"versions":[{"version":"v1","resources":[
        {"resource":"deployments","responseKind":{"group":"","version":"","kind":"Deployment"},
         "scope":"Namespaced","singularResource":"deployment","verbs":["list","watch"],"shortNames":["deploy"]}]}]},
    {"metadata":{"name":"down.example.org"},"versions":[{"version":"v1","freshness":"Stale"}]}]}"#;

/// Answers like a server with aggregated discovery.
fn aggregated(call: Call) {
    assert!(
        call.header("accept")
            .unwrap()
            .contains("as=APIGroupDiscoveryList")
    );
    let head = [(
        "content-type",
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    )];
    let body = match call.target.as_str() {
        "/api" => CORE,
        "/apis" => GROUPS,
        other => panic!("{other}"),
    };
    call.reply(200, &head, body);
}

/// Answers like an old server; one of its groups is down.
fn plain(call: Call) {
    let body = match call.target.as_str() {
        "/api" => r#"{"kind":"APIVersions","versions":["v1"]}"#,
        "/apis" => {
            r#"{"kind":"APIGroupList","groups":[
                {"name":"autoscaling","versions":[{"groupVersion":"autoscaling/v1","version":"v1"},{"groupVersion":"autoscaling/v2","version":"v2"}],
                 "preferredVersion":{"groupVersion":"autoscaling/v2","version":"v2"}},
                {"name":"down.example.org","versions":[{"groupVersion":"down.example.org/v1","version":"v1"}]}]}"#
        }
        "/api/v1" => {
            r#"{"kind":"APIResourceList","groupVersion":"v1","resources":[
                {"name":"nodes","singularName":"node","namespaced":false,"kind":"Node","verbs":["list","watch"]},
                {"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["list","watch"],"shortNames":["po"]},
                {"name":"pods/log","singularName":"","namespaced":true,"kind":"Pod","verbs":["get"]}]}"#
        }
        "/apis/autoscaling/v1" | "/apis/autoscaling/v2" => {
            r#"{"kind":"APIResourceList","resources":[
                {"name":"horizontalpodautoscalers","singularName":"","namespaced":true,"kind":"HorizontalPodAutoscaler","verbs":["list","watch"],"shortNames":["hpa"]}]}"#
        }
        "/apis/down.example.org/v1" => return call.reply(503, &[], ""),
        other => panic!("{other}"),
    };
    call.json(body);
}

/// Resolves a name while `answer` handles the calls.
async fn resolve(
    cluster: &mut Cluster,
    name: &str,
    answer: impl Fn(Call),
) -> Result<String, ResolveError> {
    let client = Client::new(cluster.config()).unwrap();
    let resolving = client.resolve(name);
    let mut resolving = std::pin::pin!(resolving);
    let found = loop {
        tokio::select! {
            found = &mut resolving => break found?,
            call = cluster.server.call() => answer(call),
        }
    };
    let reach = match found.reach {
        Reach::Namespaced => "namespaced",
        Reach::Cluster => "cluster",
    };
    Ok(format!(
        "{}/{} {} {} {reach}",
        found.group, found.version, found.plural, found.kind
    ))
}

#[tokio::test]
async fn a_server_with_aggregated_discovery() {
    let mut cluster = Cluster::new(true).await;
    for (name, expected) in [
        ("po", "/v1 pods Pod namespaced"),
        ("Node", "/v1 nodes Node cluster"),
        (
            "deployments.v1.apps",
            "apps/v1 deployments Deployment namespaced",
        ),
    ] {
        let found = resolve(&mut cluster, name, aggregated).await;
        assert_eq!(found.as_deref(), Ok(expected));
    }
    let error = resolve(&mut cluster, "deploymint", aggregated)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server has no resource `deploymint`; did you mean `deployments.apps`?"
    );
}

#[tokio::test]
async fn a_server_without_aggregated_discovery() {
    let mut cluster = Cluster::new(false).await;
    for (name, expected) in [
        ("po", "/v1 pods Pod namespaced"),
        ("nodes", "/v1 nodes Node cluster"),
        (
            "hpa",
            "autoscaling/v2 horizontalpodautoscalers HorizontalPodAutoscaler namespaced",
        ),
        (
            "hpa.v1.autoscaling",
            "autoscaling/v1 horizontalpodautoscalers HorizontalPodAutoscaler namespaced",
        ),
    ] {
        let found = resolve(&mut cluster, name, plain).await;
        assert_eq!(found.as_deref(), Ok(expected));
    }
    assert!(resolve(&mut cluster, "widgets", plain).await.is_err());
}

#[tokio::test]
async fn a_server_that_refuses_discovery() {
    let mut cluster = Cluster::new(true).await;
    let answer = |call: Call| call.reply(403, &[], "");
    let error = resolve(&mut cluster, "pods", answer).await.unwrap_err();
    let ResolveError::Request(request) = &error else {
        panic!("{error}");
    };
    assert_eq!(request.failure, Failure::Forbidden);
    assert_eq!(
        error.to_string(),
        "cannot look up the resources of the server: HTTP 403"
    );
    let answer = |call: Call| call.json("[1,2");
    let error = resolve(&mut cluster, "pods", answer)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("the answer to /api is not a discovery document: "),
        "{error}"
    );
}

#[tokio::test]
async fn messages_about_a_hostile_server_are_short_and_printable() {
    let mut cluster = Cluster::new(true).await;
    let secretive = r#""\u001b[2J""#;
    let long = format!(r#""{}""#, "x".repeat(1 << 20));
    for versions in [secretive, &long] {
        let body = format!(r#"{{"versions":{versions}}}"#);
        let error = resolve(&mut cluster, "pods", |call| call.json(body.clone())).await;
        let error = error.unwrap_err().to_string();
        assert!(error.len() < 600, "{} bytes", error.len());
        assert!(!error.contains(char::is_control), "{error:?}");
    }
    // Found by its short name, but its plural name is not printable.
    let plural = format!("b\\u001b{}", "x".repeat(1 << 20));
    let body = format!(
        r#"{{"items":[{{"metadata":{{}},"versions":[{{"version":"v1","resources":[
            {{"resource":"{plural}","scope":"Cluster","shortNames":["po"]}}]}}]}}]}}"#
    );
    let error = resolve(&mut cluster, "po", |call| call.json(body.clone())).await;
    let error = error.unwrap_err().to_string();
    assert!(error.len() < 600, "{} bytes", error.len());
    assert!(
        error.ends_with(" cannot be listed and watched"),
        "{error:?}"
    );
    assert!(!error.contains(char::is_control), "{error:?}");
}

#[tokio::test]
async fn the_number_of_groups_is_limited() {
    let mut cluster = Cluster::new(true).await;
    let versions = vec![r#""v1""#; 1001].join(",");
    let error = resolve(&mut cluster, "pods", |call| {
        assert_eq!(call.target, "/api", "no group may be requested");
        call.json(format!(r#"{{"versions":[{versions}]}}"#));
    })
    .await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("more than 1000 versions"), "{error}");
}

#[tokio::test]
async fn the_size_of_a_discovery_document_is_limited() {
    let mut cluster = Cluster::new(true).await;
    let large = bytes::Bytes::from(vec![b' '; 17 << 20]);
    let error = resolve(&mut cluster, "pods", |call| call.json(large.clone())).await;
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("the answer to /api is larger than"),
        "{error}"
    );
}
