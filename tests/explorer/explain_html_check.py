#!/usr/bin/env python3
"""The HTML report of `explain` in a real browser: what it shows, its keys, hostile texts, and its size.

Needs Chromium (Debian: chromium), and is skipped without it: status 77.
"""
import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

import jsonschema

from checking import demand, main
from chromium import Chromium, find_chromium
from explain_check import failing
from hostile_reports import HOSTILE, hostile_program, hostile_report, long_report

HERE = pathlib.Path(__file__).resolve().parent
MOST_BYTES, MOST_ELEMENTS = 400_000, 6000


def check(at):
    program = find_chromium()
    with Chromium(program) as browser:
        real = files_of_one_run(at)
        shows_what_the_report_says(browser, real)
        without_scripts(browser, real)
        kept = json.loads((HERE / "reports" / "bank_account.json").read_text())
        kept = {"path": page_of(at, kept, "kept.html"), "report": kept}
        keyboard(browser, kept)
        links(browser, kept)
        tables(browser, kept)
        deadlock(at, browser)
        hostile_names(at, browser)
        hostile_sources(at, browser)
        ten_thousand_steps(at, browser)
        nothing_found(at, browser)


def render(at, form, report, name="some/recording"):
    command = [at.build / "tests" / "explorer" / "render_report", form, name]
    return subprocess.run(command, input=json.dumps(report).encode(), stdout=subprocess.PIPE, check=True, timeout=600).stdout


def page_of(at, report, name="page.html", recording="some/recording"):
    path = at.folder / name
    path.write_bytes(render(at, "html", report, recording))
    return path


def files_of_one_run(at):
    """Explains bank_account in all forms at once. Existing files are never overwritten."""
    recording = failing(at, "bank_account")
    paths = {form: at.folder / f"report.{form}" for form in ("html", "sarif", "junit")}
    options = [part for form, path in paths.items() for part in (f"--{form}", path)]
    report = json.loads(at.reweave("explain", recording, "--json", *options))
    for form, path in paths.items():
        demand(path.stat().st_mode & 0o777 == 0o600, f"{form}: others may read it", oct(path.stat().st_mode))
        before = path.read_bytes()
        said = at.reweave("explain", recording, f"--{form}", path, accept=(2,))
        demand(said.count("\n") == 1 and "exists already" in said and path.read_bytes() == before, "overwritten", said)
    twice = at.folder / "twice"
    said = at.reweave("explain", recording, "--html", twice, "--junit", twice, accept=(2,))
    demand("two output files" in said and not twice.exists(), "one name for two output files", said)
    said = at.reweave("explain", recording, "--html", at.folder / "no" / "folder.html", accept=(2,))
    demand(said.count("\n") == 1, "a folder that is not there", said)
    check_sarif(json.loads(paths["sarif"].read_text()), report)
    check_junit(paths["junit"].read_bytes(), report)
    return {"path": paths["html"], "report": report, "recording": recording}


def check_sarif(sarif, report):
    schema = json.loads((HERE.parent / "predictor" / "sarif.schema.json").read_text())
    jsonschema.Draft7Validator(schema, format_checker=jsonschema.FormatChecker()).validate(sarif)
    result, = sarif["runs"][0]["results"]
    demand(result["ruleId"] == "atomicity" and report["cause"] in result["message"]["text"], "SARIF: another cause", result)
    flows = result["codeFlows"][0]["threadFlows"]
    lines = {flow["id"]: [place["location"]["physicalLocation"]["region"]["startLine"] for place in flow["locations"]]
             for flow in flows}
    demand(sorted(lines.values()) == [[23, 27], [27]], "SARIF: the flows of the threads", lines)
    order = sorted(place["executionOrder"] for flow in flows for place in flow["locations"])
    demand(order == [1, 2, 3], "SARIF: the order of execution", order)


def check_junit(text, report):
    root = xml.etree.ElementTree.fromstring(text)
    failure = root.find("./testsuite[@tests='1'][@failures='1']/testcase/failure")
    demand(failure is not None and failure.get("message") == report["cause"].splitlines()[0] and
           report["cause"] in failure.text, "JUnit: another failure", text)


