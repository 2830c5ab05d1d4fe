//! Hearing of every change, through reconnections and compactions.
//!
//! A watch ends with its connection. It is taken up again from the revision after the last one that was
//! told. If etcd has thrown that away meanwhile, something was missed, and it
//! is said so.

use std::time::Duration;

use super::cabinet::{Etcd, end_of, position};
use super::messages::{DELETE, WatchCreateRequest, WatchResponse};
use crate::error::StoreError;
use crate::swap::cabinet::{Key, News};

/// How long to wait before a watch is taken up again.
const AGAIN: Duration = Duration::from_millis(200);

/// How many revisions back a watch begins at most.
const BACK_MAX: i64 = 10_000;

/// Why a watch has ended.
enum End {
    /// The connection: take it up again.
    Broken,
    /// The revision asked for is gone: begin at the present one.
    Compacted,
}

impl Etcd {
    pub(super) async fn watch(&self, mut tell: impl FnMut(News<i64>) + Send) {
        let mut next: Option<i64> = None;
        let mut missed = false;
        loop {
            match next {
                Some(from) => match self.watch_from(from, &mut next, &mut tell).await {
                    Ok(End::Compacted) => (next, missed) = (None, true),
                    ended => {
                        if let Err(error) = ended {
                            tracing::debug!(%error, "the watch could not be taken up");
                        }
                        // It may be that etcd has forgotten the token. A watch is not told that; whoever
                        // asks a question is, and logs in again.
                        drop(self.present().await);
                    }
                },
                None => {
                    if let Ok(revision) = self.present().await {
                        // What this process did before it began to watch belongs to the history.
                        let begin = match missed {
                            true => revision + 1,
                            false => self.opened.max(revision - BACK_MAX) + 1,
                        };
                        next = Some(begin);
                        tell(News::From { position: position(begin), missed });
                        continue;
                    }
                }
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    async fn watch_from(
        &self,
        from: i64,
        next: &mut Option<i64>,
        tell: &mut (impl FnMut(News<i64>) + Send),
    ) -> Result<End, StoreError> {
        let prefix = self.resource_key("");
        let (key, range_end) = (prefix.clone(), end_of(&prefix));
        let request = WatchCreateRequest { key, range_end, start_revision: from };
        let mut stream = self.ask(self.client.watch(request)).await?;
        // The ping of the connection ends a stream whose other side is gone.
        while let Ok(Some(answer)) = stream.message().await {
            if answer.compact_revision > 0 {
                return Ok(End::Compacted);
            }
            if answer.canceled {
                return Ok(End::Broken);
            }
            self.heard(answer.header);
            tell_all(answer, &prefix, next, tell);
        }
        Ok(End::Broken)
    }
}

fn tell_all(
    answer: WatchResponse,
    prefix: &str,
    next: &mut Option<i64>,
    tell: &mut (impl FnMut(News<i64>) + Send),
) {
    for event in answer.events {
        let Some(kv) = event.kv else { continue };
        let revision = kv.mod_revision;
        *next = (*next).max(Some(revision + 1));
        let key = std::str::from_utf8(&kv.key).ok().and_then(|key| key.strip_prefix(prefix));
        let Some(key) = key.map(Key::from) else { continue };
        let content = (event.r#type != DELETE).then_some((revision, kv.value));
        tell(News::Changed { key, content, position: position(revision) });
    }
}
