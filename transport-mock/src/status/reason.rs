//! Why a request was refused.

/// Why a request was refused, in the API's words.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// No reason given (500).
    Unknown,
    /// 400: the request is malformed.
    BadRequest,
    /// 401: the credentials are missing or invalid.
    Unauthorized,
    /// 403: the request is not allowed.
    Forbidden,
    /// 404: there is no such object or path.
    NotFound,
    /// 405: the path does not support the method.
    MethodNotAllowed,
    /// 406: the server cannot produce the requested form.
    NotAcceptable,
    /// 409: the object to create exists already.
    AlreadyExists,
    /// 409: the version or a precondition of a write does not match.
    Conflict,
    /// 410: the resource is no longer available. Old servers say this for an expired version.
    Gone,
    /// 410: the version or the page token has expired.
    Expired,
    /// 413: the body is too large.
    RequestEntityTooLarge,
    /// 415: the body has an unsupported type.
    UnsupportedMediaType,
    /// 422: the object or the query is invalid.
    Invalid,
    /// 429: the client must slow down.
    TooManyRequests,
    /// 500: the server failed.
    InternalError,
    /// 503: the server is not ready.
    ServiceUnavailable,
    /// 504: the request timed out.
    Timeout,
}

impl Reason {
    /// The HTTP status code that the server sends with it.
    #[must_use]
    pub const fn code(self) -> u16 {
        match self {
            Self::BadRequest => 400,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::NotAcceptable => 406,
            Self::AlreadyExists | Self::Conflict => 409,
            Self::Gone | Self::Expired => 410,
            Self::RequestEntityTooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::Invalid => 422,
            Self::TooManyRequests => 429,
            Self::Unknown | Self::InternalError => 500,
            Self::ServiceUnavailable => 503,
            Self::Timeout => 504,
        }
    }

    /// The value of the field `reason`; empty for [`Unknown`](Self::Unknown).
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "",
            Self::BadRequest => "BadRequest",
            Self::Unauthorized => "Unauthorized",
            Self::Forbidden => "Forbidden",
            Self::NotFound => "NotFound",
            Self::MethodNotAllowed => "MethodNotAllowed",
            Self::NotAcceptable => "NotAcceptable",
            Self::AlreadyExists => "AlreadyExists",
            Self::Conflict => "Conflict",
            Self::Gone => "Gone",
            Self::Expired => "Expired",
            Self::RequestEntityTooLarge => "RequestEntityTooLarge",
            Self::UnsupportedMediaType => "UnsupportedMediaType",
            Self::Invalid => "Invalid",
            Self::TooManyRequests => "TooManyRequests",
            Self::InternalError => "InternalError",
            Self::ServiceUnavailable => "ServiceUnavailable",
            Self::Timeout => "Timeout",
        }
    }
}
