#!/usr/bin/env python3
"""`explain` names local variables, members, elements and objects of the heap as the program does."""
import json
import subprocess
import sys

from checking import demand, main, subjects

PROGRAM = """
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>
struct Account {
  int number = 0;
  volatile int balance = 0;
  __attribute__((noinline)) void add() {
    int seen = balance;
    balance = seen + 1;
  }
};
struct Bank {
  int opened = 0;
  Account first, second;
};
static Account* shared;
template <typename Add>
static int twice(Add add) {
  std::thread one(add), other(add);
  one.join();
  other.join();
  return 0;
}
// Earlier, something else is where the accounts on the stack will be.
static __attribute__((noinline)) int before() {
  volatile int other[64];
  for (int i = 0; i < 64; i++) other[i] = i;
  return other[63];
}
int main() {
  before();
  %s
  if (%s.balance != 2) std::exit(3);
}
"""
# Per object: the start of main, the expression for the account, and the name that a report must give its balance.
OBJECTS = {
    "local": ("Account mine; twice([&mine] { mine.add(); });", "mine", "mine.balance"),
    "pointer": ("Account* mine = new Account; twice([mine] { mine->add(); });", "(*mine)", "mine->balance"),
    "global": ("shared = new Account; twice([] { shared->add(); });", "(*shared)", "shared->balance"),
    "element": ("std::vector<Account> all(3); twice([&all] { all[1].add(); });", "all[1]", "all[1].balance"),
    "owned": ("auto mine = std::make_unique<Account>(); twice([&mine] { mine->add(); });", "(*mine)", "mine->balance"),
    "member": ("auto bank = std::make_shared<Bank>(); twice([bank] { bank->second.add(); });", "bank->second",
               "bank->second.balance"),
}


DEADLOCK = """
#include <mutex>
#include <thread>
#include <vector>
struct Vault {
  int number = 0;
  std::mutex door;
};
static void transfer(Vault& from, Vault& to) {
  std::lock_guard<std::mutex> first(from.door);
  std::lock_guard<std::mutex> second(to.door);
  to.number += from.number;
}
int main() {
  std::vector<Vault> bank(2);
  std::thread one([&bank] { transfer(bank[0], bank[1]); }), other([&bank] { transfer(bank[1], bank[0]); });
  one.join();
  other.join();
}
"""


# Without optimisation, the library code that takes a lock is a separate function, the same one for both lines.
TICKETS = """
#include <cstdlib>
#include <mutex>
#include <thread>
class Tickets {
 public:
  int reserve() {
    std::lock_guard<std::mutex> hold(lock_);
    return next_;
  }
  void commit(int number) {
    std::lock_guard<std::mutex> hold(lock_);
    next_ = number + 1;
  }
 private:
  std::mutex lock_;
  int next_ = 0;
};
int main() {
  Tickets tickets;
  int got[2];
  std::thread one([&] { got[0] = tickets.reserve(); tickets.commit(got[0]); });
  std::thread other([&] { got[1] = tickets.reserve(); tickets.commit(got[1]); });
  one.join();
  other.join();
  if (got[0] == got[1]) std::exit(3);
}
"""


def built(at, name, text, *flags):
    source = at.folder / f"{name}.cc"
    source.write_text(text)
    subprocess.run(["c++", "-g", *(flags or ("-O1", "-fsanitize=thread")), "-pthread", source, "-o", at.folder / name],
                   check=True, timeout=600)
    return at.folder / name


def check(at):
    for name in subjects(OBJECTS, "local", "element", "member"):
        begin, account, expected = OBJECTS[name]
        recording, found = at.folder / f"{name}.run", at.folder / f"{name}.found"
        at.reweave("record", "--seed", 1, "-o", recording, "--", built(at, name, PROGRAM % (begin, account)))
        at.reweave("explore", recording, "--first", "--verify", 1, "-o", found, accept=(10,))
        report = json.loads(at.reweave("explain", found / "failure-1", "--json", "--seconds", 100))
        named = {report["flips"][0][step]["object"] for step in ("first", "then")}
        demand(named == {expected}, f"{name}: the objects of the cause are called otherwise", named)
        demand(f" {expected} in Account::add" in report["cause"], f"{name}: the sentence", report["cause"])
        demand(expected in report["remedies"][-1]["text"], f"{name}: the remedy", report["remedies"])
        for step in report["failing"]["steps"]:
            demand(expected not in step["object"] or "Account::add" in step["place"] or "main" in step["place"],
                   f"{name}: the name of what is somewhere else", step)
    check_deadlock(at)
    builds = {"plain": ["-O0"], "tickets": ["-O0", "-fsanitize=thread"]}
    for name in subjects(builds, "plain"):
        check_user_lines(at, name, builds[name])


def check_user_lines(at, name, flags):
    """If the library takes a lock for the user, the user's line names the step, in any build."""
    recording, found = at.folder / f"{name}.run", at.folder / f"{name}.found"
    at.reweave("record", "--seed", 1, "-o", recording, "--", built(at, name, TICKETS, *flags))
    at.reweave("explore", recording, "--first", "--verify", 1, "-o", found, accept=(10,))
    report = json.loads(at.reweave("explain", found / "failure-1", "--json", "--seconds", 100, accept=(0, 11)))
    demand(report["cause_shown"], f"{name}: no cause is shown", report["flips"])
    for flip in report["flips"]:
        for step in (flip["first"], flip["then"]):
            demand(f"{name}.cc" in step["place"] and step["file"].endswith(f"{name}.cc"), f"{name}: a line of the library", step)
            demand("inside" not in step or "gthr" in step["inside"]["place"], f"{name}: inside of what", step)
    demand("gthr" not in report["cause"], f"{name}: the cause names the library", report["cause"])


def check_deadlock(at):
    """A thread in a deadlock never returns from the lock call. The report still names its lock as the holder does."""
    recording, found = at.folder / "deadlock.run", at.folder / "deadlock.found"
    at.reweave("record", "--seed", 1, "-o", recording, "--", built(at, "deadlock", DEADLOCK))
    at.reweave("explore", recording, "--first", "--verify", 1, "-o", found, accept=(10,))
    report = json.loads(at.reweave("explain", found / "failure-1", "--json", "--seconds", 100))
    named = [(wait["holds"]["object"], wait["wants"]["object"]) for wait in report["deadlock"]]
    doors = ["bank[0].door", "bank[1].door"]
    demand(sorted(named) == [tuple(doors), tuple(reversed(doors))], "the locks are called otherwise", named)
    demand(all(f"the mutex {door} in" in report["failure"] for door in doors), "the failure names other locks", report["failure"])


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