def flat(text):
    return " ".join(text.split())


def text_of(browser, selector="body"):
    return flat(browser.value(f"document.querySelector({json.dumps(selector)}).innerText"))


def quiet(browser, what):
    demand(browser.complaints() == [], f"{what}: console, policy or requests", "\n".join(browser.complaints()))


def open_page(browser, path, **options):
    """Opens a report, and waits for its script."""
    browser.open(path, ready="document.documentElement.dataset.ready === 'yes'", **options)


def shows_what_the_report_says(browser, real):
    report = real["report"]
    open_page(browser, real["path"])
    quiet(browser, "a real report")
    seen = text_of(browser)
    flip = report["flips"][0]
    wanted = [report["outcome"], report["last_words"], report["cause"].splitlines()[0][1:], str(report["runs"]),
              f"reweave replay -g end {real['recording']}", report["remedies"][-1]["text"][1:], "inevitable from here on"]
    wanted += [event["source"] for event in flip["block"].values()]
    for name in ("reversed", "forced", "avoided"):
        wanted.append(f"{flip[name]['failed']} of {flip[name]['tried']}")
    for text in wanted:
        demand(flat(text) in seen, f"the page does not say: {text}", seen)
    demand(browser.value("document.querySelectorAll('tr[data-flip]').length") == len(report["flips"]), "rows of flips", "")
    shown = browser.value("document.querySelectorAll('a.cell.failing').length")
    folded = browser.value("[...document.querySelectorAll('.fold')].reduce((n, f) => n + f.dataset.to * 1 - f.dataset.from, 0)")
    demand(shown + folded == len(report["failing"]["steps"]), "steps of the failing schedule", f"{shown} and {folded}")
    for side in ("failing", "passing"):
        arrows = browser.value(f"document.querySelectorAll('.arrow.{side}').length")
        demand(arrows == 2, f"arrows in the {side} schedule", arrows)
    for dark in (False, True):
        for width in (1400, 700):
            open_page(browser, real["path"], width=width, dark=dark)
            wide = browser.value("document.documentElement.scrollWidth")
            demand(wide <= width, f"wider than a window of {width}", wide)
            quiet(browser, f"{width}, dark {dark}")


def without_scripts(browser, real):
    report = real["report"]
    open_page(browser, real["path"], scripts=False)
    document = browser.call("DOM.getDocument", depth=-1)
    html = browser.call("DOM.getOuterHTML", nodeId=document["root"]["nodeId"])["outerHTML"]
    for text in (report["cause"].splitlines()[0][1:], report["remedies"][-1]["text"][1:], "schedules are drawn by a script"):
        demand(text in html, f"without scripts the page does not say: {text}", "")
    demand(html.count("data-flip=") == len(report["flips"]), "without scripts: the table of flips", "")
    quiet(browser, "without scripts")


def focus(browser):
    return browser.value("document.activeElement.id || document.activeElement.className")


def keyboard(browser, real):
    open_page(browser, real["path"])
    flip = real["report"]["flips"][0]
    browser.press("j")
    demand(focus(browser) == f"failing-{flip['block']['begin']['choice']}", "j begins at the cause", focus(browser))
    start = focus(browser)
    browser.press("j")
    demand(focus(browser) not in (start, "", "body"), "j moves", focus(browser))
    browser.press("k")
    demand(focus(browser) == start, "k moves back", focus(browser))
    browser.press("ArrowDown")
    browser.press("ArrowUp")
    demand(focus(browser) == start, "arrows move", focus(browser))
    browser.press("l")
    demand(focus(browser).startswith("passing-"), "l: the other schedule", focus(browser))
    browser.press("h")
    demand(focus(browser).startswith("failing-"), "h: back", focus(browser))
    browser.press("Enter")
    demand(browser.value("document.querySelectorAll('.detail').length") == 1, "Enter says more of a step", "")
    browser.press("Enter")
    demand(browser.value("document.querySelectorAll('.detail').length") == 0, "Enter says it no longer", "")
    browser.press("?")
    demand(browser.value("document.querySelector('#help').open"), "? opens the help", "")
    browser.press("Escape")
    demand(not browser.value("document.querySelector('#help').open"), "Esc closes the help", "")
    folding(browser)
    quiet(browser, "the keyboard")


