"""Reports whose texts try to act as markup or script, and long reports."""
import copy
import subprocess

# "\u00ff" is the byte 0xff to render_report.
HOSTILE = ["</script><script>injected=1</script>", "<img src=x onerror=injected=1>", "\"><svg onload=injected=1>",
           "' onmouseover='injected=1", "\u202egnp.exe\u2066", "\0\x01\x1b[31m\x7f\x9b", "\u00ff\u00ff\u00ff<b>", "]]>--><!--",
           "${injected=1}`\\u003cb>", "javascript:injected=1", "&lt;b&gt;&amp;", "\u2028\u2029\ufeff\uffff", "__proto__",
           "constructor", "<style>*{display:none}</style>", "A" * 5000, "<base href=//x.example>", "{{7*7}}", "%s%n\n\n\t"]


def hostile_report(report):
    """Returns the report with a hostile text in place of each of its texts."""
    number = 0

    def change(value, name):
        nonlocal number
        if isinstance(value, dict):
            return {key: change(member, key) for key, member in value.items()}
        if isinstance(value, list):
            return [change(member, name) for member in value]
        if not isinstance(value, str) or name in ("format", "kind"):
            return value
        number += 1
        return HOSTILE[number % len(HOSTILE)] + value * (number % 2)

    changed = change(copy.deepcopy(report), "")
    changed["notes"] = list(HOSTILE)
    changed["cause"] = " ".join(HOSTILE)
    changed["outcome"] = HOSTILE[1] + HOSTILE[0] + "\n" + HOSTILE[2]
    changed["last_words"] = "".join(HOSTILE)
    return changed


def hostile_program(folder):
    """Builds a program that loses an update, from a file whose path ends a script. Returns it and the file's name."""
    place = folder / "<"
    place.mkdir()
    name = "script><img src=x onerror=injected=1>\"'&.c"
    source = place / name
    source.write_text(r"""
#include <pthread.h>
#include <stdlib.h>
static long injected;
static void *add(void *unused) {
  long seen = injected;  // </script><script>injected=1</script>
  injected = seen + 1;
  return unused;
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, add, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  if (injected != 2) abort();
  return 0;
}
""")
    program = folder / "odd_program"
    subprocess.run(["gcc", "-g", "-O0", "-fsanitize=thread", "-pthread", "-o", program, source], check=True, timeout=600)
    return program, name


def long_report(report, count, different, objects=30):
    """Returns the report with steps inserted before those of its two schedules, so that each has `count` steps."""
    report = copy.deepcopy(report)
    old = report["failing"]["steps"]
    shift = 2 * count
    for side in ("failing", "passing"):
        steps = filler(old[0], count - len(report[side]["steps"]), side, different, objects)
        move(report[side]["steps"], shift)
        report[side]["steps"] = steps + report[side]["steps"]
        report[side].update(choices=report[side]["choices"] + shift, left_out=0, events=len(report[side]["steps"]))
    for flip in report["flips"]:
        move([flip["first"], flip["then"], *flip.get("block", {}).values()], shift)
    for remedy in report["remedies"]:
        move([remedy["begin"], remedy["end"]], shift)
    for point in report["curve"][1:]:
        point["choice"] += shift
    return report


def filler(model, count, side, different, objects):
    steps, times = [], {}
    choice = 0
    for i in range(count):
        length = 9 if different and side == "passing" else 7
        thread = i // length % 6
        line, number = 100 + i * 7 % 300, i * 11 % objects
        key = (thread, line, number)
        times[key] = times.get(key, 0) + 1
        function = f"work_on_part_{line % 20}"
        steps.append({**model, "thread": thread, "does": "writes" if line % 3 else "reads", "object": f"table+{number * 8}",
                      "function": function, "line": line, "file": "/src/worker.c", "place": f"{function} (worker.c:{line})",
                      "source": f"table[{number % 8}].parts[index] += weight_of(part_{line}, &settings);",
                      "number": times[key], "choice": choice})
        choice += 1 + i % 3
    return steps


def move(steps, shift):
    for step in {id(step): step for step in steps}.values():
        step["choice"] += shift
