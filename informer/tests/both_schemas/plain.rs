//! Values of `k8s-pb` and of `k8s-openapi` in one form. In protobuf, most fields are always written, so what is empty
//! counts as missing.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::coordination::v1 as api_coordination;
use k8s_openapi::api::core::v1 as api;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as ApiQuantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as api_meta;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString as ApiIntOrString;
use k8s_openapi::jiff::Timestamp;
use k8s_pb::api::coordination::v1 as pb_coordination;
use k8s_pb::api::core::v1 as pb;
use k8s_pb::apimachinery::pkg::api::resource::Quantity;
use k8s_pb::apimachinery::pkg::apis::meta::v1 as pb_meta;
use k8s_pb::apimachinery::pkg::util::intstr::IntOrString;
use serde_json::Value;

/// A value of either crate; `null` if it is empty.
pub(crate) trait Plain {
    fn plain(&self) -> Value;
}

impl<T: Plain> Plain for Option<T> {
    fn plain(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::plain)
    }
}

impl<T: Plain> Plain for &T {
    fn plain(&self) -> Value {
        T::plain(self)
    }
}

impl<T: Plain> Plain for Vec<T> {
    fn plain(&self) -> Value {
        match self.as_slice() {
            [] => Value::Null,
            all => all.iter().map(T::plain).collect(),
        }
    }
}

impl<T: Plain> Plain for BTreeMap<String, T> {
    fn plain(&self) -> Value {
        if self.is_empty() {
            return Value::Null;
        }
        // Every key counts, even if its value is empty.
        let pairs = self.iter().map(|(key, value)| (key.clone(), value.plain()));
        Value::Object(pairs.collect())
    }
}

impl Plain for String {
    fn plain(&self) -> Value {
        match self.as_str() {
            "" => Value::Null,
            text => text.into(),
        }
    }
}

impl Plain for bool {
    fn plain(&self) -> Value {
        self.then_some(true).into()
    }
}

macro_rules! number {
    ($($type:ty)*) => {
        $(impl Plain for $type {
            fn plain(&self) -> Value {
                match self {
                    0 => Value::Null,
                    number => (*number).into(),
                }
            }
        })*
    };
}

number!(u8 i32 i64);

/// The members that are not empty.
fn object<'a>(members: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let members = members.into_iter().filter(|(_, value)| !value.is_null());
    let members: serde_json::Map<_, _> = members
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    if members.is_empty() {
        return Value::Null;
    }
    Value::Object(members)
}

fn time(seconds: i64, nanos: i32) -> Value {
    object([("seconds", seconds.plain()), ("nanos", nanos.plain())])
}

macro_rules! times {
    ($($name:ident)*) => {
        $(
            impl Plain for pb_meta::$name {
                fn plain(&self) -> Value {
                    time(self.seconds(), self.nanos())
                }
            }

            impl Plain for api_meta::$name {
                fn plain(&self) -> Value {
                    let at: &Timestamp = &self.0;
                    time(at.as_second(), at.subsec_nanosecond())
                }
            }
        )*
    };
}

times!(Time MicroTime);

impl Plain for Quantity {
    fn plain(&self) -> Value {
        self.string.plain()
    }
}

impl Plain for ApiQuantity {
    fn plain(&self) -> Value {
        self.0.plain()
    }
}

impl Plain for ByteString {
    fn plain(&self) -> Value {
        self.0.plain()
    }
}

impl Plain for IntOrString {
    fn plain(&self) -> Value {
        match self.r#type() {
            0 => self.int_val.plain(),
            _ => self.str_val.plain(),
        }
    }
}

impl Plain for ApiIntOrString {
    fn plain(&self) -> Value {
        match self {
            Self::Int(number) => number.plain(),
            Self::String(text) => text.plain(),
        }
    }
}

impl Plain for pb_meta::FieldsV1 {
    fn plain(&self) -> Value {
        serde_json::from_slice(self.raw()).unwrap()
    }
}

impl Plain for api_meta::FieldsV1 {
    fn plain(&self) -> Value {
        self.0.clone()
    }
}

/// Fields that have the same name in both crates, then those that have not.
macro_rules! message {
    ($pb:ty, $api:ty, $($field:ident)* $(; $name:literal: $in_pb:expr, $in_api:expr)*) => {
        impl Plain for $pb {
            fn plain(&self) -> Value {
                let read = |read: fn(&Self) -> Value| read(self);
                let others = [$(($name, read($in_pb))),*];
                let _ = read;
                object([$((stringify!($field), self.$field.plain())),*].into_iter().chain(others))
            }
        }

        impl Plain for $api {
            fn plain(&self) -> Value {
                let read = |read: fn(&Self) -> Value| read(self);
                let others = [$(($name, read($in_api))),*];
                let _ = read;
                object([$((stringify!($field), self.$field.plain())),*].into_iter().chain(others))
            }
        }
    };
}

/// Messages of a group whose types have the same name in both crates.
macro_rules! messages {
    ($pb:ident $api:ident; $($name:ident { $($field:ident)* })*) => {
        $(message!($pb::$name, $api::$name, $($field)*);)*
    };
}

