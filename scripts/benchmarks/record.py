"""Wall time of programs: native, under `reweave record` and `reweave replay`; and the bytes of a recording."""
import os
import shutil
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

from benchmarks import redis
from benchmarks.common import BENCH, REWEAVE, SUBJECTS, Bench, Failed, measure, run, show_times, tree_bytes, write_compressible


class RecordBench(Bench):
    rr_can_run = False

    def big_file(self):
        """100 MB that compress as text does, by about three."""
        path = self.folder / "input"
        if not path.exists():
            write_compressible(path, 100_000_000 * self.scale)
        return path

    def small_file(self):
        """Returns a file with the first tenth of big_file."""
        path = self.folder / "small"
        if not path.exists():
            path.write_bytes(self.big_file().read_bytes()[:int(10_000_000 * self.scale)])
        return path

    def small_files(self):
        folder = self.folder / "files"
        if not folder.exists():
            folder.mkdir()
            for i in range(int(4_000 * self.scale) + 1):
                (folder / str(i)).write_bytes(os.urandom(8192))
        return sorted(folder.iterdir())

    def repository(self):
        """A git repository of 5,000 files in 100 folders, with 40 commits of text."""
        folder = self.folder / "repository"
        if folder.exists():
            return folder
        folder.mkdir()
        for i in range(int(5_000 * self.scale) + 1):
            path = folder / f"part{i % 100}" / f"file{i}.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_text("".join(f"line {line} of file {i}\n" for line in range(40)))
        git = ["git", "-C", folder, "-c", "user.name=bench", "-c", "user.email=bench@localhost"]
        run(["git", "init", "-q", folder])
        for commit in range(40):
            for i in range(commit, int(5_000 * self.scale) + 1, 60):
                with open(folder / f"part{i % 100}" / f"file{i}.txt", "a", encoding="utf-8") as file:
                    file.write(f"commit {commit}\n")
            run([*git, "add", "-A"])
            run([*git, "commit", "-q", "-m", f"change {commit}"])
        return folder

    def compare(self, title, command, native=None, others=()):
        """Native against recorded against replayed; `others` are further (name, command) of the same work."""
        recording = self.folder / "recording"
        sizes = []

        def record():
            shutil.rmtree(recording, ignore_errors=True)
            seconds, _ = run([REWEAVE, "record", "-o", recording, "--", *command])
            sizes.append(tree_bytes(recording))
            return seconds

        steps = [("native", lambda: run(native or command)[0])]
        steps += [(name, lambda other=other: run(other)[0]) for name, other in others]
        steps += [("recorded", record), ("replayed", lambda: run([REWEAVE, "replay", "--quiet", recording])[0])]
        if self.rr_can_run:
            steps += [("rr recorded", lambda: self.rr_record(command)),
                      ("rr replayed", lambda: run(["rr", "replay", "-a", self.folder / "rr"])[0])]
        rows = {}
        os.sync()  # else the kernel would write back the previous row's data, on the processor that drains the ring
        reason = measure(rows, steps, self.runs)
        note = f"recording: {statistics.median(sizes):,.0f} bytes" if sizes else ""
        show_times(title, rows, reason, note)
        shutil.rmtree(recording, ignore_errors=True)

    def compare_side_by_side(self, title, command):
        """Two instances of a command at once: how much longer they take if both are recorded."""
        recordings = [self.folder / f"beside{i}" for i in range(2)]

        def both(commands):
            start = time.perf_counter()
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(run, commands))
            return time.perf_counter() - start

        def record():
            for recording in recordings:
                shutil.rmtree(recording, ignore_errors=True)
            return both([[REWEAVE, "record", "-o", recording, "--", *command] for recording in recordings])

        rows = {}
        reason = measure(rows, [("native, two at once", lambda: both([command] * 2)), ("recorded, two at once", record)],
                         self.runs)
        show_times(title, rows, reason)
        for recording in recordings:
            shutil.rmtree(recording, ignore_errors=True)

    def rr_record(self, command):
        shutil.rmtree(self.folder / "rr", ignore_errors=True)
        return run(["rr", "record", "-o", self.folder / "rr", *command])[0]

    def try_rr(self):
        """True if rr can record here; else prints rr's reason."""
        if shutil.which("rr") is None:
            print("rr is not measured beside us: it is not installed (apt-get install rr)")
            return False
        try:
            self.rr_record(["/bin/true"])
            return True
        except Failed as problem:
            print(f"rr is not measured beside us, it cannot record here: {problem}")
            return False

    def show(self):
        self.rr_can_run = self.try_rr()
        count = self.scaled(1_000_000)
        self.compare("start and end: echo hello", ["/bin/echo", "hello"])
        self.programs()
        self.compare("1,000,000 reads of 64 bytes", [BENCH / "bench_small_reads", self.big_file(), count])
        self.compare("1,000,000 writes and reads of a byte on a pipe", [BENCH / "bench_pipe_bytes", count])
        self.compare("1,000,000 clock_gettime, natively in the vDSO", [BENCH / "bench_clock_reads", count])
        self.compare("1,000,000 rdtsc in a function of its own", [BENCH / "bench_counter_reads", count])
        self.compare("20,000 turns of two threads that spin, then sleep", [SUBJECTS / "plain" / "spin_then_sleep"])
        self.compare("a hot loop until an alarm", [BENCH / "bench_hot_loop", self.scaled(2_000)])
        turns = self.scaled(300_000_000)
        self.compare("a preempted loop", [BENCH / "bench_preempted_loop", turns])
        self.compare("a queue whose consumer polls", [BENCH / "bench_polled_queue", count])
        self.compare("three threads, stopped by signals", [SUBJECTS / "plain" / "world_stopped"])
        self.compare_side_by_side("two loops that compute, side by side", [BENCH / "bench_preempted_loop", turns])
        self.compare_side_by_side("two sha1sum of 4 times 100 MB, side by side", ["sha1sum", *[self.big_file()] * 4])
        passes = self.scaled(10_000)
        for operations in (1_000_000, 10_000_000):  # the first is little more than start and end
            locks = [BENCH / "bench_mutex_pair", self.scaled(operations)]
            self.compare(f"two threads, {operations:,} locks", locks,
                         others=[("on one processor", ["taskset", "-c", "0", *locks])])
        self.compare_build("two threads, 1,000,000 locks", "bench_mutex_pair", [count])
        self.compare_build("memory loop", "bench_memory_loop", [passes, 1])
        redis.compare(self)

    def programs(self):
        """Programs from Debian. Those that compute run long enough that their start, which has its own row, hardly counts."""
        self.compare("pigz, 100 MB", ["pigz", "-c", "-p", "4", self.big_file()])
        self.compare("sha1sum, 16 times 100 MB", ["sha1sum", *[self.big_file()] * 16])
        self.compare("sha1sum of 4,000 files of 8 KiB", ["sha1sum", *self.small_files()])
        self.compare("xz -1, 4 times 10 MB", ["xz", "-1", "-T1", "-c", *[self.small_file()] * 4])
        git = f"git -C {self.repository()}"
        self.compare("git status and git log -p, 5,000 files", ["/bin/sh", "-c", f"{git} status; {git} --no-pager log -p"])

    def compare_build(self, title, program, arguments):
        """The build with ThreadSanitizer's instrumentation, against its own runtime and the plain build."""
        instrumented = [BENCH / f"{program}.tsan", *arguments]
        self.compare(f"{title}, ThreadSanitizer build", instrumented, native=[BENCH / program, *arguments],
                     others=[("libtsan", instrumented)])
