"""Requests a second of a recorded redis-server, with and without threads for its connections."""
import csv
import io
import shutil
import statistics
import subprocess
import time

from benchmarks.common import LIMIT, REWEAVE, Failed, run, show_times


PORT = 16379
CLIENTS = 50
REQUESTS = {1: 60_000, 3: 3_000}  # by threads: with more threads than processors, each spins while it waits for the others


def answers():
    done = subprocess.run(["redis-cli", "-p", str(PORT), "ping"], capture_output=True, text=True, check=False, timeout=LIMIT)
    return done.stdout.strip() == "PONG"


def requests_per_second(bench, prefix, threads):
    """Starts a server with `prefix`, loads it with redis-benchmark, and stops it."""
    server = subprocess.Popen([str(word) for word in [*prefix, "redis-server", "--port", PORT, "--save", "",
                                                      "--io-threads", threads, "--dir", bench.folder]],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            if answers():
                break
            time.sleep(0.05)
        else:
            raise Failed("redis-server does not answer")
        _, text = run(["redis-benchmark", "-p", PORT, "-t", "set,get", "-c", CLIENTS, "-n", bench.scaled(REQUESTS[threads]), "--csv"],
                      output=subprocess.PIPE)
        rates = [float(row["rps"]) for row in csv.DictReader(io.StringIO(text))]
        run(["redis-cli", "-p", PORT, "shutdown", "nosave"], accept=(0, 1))
        server.wait(LIMIT)
    finally:
        server.kill()
    return statistics.harmonic_mean(rates)


def compare(bench):
    """Prints requests a second, natively on one processor against recorded."""
    if not shutil.which("redis-server"):
        return print("\nredis-server is not installed")
    for threads in REQUESTS:
        rates = {"native, one processor": [], "recorded": []}
        recording = bench.folder / "recording"
        for _ in range(bench.runs):
            rates["native, one processor"].append(requests_per_second(bench, ["taskset", "-c", "0"], threads))
            shutil.rmtree(recording, ignore_errors=True)
            rates["recorded"].append(requests_per_second(bench, [REWEAVE, "record", "-o", recording, "--"], threads))
        show_times(f"redis-server, {CLIENTS} clients, {threads} threads for connections", rates, None,
                   unit="requests/s")
        shutil.rmtree(recording, ignore_errors=True)
