#!/usr/bin/env python3
"""The verb suspects: pairs of accesses that may race, found without running the program, and the pairs that it leaves out."""
import json
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from scratch_case import ScratchCase

PROGRAMS = pathlib.Path(__file__).resolve().parents[1] / "programs"
LIMIT = 300  # seconds
BAD_INPUT = 2

# Each line with a mark "A" may race with each of the same mark, lines with "-" with none.
RULES = r"""
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct item { pthread_mutex_t lock; long value; struct item* next; };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct item items[4];
static struct item* list;
static long bare, locked, wrong, published, constant = 1, slots[4], halves, first_use, shared_read, handed;
static _Atomic long counter;
static __thread long own;
static void (*hook)(long);
static void add(long by) { bare += by; }             // A
static void init(void) { first_use = 1; }            // -
static void use_items(struct item* one, struct item* two) {
  pthread_mutex_lock(&one->lock);
  one->value++;                                      // B
  two->value++;                                      // B
  pthread_mutex_unlock(&one->lock);
}
static void* work(void* given) {
  struct item* mine = given;
  hook(1);
  pthread_mutex_lock(&lock);
  locked++;                                          // -
  wrong++;                                           // C
  pthread_mutex_unlock(&lock);
  counter++;                                         // -
  own++;                                             // -
  mine->value++;                                     // -
  pthread_once(&once, init);
  long seen = first_use + constant + published;      // -
  halves += seen;                                    // D
  pthread_barrier_wait(&barrier);
  seen += halves;                                    // -
  pthread_rwlock_rdlock(&rw);
  shared_read += seen;                               // E
  pthread_rwlock_unlock(&rw);
  struct item* added = calloc(1, sizeof *added);
  added->value = seen;                               // -
  pthread_mutex_lock(&lock);
  added->next = list;                                // -
  list = added;                                      // -
  pthread_mutex_unlock(&lock);
  return NULL;
}
static void* give(void* given) {
  long index = (long)given;
  pthread_mutex_lock(&other);
  wrong++;                                           // C
  pthread_mutex_unlock(&other);
  use_items(&items[index & 3], &items[(index + 1) & 3]);
  handed = index;                                    // F
  return NULL;
}
int main(int argc, char** argv) {
  (void)argv;
  pthread_t threads[8], more[8];
  struct item* own_items = calloc((size_t)argc, sizeof *own_items);
  published = 3;                                     // -
  hook = add;
  pthread_barrier_init(&barrier, NULL, (unsigned)argc);
  for (int i = 0; i < argc; i++) pthread_create(&threads[i], NULL, work, &own_items[i]);
  for (long i = 0; i < argc; i++) pthread_create(&more[i], NULL, give, (void*)i);
  for (int i = 0; i < argc; i++) pthread_join(threads[i], NULL);
  locked = bare + own_items[0].value;                // -
  long late = handed;                                // F
  for (int i = 0; i < argc; i++) pthread_join(more[i], NULL);
  while (list != NULL) {                             // -
    struct item* next = list->next;                  // -
    free(list);                                      // -
    list = next;                                     // -
  }
  return (int)(late + wrong + handed + slots[0]);    // -
}
"""

THREADS = r"""
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
class Bank {
 public:
  void deposit(const std::string& owner, long amount) {
    std::lock_guard<std::mutex> hold(mutex_);
    accounts_[owner] += amount;
  }
  void close(const std::string& owner) { accounts_.erase(owner); }  // without the lock
  long total() {
    std::unique_lock<std::mutex> hold(mutex_);
    long sum = 0;
    for (const auto& [owner, amount] : accounts_) sum += amount;
    return sum;
  }
 private:
  std::mutex mutex_;
  std::map<std::string, long> accounts_;
};
int main() {
  auto bank = std::make_shared<Bank>();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back([bank, i] { bank->deposit("owner " + std::to_string(i), i); });
  threads.emplace_back([bank] { bank->close("owner 1"); });
  for (std::thread& thread : threads) thread.join();
  return static_cast<int>(bank->total());
}
"""


