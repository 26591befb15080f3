use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use wirelab_schema::{EndpointParameters, Exchange, RequestResponse};

use crate::Payload;
use crate::attempt::ExchangeError;
use crate::workload::{MAX_BODY_BYTES, Work};

/// What `about` says of the messages, which are the same in every version of HTTP.
pub const MESSAGES: &str = "Messages are minimal and alike in every version of HTTP: `POST /upload` with content-type and content-length, or \
     `GET /bytes/N`, each with the authority; the answer is 200 with content-type and content-length.";

/// Media type of bodies that are a [`Payload`], so that the other end can check every byte; foreign bodies are checked by their length alone.
const PAYLOAD_TYPE: HeaderValue = HeaderValue::from_static("application/vnd.wirelab");

/// The requests of a client: all alike.
#[derive(Clone)]
pub struct Requests {
    /// `name:port`, for `Host` or `:authority`.
    pub authority: String,
    /// Request body; empty for a GET.
    pub upload: Bytes,
    download_bytes: usize,
    payload: Payload,
}

impl Requests {
    /// As the workload says.
    pub fn new(parameters: &EndpointParameters) -> Self {
        let workload = Work::exchanges(&parameters.workload);
        let payload = made_ahead(parameters, &workload);
        Requests {
            authority: format!("{}:{}", parameters.server.name, parameters.server.port),
            upload: payload.bytes(workload.upload_bytes as usize),
            download_bytes: workload.download_bytes as usize,
            payload,
        }
    }

    /// A request without its body. `scheme` absent gives origin form with `Host` (HTTP/1.1), else absolute form (pseudo-header fields).
    pub fn head(&self, scheme: Option<&str>) -> Result<Request<()>, http::Error> {
        let (method, path) = match self.upload.len() {
            0 => (Method::GET, format!("/bytes/{}", self.download_bytes)),
            _ => (Method::POST, "/upload".to_owned()),
        };
        let mut request = Request::builder().method(method);
        request = match scheme {
            None => request.uri(path).header("host", &self.authority),
            Some(scheme) => request.uri(format!("{scheme}://{}{path}", self.authority)),
        };
        if !self.upload.is_empty() {
            request = request.header(CONTENT_TYPE, PAYLOAD_TYPE).header(CONTENT_LENGTH, self.upload.len());
        }
        request.body(())
    }

    /// Takes note of the final response's head and says what its body must be. An error status is no reason to stop reading.
    pub fn expect<B>(&self, response: &Response<B>, exchange: &mut Exchange) -> BodyCheck {
        exchange.status = Some(response.status().as_u16());
        BodyCheck::new(response.headers(), &self.payload, self.download_bytes)
    }

    /// Whether the whole response was right.
    pub fn judge(&self, body: BodyCheck, exchange: &Exchange) -> Result<(), ExchangeError> {
        match exchange.status {
            Some(200..300) => body.finish(),
            status => Err(ExchangeError::new(format!("status {}", status.unwrap_or(0)))),
        }
    }
}

/// The answers of a server.
#[derive(Clone)]
pub struct Answers {
    upload_bytes: usize,
    download_bytes: usize,
    payload: Payload,
}

/// A request that a server has read the head of.
pub struct Pending {
    /// What its body must be.
    pub body: BodyCheck,
    download_bytes: usize,
}

impl Answers {
    /// As the workload says.
    pub fn new(parameters: &EndpointParameters) -> Self {
        let workload = Work::exchanges(&parameters.workload);
        Answers {
            upload_bytes: workload.upload_bytes as usize,
            download_bytes: workload.download_bytes as usize,
            payload: made_ahead(parameters, &workload),
        }
    }

    /// Takes the head of a request; `None` for a target that is not served.
    pub fn take<B>(&self, request: &Request<B>) -> Option<Pending> {
        let path = request.uri().path();
        let (body_bytes, download_bytes) = match (request.method(), path.strip_prefix("/bytes/")) {
            (&Method::POST, None) if path == "/upload" => (self.upload_bytes, self.download_bytes),
            (&Method::GET, Some(number)) => (0, number.parse().ok().filter(|bytes| *bytes <= MAX_BODY_BYTES as usize)?),
            _ => return None,
        };
        Some(Pending { body: BodyCheck::new(request.headers(), &self.payload, body_bytes), download_bytes })
    }

    /// The answer, once the request's body has been read: 200, 400 for a wrong body, 404 for a target that is not served.
    pub fn answer(&self, pending: Option<Pending>) -> Response<Bytes> {
        let (status, body) = match pending {
            None => (StatusCode::NOT_FOUND, Bytes::new()),
            Some(Pending { body, download_bytes }) => match body.finish() {
                Ok(()) => (StatusCode::OK, self.payload.bytes(download_bytes)),
                Err(error) => (StatusCode::BAD_REQUEST, error.to_string().into()),
            },
        };
        let mut response = Response::new(body);
        *response.status_mut() = status;
        let length = response.body().len();
        response.headers_mut().insert(CONTENT_TYPE, PAYLOAD_TYPE);
        response.headers_mut().insert(CONTENT_LENGTH, length.into());
        response
    }
}

/// The payload, long enough for the workload, so that no exchange waits for its making.
fn made_ahead(parameters: &EndpointParameters, workload: &RequestResponse) -> Payload {
    let payload = Payload::new(parameters.seed);
    payload.bytes(workload.upload_bytes.max(workload.download_bytes) as usize);
    payload
}

/// Checks a body as it arrives.
pub struct BodyCheck {
    expected: Bytes,
    by_content: bool,
    received: usize,
    differs: bool,
}

impl BodyCheck {
    fn new(headers: &HeaderMap, payload: &Payload, length: usize) -> Self {
        let by_content = headers.get(CONTENT_TYPE) == Some(&PAYLOAD_TYPE);
        BodyCheck { expected: payload.bytes(length), by_content, received: 0, differs: false }
    }

    /// The next bytes.
    pub fn take(&mut self, bytes: &[u8]) {
        let end = self.received + bytes.len();
        self.differs |= self.by_content && self.expected.get(self.received..end).is_some_and(|part| part != bytes);
        self.received = end;
    }

    fn finish(self) -> Result<(), ExchangeError> {
        if self.received != self.expected.len() {
            let words = format!("body of {} bytes where {} were expected", self.received, self.expected.len());
            return Err(ExchangeError::new(words));
        }
        if self.differs { Err(ExchangeError::new("body differs from what was sent")) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content_type: &'static str, body: &[u8]) -> Result<(), ExchangeError> {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(content_type))]);
        let mut check = BodyCheck::new(&headers, &Payload::new(1), 10);
        for part in body.chunks(3) {
            check.take(part);
        }
        check.finish()
    }

    #[test]
    fn a_payload_is_checked_byte_for_byte() {
        let mut body = Payload::new(1).bytes(10).to_vec();
        assert!(check("application/vnd.wirelab", &body).is_ok());
        body[9] ^= 1;
        assert!(check("application/vnd.wirelab", &body).is_err());
        assert!(check("application/octet-stream", &body).is_ok());
    }

    #[test]
    fn a_short_or_long_body_is_wrong_whatever_its_type() {
        for length in [0, 9, 11] {
            assert!(check("application/octet-stream", &vec![0; length]).is_err(), "{length}");
        }
    }
}