def folding(browser):
    folds = browser.value("document.querySelectorAll('.fold').length")
    demand(folds > 0, "equal steps are folded", "")
    rows = browser.value("document.querySelectorAll('.row').length")
    for _ in range(100):
        browser.press("k")
        if focus(browser) == "fold":
            break
    browser.press("Enter")
    demand(browser.value("document.querySelectorAll('.fold').length") < folds, "Enter unfolds", focus(browser))
    demand(browser.value("document.querySelectorAll('.row').length") > rows, "what was folded is shown", "")
    demand(focus(browser).startswith("failing-"), "and has the focus", focus(browser))
    browser.press("f")
    demand(browser.value("document.querySelectorAll('.fold').length") == folds, "f folds again", "")


def links(browser, real):
    """An address that names a step shows that step, even if it was folded away."""
    first = real["report"]["failing"]["steps"][0]["choice"]
    open_page(browser, real["path"])
    demand(browser.value(f"document.getElementById('failing-{first}')") is None, "the first step is not folded away", "")
    open_page(browser, real["path"], fragment=f"#failing-{first}")
    demand(focus(browser) == f"failing-{first}", "a link to a step", focus(browser))
    browser.value("document.querySelectorAll('tr[data-flip] button')[1].click()")
    browser.settle()
    current = browser.value("document.querySelector('tr[aria-current=true]').dataset.flip")
    demand(current == "1", "another pair is looked at", current)
    quiet(browser, "links")


def tables(browser, real):
    open_page(browser, real["path"])
    browser.value("document.querySelector('#step-tables').open = true")
    browser.settle()
    rows = browser.value("[...document.querySelectorAll('table.plain')].map(t => t.tBodies[0].rows.length)")
    demand(rows == [len(real["report"][side]["steps"]) for side in ("failing", "passing")], "rows of the tables", rows)
    first = real["report"]["failing"]["steps"][0]
    seen = text_of(browser, "table.plain tbody tr")
    demand(seen.startswith(f"{first['choice']} {first['thread']} {first['does']} {first['object']}"), "first row", seen)


def deadlock(at, browser):
    path = at.folder / "deadlock.html"
    at.reweave("explain", failing(at, "lock_order"), "--html", path)
    open_page(browser, path)
    quiet(browser, "a deadlock")
    demand("waits for second.lock in transfer" in text_of(browser, "#cause"), "the cycle", text_of(browser, "#cause"))


def hostile_names(at, browser):
    """The page shows any texts of a report as text and nothing else."""
    report = hostile_report(json.loads((HERE / "reports" / "bank_account.json").read_text()))
    path = page_of(at, report, "hostile.html", "/tmp/'\"><script>alert(1)</script>")
    open_page(browser, path, scripts=False)
    open_page(browser, path)
    quiet(browser, "hostile names")
    demand(browser.value("document.querySelectorAll('img, iframe, object, form[action], b b').length") == 0, "injected", "")
    demand(browser.value("document.scripts.length") == 2, "another script", "")
    demand(browser.value("typeof injected") == "undefined", "a name was executed", "")
    demand(browser.value("[...document.querySelectorAll('*')].every(e => e.getAttributeNames().every(a => !a.startsWith('on')))"),
           "an attribute that is a script", "")
    html = path.read_text(encoding="utf-8")  # raises unless it is valid UTF-8
    demand(not re.search("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", html), "control characters", "")
    seen = text_of(browser)
    for text in ("<img src=x onerror=injected=1>", "</script><script>injected=1</script>", "\u2039U+202E\u203a", "\ufffd"):
        demand(text in seen, f"not shown: {text}", seen)
    browser.press("j")
    demand(focus(browser).startswith("failing-"), "the keyboard works no longer", focus(browser))
    for form in ("sarif", "junit"):
        text = render(at, form, report, HOSTILE[0]).decode()
        xml.etree.ElementTree.fromstring(text) if form == "junit" else json.loads(text)


