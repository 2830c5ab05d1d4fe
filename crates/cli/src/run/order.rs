//! What `tenure run` tells the guard of its command, a line each.

use std::fmt;

use rustix::process::Signal;

use super::moment::Moment;

/// A line through the pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The claim is held: the first order of all.
    Begin(Held),
    /// The claim is certain until then.
    Until(Moment),
    /// Pass a signal on to the command.
    Pass(Signal),
    /// Stop everything, now.
    Stop,
}

/// What the command is told of the claim that it runs under; a store that counts neither has neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) claim: Option<u64>,
    pub(super) fence: Option<u64>,
}

impl Held {
    /// As variables of the environment.
    pub(super) fn environment(self) -> [(&'static str, String); 2] {
        [("TENURE_CLAIM", text(self.claim)), ("TENURE_FENCE", text(self.fence))]
    }
}

fn text(number: Option<u64>) -> String {
    number.map_or(String::new(), |number| number.to_string())
}

fn number(text: &str) -> Option<Option<u64>> {
    if text.is_empty() { Some(None) } else { text.parse().ok().map(Some) }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begin(held) => writeln!(f, "begin {},{}", text(held.claim), text(held.fence)),
            Self::Until(Moment(micros)) => writeln!(f, "until {micros}"),
            Self::Pass(signal) => writeln!(f, "pass {}", signal.as_raw()),
            Self::Stop => writeln!(f, "stop"),
        }
    }
}

impl Order {
    pub(super) fn parse(line: &str) -> Option<Self> {
        match line.split_once(' ') {
            Some(("begin", held)) => {
                let (claim, fence) = held.split_once(',')?;
                Some(Self::Begin(Held { claim: number(claim)?, fence: number(fence)? }))
            }
            Some(("until", micros)) => Some(Self::Until(Moment(micros.parse().ok()?))),
            Some(("pass", number)) => {
                Some(Self::Pass(Signal::from_named_raw(number.parse().ok()?)?))
            }
            None if line == "stop" => Some(Self::Stop),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_as_they_were_written() {
        let known = Order::Begin(Held { claim: Some(7), fence: Some(u64::MAX) });
        let unknown = Order::Begin(Held { claim: None, fence: None });
        let others = [Order::Until(Moment(17)), Order::Pass(Signal::TERM), Order::Stop];
        for order in others.into_iter().chain([known, unknown]) {
            assert_eq!(Order::parse(order.to_string().trim_end()), Some(order));
        }
        for wrong in [
            "",
            "begin",
            "begin 7",
            "begin 7,x",
            "until",
            "until then",
            "pass 0",
            "pass 9999",
            "stop it",
        ] {
            assert_eq!(Order::parse(wrong), None, "{wrong}");
        }
    }
}
