#!/usr/bin/env python3
"""Records unmodified programs of Debian at real work, replays each recording after the files that the run read and
wrote were removed, and compares standard output, standard error and exit status.

    debian_check.py --build BUILD [--rounds N] [--megabytes N] [--more] [NAME...]

Every second round records with --chaos. Prints one line for each program. With --more, or by name, also larger programs
whose packages the suite does not need: ffmpeg, x264, default-jdk-headless, nodejs, golang-go, rustc, ruby, erlang-base,
php-cli, sbcl, valgrind, qemu-user, gdb, strace, libreoffice-nogui, chromium, and those of debian_services.py.
"""
import argparse
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

from debian_services import SERVICES

LIMIT_SECONDS = 1200

PYTHON = """
import subprocess, sys, threading, queue
results = queue.Queue()
def count(path):
    results.put(sum(len(line.split()) for line in open(path, errors="replace")))
threads = [threading.Thread(target=count, args=("data",)) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(results.get() for _ in threads))
print(subprocess.run(["sort", "-r"], input="b\\na\\nc\\n", capture_output=True, text=True).stdout)
piped = subprocess.Popen(["sh", "-c", "wc -c; exit 3"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
print(piped.communicate(b"x" * 100000)[0], piped.returncode)
"""

SQL = """
create table t(a integer primary key, b real, c text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
  insert into t select i, random() / 1e18, hex(randomblob(8)) from n;
create index t_c on t(c);
select count(*), max(b), min(c) from t;
delete from t where a % 3 = 0;
select sum(a), total(b) from t;
"""

SHELL = """
for i in 1 2 3 4; do echo "$i $$ $RANDOM"; done | sort -r | (cat; head -c 100000 data | md5sum)
wc -l < data & seq 1 5000 | awk '{ s += $1 } END { print s }'; wait
diff <(head -20 data) <(tail -20 data) | wc -l
for i in 1 2 3 4 5; do seq $((i * 1000)) $((i * 1000 + 2000)) & echo $i & done; wait
"""

LARGE_SQL = """
create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 450000)
  insert into t select i, hex(randomblob(110)) from n;
select count(*), min(b), max(length(b)) from t;
select page_count * page_size > 100000000 from pragma_page_count, pragma_page_size;
"""

JAVA = """
import java.util.concurrent.*;
public class Sums {
  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    CompletionService<Long> done = new ExecutorCompletionService<>(pool);
    for (int task = 1; task <= 20; task++) {
      final int step = task;
      done.submit(() -> { long sum = 0; for (int i = 0; i < 300000; i++) sum += i % step; return sum; });
    }
    for (int task = 0; task < 20; task++) System.out.println(done.take().get());
    pool.shutdown();
  }
}
"""

NODE = """
const crypto = require('crypto'), fs = require('fs');
for (let i = 0; i < 8; i++)
  crypto.pbkdf2('secret', 'salt' + i, 20000, 32, 'sha512', (error, key) => console.log(i, key.toString('hex')));
fs.readFile('sums.js', (error, text) => console.log('read', text.length));
"""

GO = """
package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

func main() {
	var group sync.WaitGroup
	var mutex sync.Mutex
	order := []int{}
	for i := 0; i < 8; i++ {
		group.Add(1)
		go func(k int) {
			defer group.Done()
			for s := 0; s < 300000*k; s++ {
			}
			mutex.Lock()
			order = append(order, k)
			mutex.Unlock()
		}(i)
	}
	group.Wait()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL) }))
	answer, err := http.Get(server.URL + "/asked")
	fmt.Println(order, err, answer.ContentLength, time.Now())
	server.Close()
}
"""

RUBY = """
queue = Queue.new
4.times.map { |i| Thread.new { queue << [i, (1..100_000).sum { |k| k * i }] } }.each(&:join)
4.times { p queue.pop }
p rand(1000), `echo child`, Process.wait2(fork { exit 3 })[1].exitstatus
"""

