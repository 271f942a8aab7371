//! Deterministic pods of about 5.9 KB, with 45 % `managedFields`.

use std::fmt::Write;

/// The number of shapes. Pods of one shape differ only in names and numbers.
const SHAPES: usize = 32;

/// The number of pods that share a value of the label `app`.
pub const PODS_PER_APP: usize = 10;

/// The placeholders in a shape, of seven digits each.
const FIELDS: [&str; 5] = ["@@@@pod", "@@@@@ns", "@@@@app", "@@@node", "@@@vers"];

/// Pods by number.
pub struct Pods {
    shapes: Vec<Shape>,
}

struct Shape {
    text: Vec<u8>,
    /// The positions of the placeholders, and which one it is.
    spots: Vec<(usize, usize)>,
}

impl Pods {
    /// Pods as in a cluster: one or two containers, labels, annotations, an owner, a status.
    pub fn realistic() -> Self {
        Self::of((0..SHAPES).map(|shape| realistic(shape as u64)))
    }

    /// Pods with only names, a label and a node: 0.25 KB. They fill a store when only the number of
    /// objects matters.
    pub fn small() -> Self {
        Self::of((0..SHAPES).map(|shape| small(shape as u64)))
    }

    fn of(shapes: impl Iterator<Item = String>) -> Self {
        Self {
            shapes: shapes.map(Shape::new).collect(),
        }
    }

    /// Appends the JSON of a pod.
    pub fn write(&self, pod: usize, version: usize, out: &mut Vec<u8>) {
        let shape = &self.shapes[pod % self.shapes.len()];
        let start = out.len();
        out.extend_from_slice(&shape.text);
        let values = [pod, pod % 64, pod / PODS_PER_APP, pod % 512, version];
        for (at, field) in &shape.spots {
            let mut value = values[*field];
            for digit in out[start + at..start + at + 7].iter_mut().rev() {
                *digit = b'0' + (value % 10) as u8;
                value /= 10;
            }
        }
    }

    /// Appends a watch event.
    pub fn write_event(&self, kind: &str, pod: usize, version: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"type":""#);
        out.extend_from_slice(kind.as_bytes());
        out.extend_from_slice(br#"","object":"#);
        self.write(pod, version, out);
        out.extend_from_slice(b"}\n");
    }

    /// The mean size of a pod in bytes of JSON, and how much of it is `managedFields`.
    pub fn mean_bytes(&self) -> (usize, usize) {
        let (mut all, mut managed) = (0, 0);
        for shape in &self.shapes {
            let text = String::from_utf8_lossy(&shape.text);
            let from = text.find("\"managedFields\"").unwrap_or(0);
            let to = text[from..].find("\"spec\"").unwrap_or(0);
            all += text.len();
            managed += to;
        }
        (all / self.shapes.len(), managed / self.shapes.len())
    }
}

impl Shape {
    fn new(text: String) -> Self {
        let mut spots = Vec::new();
        for (field, mark) in FIELDS.iter().enumerate() {
            spots.extend(text.match_indices(mark).map(|(at, _)| (at, field)));
        }
        let text = text.into_bytes();
        Self { text, spots }
    }
}

/// splitmix64.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }

    fn hex(&mut self, length: usize) -> String {
        (0..length).fold(String::new(), |mut text, _| {
            let _ = write!(text, "{:x}", self.below(16));
            text
        })
    }
}

const TEAMS: [&str; 8] = [
    "payments",
    "search",
    "identity",
    "logistics",
    "platform",
    "data",
    "mobile",
    "growth",
];

fn metadata(rng: &mut Rng) -> String {
    let team = TEAMS[rng.below(8) as usize];
    let (hash, uid, owner) = (rng.hex(10), rng.hex(8), rng.hex(12));
    format!(
        concat!(
            r#""name":"app-@@@@app-@@@@pod","generateName":"app-@@@@app-{hash}-","#,
            r#""namespace":"team-@@@@@ns","uid":"{uid}-5a1c-4f0e-a3b2-00000@@@@pod","resourceVersion":"100@@@vers","#,
            r#""generation":1,"creationTimestamp":"2026-03-14T09:26:53Z","labels":{{"app":"app-@@@@app","#,
            r#""app.kubernetes.io/managed-by":"Helm","app.kubernetes.io/part-of":"{team}","#,
            r#""pod-template-hash":"{hash}","team":"{team}"}},"#,
            r#""ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"app-@@@@app-{hash}","#,
            r#""uid":"7c21f0aa-0b1d-4e7e-9c55-{owner}","controller":true,"blockOwnerDeletion":true}}]"#,
        ),
        hash = hash,
        uid = uid,
        team = team,
        owner = owner,
    )
}

