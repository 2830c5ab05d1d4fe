"""What 10,000 claims in one keychain cost: keychain.py TENURE [CLAIMS] [SECONDS]."""
import json, os, re, subprocess, sys, tempfile, threading, time, urllib.request

tenure = sys.argv[1]
claims = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 40


def cpu(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid):
    return int(re.search(r"VmHWM:\s+(\d+)", open(f"/proc/{pid}/status").read())[1]) / 1024


def requests(url):
    text = urllib.request.urlopen(url + "/metrics").read().decode()
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if re.match(r"tenure_http_answers_total[{ ]", line))


with tempfile.TemporaryDirectory() as data:
    serve = [tenure, "serve", "--listen", "127.0.0.1:0", "--data", data]
    server = subprocess.Popen(serve, stdout=subprocess.PIPE, text=True)
    url = re.search(r"http://[\d.:]+", server.stdout.readline())[0]
    command = [tenure, "keychain", "--server", url]
    keychain = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    heard, all_granted = {}, threading.Event()

    def listen():
        for line in keychain.stdout:
            kind = json.loads(line)["event"]
            heard[kind] = heard.get(kind, 0) + 1
            if heard.get("granted") == claims:
                all_granted.set()

    threading.Thread(target=listen, daemon=True).start()
    try:
        began = time.monotonic()
        for nth in range(claims):
            keychain.stdin.write(json.dumps({"do": "claim", "claim": str(nth), "resource": f"r/{nth}", "ttl": 60}) + "\n")
        keychain.stdin.flush()
        if not all_granted.wait(300):
            sys.exit(f"not all were granted: {heard}")
        print(f"{claims} claims granted in {time.monotonic() - began:.1f} s")
        before, asked, told = cpu(keychain.pid), requests(url), heard.get("renewed", 0)
        time.sleep(seconds)
        used, asked = cpu(keychain.pid) - before, requests(url) - asked
        print(f"over {seconds} s: {100 * used / seconds:.2f} % of a core, {asked / seconds:.1f} requests/s, "
              f"{(heard.get('renewed', 0) - told) / seconds:.0f} renewals/s, peak {memory(keychain.pid):.1f} MB; all heard: {heard}")
    finally:
        keychain.kill()
        server.kill()
