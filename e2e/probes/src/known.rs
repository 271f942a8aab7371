//! The short list: where the mock is not what the real server is, and why that may stay so.

use crate::compare::Difference;

/// A known difference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a row of a table")]
pub struct Known {
    /// The questions; `*` stands for anything.
    pub question: &'static str,
    /// Where in their answers; `*` stands for anything.
    pub at: &'static str,
    /// Why it may stay so.
    pub reason: &'static str,
}

impl Known {
    pub(crate) fn explains(&self, difference: &Difference) -> bool {
        is_like(&difference.question, self.question) && is_like(&difference.at, self.at)
    }
}

/// The list.
pub const KNOWN: &[Known] = &[
    // Texts of parsers.
    known(
        "*elector=*",
        "/body/message",
        "selectors have a parser of their own, whose complaints name the place",
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
        "without a schema, no field is unknown and no empty one is left out",
    ),
    known(
        "refused creates: POST *\"kind\":\"Secret\"*",
        "/body/message",
        "the real server reads a Secret before it sees that it wants none",
    ),
    known(
        "refused creates: POST *\"kind\":\"Gadget\"*",
        "/body/message",
        "the mock does not know which kinds there are elsewhere",
    ),
    known(
        "refused patches: PATCH */a * {\"kind\":\"Secret\"}",
        "/status",
        "the real server answers with the whole object in a 422; here it is a 400",
    ),
    known(
        "refused patches: PATCH */a * {\"metadata\":{\"labels\":\"k\"}}",
        "/status",
        "the real server answers with the whole object in a 422; here it is a 400",
    ),
    // The same mistake, told more than once.
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
    known(
        "refused patches: PATCH */a *",
        "/body/details/causes",
        TOLD_OFTEN,
    ),
    // What the mock has not got, and says so.
    known("*protobuf*", "*", "bodies are JSON"),
    known(
        "*yaml*",
        "*",
        "bodies are JSON, and there is no server-side apply",
    ),
    known(
        "* Accept: *",
        "/body/message",
        "refusals tell the media types that are there, and these are fewer",
    ),
    known(
        "* Content-Type: text/plain {}",
        "/body/message",
        "refusals tell the media types that are there, and these are fewer",
    ),
    known(
        "widgets: PATCH */w Content-Type: application/strategic-merge-patch+json {}",
        "/body/message",
        "refusals tell the media types that are there, and these are fewer",
    ),
    known("*json-patch+json*", "/status", "there are no JSON patches"),
    known(
        "*dryRun*",
        "/status",
        "there is no dry run: it is refused rather than written",
    ),
    known(
        "refused creates: POST /api/v1/namespaces/nowhere/*",
        "/status",
        "namespaces need not exist",
    ),
    known(
        "* GET /api/v1/watch/*",
        "/status",
        "a path that is deprecated since 1.11",
    ),
    // Tables.
    known(
        "*as=Table*",
        "*/columnDefinitions*",
        "a table has a name and an age",
    ),
    known("*as=Table*", "*/cells", "a table has a name and an age"),
    known(
        "*as=Table;v=v1beta1*",
        "*/apiVersion",
        "tables are those of v1",
    ),
    known(
        "*includeObject=*",
        "/body/rows/*/object*",
        "rows have the metadata of their objects",
    ),
    known(
        "watched selections: * Accept: *PartialObjectMetadataList*",
        "/events",
        "to ask so is a mistake, and the real server answers nothing at all; the mock answers",
    ),
    // Deletions.
    known("pods: DELETE *", "/body/metadata/*", AT_ONCE),
    known("pods: GET *watch=true*", "/events", AT_ONCE),
    // Old age.
    known(
        "blanks: GET /api/v1/endpoints?*",
        "/warning",
        "no kind is deprecated",
    ),
    known(
        "blanks: GET /apis/apps/v1/daemonsets?*",
        "*template.generation",
        "an annotation that the real server keeps for clients of an API that is gone",
    ),
];

const JSON_COMPLAINT: &str = "another reader of JSON complains in other words";

const TOLD_OFTEN: &str = "the real server checks metadata several times, and tells each time";

const AT_ONCE: &str = "a deletion knows no grace: a pod goes in one step, and is not marked before";

const fn known(question: &'static str, at: &'static str, reason: &'static str) -> Known {
    Known {
        question,
        at,
        reason,
    }
}

/// Whether `text` is `pattern`, in which `*` stands for anything.
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
