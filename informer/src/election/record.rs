//! Leases as JSON. What an election does not use stays as it was read: labels, owners, other fields.

use std::time::{Duration, SystemTime};

use informer_core::election::{Claim, Lease, LeaseRecord};
use informer_core::{Object, ObjectKey};
use serde_json::{Map, Value, json};

use crate::micro_time::micro_time;

/// The part that elections use. What is missing or strange counts as empty, as client-go reads it.
pub(super) fn read(object: &Object<Value>) -> Lease {
    let spec = object.get("spec").unwrap_or(&Value::Null);
    let text = |name: &str| {
        let text = spec.get(name).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let number = |name: &str| spec.get(name).and_then(Value::as_u64).unwrap_or(0);
    Lease {
        record: LeaseRecord {
            holder: text("holderIdentity"),
            duration: Duration::from_secs(number("leaseDurationSeconds")),
            acquired: text("acquireTime"),
            renewed: text("renewTime"),
            transitions: u32::try_from(number("leaseTransitions")).unwrap_or(u32::MAX),
        },
        version: object.version().to_owned(),
    }
}

/// A new Lease.
pub(super) fn create(key: &ObjectKey, claim: &Claim, now: SystemTime) -> Value {
    let mut lease = json!({
        "kind": "Lease",
        "metadata": {"namespace": key.namespace(), "name": key.name()},
    });
    write(&mut lease, claim, now);
    lease
}

/// Puts a claim into a Lease.
pub(super) fn write(lease: &mut Value, claim: &Claim, now: SystemTime) {
    let Value::Object(lease) = lease else {
        return;
    };
    let spec = lease.entry("spec").or_insert(Value::Null);
    if !spec.is_object() {
        *spec = Value::Object(Map::new());
    }
    let Value::Object(spec) = spec else {
        return;
    };
    let before = spec.get("renewTime").and_then(Value::as_str);
    let now = renewed(now, before.unwrap_or_default());
    // The server takes no empty names.
    match claim.holder.as_str() {
        "" => drop(spec.remove("holderIdentity")),
        holder => drop(spec.insert("holderIdentity".to_owned(), holder.into())),
    }
    let acquired = claim.acquired.clone().filter(|text| !text.is_empty());
    let transitions = claim.transitions.min(i32::MAX.unsigned_abs());
    for (name, value) in [
        ("leaseDurationSeconds", seconds(claim.duration).into()),
        (
            "acquireTime",
            acquired.unwrap_or_else(|| now.clone()).into(),
        ),
        ("renewTime", now.into()),
        ("leaseTransitions", transitions.into()),
    ] {
        spec.insert(name.to_owned(), value);
    }
}

/// Whole seconds, rounded up: others must not wait for less than what this replica reckons with.
const fn seconds(time: Duration) -> u64 {
    time.as_secs() + (time.subsec_nanos() > 0) as u64
}

/// A time as the server writes it (`MicroTime`), and different from the one before: others notice a renewal by
/// the change.
fn renewed(now: SystemTime, before: &str) -> String {
    match micro_time(now) {
        same if same == before => micro_time(now + Duration::from_micros(1)),
        time => time,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use informer_core::decode::decode_object;
    use informer_core::decode::form::Dynamic;

    fn at(micros: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_micros(1_700_000_000_000_000 + micros)
    }

    fn object(value: &Value) -> Object<Value> {
        decode_object(&mut Dynamic, value.to_string().as_bytes()).unwrap()
    }

    /// A claim comes from a machine only.
    fn claim(duration: Duration) -> Claim {
        use informer_core::Instant;
        use informer_core::election::{Election, ElectionConfig, LeaseAnswer, LeaseRequest};
        let config = ElectionConfig {
            lease_duration: duration,
            renew_deadline: duration / 2,
            retry_period: duration / 8,
            release_on_stop: true,
        };
        let now = Instant::from_micros(0);
        let mut machine = Election::new("a", config, 1).unwrap();
        machine.start(now);
        let (id, _) = machine.poll_request(now).unwrap();
        machine.answer(id, LeaseAnswer::Missing, now);
        match machine.poll_request(now) {
            Some((_, LeaseRequest::Create(claim))) => claim,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_new_lease_has_what_the_server_wants() {
        let lease = create(
            &ObjectKey::new("web", "shop"),
            &claim(Duration::from_secs(15)),
            at(5),
        );
        let expected = json!({
            "kind": "Lease",
            "metadata": {"namespace": "web", "name": "shop"},
            "spec": {
                "holderIdentity": "a",
                "leaseDurationSeconds": 15,
                "acquireTime": "2023-11-14T22:13:20.000005Z",
                "renewTime": "2023-11-14T22:13:20.000005Z",
                "leaseTransitions": 0,
            },
        });
        assert_eq!(lease, expected);
    }

    #[test]
    fn what_is_missing_or_strange_counts_as_empty() {
        for spec in [
            json!(null),
            json!({}),
            json!({"holderIdentity": null, "leaseDurationSeconds": null, "renewTime": null}),
            json!({"holderIdentity": "", "leaseDurationSeconds": -4, "leaseTransitions": -1}),
            json!(7),
        ] {
            let lease = json!({"metadata": {"name": "shop", "resourceVersion": "9"}, "spec": spec});
            let read = read(&object(&lease));
            assert_eq!(read.record, LeaseRecord::default(), "{lease}");
            assert_eq!(read.version, "9");
            let mut written = lease;
            write(&mut written, &claim(Duration::from_secs(15)), at(0));
            assert_eq!(written["spec"]["holderIdentity"], "a");
            assert_eq!(written["spec"]["acquireTime"], written["spec"]["renewTime"]);
        }
    }

    #[test]
    fn half_a_second_is_a_whole_one_for_the_others() {
        let claim = claim(Duration::from_millis(2_500));
        let lease = create(&ObjectKey::new("web", "shop"), &claim, at(0));
        assert_eq!(lease["spec"]["leaseDurationSeconds"], 3);
    }

    #[test]
    fn a_renewal_shows_even_if_the_clock_stands_still() {
        let claim = claim(Duration::from_secs(15));
        let mut lease = create(&ObjectKey::new("web", "shop"), &claim, at(0));
        let before = lease["spec"]["renewTime"].clone();
        write(&mut lease, &claim, at(0));
        assert_ne!(lease["spec"]["renewTime"], before);
    }
}
