//! What happened, for people or for programs.

use makeshift::clock;
use serde_json::{Map, Value, json};

/// How and where to say what happens.
#[derive(Clone, Copy)]
pub(super) struct Speaker {
    pub(super) json: bool,
    /// The output belongs to the command that runs.
    pub(super) aside: bool,
}

impl Speaker {
    /// One line. `at_us` is the moment by the boot-time clock, the same for all processes here.
    pub(super) fn say(self, event: &str, more: Value) {
        let mut fields = Map::new();
        fields.insert("event".into(), event.into());
        fields.insert("at_us".into(), clock::at().as_micros().into());
        if let Value::Object(more) = more {
            fields.extend(more);
        }
        let line = if self.json {
            Value::Object(fields).to_string()
        } else {
            let more = fields.iter().filter(|(key, _)| !["event", "at_us"].contains(&key.as_str()));
            let more = more.map(|(key, value)| match value.as_str() {
                Some(text) => format!(" {key}={text}"),
                None => format!(" {key}={value}"),
            });
            format!("{event}{}", more.collect::<String>())
        };
        if self.aside {
            aside!("{line}");
        } else {
            // Whoever does not read the events any more still wants the lock.
            let _ = crate::out::say(line);
        }
    }

    pub(super) fn refused(self, why: &str) {
        if self.json {
            self.say("refused", json!({ "why": why }));
        }
    }
}
