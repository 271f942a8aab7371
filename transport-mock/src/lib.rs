//! A small, honest Kubernetes API server in memory.
