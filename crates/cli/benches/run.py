"""Handover between two waiting commands, and what `tenure run true` costs over `true`.

    python3 crates/cli/benches/run.py target/release/tenure [ROUNDS]

Starts a server of its own. Both sides of a handover write the time of one clock: the old command as its last act,
the next one as its first. `flock` does the same on a file, in turns with ours.
"""

import os
import subprocess
import sys
import tempfile
import time

TENURE = os.path.abspath(sys.argv[1])
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 100


def handover(directory, lock):
    gate, end, begin = (os.path.join(directory, name) for name in ("gate", "end", "begin"))
    os.mkfifo(gate)
    old = subprocess.Popen([*lock, "sh", "-c", f"echo in; read x < {gate}; date +%s%N > {end}"], stdout=subprocess.PIPE)
    old.stdout.readline()
    new = subprocess.Popen([*lock, "sh", "-c", f"date +%s%N > {begin}"])
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


def show(name, samples):
    samples = sorted(samples)
    at = lambda part: samples[min(len(samples) - 1, int(len(samples) * part))]
    print(f"{name:24} p50 {at(0.5):7.2f} ms   p99 {at(0.99):7.2f} ms   worst {samples[-1]:7.2f} ms   of {len(samples)}")


with tempfile.TemporaryDirectory() as directory:
    serve = [TENURE, "serve", "--listen", "127.0.0.1:0", "--data", os.path.join(directory, "data")]
    server = subprocess.Popen(serve, stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().split()[3].rstrip("/,")
        run = [TENURE, "run", "--at", url, "r", "--"]
        flock = ["flock", os.path.join(directory, "file")]
        ours, theirs, bare, held = [], [], [], []
        for _ in range(ROUNDS):
            ours.append(handover(directory, run))
            theirs.append(handover(directory, flock))
            bare.append(once(["true"]))
            held.append(once([*run, "true"]))
        show("handover, tenure run", ours)
        show("handover, flock", theirs)
        show("true", bare)
        show("tenure run -- true", held)
    finally:
        server.kill()
        server.wait()
