"""What one server holds: load.py TENURE [WAITERS] [CLAIMS] [SECONDS].

CLAIMS are held and renewed, in batches and then one by one (`tenure bench held`), while WAITERS clients
have a long poll open, each on a connection of its own. At the end of each part all waiters are let in,
one after the other: each must be answered once. Only the loopback is used.
"""
import asyncio, json, os, re, resource, signal, statistics, subprocess, sys, tempfile, time, urllib.request

tenure = sys.argv[1]
waiters = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
claims = int(sys.argv[3]) if len(sys.argv) > 3 else 100_000
seconds = int(sys.argv[4]) if len(sys.argv) > 4 else 20
queues = max(1, waiters // 100)
resource.setrlimit(resource.RLIMIT_NOFILE, (waiters + 1_000, max(waiters + 1_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))


def cpu(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read())[1]) * 1024


def phases(url):
    text = urllib.request.urlopen(url + "/metrics").read().decode()
    return {phase: int(float(count)) for phase, count in re.findall(r'tenure_claims\{phase="(\w+)"\} (\S+)', text)}


async def until(url, phase, count, bench=None):
    while phases(url)[phase] != count:
        if bench and bench.poll() is not None:
            sys.exit(f"the load ended early: {bench.stdout.read()}")
        await asyncio.sleep(0.2)


class Line:
    """One connection."""

    def __init__(self, url):
        self.host, self.port = url.removeprefix("http://").split(":")

    async def ask(self, method, path, body):
        if not hasattr(self, "reader"):
            self.reader, self.writer = await asyncio.open_connection(self.host, self.port)
        body = json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self.writer.write(head.encode() + body)
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        length = re.search(r"content-length: (\d+)", head, re.I)
        await self.reader.readexactly(int(length[1]) if length else 0)
        at = re.search(r"location: http://[^/]+(\S+)", head, re.I)
        return int(head.split(" ", 2)[1]), at and at[1]

    async def claim(self, name):
        return await self.ask("POST", "/v1/claims/", {"resource": name, "ttl": 600})

    async def end(self, path):
        status, _ = await self.ask("PATCH", path, {"status": "released"})
        assert status == 204, status


async def wait(url, nth, counts, doors):
    """Waits for its turn, and gives it on at once."""
    line = Line(url)
    async with doors:
        await line.ask("GET", "/livez", {})
    counts["open"] += 1
    status, path = await line.ask("POST", "/v1/claims/", {"resource": f"wanted/{nth % queues}", "ttl": 600, "wait": 60})
    while status in (202, 409):
        counts["asked again"] += 1
        status, _ = await line.ask("PATCH", path, {"status": "active", "wait": 60})
    assert status in (200, 201), status
    counts["granted"] += 1
    await line.end(path)
    line.writer.close()


async def probe(url, cycles):
    """How long somebody else's claim takes meanwhile."""
    line, took = Line(url), []
    for nth in range(cycles):
        began = time.perf_counter()
        status, path = await line.claim(f"probe/{nth}")
        took.append(1e3 * (time.perf_counter() - began))
        assert status == 201, status
        await line.end(path)
    took.sort()
    return f"p50 {statistics.median(took):.2f} ms, p99 {took[len(took) * 99 // 100]:.2f} ms, max {took[-1]:.1f} ms"


async def part(url, pid, batch):
    print(f"-- {claims} claims renewed every 6.7 s, {f'{batch} a request' if batch > 1 else 'one by one'}; "
          f"load of the machine {os.getloadavg()[0]:.1f}")
    alone = await probe(url, 500)
    before = memory(pid)
    bench = subprocess.Popen(
        [tenure, "bench", "held", "--at", url, "--locks", str(claims), "--ttl", "20s", "--batch", str(batch),
         "--seconds", "3600", "--warmup", "1", "--json"], stdout=subprocess.PIPE, text=True)
    await until(url, "active", claims, bench)
    held = memory(pid)
    print(f"memory per held claim: {(held - before) / claims:.0f} bytes ({held / 1e6:.0f} MB in all)")
    owner, holders = Line(url), []
    for nth in range(queues):
        holders.append((await owner.claim(f"wanted/{nth}"))[1])
    counts = {"open": 0, "asked again": 0, "granted": 0}
    doors = asyncio.Semaphore(100)
    began = time.monotonic()
    clients = [asyncio.create_task(wait(url, nth, counts, doors)) for nth in range(waiters)]
    await until(url, "waiting", waiters, bench)
    print(f"{waiters} clients came to wait in {time.monotonic() - began:.1f} s")
    waiting = memory(pid)
    print(f"memory per client with an open wait: {(waiting - held) / waiters:.0f} bytes ({waiting / 1e6:.0f} MB in all)")
    used, began = cpu(pid), time.monotonic()
    meanwhile = await probe(url, 1_000)
    await asyncio.sleep(max(0, seconds - (time.monotonic() - began)))
    share = (cpu(pid) - used) / (time.monotonic() - began)
    print(f"server, all of them renewing and waiting: {share:.2f} cores")
    print(f"a claim alone: {alone}; meanwhile: {meanwhile}")
    # Another connection: the first has been silent for longer than the server likes.
    began, owner = time.monotonic(), Line(url)
    for path in holders:
        await owner.end(path)
    await asyncio.gather(*clients)
    took = time.monotonic() - began
    print(f"let in: {counts['granted']} of {waiters}, each answered once, {counts['asked again']} asked again, "
          f"in {took:.1f} s ({waiters / took:.0f} a second)")
    assert counts["granted"] == waiters
    bench.send_signal(signal.SIGINT)
    told = json.loads(bench.communicate()[0])
    print(f"renewals: {told['ops_s']:.0f}/s, p99 {told['p99_us'] / 1e3:.1f} ms a request, "
          f"{told['max_lag_ms']} ms behind at most, {told['lost']} lost, {told.get('errors', 0)} errors")
    assert told["lost"] == 0 and bench.returncode == 0
    await until(url, "active", 0)


with tempfile.TemporaryDirectory() as data:
    serve = [tenure, "serve", "--listen", "127.0.0.1:0", "--data", data]
    server = subprocess.Popen(serve, stdout=subprocess.PIPE, text=True)
    try:
        url = re.search(r"http://[\d.:]+", server.stdout.readline())[0]
        for batch in (1_000, 1):
            asyncio.run(part(url, server.pid, batch))
    finally:
        server.kill()
        server.wait()
