"""Cycles (a claim and its release) a second through one server, for each store that is named.

    python3 crates/cli/benches/stores.py target/release/tenure [STORE ...]

A store is an address as `serve --store` takes it; `-` is the log of the server's own. Each gets a server of its own and
the same load: 8 connections on names of their own, 5 seconds after one of warming up, three times, in turns.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile

TENURE = os.path.abspath(sys.argv[1])
STORES = sys.argv[2:] or ["-"]


def cycles(store):
    with tempfile.TemporaryDirectory() as data:
        serve = [TENURE, "serve", "--listen", "127.0.0.1:0", "--log-level", "error", "--data", data]
        serve += [] if store == "-" else ["--store", store]
        server = subprocess.Popen(serve, stdout=subprocess.PIPE, text=True)
        try:
            url = server.stdout.readline().split()[3].rstrip("/,")
            bench = [TENURE, "bench", "cycle", "--at", url, "--connections", "8", "--seconds", "5", "--json"]
            return json.loads(subprocess.run(bench, check=True, capture_output=True, text=True).stdout)
        finally:
            server.kill()
            server.wait()


rounds = [[cycles(store) for store in STORES] for _ in range(3)]
for store, results in zip(STORES, zip(*rounds)):
    rate, p99 = (statistics.median(result[name] for result in results) for name in ("ops_s", "p99_us"))
    errors = sum(result["errors"] for result in results)
    shown = store.split("?")[0].split("@")[-1]
    print(f"{shown:50} {rate:9.0f} cycles/s   p99 {p99 / 1000:7.1f} ms   {errors} errors")
