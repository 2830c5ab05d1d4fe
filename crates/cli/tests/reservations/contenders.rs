//! The real client with the mutexes that drivers have, while answers are lost and the server is
//! killed.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::face::Session;
use crate::house::{House, until};
use crate::proxy::Proxy;
use crate::python::python;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reservations/mutex.py");
const ROUNDS: usize = 2;
/// Far more than it takes on the slowest machine: only what hangs is caught by it.
const PATIENCE: Duration = Duration::from_secs(600);

/// A process that needs the mutex; killed if the test ends before it does.
struct Worker(Child, String);

impl Worker {
    fn start(port: &str, reservation: &str, nth: usize, directory: &Path) -> Self {
        let kind = if nth.is_multiple_of(2) { "owner" } else { "plain" };
        let name = format!("worker {nth} ({kind})");
        let log = std::fs::File::create(directory.join(&name)).unwrap();
        let errors = log.try_clone().unwrap();
        let mut command = python().unwrap();
        command.arg(SCRIPT).args([port, reservation, kind, &name, &ROUNDS.to_string()]);
        let process = command.arg(directory).stdin(Stdio::null()).stdout(log).stderr(errors);
        Self(process.spawn().unwrap(), name)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn counted(directory: &Path) -> usize {
    // It is empty while it is written.
    let text = std::fs::read_to_string(directory.join("counter")).unwrap();
    text.parse().unwrap_or(0)
}

#[test]
fn eight_processes_lose_nothing_though_answers_are_lost_and_the_server_is_killed() {
    if python().is_none() {
        return;
    }
    let mut house = House::open(&[]);
    let reservation = Session::open(&house.reservations).reserve();
    let proxy = Proxy::before(&house.reservations);
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("counter"), "0").unwrap();
    let port = proxy.port.to_string();
    let begun = Instant::now();
    let mut workers: Vec<Worker> =
        (0..8).map(|nth| Worker::start(&port, &reservation, nth, directory.path())).collect();
    for progress in [3, 8] {
        // Nobody loses the answers to all three times that it sends.
        until(|| counted(directory.path()) >= progress && proxy.is_everybody_told());
        house.kill();
        house.start_again();
    }
    let mut told = String::new();
    for Worker(process, name) in &mut workers {
        let status = loop {
            match process.try_wait().unwrap() {
                Some(status) => break status,
                None if begun.elapsed() > PATIENCE => panic!("{name} hangs"),
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        let log = std::fs::read_to_string(directory.path().join(&*name)).unwrap();
        assert!(status.success(), "{name}: {log}");
        told += &log;
    }
    assert_eq!(counted(directory.path()), 8 * ROUNDS, "{told}");
    assert!(!told.contains("continuing without"), "{told}");
    assert!(!told.contains("Lost race"), "{told}");
    let lost =
        ["AddServiceToReservation", "RemoveServicesFromReservation"].map(|it| proxy.lost(it));
    assert!(lost.iter().all(|&lost| lost > 3), "too few answers were lost: {lost:?}");
    assert!(!Session::open(&house.reservations).details(&reservation).contains("<Service "));
}

/// Runs a script with the port of the reservations and the rest of its arguments.
fn script(house: &House, script: &str, arguments: &[&str]) -> Option<String> {
    let mut python = python()?;
    let port = house.reservations.rsplit(':').next().unwrap();
    python.current_dir(house.home.path()).args(["-c", script, port]).args(arguments);
    let output = python.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn forked_processes_that_share_a_session_exclude_each_other() {
    let house = House::open(&[]);
    let told = script(
        &house,
        "
import os, sys
from cloudshell.api.cloudshell_api import *
api = CloudShellAPISession('127.0.0.1', 'admin', 'admin', 'Global', port=int(sys.argv[1]))
r = api.CreateImmediateReservation('r', 'admin', 0).Reservation.Id
def add():
    try:
        api.AddServiceToReservation(r, 'Mutex Service', 'MUTEX', [])
        return 'added'
    except CloudShellAPIError as e:
        return e.code
assert add() == 'added'
child = os.fork()
if child == 0:
    told = [add()]
    api._http.clear()
    told.append(add())
    print(told, flush=True)
    os._exit(0)
os.waitpid(child, 0)
",
        &[],
    );
    assert!(told.is_none_or(|told| told == "['100', '100']\n"));
}

#[test]
fn threads_that_share_a_session_and_a_name_exclude_each_other() {
    let house = House::open(&[]);
    let told = script(
        &house,
        "
import random, sys, threading, time
from cloudshell.api.cloudshell_api import *
api = CloudShellAPISession('127.0.0.1', 'admin', 'admin', 'Global', port=int(sys.argv[1]))
r = api.CreateImmediateReservation('r', 'admin', 0).Reservation.Id
inside, overlaps, turns, end = [], [], [], time.time() + 15
def work(me):
    while time.time() < end:
        try:
            api.AddServiceToReservation(r, 'Mutex Service', 'MUTEX', [])
        except CloudShellAPIError as e:
            assert e.code == '100', e
            time.sleep(random.uniform(0, 0.3))
            continue
        inside.append(me)
        turns.append(me)
        if len(inside) > 1:
            overlaps.append(list(inside))
        time.sleep(random.choice([0, 0.05, 0.3]))
        if random.random() < 0.3:
            api.GetReservationDetails(r)
        inside.remove(me)
        api.RemoveServicesFromReservation(r, ['MUTEX'])
threads = [threading.Thread(target=work, args=(nth,)) for nth in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert turns
print(overlaps)
",
        &[],
    );
    assert!(told.is_none_or(|told| told == "[]\n"));
}

#[test]
fn real_client_makes_every_call_and_survives_the_loss_of_its_session() {
    let house = House::open(&[]);
    let calls = "
import subprocess, sys
from cloudshell.api.cloudshell_api import *
port, url, tenure = int(sys.argv[1]), sys.argv[2], sys.argv[3]
api = CloudShellAPISession('127.0.0.1', 'admin', 'admin', 'Global', port=port)
r = api.CreateImmediateReservation('na\u{ef}ve & <co>', 'admin', 60).Reservation
assert r.Status == 'Started' and r.Name == 'na\u{ef}ve & <co>', vars(r)
owner = 'x \\'\"<&>\u{e4}\\n2'
attributes = [AttributeNameValue('Mutex Owner', owner)]
api.AddServiceToReservation(r.Id, 'Mutex Service', 'MUTEX', attributes)
services = api.GetReservationDetails(r.Id).ReservationDescription.Services
assert [(s.ServiceName, s.Alias) for s in services] == [('Mutex Service', 'MUTEX')], services
assert [(a.Name, a.Value) for a in services[0].Attributes] == [('Mutex Owner', owner)]
api.SetServiceAttributesValues(r.Id, 'MUTEX', [AttributeNameValue('State', 'on')])
services = api.GetReservationDetails(r.Id, True).ReservationDescription.Services
assert {a.Name: a.Value for a in services[0].Attributes} == {'Mutex Owner': owner, 'State': 'on'}
api.WriteMessageToReservationOutput(r.Id, 'a message')
token = api.authentication.xmlrpc_token
other = CloudShellAPISession('127.0.0.1', domain='Global', token_id=token, port=port)
assert other.authentication.xmlrpc_token != api.authentication.xmlrpc_token
try:
    other.AddServiceToReservation(r.Id, 'Mutex Service', 'MUTEX', [])
    raise SystemExit('two at once')
except CloudShellAPIError as e:
    assert str(e) == 'CloudShell API error 100: Service with given alias already exists', e
session = other.authentication.xmlrpc_token.split('.')[0]
subprocess.run([tenure, 'revoke', session, '--at', url], check=True)
other.authentication.logon_manager.token_id = ''
other.authentication.logon_manager.username = 'admin'
assert other.GetReservationStatus(r.Id).ReservationSlimStatus.Status == 'Started'
assert not other.authentication.xmlrpc_token.startswith(session + '.')
api.RemoveServicesFromReservation(r.Id, ['MUTEX'])
api.RemoveServicesFromReservation(r.Id, 'MUTEX')
api.EndReservation(r.Id)
assert other.GetReservationStatus(r.Id).ReservationSlimStatus.Status == 'Completed'
api.Logoff()
print('done')
";
    let url = format!("http://{}", house.address);
    let Some(told) = script(&house, calls, &[&url, env!("CARGO_BIN_EXE_tenure")]) else { return };
    assert!(told.ends_with("done\n"), "{told}");
    until(|| house.log().contains("a message"));
}
