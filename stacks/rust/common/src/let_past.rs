use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll, ready},
};

use http_body::{Body, Frame, SizeHint};
use tokio::time::timeout;

use crate::limits;

/// The body of a request. What is not read of it is let past when it is dropped: hyper would close the connection while the
/// client still sends, who might then not read the answer.
pub struct LetPast<B: Body + Send + Unpin + 'static>(Option<B>);

impl<B: Body + Send + Unpin + 'static> LetPast<B> {
    pub fn new(body: B) -> Self {
        Self(Some(body))
    }
}

impl<B: Body + Send + Unpin + 'static> Body for LetPast<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let Some(body) = &mut self.0 else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(body).poll_frame(context));
        if !matches!(frame, Some(Ok(_))) {
            self.0 = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(B::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.0.as_ref().map_or_else(|| SizeHint::with_exact(0), B::size_hint)
    }
}

impl<B: Body + Send + Unpin + 'static> Drop for LetPast<B> {
    fn drop(&mut self) {
        let Some(mut body) = self.0.take().filter(|body| !body.is_end_stream()) else { return };
        let end = poll_fn(move |context| {
            loop {
                if !matches!(ready!(Pin::new(&mut body).poll_frame(context)), Some(Ok(_))) {
                    return Poll::Ready(());
                }
            }
        });
        tokio::spawn(timeout(limits::BODY, end));
    }
}