def hostile_sources(at, browser):
    """A program whose source file has a hostile name, from its run to the page."""
    program, words = hostile_program(at.folder)
    at.reweave("record", "-o", at.folder / "odd", "--", program, accept=range(256))
    at.reweave("explore", at.folder / "odd", "--first", "--verify", "1", "-o", at.folder / "odd.found", accept=(0, 10))
    path = at.folder / "odd.html"
    recording = at.folder / "odd.found" / "failure-1" if (at.folder / "odd.found" / "failure-1").exists() else at.folder / "odd"
    at.reweave("explain", recording, "--html", path)
    open_page(browser, path)
    quiet(browser, "a hostile file name")
    demand(words in text_of(browser, "#cause"), "the name of the file", text_of(browser, "#cause"))
    demand(browser.value("document.querySelectorAll('img').length") == 0, "injected", "")


def ten_thousand_steps(at, browser):
    for different in (False, True):
        report = long_report(json.loads((HERE / "reports" / "bank_account.json").read_text()), 10_000, different)
        demand(render(at, "check", report).decode() == "borne out\n", "the report is not borne out", render(at, "check", report))
        path = page_of(at, report, f"long-{different}.html")
        demand(path.stat().st_size <= MOST_BYTES, "the page is too large", path.stat().st_size)
        open_page(browser, path)
        quiet(browser, "many steps")
        elements = browser.value("document.querySelectorAll('*').length")
        demand(elements <= MOST_ELEMENTS, "too many elements at once", elements)
        count = browser.value("document.querySelector('.legend:not(.dots) > span:last-child').textContent")
        demand(count.startswith("threads; 10000 steps"), "steps were left out", count)
        paint = browser.value("""new Promise(done => {
            new PerformanceObserver(list => done(Math.round(list.getEntries()[0].startTime))).observe({type: 'paint', buffered: true});
            setTimeout(() => done(null), 3000);
        })""")
        print(f"10,000 steps: {path.stat().st_size} bytes, {elements} elements, painted after {paint} ms")
        middle = report["failing"]["steps"][2500]["choice"]
        browser.value(f"location.hash = '#failing-{middle}'")
        browser.settle()
        demand(focus(browser) == f"failing-{middle}", "a link to one of many steps", focus(browser))
    larger = long_report(json.loads((HERE / "reports" / "bank_account.json").read_text()), 10_000, True, objects=10_000)
    path = page_of(at, larger, "larger.html")
    demand(path.stat().st_size <= MOST_BYTES, "the page of many objects is too large", path.stat().st_size)
    open_page(browser, path)
    quiet(browser, "many objects")
    demand("are not in this file" in text_of(browser, ".heads"), "what is left out", text_of(browser, ".heads"))
    demand(browser.value("document.querySelectorAll('.arrow.failing').length") == 2, "the cause is left out", "")


def nothing_found(at, browser):
    """Reports without a cause and a passing run, and then also without any step."""
    report = json.loads((HERE / "reports" / "bank_account.json").read_text())
    for list_ in ("flips", "curve", "patterns", "remedies"):
        report[list_] = []
    report.update(passing=None, inevitable=None, inevitable_step=None, cause="", cause_shown=False, notes=["this and that"])
    for steps in (report["failing"]["steps"], []):
        report["failing"]["steps"] = steps
        path = page_of(at, report, f"nothing-{len(steps)}.html")
        open_page(browser, path)
        quiet(browser, "no cause")
        seen = text_of(browser)
        demand("No order of events was found" in seen and "this and that" in seen, "no cause", seen)
        browser.press("j")
        browser.press("n")
        browser.press("c")
        quiet(browser, "keys without a cause")
    sarif = json.loads(render(at, "sarif", report))
    schema = json.loads((HERE.parent / "predictor" / "sarif.schema.json").read_text())
    jsonschema.Draft7Validator(schema).validate(sarif)
    demand(sarif["runs"][0]["results"] == [], "SARIF: a result without a cause", sarif)


if __name__ == "__main__":
    if find_chromium() is None:
        print("skipped: there is no Chromium (Debian: apt-get install chromium)")
        sys.exit(77)
    sys.exit(main(check, __doc__))
