#!/usr/bin/env python3
"""The cause that `explain` names is the one that the program's lines mark.

The programs in causes/*.cc are written like ordinary programs. `//!` marks a line that the first sentence of the cause
must name, `//?` a line that it may name. It must name no other line. Some have a correct twin, *_ok.cc, which
`scripts/bench explain` compares them with. Their remedies are of the kind that the twin's author chose, or another one
that prevents the failure. --show prints the causes of all programs.
"""
import json
import pathlib
import re
import subprocess
import sys

from checking import demand, failing, main, subjects

FOLDER = pathlib.Path(__file__).with_name("causes")
SHOW = "--show" in sys.argv
PATIENT = ("--seconds", "300")  # enough for all experiments, also on a busy machine
IN_CI = ("accounts", "enrolment", "event_bus", "gate", "index_pool", "ledger", "route_cache", "settings", "snapshot",
         "stale_cache", "stencil", "task_group", "ticker", "viewport")
# The advice and a part of its words.
REMEDIES = {
    "catalog": ("lock_order", "catalog.mutex_, index.mutex_, journal.mutex_"),
    "download": ("wait", "before main (download.cc:32) until Download::finish (download.cc:15)"),
    "drain": ("hold_around", "server.mutex_, which thread 0 takes in Server::drain (drain.cc:16), around Server::end (drain.cc:12)"),
    "event_bus": ("hold_over", "bus.mutex_ over Bus::subscribe (event_bus.cc:15-17) and over Bus::close (event_bus.cc:21-23)"),
    "image_cache": ("hold_over", "cache.mutex_ over ImageCache::get (image_cache.cc:18-23) without releasing it"),
    "index_pool": ("hold_over", "one lock over IndexPool::pop (index_pool.cc:16-17) and over IndexPool::push (index_pool.cc:24-25)"),
    "latch": ("wait", "until Latch::release (latch.cc:13)"),
    "ledger": ("lock_order", "ledger.giro_.mutex before ledger.landlord_.mutex both in Ledger::pay_rent (ledger.cc:13) and in "
                             "Ledger::refund (ledger.cc:19)"),
    "limiter": ("hold_over", "Limiter::admit (limiter.cc:12-13) and around other uses of limiter.tokens_"),
    "meter": ("hold_over", "one lock over Meter::add (meter.cc:9-10) and over Meter::mean (meter.cc:13-14)"),
    "philosophers": ("lock_order", "table.forks[0], table.forks[1], table.forks[2]; they are taken in eat (philosophers.cc:10)"),
    "poller": ("wait", "before Poller::poll (poller.cc:16) until Poller::Poller (poller.cc:10)"),
    "settings": ("swap", "settings.limit_ in Settings::load (settings.cc:20) before settings.loaded_"),
    "snapshot": ("hold_over", "one lock over count (snapshot.cc:22) and over Store::publish (snapshot.cc:16)"),
    "stencil": ("wait_for_all", "before Stencil::step (stencil.cc:38) until every thread has executed Stencil::step (stencil.cc:37)"),
    "task_group": ("wait_for_use", "before main (task_group.cc:46) until every thread that executes TaskGroup::begin "
                                   "(task_group.cc:15), called by work (task_group.cc:34), has used *group"),
    "ticker": ("hold_around", "ticker.mutex_, which thread 1 takes in Ticker::run (ticker.cc:18), around Ticker::~Ticker (ticker.cc:11)"),
    "viewport": ("hold_over", "one lock over Viewport::area (viewport.cc:25-26) and over Viewport::rotate (viewport.cc:21-22)"),
    "wallet": ("hold_over", "wallet.mutex_ over Wallet::withdraw (wallet.cc:9-10) without releasing it"),
}
USES_GOOGLE_TEST = {"limiter"}


def marked(source, mark):
    return {number for number, line in enumerate(source.read_text().splitlines(), 1) if line.rstrip().endswith(mark)}


def built(at, name):
    program = at.folder / f"{name}.program"
    libraries = ["-lgtest", "-lgtest_main"] if name in USES_GOOGLE_TEST else []
    subprocess.run(["c++", "-g", "-O1", "-std=c++17", "-fsanitize=thread", "-pthread", FOLDER / f"{name}.cc", "-o", program,
                    *libraries], check=True, timeout=600)
    return program


def check(at):
    source_names = sorted(path.stem for path in FOLDER.glob("*.cc") if not path.stem.endswith("_ok"))
    if not pathlib.Path("/usr/include/gtest/gtest.h").exists():
        source_names = [name for name in source_names if name not in USES_GOOGLE_TEST]
    for name in subjects(source_names, *(source_names if SHOW else IN_CI)):
        source = FOLDER / f"{name}.cc"
        report = json.loads(at.reweave("explain", failing(at, name, built(at, name)), "--json", *PATIENT, accept=(0, 11)))
        sentence = report["cause"].split("\n")[0]
        named = {int(line) for line in re.findall(rf"\({name}\.cc:(\d+)\)", sentence)}
        if SHOW:
            print(f"== {name}: {report['failure']}\n{report['cause']}")
            for remedy in report["remedies"]:
                print(f"  remedy: {remedy['text']}: {remedy['rate']['failed']} of {remedy['rate']['tried']}")
            print(f"  missing {sorted(marked(source, '//!') - named)}, wrong {sorted(named - marked(source, '//!') - marked(source, '//?'))}",
                  flush=True)
            continue
        demand(report["cause_shown"] or report["deadlock"], f"{name}: no cause is shown", report["cause"])
        demand(marked(source, "//!") <= named, f"{name}: the cause lacks {sorted(marked(source, '//!') - named)}", sentence)
        allowed = marked(source, "//!") | marked(source, "//?")
        demand(named <= allowed, f"{name}: the cause names {sorted(named - allowed)}", sentence)
        if name in REMEDIES:
            check_remedy(name, report, *REMEDIES[name])


def check_remedy(name, report, advice, words):
    demand(report["remedies"], f"{name}: no remedy", report["cause"])
    remedy = report["remedies"][-1]
    demand(remedy["advice"] == advice and words in remedy["text"], f"{name}: another remedy", remedy["text"])
    demand(remedy["rate"]["failed"] == 0 and remedy["rate"]["tried"] > 0, f"{name}: it fails with its remedy", remedy["rate"])


if __name__ == "__main__":
    if SHOW:
        sys.argv.remove("--show")
    sys.exit(main(check, __doc__))
