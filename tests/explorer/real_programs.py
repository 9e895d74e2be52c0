#!/usr/bin/env python3
"""Campaigns on programs from Debian's source packages, built with -fsanitize=thread. Not part of the test suite.

    real_programs.py --build build [--runs 200] [--long SECONDS] [NAME...]

Records and explores each program and prints the findings. A campaign must end without a divergence, and must give a
reason for every run that left the recording. With --long SECONDS, also records the program once on an input that keeps
it busy for about SECONDS, and replays that recording. Sources come as for pbzip2_check.py, from apt or from
$REWEAVE_SOURCES. memcached needs libevent-dev; its client is this script.
"""
import argparse
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

from pbzip2_check import fetch, run

FLAGS = "-w -g -O1 -fsanitize=thread -pthread"
# The gnulib of lbzip2 2.5 needs these two definitions to compile with a current C library.
GNULIB = "-D_IO_ftrylockfile -D_IO_IN_BACKUP=0x100"


def configured(folder, flags, *options, target=()):
    run(["./configure", "--disable-dependency-tracking", *options], cwd=folder)
    run(["make", "-j2", f"CFLAGS={flags}", "LDFLAGS=-fsanitize=thread", *target], cwd=folder)


def lines(path, count):
    path.write_text("".join(f"{i}\n" for i in range(count)))
    return path


class Pbzip2:
    archive, program, per_second = "pbzip2_*.orig.tar.*", "pbzip2", 300_000

    @staticmethod
    def build(folder):
        run(["g++", *FLAGS.split(), "-D_POSIX_PTHREAD_SEMANTICS", "-D_LARGEFILE64_SOURCE", "-D_FILE_OFFSET_BITS=64",
             "-DUSE_STACKSIZE_CUSTOMIZATION", "pbzip2.cpp", "BZ2StreamScanner.cpp", "ErrorContext.cpp", "-o", "pbzip2",
             "-lbz2"], cwd=folder)

    options, lines = ["-k", "-f", "-p3", "-b1", "-q"], 60_000


class Pigz:
    archive, program, per_second = "pigz_*.orig.tar.*", "pigz", 1_000_000

    @staticmethod
    def build(folder):
        run(["make", "-j2", "pigz", f"CFLAGS={FLAGS}", "LDFLAGS=-fsanitize=thread", "LIBS=-lm -lpthread -lz"], cwd=folder)

    options, lines = ["-k", "-f", "-p3", "-b128", "-6"], 60_000


class Lbzip2:
    archive, program, per_second = "lbzip2_*.orig.tar.*", "src/lbzip2", 300_000

    @staticmethod
    def build(folder):
        configured(folder, f"{FLAGS} {GNULIB}")

    options, lines = ["-k", "-f", "-n3", "-1"], 23_000


class Memcached:
    archive, program = "memcached_*.orig.tar.*", "memcached"

    @staticmethod
    def build(folder):
        configured(folder, FLAGS, "--disable-extstore", target=["memcached"])


PROGRAMS = {"pbzip2": Pbzip2, "pigz": Pigz, "lbzip2": Lbzip2, "memcached": Memcached}


def ask(connection, text, end):
    connection.sendall(text)
    answer = b""
    while not answer.endswith(end):
        part = connection.recv(4096)
        if not part:
            sys.exit("memcached closed the connection")
        answer += part
    return answer


def talk(port, seconds):
    """Three clients take turns to set, get, delete and ask for statistics: for `seconds`, and at least 40 turns."""
    for _ in range(100):
        try:
            clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
            break
        except OSError:
            time.sleep(0.1)
    else:
        sys.exit("memcached does not listen")
    end, turn = time.monotonic() + seconds, 0
    while turn < 40 or time.monotonic() < end:
        client, key, value = clients[turn % 3], b"k%d" % (turn % 17), b"v%d" % turn
        ask(client, b"set %s 0 0 %d\r\n%s\r\n" % (key, len(value), value), b"\r\n")
        if value not in ask(client, b"get %s\r\n" % key, b"END\r\n"):
            sys.exit("memcached lost a value")
        if turn % 5 == 4:
            ask(client, b"delete %s\r\n" % key, b"\r\n")
        if turn % 7 == 6:
            ask(client, b"stats\r\n", b"END\r\n")
        turn += 1
    for client in clients:
        client.close()
    print(f"  {turn} turns of three clients")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def record(reweave, name, program, folder, recording, seconds):
    """Records one run of about `seconds` of work. 0: a short run for a campaign."""
    if name != "memcached":
        row = PROGRAMS[name]
        data = lines(folder / "in.txt", int(row.per_second * seconds) or row.lines)
        run([reweave, "record", "--seed", "1", "-o", recording, "--", program, *row.options, data])
        return
    port = free_port()
    server = subprocess.Popen([reweave, "record", "--seed", "1", "-o", recording, "--", program, "-U", "0", "-l",
                               "127.0.0.1", "-p", str(port), "-t", "2", "-m", "8", "-u", "root"])
    talk(port, seconds)
    server.send_signal(signal.SIGTERM)
    if server.wait(60) != 0:
        sys.exit("memcached exited with an error after SIGTERM")


def campaign(reweave, name, program, folder, runs):
    recording = folder / "recording"
    record(reweave, name, program, folder, recording, 0)
    done = subprocess.run([reweave, "explore", recording, "-o", folder / "found", "--runs", str(runs), "--verify", "5",
                           "--minimise", "100"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=3600)
    print("  " + done.stdout.replace("\n", "\n  ").rstrip())
    if done.returncode not in (0, 10):
        sys.exit(f"{name}: status {done.returncode}\n{done.stderr}")
    made = re.search(r"(\d+) runs in .*, (\d+) left the recording", done.stdout)
    told = sum(int(count) for count in re.findall(r"(?m)^(\d+) left it: ", done.stdout))
    if int(made[2]) > 0 and told == 0:
        sys.exit(f"{name}: runs left the recording, but explore printed no reason")


def long_run(reweave, name, program, folder, seconds):
    recording = folder / "long"
    start = time.monotonic()
    record(reweave, name, program, folder, recording, seconds)
    middle = time.monotonic()
    run([reweave, "replay", "--quiet", recording])
    print(f"  a run of {middle - start:.1f} s was replayed in {time.monotonic() - middle:.1f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--long", type=float, default=0, help="seconds of the long run; 0: none")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PROGRAMS))
    arguments = parser.parse_args()
    reweave = (arguments.build / "reweave").resolve()
    missing = []
    for name in arguments.names or PROGRAMS:
        with tempfile.TemporaryDirectory(prefix=f"reweave-{name}-") as text:
            folder = pathlib.Path(text)
            archive = fetch(folder, name, PROGRAMS[name].archive)
            if archive is None:
                missing.append(name)
                continue
            print(f"{name}: {archive.name}", flush=True)
            source = folder / "source"
            source.mkdir()
            run(["tar", "xf", archive, "-C", source, "--strip-components=1"])
            PROGRAMS[name].build(source)
            program = source / PROGRAMS[name].program
            campaign(reweave, name, program, folder, arguments.runs)
            if arguments.long > 0:
                long_run(reweave, name, program, folder, arguments.long)
    if missing:
        sys.exit(f"apt cannot download the sources of {', '.join(missing)}; put the archives into $REWEAVE_SOURCES")
    return 0


if __name__ == "__main__":
    sys.exit(main())
