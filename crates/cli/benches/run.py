"""Handover between two waiting commands, and what `tenure run true` costs over `true`.

    python3 crates/cli/benches/run.py target/release/tenure [ROUNDS]

Starts a server of its own. Both sides of a handover write the time of one clock: the old command as its last act,
the next one as its first. `flock` does the same on a file, and `etcdctl lock` at an etcd of its own where one is
installed, in turns with ours.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

TENURE = os.path.abspath(sys.argv[1])
ENV = {**os.environ, "ETCDCTL_API": "3"}
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 100


def handover(directory, lock):
    gate, end, begin = (os.path.join(directory, name) for name in ("gate", "end", "begin"))
    os.mkfifo(gate)
    old = subprocess.Popen([*lock, "sh", "-c", f"echo in; read x < {gate}; date +%s%N > {end}"], stdout=subprocess.PIPE, env=ENV)
    old.stdout.readline()
    new = subprocess.Popen([*lock, "sh", "-c", f"date +%s%N > {begin}"], env=ENV)
    time.sleep(0.1)  # flock does not tell when it waits
    with open(gate, "w") as open_gate:
        open_gate.write("go\n")
    old.wait(), new.wait()
    old.stdout.close()
    millis = (int(open(begin).read()) - int(open(end).read())) / 1e6
    for path in (gate, end, begin):
        os.remove(path)
    return millis


def once(command):
    started = time.perf_counter()
    subprocess.run(command, check=True)
    return (time.perf_counter() - started) * 1000


def port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def etcd(directory):
    """An etcd of one member and the command that locks there; none if it is not installed."""
    if not (shutil.which("etcd") and shutil.which("etcdctl")):
        return None, None
    client, peer = (f"http://127.0.0.1:{port()}" for _ in range(2))
    member = ["etcd", "--data-dir", os.path.join(directory, "etcd"), "--log-level", "error"]
    member += ["--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer]
    process = subprocess.Popen([*member, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"], stderr=subprocess.DEVNULL)
    ctl = ["etcdctl", "--endpoints", client]
    ready = lambda: subprocess.run([*ctl, "endpoint", "health"], capture_output=True, env=ENV).returncode == 0
    while not ready():
        time.sleep(0.1)
    return process, [*ctl, "lock", "r", "--"]


def show(name, samples):
    if not samples:
        return print(f"{name:24} not measured: it is not installed")
    samples = sorted(samples)
    at = lambda part: samples[min(len(samples) - 1, int(len(samples) * part))]
    print(f"{name:24} p50 {at(0.5):7.2f} ms   p99 {at(0.99):7.2f} ms   worst {samples[-1]:7.2f} ms   of {len(samples)}")


with tempfile.TemporaryDirectory() as directory:
    serve = [TENURE, "serve", "--listen", "127.0.0.1:0", "--data", os.path.join(directory, "data")]
    server = subprocess.Popen(serve, stdout=subprocess.PIPE, text=True)
    member, etcdctl = etcd(directory)
    try:
        url = server.stdout.readline().split()[3].rstrip("/,")
        run = [TENURE, "run", "--at", url, "r", "--"]
        flock = ["flock", os.path.join(directory, "file")]
        ours, theirs, etcds, bare, held = [], [], [], [], []
        for _ in range(ROUNDS):
            ours.append(handover(directory, run))
            theirs.append(handover(directory, flock))
            if etcdctl:
                etcds.append(handover(directory, etcdctl))
            bare.append(once(["true"]))
            held.append(once([*run, "true"]))
        show("handover, tenure run", ours)
        show("handover, flock", theirs)
        show("handover, etcdctl lock", etcds)
        show("true", bare)
        show("tenure run -- true", held)
    finally:
        for process in filter(None, [server, member]):
            process.kill()
            process.wait()
