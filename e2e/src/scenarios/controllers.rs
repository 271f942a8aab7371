//! The controller of the guide, as processes with the rights of its manifest.

use std::path::Path;
use std::time::{Duration, Instant};

use informer::{Api, ObjectKey, Patch, Target};
use informer_e2e::{Outcome, REPOSITORY};
use serde_json::{Value, json};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::{LONG, World, until};

/// The namespace and the name of everything in the manifest.
const NAME: &str = "copy-secrets";

const RED: &str = "cmVk";
const BLUE: &str = "Ymx1ZQ==";

pub(super) async fn a_whole_controller(world: &mut World) -> Outcome {
    let client = world.client("admin").await?;
    let of = |group, plural| Api::dynamic_at(&client, Target::new(group, "v1", plural));
    apply_manifest(world.cluster.kubeconfig()).await?;
    let account = of("", "serviceaccounts")?.namespace(NAME);
    let request = json!({
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "metadata": {"name": NAME}, "spec": {"expirationSeconds": 3600},
    });
    let tokens: Api<Value> = account.subresource("token");
    let token = tokens.create(&request).await?;
    let token = token.pointer("/status/token").and_then(Value::as_str);
    let kubeconfig = world.cluster.kubeconfig_of(token.ok_or("no token")?)?;

    let (mut one, mut two) = (replica(&kubeconfig, "one")?, replica(&kubeconfig, "two")?);
    world.namespace("copied").await?;
    let maps = of("", "configmaps")?.namespace("copied");
    let map = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "shop", "labels": {"copy-to": "secret"}}, "data": {"colour": "red"},
    });
    maps.create(&map).await?;
    let secrets = of("", "secrets")?.namespace("copied");
    let shop = ObjectKey::new("copied", "shop");
    let has = async |colour: &str| {
        let secret = secrets.get(&shop).await;
        secret.is_ok_and(|secret| secret.pointer("/data/colour") == Some(&colour.into()))
    };
    until("the Secret is there", async || has(RED).await).await?;

    // The leader is killed: it releases nothing.
    let lease = of("coordination.k8s.io", "leases")?;
    let holder = async || -> Outcome<String> {
        let lease = lease.get(&ObjectKey::new(NAME, NAME)).await?;
        let holder = lease
            .pointer("/spec/holderIdentity")
            .and_then(Value::as_str);
        Ok(holder.unwrap_or_default().to_owned())
    };
    let leader = holder().await?;
    let (leads, follows) = match leader.starts_with("one") {
        true => (&mut one, &mut two),
        false => (&mut two, &mut one),
    };
    leads.kill().await?;
    let killed = Instant::now();
    let blue = Patch::merge(json!({"data": {"colour": "blue"}}));
    maps.patch(&shop, &blue).await?;
    until("the other replica works", async || has(BLUE).await).await?;
    let took = killed.elapsed();
    world.report.note(format!(
        "a controller whose leader was killed went on after {:.1} s (the lease lasts 15 s)",
        took.as_secs_f64()
    ));

    // The other one ends in good order.
    let process = follows.id().ok_or("the other replica has ended")?;
    let mut tell = Command::new("kill");
    tell.args(["-TERM", &process.to_string()]);
    if !tell.status().await?.success() {
        return Err("the other replica could not be told to end".into());
    }
    let ended = timeout(LONG, follows.wait()).await??;
    if !ended.success() {
        return Err(format!("the controller ended with {ended}").into());
    }
    match holder().await?.as_str() {
        "" => Ok(()),
        holder => Err(format!("the lease was not given up: {holder} holds it").into()),
    }
}

async fn apply_manifest(kubeconfig: &Path) -> Outcome {
    let server = std::env::var("E2E_APISERVER")?;
    let manifest = Path::new(REPOSITORY).join("controllers/manifests/copy-secrets.yaml");
    let applied = Command::new(server)
        .arg("kubectl")
        .arg("--kubeconfig")
        .arg(kubeconfig)
        .args(["--context", "admin", "apply", "--server-side", "--filename"])
        .arg(&manifest)
        .output();
    let applied = timeout(Duration::from_secs(60), applied).await??;
    if !applied.status.success() {
        let said = String::from_utf8_lossy(&applied.stderr);
        return Err(format!("{} was not accepted: {said}", manifest.display()).into());
    }
    Ok(())
}

fn replica(kubeconfig: &Path, name: &str) -> Outcome<Child> {
    let program = std::env::var("E2E_COPY_SECRETS")
        .map_err(|_| "E2E_COPY_SECRETS does not name the program `copy_secrets`; use e2e/run")?;
    Ok(Command::new(program)
        .env("KUBECONFIG", kubeconfig)
        .env("POD_NAME", name)
        .kill_on_drop(true)
        .spawn()?)
}
