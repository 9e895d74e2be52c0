#!/usr/bin/env python3
"""Servers of Debian under load, recorded, stopped cleanly, and replayed to the end. Not part of the test suite.

    servers_check.py --build BUILD [--seconds 30] [--least 10000] [NAME...]

Each server is recorded while clients on this machine send it requests for a given time, and must answer a given number of
them. The replay must end as the server did, with the same output. Needs the packages redis, memcached, nginx-light,
apache2-utils and postgresql; PostgreSQL runs as the user postgres, who must be able to read BUILD.
"""
import argparse
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

START_SECONDS, STOP_SECONDS, REPLAY_SECONDS = 60, 120, 900
CLIENTS = 8


def output_of(command, seconds=STOP_SECONDS, **options):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=seconds, **options)
    if done.returncode != 0:
        sys.exit(f"status {done.returncode} of {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server in a folder of its own: how to start it, send it requests, and stop it."""

    user, stop_signal = "root", signal.SIGTERM

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()

    def prepare(self):
        """Creates files that the server needs. Called before it starts."""

    def stop(self, pid):
        os.kill(pid, self.stop_signal)


class Redis(Server):
    def command(self):
        return ["redis-server", "--port", self.port, "--save", "", "--appendonly", "no", "--dir", self.folder]

    def ask(self, seconds):
        answered, end = 0, time.monotonic() + seconds
        while time.monotonic() < end:
            output_of(["redis-benchmark", "-p", self.port, "-t", "set,get", "-c", CLIENTS, "-n", 5000, "-q"])
            answered += 10_000
        return answered


class Memcached(Server):
    def command(self):
        return ["memcached", "-u", "root", "-l", "127.0.0.1", "-p", self.port, "-t", 4]

    def ask(self, seconds):
        counts = [0] * CLIENTS
        threads = [threading.Thread(target=self.client, args=(i, counts, time.monotonic() + seconds))
                   for i in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sum(counts)

    def client(self, index, counts, end):
        with socket.create_connection(("127.0.0.1", self.port)) as connection, connection.makefile("rb") as answers:
            while time.monotonic() < end:
                value = f"{index} {counts[index]}".encode()
                connection.sendall(b"set k%d 0 0 %d\r\n%b\r\n" % (index, len(value), value))
                connection.sendall(b"get k%d\r\n" % index)
                lines = [answers.readline() for _ in range(4)]
                if lines[2].strip() != value:
                    sys.exit(f"memcached answered {lines}")
                counts[index] += 2


class Nginx(Server):
    stop_signal = signal.SIGQUIT

    def prepare(self):
        (self.folder / "index.html").write_text("<p>here</p>\n" * 300)
        (self.folder / "nginx.conf").write_text(
            f"daemon off; worker_processes 2; user root; pid {self.folder}/pid; error_log stderr;\n"
            "events {}\n"
            f"http {{ access_log {self.folder}/access.log;\n"
            f"  server {{ listen 127.0.0.1:{self.port}; root {self.folder}; }} }}\n")

    def command(self):
        return ["nginx", "-c", self.folder / "nginx.conf", "-p", self.folder]

    def ask(self, seconds):
        text = output_of(["ab", "-q", "-k", "-t", seconds, "-n", 10_000_000, "-c", CLIENTS,
                          f"http://127.0.0.1:{self.port}/index.html"], seconds + STOP_SECONDS)
        if not re.search(r"Failed requests: +0\n", text):
            sys.exit(f"nginx failed:\n{text}")
        return int(re.search(r"Complete requests: +(\d+)", text)[1])


class PostgreSql(Server):
    """Requests are SQL statements: seven per pgbench transaction."""

    user, stop_signal = "postgres", signal.SIGINT

    def prepare(self):
        self.programs = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        shutil.chown(self.folder, self.user)
        output_of(["runuser", "-u", self.user, "--", self.programs / "initdb", "-D", self.folder / "data", "-A", "trust"])

    def command(self):
        return [self.programs / "postgres", "-D", self.folder / "data", "-p", self.port, "-k", self.folder]

    def ask(self, seconds):
        to_server = ["-h", "127.0.0.1", "-p", self.port, "-U", self.user, "postgres"]
        output_of(["pgbench", "-i", "-q", *to_server])
        text = output_of(["pgbench", "-T", seconds, "-c", CLIENTS, *to_server], seconds + STOP_SECONDS)
        return 7 * int(re.search(r"transactions actually processed: (\d+)", text)[1])


SERVERS = {"redis": Redis, "memcached": Memcached, "nginx": Nginx, "postgresql": PostgreSql}


def wait_until_it_listens(port, recorder):
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and recorder.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    sys.exit("the server does not listen")


def server_pid(reweave_pid):
    """Returns the process ID of the recorded program, the recorder's first child."""
    return int(pathlib.Path(f"/proc/{reweave_pid}/task/{reweave_pid}/children").read_text().split()[0])


def check(reweave, server, arguments):
    """Records and replays a server. Returns a line of text with the result."""
    server.prepare()
    recording = server.folder / "recording"
    become = ["runuser", "-u", server.user, "--"] if server.user != "root" else []
    with open(server.folder / "recorded", "w+") as output:
        recorder = subprocess.Popen([str(word) for word in [*become, reweave, "record", "-o", recording, "--",
                                                            *server.command()]],
                                    stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
    wait_until_it_listens(server.port, recorder)
    answered = server.ask(arguments.seconds)
    server.stop(server_pid(server_pid(recorder.pid) if become else recorder.pid))
    status = recorder.wait(STOP_SECONDS)
    with open(server.folder / "replayed", "w+") as output:
        start = time.monotonic()
        replayed = subprocess.run([*become, reweave, "replay", recording], stdin=subprocess.DEVNULL, stdout=output,
                                  stderr=subprocess.STDOUT, timeout=REPLAY_SECONDS, check=False).returncode
        seconds = time.monotonic() - start
    texts = [(server.folder / name).read_bytes() for name in ("recorded", "replayed")]
    if replayed != status or texts[0] != texts[1]:
        sys.exit(f"the replay is another run: status {status} and {replayed}\n{texts[1].decode(errors='replace')[-2000:]}")
    if answered < arguments.least:
        sys.exit(f"only {answered} requests were answered")
    megabytes = sum(file.stat().st_size for file in recording.rglob("*") if file.is_file()) / 1e6
    return f"{answered} requests in {arguments.seconds} s, status {status}, {megabytes:.0f} MB, replayed in {seconds:.0f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--least", type=int, default=10_000)
    parser.add_argument("names", nargs="*", choices=[[], *SERVERS], metavar="NAME")
    arguments = parser.parse_args()
    for name in arguments.names or SERVERS:
        with tempfile.TemporaryDirectory(prefix="reweave-server-") as folder:
            os.chmod(folder, 0o755)
            print(f"{name}: {check(arguments.build.resolve() / 'reweave', SERVERS[name](pathlib.Path(folder)), arguments)}",
                  flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
