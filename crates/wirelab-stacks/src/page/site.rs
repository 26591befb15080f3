//! A page with its bodies, as a server has it. It serves nothing itself.

use std::fs;
use std::io;
use std::sync::Arc;

use ::http::header::{ALT_SVC, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, LINK};
use ::http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use bytes::Bytes;
use wirelab_schema::EndpointParameters;

use super::hints::{self, EARLY_HINTS, PRELOAD, PUSH};
use super::manifest::{Page, file, files};
use super::priority::Priority;
use crate::StackError;
use crate::base::settings::Settings;
use crate::http::{self, Dates, READ};

/// A page with its bodies, as a server has it.
pub struct Site {
    page: Arc<Page>,
    /// Of each resource; none if its file is not there, which is answered with 404.
    bodies: Vec<Option<Bytes>>,
    hints: String,
    /// What the document says of HTTP/3 where it comes over that, as servers do that have it.
    http3: Option<HeaderValue>,
    dates: Dates,
}

impl Site {
    /// Reads the files of the page that the parameters name.
    pub fn read(parameters: &EndpointParameters, settings: &Settings, dates: Dates) -> Result<Self, StackError> {
        let page = Page::read(parameters)?;
        let folder = &files(parameters)?.folder;
        let read = |resource| {
            let path = folder.join(file(resource));
            match fs::read(&path) {
                Ok(body) => Ok(Some(body.into())),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(StackError::failed(path.display(), error)),
            }
        };
        let bodies = page.resources().iter().map(read).collect::<Result<_, _>>()?;
        let http3 = (parameters.protocol == "h3").then(|| hints::http3(parameters.server.port));
        Ok(Site { page, bodies, hints: settings.choice("hints").to_owned(), http3, dates })
    }

    /// The answer to a request, by its path and query.
    pub fn answer<B>(&self, request: &Request<B>) -> Response<Bytes> {
        let resource = self.resource(request).and_then(|index| Some((index, self.bodies[index].clone()?)));
        let mut response = match resource {
            None => http::empty(StatusCode::NOT_FOUND),
            Some((index, body)) => http::refuse_method(request, READ).unwrap_or_else(|| self.found(index, body)),
        };
        self.dates.stamp(response.headers_mut());
        if request.method() == Method::HEAD {
            response.body_mut().clear();
        }
        response
    }

    fn found(&self, index: usize, body: Bytes) -> Response<Bytes> {
        let mut response = Response::new(body);
        let media_type = &self.page.resources()[index].media_type;
        let media_type = HeaderValue::from_str(media_type).expect("the manifest was checked");
        let length = response.body().len();
        response.headers_mut().insert(CONTENT_TYPE, media_type);
        response.headers_mut().insert(CONTENT_LENGTH, length.into());
        if let Some(http3) = self.http3.clone().filter(|_| index == 0) {
            response.headers_mut().insert(ALT_SVC, http3);
        }
        if index == 0 && self.hints == PRELOAD {
            response.headers_mut().extend(self.links());
        }
        // What a 103 had it fetch a browser uses only while it is fresh.
        if self.hints == EARLY_HINTS {
            response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("max-age=3600"));
        }
        response
    }

    /// The interim response that goes before the answer.
    pub fn interim<B>(&self, request: &Request<B>) -> Option<Response<()>> {
        let get = request.method() == Method::GET;
        let hinted = get && self.hints == EARLY_HINTS && self.resource(request) == Some(0);
        hinted.then(|| {
            let mut interim = Response::new(());
            *interim.status_mut() = StatusCode::EARLY_HINTS;
            interim.headers_mut().extend(self.links());
            interim
        })
    }

    /// The paths of what is pushed together with the answer, and how urgent each is.
    pub fn pushed<B>(&self, request: &Request<B>) -> Vec<(&str, Priority)> {
        let all = self.page.resources().iter().skip(1);
        match request.method() == Method::GET && self.hints == PUSH && self.resource(request) == Some(0) {
            true => all.map(|resource| (resource.path.as_str(), Priority::of(resource))).collect(),
            false => Vec::new(),
        }
    }

    fn resource<B>(&self, request: &Request<B>) -> Option<usize> {
        self.page.find(request.uri().path_and_query()?.as_str())
    }

    fn links(&self) -> HeaderMap {
        let others = self.page.resources().iter().skip(1);
        others.filter_map(|resource| Some((LINK, hints::preload(resource)?))).collect()
    }
}
