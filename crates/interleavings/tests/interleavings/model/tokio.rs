//! tokio's own channels. Their authors test them in every order of steps; here each call is one step,
//! and somebody else may go on before it.

use super::switch;

pub(crate) mod oneshot {
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use tokio::sync::oneshot;

    use super::switch;

    pub(crate) struct Sender<T>(oneshot::Sender<T>);
    pub(crate) struct Receiver<T>(oneshot::Receiver<T>);

    pub(crate) fn channel<T>() -> (Sender<T>, Receiver<T>) {
        let (sender, receiver) = oneshot::channel();
        (Sender(sender), Receiver(receiver))
    }

    impl<T> Sender<T> {
        pub(crate) fn send(self, value: T) -> Result<(), T> {
            switch();
            self.0.send(value)
        }

        pub(crate) fn is_closed(&self) -> bool {
            switch();
            self.0.is_closed()
        }
    }

    impl<T> Future for Receiver<T> {
        type Output = Result<T, oneshot::error::RecvError>;

        fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
            switch();
            Pin::new(&mut self.0).poll(cx)
        }
    }
}

pub(crate) mod watch {
    use tokio::sync::watch;

    use super::switch;

    pub(crate) struct Sender<T>(watch::Sender<T>);
    #[derive(Clone)]
    pub(crate) struct Receiver<T>(watch::Receiver<T>);

    pub(crate) fn channel<T>(value: T) -> (Sender<T>, Receiver<T>) {
        let (sender, receiver) = watch::channel(value);
        (Sender(sender), Receiver(receiver))
    }

    impl<T> Sender<T> {
        pub(crate) fn send_replace(&self, value: T) -> T {
            switch();
            self.0.send_replace(value)
        }
    }

    impl<T> Receiver<T> {
        pub(crate) async fn wait_for(
            &mut self,
            is: impl FnMut(&T) -> bool,
        ) -> Result<watch::Ref<'_, T>, watch::error::RecvError> {
            switch();
            self.0.wait_for(is).await
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Notify(tokio::sync::Notify);

impl Notify {
    pub(crate) fn notify_one(&self) {
        switch();
        self.0.notify_one();
    }

    pub(crate) async fn notified(&self) {
        switch();
        self.0.notified().await;
    }
}
