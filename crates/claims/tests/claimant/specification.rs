//! The specification of the original client, as data: every state and every transition it lists, with
//! its slips corrected as the head of `claims::claimant` says.

/// Every state it lists, and the three final ones that only its transitions name.
pub(crate) const STATES: &str = "
new; Aborting; Activating; Registering; Releasing; Renewing; Withdrawing; active; done; fail;
retrying abort; retrying activate; retrying register; retrying release; retrying renew;
retrying withdraw; waiting; aborted; released; withdrawn";

/// Source; destination; condition; actions.
const TRANSITIONS: &str = "
new; Registering; -; send POST, create timeout timer
Aborting; aborted; 204; -
Aborting; done; signal; -
Aborting; done; timeout timer; -
Aborting; fail; 4xx; terminate client
Aborting; retrying abort; 5xx; create retry timer
Activating; Aborting; signal; send aborted
Activating; Withdrawing; timeout timer; send withdrawn
Activating; active; 200; create renew timer, delete timeout timer, notify acquired
Activating; fail; 4xx; terminate client
Activating; retrying activate; 5xx; create retry timer
Activating; waiting; 409; create activate timer
Registering; done; signal; delete timeout timer
Registering; done; timeout timer; notify timeout
Registering; fail; 4xx; terminate client
Registering; retrying register; 5xx; create retry timer
Registering; retrying register; 404; create retry timer
Registering; active; 201; create renew timer
Registering; waiting; 202; create activate timer
Releasing; done; signal; -
Releasing; done; timeout timer; -
Releasing; fail; 4xx; terminate client
Releasing; released; 204; notify released
Releasing; retrying release; 5xx; create retry timer
Renewing; Aborting; signal; send aborted
Renewing; Releasing; release; send released
Renewing; active; 200; create renew timer
Renewing; fail; 4xx; terminate client
Renewing; retrying renew; 5xx; create retry timer
Withdrawing; done; signal; -
Withdrawing; done; timeout timer; -
Withdrawing; fail; 4xx; terminate client
Withdrawing; retrying withdraw; 5xx; create retry timer
Withdrawing; withdrawn; 204; -
active; Aborting; signal; send aborted, delete renew timer
active; Releasing; release; send released, delete renew timer
active; Renewing; renew timer; send ttl
retrying abort; Aborting; retry timer; send aborted
retrying abort; done; signal; -
retrying abort; done; timeout timer; -
retrying activate; Aborting; signal; send aborted, delete retry timer
retrying activate; Activating; retry timer; send active
retrying activate; Withdrawing; timeout timer; send withdrawn, delete retry timer
retrying register; Registering; retry timer; send POST
retrying register; done; signal; delete timeout timer
retrying register; done; timeout timer; notify timeout
retrying release; Releasing; retry timer; send released
retrying release; done; signal; -
retrying release; done; timeout timer; -
retrying renew; Aborting; signal; send aborted, delete retry timer
retrying renew; Releasing; release; send released, delete retry timer
retrying renew; Renewing; retry timer; send ttl
retrying withdraw; Withdrawing; retry timer; send withdrawn
retrying withdraw; done; signal; -
retrying withdraw; done; timeout timer; -
waiting; Aborting; signal; send aborted, delete activate timer
waiting; Activating; activate timer; send active
waiting; Withdrawing; timeout timer; send withdrawn, delete activate timer";

/// One transition, read.
pub(crate) struct Transition {
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
    pub(crate) on: &'static str,
    pub(crate) actions: Vec<&'static str>,
}

/// All of them.
pub(crate) fn transitions() -> Vec<Transition> {
    let read = |line: &'static str| {
        let mut cells = line.split("; ");
        let mut next = || cells.next().expect("four cells a line");
        let (from, to, on) = (next(), next(), next());
        let actions = next().split(", ").filter(|action| *action != "-").collect();
        Transition { from, to, on, actions }
    };
    TRANSITIONS.trim().lines().map(read).collect()
}