fn small(shape: u64) -> String {
    let rng = &mut Rng(shape);
    format!(
        concat!(
            r#"{{"metadata":{{"name":"app-@@@@app-@@@@pod","namespace":"team-@@@@@ns","uid":"{uid}-5a1c-4f0e-a3b2-00000@@@@pod","#,
            r#""resourceVersion":"100@@@vers","labels":{{"app":"app-@@@@app"}}}},"spec":{{"nodeName":"node-@@@node"}},"status":{{}}}}"#,
        ),
        uid = rng.hex(8),
    )
}

fn realistic(shape: u64) -> String {
    let rng = &mut Rng(shape);
    let sidecar = shape.is_multiple_of(4);
    let annotations = format!(
        concat!(
            r#""annotations":{{"checksum/config":"{sum}","kubectl.kubernetes.io/restartedAt":"2026-03-14T09:26:50Z","#,
            r#""prometheus.io/path":"/metrics","prometheus.io/port":"{port}","prometheus.io/scrape":"true"}}"#,
        ),
        sum = rng.hex(64),
        port = 8000 + rng.below(1000),
    );
    let mut containers = vec![container(rng, "main", 8080)];
    let mut statuses = vec![container_status(rng, "main")];
    if sidecar {
        containers.push(container(rng, "telemetry", 15090));
        statuses.push(container_status(rng, "telemetry"));
    }
    format!(
        concat!(
            r#"{{"metadata":{{{metadata},{annotations},{managed}}},"spec":{{"volumes":["#,
            r#"{{"name":"config","configMap":{{"name":"app-@@@@app","defaultMode":420}}}},{{"name":"tmp","emptyDir":{{"sizeLimit":"64Mi"}}}}],"#,
            r#""containers":[{containers}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","#,
            r#""serviceAccountName":"app-@@@@app","nodeName":"node-@@@node","securityContext":{{"runAsUser":1000,"fsGroup":2000}},"#,
            r#""schedulerName":"default-scheduler","tolerations":[{{"key":"node.kubernetes.io/not-ready","operator":"Exists","#,
            r#""effect":"NoExecute","tolerationSeconds":300}}],"priority":0,"enableServiceLinks":true}},"#,
            r#""status":{{"phase":"Running","conditions":[{conditions}],"hostIP":"192.168.7.9","podIP":"10.64.{a}.{b}","#,
            r#""podIPs":[{{"ip":"10.64.{a}.{b}"}}],"startTime":"2026-03-14T09:26:53Z","containerStatuses":[{statuses}],"qosClass":"Burstable"}}}}"#,
        ),
        metadata = metadata(rng),
        annotations = annotations,
        managed = managed_fields(sidecar),
        containers = containers.join(","),
        statuses = statuses.join(","),
        conditions = ["PodScheduled", "Initialized", "ContainersReady", "Ready"]
            .map(|condition| format!(
                r#"{{"type":"{condition}","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-03-14T09:26:53Z"}}"#
            ))
            .join(","),
        a = rng.below(256),
        b = rng.below(256),
    )
}

fn container(rng: &mut Rng, name: &str, port: u64) -> String {
    format!(
        concat!(
            r#"{{"name":"{name}","image":"images.example/{name}:1.{minor}.0-{hash}","ports":[{{"name":"http","containerPort":{port},"protocol":"TCP"}}],"#,
            r#""env":[{{"name":"LOG_LEVEL","value":"info"}},{{"name":"POD_NAME","valueFrom":{{"fieldRef":{{"apiVersion":"v1","fieldPath":"metadata.name"}}}}}}],"#,
            r#""resources":{{"limits":{{"cpu":"500m","memory":"256Mi"}},"requests":{{"cpu":"50m","memory":"256Mi"}}}},"#,
            r#""volumeMounts":[{{"name":"config","readOnly":true,"mountPath":"/etc/{name}"}},{{"name":"tmp","mountPath":"/tmp"}}],"#,
            r#""livenessProbe":{{"httpGet":{{"path":"/healthz","port":{port},"scheme":"HTTP"}},"periodSeconds":10,"failureThreshold":3}},"#,
            r#""terminationMessagePath":"/dev/termination-log","imagePullPolicy":"IfNotPresent"}}"#,
        ),
        name = name,
        minor = rng.below(40),
        hash = rng.hex(8),
        port = port,
    )
}

fn container_status(rng: &mut Rng, name: &str) -> String {
    format!(
        concat!(
            r#"{{"name":"{name}","state":{{"running":{{"startedAt":"2026-03-14T09:26:55Z"}}}},"lastState":{{}},"ready":true,"restartCount":{restarts},"#,
            r#""image":"images.example/{name}:1","imageID":"images.example/{name}@sha256:{sum}","containerID":"containerd://{id}","started":true}}"#,
        ),
        name = name,
        restarts = rng.below(3),
        sum = rng.hex(64),
        id = rng.hex(64),
    )
}

