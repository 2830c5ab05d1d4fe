"""Holds "printer" through a keychain: program.py TENURE URL TTL MODE."""
import json, subprocess, sys

tenure, url, ttl, mode = sys.argv[1:]
keychain = subprocess.Popen(
    [tenure, "keychain", "--server", url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
if mode == "leaks":  # a third process inherits the ends of the pipes, and outlives this one
    ends = (keychain.stdin.fileno(), keychain.stdout.fileno())
    third = subprocess.Popen(["sleep", "600"], pass_fds=ends, stdout=subprocess.DEVNULL)
print(json.dumps({"keychain": keychain.pid, "third": third.pid if mode == "leaks" else None}), flush=True)


def ask(**request):
    print(json.dumps(request), file=keychain.stdin, flush=True)


def until(*kinds):
    for line in keychain.stdout:
        if json.loads(line)["event"] in kinds:
            return line.strip()


ask(do="claim", claim="p", resource="printer", ttl=float(ttl))
print(until("granted", "failed"), flush=True)
for _ in sys.stdin:
    ask(do="validate", claim="p")
    print(until("valid", "error"), flush=True)
