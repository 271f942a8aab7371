//! The inspector in a real browser, by its own text and by a screenshot.
//!
//! Needs Chromium: `$CHROMIUM`, or `chromium`, `chromium-browser` or `google-chrome` on the path.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};

use informer::{InformerBuilder, Target, by};
use informer_transport_mock::fault::Fault;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::place::{LONG, at, create, here, pod, server};

/// A browser, if there is one.
fn installed() -> Option<OsString> {
    if let Some(named) = env::var_os("CHROMIUM") {
        return Some(named);
    }
    let path = env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let files = env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
    let mut found = files.filter(|file| file.is_file());
    found.next().map(PathBuf::into_os_string)
}

/// A browser with one page, spoken to over pipes (the DevTools protocol: JSON that ends with a zero).
struct Browser {
    _process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    profile: PathBuf,
    session: Value,
    last: u64,
}

impl Browser {
    async fn open(program: OsString, address: &str) -> Self {
        static OPENED: AtomicUsize = AtomicUsize::new(0);
        let number = OPENED.fetch_add(1, Ordering::Relaxed);
        let folder = format!("informer-browser-{}-{number}", std::process::id());
        let profile = env::temp_dir().join(folder);
        fs::create_dir_all(&profile).unwrap();
        let mut command = Command::new("sh");
        command
            .args([
                "-c",
                r#"exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null 2>&1"#,
            ])
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
            ])
            .args(["--remote-debugging-pipe", "--window-size=1280,900"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        let mut process = command.spawn().unwrap();
        let mut browser = Self {
            to: process.stdin.take().unwrap(),
            from: BufReader::new(process.stdout.take().unwrap()),
            _process: process,
            profile,
            session: Value::Null,
            last: 0,
        };
        let page = browser
            .call("Target.createTarget", json!({"url": "about:blank"}))
            .await;
        let page = json!({"targetId": page["targetId"], "flatten": true});
        browser.session = browser.call("Target.attachToTarget", page).await["sessionId"].clone();
        browser.call("Page.navigate", json!({"url": address})).await;
        browser
    }

    async fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let mut call = json!({"id": self.last, "method": method, "params": parameters});
        if !self.session.is_null() {
            call["sessionId"] = self.session.clone();
        }
        let mut call = call.to_string().into_bytes();
        call.push(0);
        self.to.write_all(&call).await.unwrap();
        loop {
            let mut answer = Vec::new();
            let reading = self.from.read_until(0, &mut answer);
            timeout(LONG, reading).await.unwrap().unwrap();
            assert_eq!(answer.pop(), Some(0), "the browser has ended");
            let answer: Value = serde_json::from_slice(&answer).unwrap();
            if answer["id"] == self.last {
                assert!(answer["error"].is_null(), "{answer}");
                return answer["result"].clone();
            }
        }
    }

    /// Waits until the page has an element, and its own text has all of these parts.
    async fn shows(&mut self, element: &str, parts: &[&str]) {
        let (element, wanted) = (json!(element), json!(parts));
        let wait = format!(
            "new Promise((done) => {{
                const end = Date.now() + 30000;
                const look = () => {{
                    const text = document.body?.innerText ?? '';
                    const found = document.querySelector({element}) !== null;
                    const all = {wanted}.every((part) => text.includes(part));
                    if ((found && all) || Date.now() > end) done([found, text]);
                    else setTimeout(look, 50);
                }};
                look();
            }})"
        );
        let asked = json!({"expression": wait, "awaitPromise": true, "returnByValue": true});
        let answer = self.call("Runtime.evaluate", asked).await;
        let value = &answer["result"]["value"];
        let text = value[1].as_str().unwrap_or_else(|| panic!("{answer}"));
        for part in parts {
            assert!(text.contains(part), "{part:?} is missing in:\n{text}");
        }
        assert_eq!(value[0], true, "{element} is not there:\n{text}");
    }

    async fn go(&mut self, place: &str) {
        let go = json!({"expression": format!("location.hash = {}", json!(place))});
        self.call("Runtime.evaluate", go).await;
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.profile);
    }
}

/// An informer with a failure behind it, one that cannot go on, changes, an object, and a picture.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_inspector_shows_what_informers_do() {
    let Some(program) = installed() else {
        eprintln!("skipped: there is no Chromium; install it, or name it in $CHROMIUM");
        return;
    };
    let server = server();
    for number in 0..42 {
        create(&server, &format!("shop-{number}"));
    }
    server.inject(Fault::Fail);
    let pods = InformerBuilder::lean_at(at("pods"))
        .index("app", by::label("app"))
        .start(&server.connect())
        .unwrap();
    pods.synced(LONG).await.unwrap();
    let widgets = InformerBuilder::lean_at(Target::new("example.com", "v1", "widgets"));
    let widgets = widgets.start(&server.connect()).unwrap();
    let port = here()
        .add_with_bodies(&pods)
        .add(&widgets)
        .history(5)
        .start()
        .await
        .unwrap();

    let mut browser = Browser::open(program, &format!("{}/", port.url())).await;
    let overview = [
        "● live",
        "pods.v1",
        "watching",
        "42",
        "✓ fresh",
        "widgets.v1.example.com",
        "waiting",
        "✗ not fresh",
    ];
    browser.shows("html[data-state=live]", &overview).await;

    browser.go("#/timeline").await;
    let lanes = ["pods.v1", "widgets.v1.example.com"];
    browser
        .shows("#timeline [data-informer] [data-failure]", &lanes)
        .await;
    browser
        .shows("#timeline [data-informer] [data-phase=watching]", &lanes)
        .await;

    browser.go("#/feed").await;
    let mut changed = pod("shop-7");
    changed["spec"]["nodeName"] = "node-2".into();
    server
        .with(|server| server.update("pods", changed))
        .unwrap();
    let told = ["web/shop-7", "watch"];
    browser
        .shows("#feed-rows > [data-what=updated]", &told)
        .await;

    browser.go("#/lookup/pods.v1/web%2Fshop-7").await;
    let object = ["/api/v1/pods", "lean", "\"nodeName\": \"node-2\"", "app"];
    browser.shows("#answer pre", &object).await;

    let picture = browser.call("Page.captureScreenshot", json!({})).await;
    let picture = picture["data"].as_str().unwrap();
    // A PNG in base64. A blank page has some 5 KB.
    assert!(picture.starts_with("iVBORw0KGgo"));
    assert!(picture.len() > 20_000, "{}", picture.len());
}

/// With a token, the page asks for it, and works when it has it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_inspector_asks_for_the_token() {
    let Some(program) = installed() else {
        eprintln!("skipped: there is no Chromium; install it, or name it in $CHROMIUM");
        return;
    };
    let server = server();
    let pods = InformerBuilder::lean_at(at("pods"))
        .start(&server.connect())
        .unwrap();
    let port = here().add(&pods).token("s3cret").start().await.unwrap();
    let mut browser = Browser::open(program, &format!("{}/", port.url())).await;
    let asks = ["needs a token", "bearer token"];
    browser.shows("html[data-state=unauthorized]", &asks).await;
    let enter = "document.getElementById('token').value = 's3cret'; \
        document.querySelector('#token-form button').click()";
    browser
        .call("Runtime.evaluate", json!({"expression": enter}))
        .await;
    browser
        .shows("html[data-state=live]", &["● live", "pods.v1"])
        .await;
}
