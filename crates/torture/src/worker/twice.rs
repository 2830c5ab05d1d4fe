//! A worker that speaks by hand asks for each of its claims twice, as if the first answer had been
//! lost: whether it was or not, the key is the same, and so must be the claim.
//!
//! Left to the network this happens too seldom: what is cut off for a while is mostly sent again by
//! TCP, under one request.

use super::Wish;
use super::by_hand::{FOUND, Hands, Place};
use crate::line::{Answer, number};

/// Where the data of a claim has the name of the wish that it was made for.
pub(crate) const MARK: &str = "wish";

/// Where claims are made.
const CLAIMS: &str = "/v1/claims/";

impl Hands {
    /// What to ask for a claim of this wish with, however often.
    pub(super) fn registration(&self, wish: &Wish) -> String {
        let (names, ttl) = (wish.resources.join("\",\""), self.shift.ttl.as_secs_f64());
        let limit =
            wish.limit.map_or(r#""shared":true"#.into(), |limit| format!(r#""limit":{limit}"#));
        let (key, mark) = (tenure::Key::random(), self.shift.mark());
        format!(
            r#"{{"resources":["{names}"],"ttl":{ttl},{limit},"key":"{}","user_data":{{"{MARK}":"{mark}"}}}}"#,
            key.reveal()
        )
    }

    /// Asks over one connection and then over another. Of every fourth claim the first answer is not
    /// waited for.
    pub(super) fn register(&mut self, body: &str, place: &mut Place) -> Option<Answer> {
        let first = if self.shift.dice.u32(0..4) == 0 {
            self.line.ask_and_hang_up("POST", CLAIMS, body);
            None
        } else {
            Some(self.line.ask("POST", CLAIMS, body)?)
        };
        self.line.hang_up();
        let second = self.line.ask("POST", CLAIMS, body);
        place.unheard |= first.is_none() || second.is_none();
        let claim = |answer: &Option<Answer>| number(&answer.as_ref()?.location);
        match (claim(&first), claim(&second)) {
            (Some(one), Some(two)) if one != two => {
                eprintln!("{FOUND} one registration sent twice made two claims, {one} and {two}");
            }
            _ => {}
        }
        // The later one knows more, unless it could not be told: a full disk, a store that is away.
        if claim(&second).is_some() || first.is_none() { second } else { first }
    }
}
