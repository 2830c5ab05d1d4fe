//! What `tenure run` tells the guard of its command, a line each.

use std::fmt;

use rustix::process::Signal;

use super::moment::Moment;

/// A line through the pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The claim is certain until then.
    Until(Moment),
    /// Pass a signal on to the command.
    Pass(Signal),
    /// Stop everything, now.
    Stop,
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Until(Moment(micros)) => writeln!(f, "until {micros}"),
            Self::Pass(signal) => writeln!(f, "pass {}", signal.as_raw()),
            Self::Stop => writeln!(f, "stop"),
        }
    }
}

impl Order {
    pub(super) fn parse(line: &str) -> Option<Self> {
        match line.split_once(' ') {
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
        for order in [Order::Until(Moment(17)), Order::Pass(Signal::TERM), Order::Stop] {
            assert_eq!(Order::parse(order.to_string().trim_end()), Some(order));
        }
        for wrong in ["", "until", "until then", "pass 0", "pass 9999", "stop it"] {
            assert_eq!(Order::parse(wrong), None, "{wrong}");
        }
    }
}
