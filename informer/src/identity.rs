//! The name of a replica, for others to tell it from the rest.

use crate::builder::entropy;

/// The name of the pod or the host, and something random: a process that takes the place of another one must
/// not be taken for it.
pub(crate) fn unique() -> String {
    format!("{}_{:016x}", host(), entropy())
}

/// The name of the pod or the host.
pub(crate) fn host() -> String {
    host_by(|name| std::env::var(name).ok())
}

fn host_by(variable: impl Fn(&str) -> Option<String>) -> String {
    let kernel = || std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let named = ["POD_NAME", "HOSTNAME"].into_iter().filter_map(variable);
    let mut named = named
        .chain(std::iter::once_with(kernel).flatten())
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty());
    named.next().unwrap_or_else(|| "replica".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_pod_comes_first() {
        let both = |name: &str| Some(format!("{} ", name.to_lowercase()));
        assert_eq!(host_by(both), "pod_name");
        let no_pod = |name: &str| (name == "HOSTNAME").then(|| "shop-1".to_owned());
        assert_eq!(host_by(no_pod), "shop-1");
        let empty = |_: &str| Some(String::new());
        assert!(!host_by(empty).is_empty());
    }

    #[test]
    fn two_processes_of_one_host_differ() {
        assert_ne!(unique(), unique());
    }
}
