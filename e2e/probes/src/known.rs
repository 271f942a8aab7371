//! The known differences between the mock and a real server, and why they are acceptable.

use crate::compare::Difference;

/// A known difference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a row of a table")]
pub struct Known {
    /// The requests; `*` stands for anything.
    pub question: &'static str,
    /// The place in their answers; `*` stands for anything.
    pub at: &'static str,
    /// Why it is acceptable.
    pub reason: &'static str,
}

impl Known {
    pub(crate) fn explains(&self, difference: &Difference) -> bool {
        is_like(&difference.question, self.question) && is_like(&difference.at, self.at)
    }
}

/// The known differences.
pub const KNOWN: &[Known] = &[
    // Error texts of parsers.
    known(
        "*elector=*",
        "/body/message",
        "selectors have their own parser, whose errors name the position",
    ),
    known(
        "pages: GET */configmaps?continue=next",
        "/body/message",
        JSON_COMPLAINT,
    ),
    known(
        "refused creates: POST */configmaps",
        "/body/message",
        JSON_COMPLAINT,
    ),
    known(
        "refused creates: POST */configmaps {",
        "/body/message",
        JSON_COMPLAINT,
    ),
    known(
        "refused creates: POST */configmaps []",
        "/body/message",
        JSON_COMPLAINT,
    ),
    known(
        "refused creates: POST */configmaps 5",
        "/body/message",
        JSON_COMPLAINT,
    ),
    known(
        "refused creates: POST */configmaps {\"kind\":\"ConfigMap\"} {}",
        "/body/message",
        JSON_COMPLAINT,
    ),
    known(
        "refused updates: PUT */a {",
        "/body/message",
        JSON_COMPLAINT,
    ),
    known(
        "refused patches: PATCH * Content-Type: application/merge-patch+json",
        "/body/message",
        JSON_COMPLAINT,
    ),
    known(
        "refused patches: PATCH *-patch+json [*",
        "/body/message",
        JSON_COMPLAINT,
    ),
    known(
        "refused patches: PATCH *-patch+json null",
        "/body/message",
        JSON_COMPLAINT,
    ),
    known(
        "refused patches: PATCH *-patch+json {",
        "/body/message",
        JSON_COMPLAINT,
    ),
    known(
        "JSON patches: PATCH *-patch+json",
        "/body/message",
        JSON_COMPLAINT,
    ),
    known(
        "JSON patches: PATCH *-patch+json [",
        "/body/message",
        JSON_COMPLAINT,
    ),
    known(
        "refused applies: PATCH *-patch+yaml {",
        "/body/message",
        "another parser, of JSON alone",
    ),
    known(
        "refused deletions: DELETE */a {",
        "/body/message",
        JSON_COMPLAINT,
    ),
    known(
        "refused deletions: DELETE */a []",
        "/body/message",
        JSON_COMPLAINT,
    ),
    // Objects without a schema.
    known(
        "refused creates: POST *\"unknown-fields\"*",
        "*",
        "without a schema, no field is unknown and no empty field is omitted",
    ),
    known(
        "refused creates: POST *\"kind\":\"Secret\"*",
        "/body/message",
        "the real server decodes a Secret before it refuses the kind",
    ),
    known(
        "refused creates: POST *\"kind\":\"Gadget\"*",
        "/body/message",
        "the mock does not know the kinds of other groups",
    ),
    known(
        "refused patches: PATCH */a * {\"kind\":\"Secret\"}",
        "/status",
        "the real server sends a 422 with the whole object; the mock sends a 400",
    ),
    known(
        "refused patches: PATCH */a * {\"metadata\":{\"labels\":\"k\"}}",
        "/status",
        "the real server sends a 422 with the whole object; the mock sends a 400",
    ),
    // The same mistake, reported more than once.
    known(
        "finalizers: PATCH */held *",
        "/body/details/causes",
        TOLD_OFTEN,
    ),
    known(
        "refused updates: PUT */a *",
        "/body/details/causes",
        TOLD_OFTEN,
    ),
    known("*atches: PATCH *", "/body/details/causes", TOLD_OFTEN),
    known("dry runs: PATCH *", "/body/details/causes", TOLD_OFTEN),
    known(
        "refused applies: PATCH *\"uid\":*",
        "/body/details/causes",
        TOLD_OFTEN,
    ),
    // Features that the mock does not have.
    known(
        "* Content-Type: application/vnd.kubernetes.protobuf *",
        "*",
        "bodies of writes are JSON",
    ),
    known("* application/yaml*", "*", "there is no YAML"),
    known(
        "* Accept: *",
        "/body/message",
        "refusals list the supported media types, and the mock has fewer",
    ),
    known(
        "* Content-Type: text/plain {}",
        "/body/message",
        "refusals list the supported media types, and the mock has fewer",
    ),
    known(
        "refused creates: POST /api/v1/namespaces/nowhere/*",
        "/status",
        "namespaces need not exist",
    ),
    known(
        "* GET /api/v1/watch/*",
        "/status",
        "the path is deprecated since 1.11",
    ),
    known(
        "* GET /apis/*",
        "*/storageVersionHash",
        "there is no storage whose version could change",
    ),
    known(
        "definitions: *",
        "*/managedFields/*/manager",
        "a real server writes under the name of its program",
    ),
    // Tables.
    known(
        "*as=Table*",
        "*/columnDefinitions*",
        "a table has only name and age",
    ),
    known("*as=Table*", "*/cells", "a table has only name and age"),
    known(
        "*as=Table;v=v1beta1*",
        "*/apiVersion",
        "tables are always v1",
    ),
    known(
        "*includeObject=*",
        "/body/rows/*/object*",
        "rows have the metadata of their objects",
    ),
    known(
        "watched selections: * Accept: *PartialObjectMetadataList*",
        "/events",
        "the request is a mistake: the real server sends nothing, the mock answers",
    ),
    // Deletions.
    known("*: DELETE */pods/* {*", "/body/metadata/*", AT_ONCE),
    known("pods: GET *watch=true*", "/events", AT_ONCE),
    // Deprecated APIs.
    known(
        "blanks: GET /api/v1/endpoints?*",
        "/warning",
        "no kind is deprecated",
    ),
    known(
        "blanks: GET /apis/apps/v1/daemonsets?*",
        "*template.generation",
        "the real server keeps an annotation for clients of a removed API",
    ),
];

const JSON_COMPLAINT: &str = "another JSON parser words its errors differently";

const TOLD_OFTEN: &str = "the real server validates metadata several times and reports each one";

const AT_ONCE: &str = "there is no grace period: a pod is deleted in one step";

const fn known(question: &'static str, at: &'static str, reason: &'static str) -> Known {
    Known {
        question,
        at,
        reason,
    }
}

/// Whether `text` matches `pattern`, in which `*` stands for anything.
fn is_like(text: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => text == pattern,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|text| {
            (0..=text.len())
                .filter_map(|at| text.get(at..))
                .any(|tail| is_like(tail, rest))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, is_right) in [
            ("/body/message", true),
            ("/body/*", true),
            ("*", true),
            ("*/message", true),
            ("/*/mess*", true),
            ("/body", false),
            ("*/messages", false),
        ] {
            assert_eq!(is_like("/body/message", pattern), is_right, "{pattern}");
        }
    }
}