messages! { pb_meta api_meta;
    ObjectMeta {
        name generate_name namespace uid resource_version generation creation_timestamp deletion_timestamp
        deletion_grace_period_seconds labels annotations owner_references finalizers managed_fields
    }
    OwnerReference { api_version kind name uid controller block_owner_deletion }
    ManagedFieldsEntry { manager operation api_version time fields_type fields_v1 subresource }
}

messages! { pb_coordination api_coordination;
    Lease { metadata spec }
    LeaseSpec { holder_identity lease_duration_seconds acquire_time renew_time lease_transitions }
}

messages! { pb api;
    Pod { metadata spec status }
    PodSpec {
        volumes init_containers containers restart_policy termination_grace_period_seconds dns_policy node_selector
        service_account_name service_account node_name host_network scheduler_name tolerations priority
        enable_service_links preemption_policy
    }
    Container {
        name image command args working_dir ports env resources volume_mounts liveness_probe readiness_probe
        termination_message_path termination_message_policy image_pull_policy security_context
    }
    ContainerPort { name host_port container_port protocol }
    EnvVar { name value value_from }
    EnvVarSource { field_ref secret_key_ref }
    ObjectFieldSelector { api_version field_path }
    ResourceRequirements { limits requests }
    VolumeMount { name read_only mount_path sub_path }
    SecurityContext { capabilities run_as_user run_as_non_root }
    Capabilities { add drop }
    EmptyDirVolumeSource { medium size_limit }
    SecretVolumeSource { secret_name items default_mode }
    KeyToPath { key path mode }
    Toleration { key operator value effect toleration_seconds }
    PodStatus {
        phase conditions message reason host_ip pod_ip pod_ips start_time container_statuses qos_class
    }
    ContainerStatus { name state last_state ready restart_count image image_id started }
    ContainerState { waiting running terminated }
    ContainerStateWaiting { reason message }
    ContainerStateRunning { started_at }
    ContainerStateTerminated { exit_code signal reason message started_at finished_at }
    ConfigMap { metadata immutable data binary_data }
    Node { metadata spec status }
    NodeStatus { capacity allocatable conditions addresses images node_info }
    ContainerImage { names size_bytes }
    NodeSystemInfo { kubelet_version operating_system architecture kernel_version os_image }
    ObjectReference { kind namespace name api_version }
    EventSource { component host }
    EventSeries { count last_observed_time }
}

message!(pb::PodIp, api::PodIP, ip);
message!(pb::HttpGetAction, api::HTTPGetAction, path port scheme host);
message!(pb::TcpSocketAction, api::TCPSocketAction, port host);
message!(pb::PodCondition, api::PodCondition, status last_probe_time last_transition_time reason message;
    "type": |it| it.r#type.plain(), |it| it.type_.plain());
message!(pb::NodeCondition, api::NodeCondition, status last_heartbeat_time last_transition_time reason message;
    "type": |it| it.r#type.plain(), |it| it.type_.plain());
message!(pb::NodeAddress, api::NodeAddress, address;
    "type": |it| it.r#type.plain(), |it| it.type_.plain());
message!(pb::Secret, api::Secret, metadata immutable data;
    "type": |it| it.r#type.plain(), |it| it.type_.plain());
message!(pb::Event, api::Event,
    metadata involved_object reason message source first_timestamp last_timestamp count event_time series action
    reporting_component reporting_instance;
    "type": |it| it.r#type.plain(), |it| it.type_.plain());
message!(pb::NodeSpec, api::NodeSpec, pod_cidr provider_id unschedulable;
    "pod_cidrs": |it| it.pod_cid_rs.plain(), |it| it.pod_cidrs.plain());
// What protobuf nests, JSON has in place.
message!(pb::Volume, api::Volume, name;
    "secret": |it| it.volume_source.as_ref().and_then(|it| it.secret.as_ref()).plain(), |it| it.secret.plain();
    "empty_dir": |it| it.volume_source.as_ref().and_then(|it| it.empty_dir.as_ref()).plain(), |it| it.empty_dir.plain();
    "config_map": |it| it.volume_source.as_ref().and_then(|it| it.config_map.as_ref()).plain(),
        |it| it.config_map.plain());
message!(pb::ConfigMapVolumeSource, api::ConfigMapVolumeSource, items default_mode;
    "name": |it| it.local_object_reference.as_ref().map(|it| &it.name).plain(), |it| it.name.plain());
message!(pb::SecretKeySelector, api::SecretKeySelector, key;
    "name": |it| it.local_object_reference.as_ref().map(|it| &it.name).plain(), |it| it.name.plain());
message!(pb::Probe, api::Probe,
    initial_delay_seconds timeout_seconds period_seconds success_threshold failure_threshold;
    "http_get": |it| it.handler.as_ref().and_then(|it| it.http_get.as_ref()).plain(), |it| it.http_get.plain();
    "tcp_socket": |it| it.handler.as_ref().and_then(|it| it.tcp_socket.as_ref()).plain(), |it| it.tcp_socket.plain());