fn managed_fields(sidecar: bool) -> String {
    let container = |name: &str| {
        format!(
            concat!(
                r#""k:{{\"name\":\"{name}\"}}":{{".":{{}},"f:env":{{".":{{}},"k:{{\"name\":\"LOG_LEVEL\"}}":{{".":{{}},"f:name":{{}},"f:value":{{}}}},"#,
                r#""k:{{\"name\":\"POD_NAME\"}}":{{".":{{}},"f:name":{{}},"f:valueFrom":{{".":{{}},"f:fieldRef":{{}}}}}}}},"f:image":{{}},"f:imagePullPolicy":{{}},"#,
                r#""f:livenessProbe":{{".":{{}},"f:failureThreshold":{{}},"f:httpGet":{{".":{{}},"f:path":{{}},"f:port":{{}},"f:scheme":{{}}}},"f:periodSeconds":{{}}}},"#,
                r#""f:name":{{}},"f:ports":{{".":{{}},"k:{{\"containerPort\":8080,\"protocol\":\"TCP\"}}":{{".":{{}},"f:containerPort":{{}},"f:name":{{}},"f:protocol":{{}}}}}},"#,
                r#""f:resources":{{".":{{}},"f:limits":{{".":{{}},"f:cpu":{{}},"f:memory":{{}}}},"f:requests":{{".":{{}},"f:cpu":{{}},"f:memory":{{}}}}}},"#,
                r#""f:terminationMessagePath":{{}},"f:volumeMounts":{{".":{{}},"k:{{\"mountPath\":\"/tmp\"}}":{{".":{{}},"f:mountPath":{{}},"f:name":{{}}}}}}}}"#,
            ),
            name = name,
        )
    };
    let containers = if sidecar {
        [container("main"), container("telemetry")].join(",")
    } else {
        container("main")
    };
    format!(
        concat!(
            r#""managedFields":[{{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"2026-03-14T09:26:53Z","fieldsType":"FieldsV1","#,
            r#""fieldsV1":{{"f:metadata":{{"f:annotations":{{".":{{}},"f:checksum/config":{{}},"f:kubectl.kubernetes.io/restartedAt":{{}},"f:prometheus.io/path":{{}},"f:prometheus.io/port":{{}},"f:prometheus.io/scrape":{{}}}},"#,
            r#""f:generateName":{{}},"f:labels":{{".":{{}},"f:app":{{}},"f:app.kubernetes.io/managed-by":{{}},"f:app.kubernetes.io/part-of":{{}},"f:pod-template-hash":{{}},"f:team":{{}}}},"#,
            r#""f:ownerReferences":{{".":{{}},"k:{{\"uid\":\"7c21f0aa-0b1d-4e7e-9c55-0123456789ab\"}}":{{}}}}}},"f:spec":{{"f:containers":{{{containers}}},"#,
            r#""f:dnsPolicy":{{}},"f:enableServiceLinks":{{}},"f:restartPolicy":{{}},"f:schedulerName":{{}},"f:securityContext":{{".":{{}},"f:fsGroup":{{}},"f:runAsUser":{{}}}},"#,
            r#""f:serviceAccountName":{{}},"f:terminationGracePeriodSeconds":{{}},"f:volumes":{{".":{{}},"k:{{\"name\":\"config\"}}":{{".":{{}},"f:configMap":{{".":{{}},"f:defaultMode":{{}},"f:name":{{}}}},"f:name":{{}}}},"#,
            r#""k:{{\"name\":\"tmp\"}}":{{".":{{}},"f:emptyDir":{{".":{{}},"f:sizeLimit":{{}}}},"f:name":{{}}}}}}}}}}}},"#,
            r#"{{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"2026-03-14T09:27:01Z","fieldsType":"FieldsV1","fieldsV1":{{"f:status":{{"f:conditions":{{"#,
            r#""k:{{\"type\":\"ContainersReady\"}}":{{".":{{}},"f:lastProbeTime":{{}},"f:lastTransitionTime":{{}},"f:status":{{}},"f:type":{{}}}},"#,
            r#""k:{{\"type\":\"Initialized\"}}":{{".":{{}},"f:lastProbeTime":{{}},"f:lastTransitionTime":{{}},"f:status":{{}},"f:type":{{}}}},"#,
            r#""k:{{\"type\":\"Ready\"}}":{{".":{{}},"f:lastProbeTime":{{}},"f:lastTransitionTime":{{}},"f:status":{{}},"f:type":{{}}}}}},"#,
            r#""f:containerStatuses":{{}},"f:hostIP":{{}},"f:phase":{{}},"f:podIP":{{}},"f:podIPs":{{".":{{}},"k:{{\"ip\":\"10.64.0.1\"}}":{{".":{{}},"f:ip":{{}}}}}},"f:startTime":{{}}}}}},"subresource":"status"}}]"#,
        ),
        containers = containers,
    )
}
