//! A claimant on strings: brought into any state by what would bring it there, and watched.

use claims::claimant::{
    Answer, Cause, Claimant, Class, Condition, Input, Missed, Moment, Notice, Output, Patience,
    Request, State, Terms, Timer, Verb,
};
use claims::{ClaimId, Fence, Span, Ttl};

pub(crate) const TTL: Span = Span::from_secs(60);

pub(crate) struct Puppet {
    pub(crate) claimant: Claimant,
    pub(crate) now: Moment,
    pub(crate) outputs: Vec<Output>,
    /// The last request sent.
    pub(crate) request: Option<Request>,
}

pub(crate) fn terms() -> Terms {
    let patience = Patience::For(Span::from_secs(300));
    Terms { patience, ..Terms::new(Ttl::new(TTL).unwrap()) }
}

impl Puppet {
    pub(crate) fn new(terms: Terms) -> Self {
        let now = Moment::from_micros(1_000_000_000);
        Self { claimant: Claimant::new(terms), now, outputs: Vec::new(), request: None }
    }

    /// A claimant in this state.
    pub(crate) fn at(state: State) -> Self {
        Self::with(terms(), state)
    }

    pub(crate) fn with(terms: Terms, state: State) -> Self {
        let mut puppet = Self::new(terms);
        for &condition in way_to(state) {
            puppet.make(condition);
        }
        assert_eq!(puppet.claimant.state(), state);
        puppet.outputs.clear();
        puppet
    }

    pub(crate) fn handle(&mut self, input: Input) {
        let from = self.outputs.len();
        self.claimant.handle(input, self.now, 7, &mut self.outputs);
        for output in &self.outputs[from..] {
            if let Output::Send(request) = output {
                self.request = Some(*request);
            }
        }
    }

    pub(crate) fn answer(&mut self, answer: Answer) {
        let number = self.request.map_or(0, |request| request.number);
        self.handle(Input::Answered(number, answer));
    }

    pub(crate) fn pass(&mut self, span: Span) {
        self.now = self.now + span;
        self.handle(Input::Wake);
    }

    /// Makes a condition true, if this state can meet it.
    pub(crate) fn make(&mut self, condition: Condition) {
        match condition {
            Condition::Begin => self.handle(Input::Begin),
            Condition::Answer200 => self.answer(about(Class::Ok)),
            Condition::Answer201 => self.answer(about(Class::Created)),
            Condition::Answer202 => self.answer(about(Class::Accepted)),
            Condition::Answer204 => self.answer(Answer::of(Class::NoContent)),
            Condition::Answer404 => self.answer(Answer::of(Class::NotFound)),
            Condition::Answer409 => self.answer(Answer::of(Class::Conflict)),
            Condition::Answer4xx => self.answer(Answer::of(Class::Refused)),
            Condition::Answer5xx => self.answer(Answer::of(Class::Unknown)),
            Condition::ActivateTimer => self.ring(Timer::Activate),
            Condition::RenewTimer => self.ring(Timer::Renew),
            Condition::RetryTimer => self.ring(Timer::Retry),
            Condition::TimeoutTimer => self.ring(Timer::Timeout),
            Condition::DeadlineTimer => self.ring(Timer::Deadline),
            Condition::Release => self.handle(Input::Release),
            Condition::Refresh => self.handle(Input::Refresh(None)),
            Condition::Signal => self.handle(Input::Signal),
        }
    }

    /// Lets this timer ring, if it is set and no other rings before it.
    pub(crate) fn ring(&mut self, timer: Timer) {
        if let Some((at, first)) = self.claimant.next_wake()
            && first == timer
        {
            self.now = self.now.max(at);
            self.handle(Input::Wake);
        }
    }

    pub(crate) fn notices(&self) -> Vec<Notice> {
        let notices = self.outputs.iter().filter_map(|output| match output {
            Output::Notify(notice) => Some(*notice),
            Output::Send(_) | Output::Abandon(_) => None,
        });
        notices.collect()
    }

    pub(crate) fn sent(&self) -> Vec<Verb> {
        let sent = self.outputs.iter().filter_map(|output| match output {
            Output::Send(request) => Some(request.verb),
            Output::Notify(_) | Output::Abandon(_) => None,
        });
        sent.collect()
    }

    pub(crate) fn told(&self, notice: Notice) -> bool {
        self.notices().contains(&notice)
    }

    pub(crate) fn told_refused(&self) -> bool {
        self.told(Notice::Lost(Cause::Refused(None)))
            || self.told(Notice::Missed(Missed::Refused(None)))
    }
}

/// An answer about the claim of this test.
pub(crate) fn about(class: Class) -> Answer {
    Answer { claim: Some(ClaimId(9)), fence: Some(Fence(4)), ..Answer::of(class) }
}

/// What brings a new claimant into this state.
fn way_to(state: State) -> &'static [Condition] {
    use Condition::*;
    match state {
        State::New => &[],
        State::Registering => &[Begin],
        State::RetryingRegister => &[Begin, Answer5xx],
        // By a quick 409, so that it does not ask again at once.
        State::Waiting => &[Begin, Answer202, Answer409],
        State::Activating => &[Begin, Answer202],
        State::RetryingActivate => &[Begin, Answer202, Answer5xx],
        State::Active => &[Begin, Answer201],
        State::Renewing => &[Begin, Answer201, RenewTimer],
        State::RetryingRenew => &[Begin, Answer201, RenewTimer, Answer5xx],
        State::Releasing => &[Begin, Answer201, Release],
        State::RetryingRelease => &[Begin, Answer201, Release, Answer5xx],
        State::Withdrawing => &[Begin, Answer202, Release],
        State::RetryingWithdraw => &[Begin, Answer202, Release, Answer5xx],
        State::Aborting => &[Begin, Answer202, Signal],
        State::RetryingAbort => &[Begin, Answer202, Signal, Answer5xx],
        State::Released => &[Begin, Answer201, Release, Answer204],
        State::Withdrawn => &[Begin, Answer202, Release, Answer204],
        State::Aborted => &[Begin, Answer202, Signal, Answer204],
        State::Done => &[Begin, Answer202, Signal, Signal],
        State::Fail => &[Begin, Answer4xx],
    }
}
