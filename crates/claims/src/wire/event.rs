//! Events as the event stream tells them: what happened to which claim, never a key.

use alloc::string::String;

use super::date::write_date;
use super::json::{write_text, write_whole};
use super::number::write_seconds;
use crate::claim::Status;
use crate::event::Event;
use crate::time::{Span, Stamp};

/// The name of an event in the stream.
pub fn event_name(event: &Event) -> &'static str {
    match event {
        Event::Registered { .. } => "registered",
        Event::Activated { .. } => "activated",
        Event::Seen { .. } => "seen",
        Event::Called { .. } => "called",
        Event::CalledOff { .. } => "called-off",
        Event::PassedOver { .. } => "passed-over",
        Event::Renewed { .. } => "renewed",
        Event::Ended { ending, .. } => Status::from(*ending).as_str(),
        Event::Appointed { .. } => "appointed",
        Event::Forgotten { .. } => "forgotten",
        Event::Resumed => "resumed",
        Event::EpochBegan { .. } => "epoch-began",
    }
}

/// Writes an event as one JSON object on one line.
pub fn write_event(out: &mut String, event: &Event, stamp: Stamp) {
    out.push_str("{\"event\":\"");
    out.push_str(event_name(event));
    out.push_str("\",\"timestamp\":\"");
    write_date(out, stamp.wall);
    out.push('"');
    if let Some(claim) = event.claim() {
        out.push_str(",\"claim_id\":");
        write_whole(out, claim.0);
    }
    match event {
        Event::Registered { registration, .. } => {
            out.push_str(",\"resources\":[");
            for (nth, name) in registration.resources.as_slice().iter().enumerate() {
                if nth > 0 {
                    out.push(',');
                }
                write_text(out, name.as_str());
            }
            out.push_str("],\"limit\":");
            match registration.limit.count() {
                Some(count) => write_whole(out, u64::from(count)),
                None => out.push_str("null"),
            }
            seconds(out, ",\"ttl\":", registration.ttl.span());
        }
        Event::Activated { fence, .. } => {
            out.push_str(",\"fence\":");
            write_whole(out, fence.0);
        }
        Event::Renewed { ttl, .. } => seconds(out, ",\"ttl\":", ttl.span()),
        Event::Called { until, .. } => {
            seconds(out, ",\"kept_for\":", until.since(stamp.at));
        }
        Event::Forgotten { count } => {
            out.push_str(",\"count\":");
            write_whole(out, u64::from(*count));
        }
        Event::EpochBegan { epoch } => {
            out.push_str(",\"epoch\":");
            write_whole(out, u64::from(epoch.number()));
        }
        Event::Seen { .. }
        | Event::CalledOff { .. }
        | Event::PassedOver { .. }
        | Event::Ended { .. }
        | Event::Appointed { .. }
        | Event::Resumed => {}
    }
    out.push('}');
}

fn seconds(out: &mut String, name: &str, span: Span) {
    out.push_str(name);
    match span {
        Span::FOREVER => out.push_str("null"),
        span => write_seconds(out, i64::try_from(span.as_micros()).unwrap_or(i64::MAX)),
    }
}
