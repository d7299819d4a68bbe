//! Who asks: the window, the page, a command or another program.

use std::convert::Infallible;

use axum::{
    extract::FromRequestParts,
    http::{HeaderName, request::Parts},
};
use hookmitt_event::Asker;

/// The header by which the window says that it is the window. It counts only where every caller is trusted: inside the
/// process and at the private socket.
pub const ASKER: HeaderName = HeaderName::from_static("hookmitt-asker");

/// Who sent a request. Over TCP the [`Gate`](crate::Gate) knows by the token; elsewhere it is a command, unless it says
/// that it is the window.
pub(crate) struct AskedBy(pub(crate) Asker);

impl<S: Send + Sync> FromRequestParts<S> for AskedBy {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        if let Some(asker) = parts.extensions.get::<Asker>() {
            return Ok(Self(*asker));
        }
        let says = parts.headers.get(ASKER);
        let is_window = says.is_some_and(|says| says.as_bytes() == Asker::Window.as_str().as_bytes());
        Ok(Self(if is_window { Asker::Window } else { Asker::Cli }))
    }
}