ERLANG = """
Self = self(), [spawn(fun() -> Self ! {I, lists:sum(lists:seq(1, 50000))} end) || I <- lists:seq(1, 20)],
io:format("~p ~p~n", [[receive M -> M end || _ <- lists:seq(1, 20)], rand:uniform(1000)]), halt(0).
"""

LISP = """
(dolist (thread (loop for i from 1 to 4 collect
                  (let ((i i)) (sb-thread:make-thread (lambda () (loop for k below 1000000 sum (* k i)))))))
  (print (sb-thread:join-thread thread)))
(print (random 1000 (make-random-state t)))
(gc :full t)
"""

PAGE = "<html><body><h1>A page</h1><script>document.write(Math.random() < 2)</script></body></html>"
BROWSE = ("HOME=$PWD chromium --headless --no-sandbox --disable-gpu --screenshot --user-data-dir=$PWD/profile "
          "file://$PWD/page.html && test -s screenshot.png")

MAKEFILE = """
program: a.o b.o c.o d.o
\tcc -o $@ $^
%.o:
\techo 'int $*(void) { return 1; }' > $*.c
\tcc -O2 -c -o $@ $*.c
d.o:
\techo 'int main(void) { return 0; }' | cc -xc -c -o $@ -
"""

# The work of each program, in a folder that holds the file `data` and the repository `repository`.
WORK = {
    "pigz": ["pigz", "-p", "4", "-k", "data"],
    "pbzip2": ["pbzip2", "-p2", "-k", "-v", "data"],
    "xz": ["xz", "-T2", "-1", "-k", "-v", "--block-size=1MiB", "data"],
    "sort": ["sort", "--parallel=2", "-S", "20M", "data"],
    "sqlite3": ["sqlite3", "database", SQL],
    "python3": ["python3", "-c", PYTHON],
    "git": ["git", "-C", "repository", "log", "-p", "--stat"],
    "git-commit": ["git", "-C", "repository", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "--allow-empty",
                   "-a", "-m", "again"],
    "bash": ["bash", "-c", SHELL],
}
MORE = {
    "g++": ["g++", "-O2", "-c", "-o", "out.o", "sums.cc"],
    "make": ["make", "-j2"],
    "sqlite3-large": ["sqlite3", "large", LARGE_SQL],
    "ffmpeg": ["ffmpeg", "-v", "error", "-stats", "-f", "lavfi", "-i", "testsrc=duration=4:size=320x240:rate=25", "-c:v",
               "libx264", "-threads", "4", "out.mp4"],
    "x264": ["x264", "--threads", "4", "--demuxer", "raw", "--input-res", "320x240", "--fps", "25", "-o", "out.264", "data"],
    "java": ["java", "Sums.java"],
    "node": ["node", "sums.js"],
    "go": ["sh", "-c", "HOME=$PWD go build -o sums sums.go && ./sums"],
    "rust": ["rustc", "-O", "-o", "out", "sums.rs"],
    "ruby": ["ruby", "-e", RUBY],
    "erlang": ["erl", "-noshell", "-eval", ERLANG],
    "php": ["php", "-r", "for ($i = 0; $i < 300000; $i++) $a[] = $i * rand(); echo array_sum($a), `echo child`;"],
    "sbcl": ["sbcl", "--script", "sums.lisp"],
    "valgrind": ["valgrind", "-q", "sort", "data"],
    "qemu": ["qemu-x86_64", "/bin/ls", "-l", "/"],
    "gdb": ["gdb", "-batch", "-ex", "catch syscall read", "-ex", "run", "-ex", "bt 3", "-ex", "stepi", "-ex", "kill",
            "--args", "sort", "data"],
    "strace": ["strace", "-f", "sh", "-c", "ls | sort"],
    "libreoffice": ["sh", "-c", "HOME=$PWD soffice --headless --convert-to pdf page.html && test -s page.pdf"],
    "chromium": ["sh", "-c", BROWSE],
    **SERVICES,
}