class Suspects(ScratchCase):
    def built(self, name, text, *flags, plus_plus=False):
        suffix, compiler = ("cc", "reweave-c++") if plus_plus else ("c", "reweave-cc")
        source, program = self.folder / f"{name}.{suffix}", self.folder / name
        source.write_text(text)
        subprocess.run([self.build / "recorder/compiler" / compiler, *(["-std=c++17"] if plus_plus else []), "-g",
                        "-pthread", *flags, source, "-o", program],
                       check=True, timeout=LIMIT)
        return program

    def asked(self, *arguments, status=0):
        done = subprocess.run([self.build / "reweave", "suspects", *arguments], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertEqual(done.returncode, status, done.stdout[-2000:] + done.stderr)
        return done.stdout if status == 0 else done.stderr

    def pairs(self, program):
        """Returns the suspected pairs of lines, each in ascending order."""
        told = json.loads(self.asked("--json", program))
        return {tuple(sorted((pair["first"]["line"], pair["second"]["line"]))) for pair in told["suspects"]}

    def test_rules(self):
        marks = {number: line.rsplit("//", 1)[1].strip() for number, line in enumerate(RULES.splitlines(), 1)
                 if "//" in line}
        right = {(a, b) for a in marks for b in marks if a <= b and marks[a] == marks[b] != "-"}
        # The main thread reads once; and threads of both kinds hold the same lock at both places of the same kind.
        lines = RULES.splitlines()
        right = {(a, b) for a, b in right if a != b or ("late = " not in lines[a - 1] and "wrong++" not in lines[a - 1]
                                                       and "one->value" not in lines[a - 1])}
        for level in ("-O0", "-O1", "-O2"):
            found = self.pairs(self.built(f"rules{level}", RULES, level))
            self.assertEqual({marks.get(a, "?") + marks.get(b, "?") for a, b in found - right}, set(), level)
            self.assertEqual({marks[a] for a, b in right - found}, set(), level)

    def test_classes_and_std_thread(self):
        for level in ("-O0", "-O2"):
            program = self.built(f"threads{level}", THREADS, level, plus_plus=True)
            found = self.pairs(program)
            deposit, close = 12, 14
            self.assertIn((deposit, close), found)
            self.assertLessEqual({line for pair in found for line in pair}, {deposit, close})

    def test_races_of_the_subjects_are_suspected(self):
        """The races that a run shows are suspected."""
        for name in ("spin_flag", "publish_before_init", "wrong_lock", "ray_tracer", "account", "refcount_uaf"):
            program = self.built(name, (PROGRAMS / f"{name}.c").read_text(), "-O1")
            recording = self.folder / f"{name}-recording"
            subprocess.run([self.build / "reweave", "record", "-q", "-o", recording, "--", program], timeout=LIMIT,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            told = json.loads(subprocess.run(
                [self.build / "reweave", "predict", recording, "--json", "--analysis", "shb"], capture_output=True,
                text=True, timeout=LIMIT, check=False).stdout)
            races = {tuple(sorted(event["site"].get("line", 0) for event in finding["events"][:2]))
                     for finding in told["findings"] if finding["kind"] == "race"}
            self.assertLessEqual(races, self.pairs(program), name)

    def test_reports(self):
        program = self.built("race", (PROGRAMS / "wrong_lock.c").read_text(), "-O1")
        text = self.asked(program)
        self.assertRegex(text, r"\A\d+ functions of 1 module, \d+ accesses to memory, \d+ pairs? suspected; threads begin in main, ")
        self.assertRegex(text, r"\n1\. \w+\n   (updates|writes|reads)  +in \w+ \(race\.c:\d+\), in threads of \w+")
        sarif = json.loads(self.asked("--sarif", program))
        self.assertEqual(sarif["version"], "2.1.0")
        [result, *_] = sarif["runs"][0]["results"]
        self.assertTrue(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith("race.c"))
        self.assertIn("not suspected, though they conflict", self.asked("--all", program))

    def test_what_cannot_be_examined(self):
        plain = self.compiled("plain", "int main(void) { return 0; }")
        self.assertRegex(self.asked(plain, status=BAD_INPUT), r"was not compiled by reweave-cc or reweave-c\+\+")
        library = self.built("library.so", "int f(void) { return 0; }", "-shared", "-fPIC")
        self.assertRegex(self.asked(library, status=BAD_INPUT), r"has no function main")
        self.asked(self.folder / "nothing", status=BAD_INPUT)

    def test_damaged_summaries(self):
        program = self.built("damaged", (PROGRAMS / "bank_account.c").read_text(), "-O0")
        section = self.folder / "section"
        subprocess.run(["objcopy", "--dump-section", f"reweave_summary={section}", program], check=True, timeout=LIMIT)
        whole, summary = program.read_bytes(), section.read_bytes()
        at = whole.index(summary)
        draws = random.Random(1)
        statuses = set()
        for _ in range(150):
            damaged = bytearray(summary)
            for _ in range(draws.randint(1, 4)):
                damaged[draws.randrange(len(damaged))] = draws.choice((0, 1, 0x7f, 0x80, 0xff, draws.randrange(256)))
            program.write_bytes(whole[:at] + damaged + whole[at + len(damaged):])
            done = subprocess.run([self.build / "reweave", "suspects", "--json", program], stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=LIMIT, check=False)
            statuses.add(done.returncode)
        self.assertEqual(statuses, {0, BAD_INPUT})


if __name__ == "__main__":
    Suspects.main()