def write_data(path, megabytes):
    """Returns lines of words that compress about as well as text."""
    chance = random.Random(1)
    words = ["%x" % chance.getrandbits(chance.randint(4, 40)) for _ in range(5000)]
    block = "\n".join(" ".join(chance.choices(words, k=9)) for _ in range(12000)) + "\n"
    with open(path, "w") as file:
        for part in range(max(1, round(megabytes * 1e6 / len(block)))):
            file.write(block[part * 7 % 1000:])


def write_repository(path):
    """Creates a repository with forty commits of ten small files."""
    run = ["git", "-C", path, "-c", "user.name=a", "-c", "user.email=a@b.c"]
    path.mkdir()
    subprocess.run([*run, "init", "-q"], check=True)
    for commit in range(40):
        for file in range(10):
            (path / f"file{file}").write_text("".join(f"{line * (commit + file)}\n" for line in range(40)))
        subprocess.run([*run, "add", "-A"], check=True)
        subprocess.run([*run, "commit", "-q", "-m", f"commit {commit}"], check=True)
    (path / "file1").write_text("changed\n")


def write_sources(folder):
    (folder / "sums.cc").write_text("#include <algorithm>\n#include <map>\n#include <regex>\n#include <string>\n"
                                    "std::map<std::string, std::regex> rules;\n")
    (folder / "sums.rs").write_text("fn main() { println!(\"{}\", (1..1000u64).map(|i| i * i).sum::<u64>()) }\n")
    for name, text in {"Sums.java": JAVA, "sums.js": NODE, "Makefile": MAKEFILE, "sums.go": GO, "sums.lisp": LISP,
                       "page.html": PAGE}.items():
        (folder / name).write_text(text)


def run(command, folder):
    """Returns exit status, standard output and standard error. Raises subprocess.TimeoutExpired for a hang."""
    debian_only = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"}
    ran = subprocess.run(command, cwd=folder, env=debian_only, stdin=subprocess.DEVNULL, capture_output=True,
                         timeout=LIMIT_SECONDS)
    return ran.returncode, ran.stdout, ran.stderr


def check_round(reweave, work, master, chaos):
    """Returns the difference found in one round, or None. The replay runs in an empty folder, in which nothing may appear."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "work"
        shutil.copytree(master, folder, symlinks=True)
        recording = pathlib.Path(name) / "recording"
        recorded = run([reweave, "record", *(["--chaos"] if chaos else []), "-o", recording, "--", *work], folder)
        if recorded[0] != 0:
            return f"recorded: exit status {recorded[0]}: {recorded[2][-1000:].decode(errors='replace')}"
        shutil.rmtree(folder)
        folder.mkdir()
        replayed = run([reweave, "replay", recording], folder)
        if list(folder.iterdir()):
            return f"the replay made {[str(path) for path in folder.iterdir()]}"
        for what, before, after in zip(("exit status", "standard output", "standard error"), recorded, replayed):
            if before != after:
                return f"{what} differs: {str(before)[-500:]} became {str(after)[-500:]}; {str(replayed[2])[-1000:]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--megabytes", type=float, default=2)
    parser.add_argument("--more", action="store_true")
    parser.add_argument("names", nargs="*", choices=[*WORK, *MORE, []], metavar="NAME", help=", ".join([*WORK, *MORE]))
    arguments = parser.parse_args()
    reweave = (arguments.build / "reweave").resolve()
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        master = pathlib.Path(name)
        write_data(master / "data", arguments.megabytes)
        write_repository(master / "repository")
        write_sources(master)
        work = WORK | MORE
        for program in arguments.names or (work if arguments.more else WORK):
            problem, same = None, 0
            while problem is None and same < arguments.rounds:
                problem = check_round(reweave, work[program], master, same % 2 == 1)
                same += problem is None
            print(f"{program}: {same} of {arguments.rounds} rounds the same" + (f": {problem}" if problem else ""), flush=True)
            failed += problem is not None
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
