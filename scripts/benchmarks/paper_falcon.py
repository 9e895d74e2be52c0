"""The table of "Falcon: Fault Localization in Concurrent Programs"."""
import math

from benchmarks.paper_table import PaperTable, Row, fewer_is_better
from benchmarks.searching import explained, failing_recording, on_each_processor

SECONDS = 30  # of explain
# The paper's program: ours with its arguments, the rank of the true pattern (table 4), and parts of the source lines that
# are the bug. A pattern is true if all of its accesses are at these lines.
PROGRAMS = {
    "Account": ("account", 2, ("to->money = to->money + amount", "from->money = from->money - amount")),
    "AirlineTickets": ("airline_tickets", 1, ("if (sold < seats)", "sold = sold + 1")),
    "BubbleSort2": ("bubble_sort2", 1, ("if (v[i] > v[i + 1])", "int greater = v[i]", "v[i] = v[i + 1]",
                                        "v[i + 1] = greater")),
    "BufWriter": ("buf_writer", 1, ("int at = used", "used = at + 1")),
    "Lottery": ("lottery", 1, ("unsigned number = state", "state = number")),
    "MergeSort": ("merge_sort", 1, ("int index = top - 1", "top = index")),
    "Shop": ("shop", 2, ("int there = stock > 0", "stock--")),
    "ArrayList": ("array_list", 1, ("int size = l->size", "if (at >= l->size)", "l->size = 0")),
    "HashSet": ("hash_set", 1, ("int expected = other->changes", "other->changes != expected", "s->changes++")),
    "StringBuffer": ("string_buffer", 1, ("size_t length = b->length", "assert(count <= b->length", "b->length = 0")),
    "TreeSet": ("tree_set", 2, ("while (*at != NULL", "*find(value) != NULL", "assert(*at == NULL", "*at = calloc")),
    "Vector": ("vector", 1, ("int size = v->count", "i < v->count", "source.count = 0")),
    "Cache4j": ("cache_cleaner", 1, ("sleeping = 1", "handler_ready = 1", "if (sleeping)", "!handler_ready && sleeping")),
    "RayTracer": ("ray_tracer", 2, ("checksum += mine",)),
}
ORDER_VIOLATIONS = ("Cache4j",)  # the true pattern has two accesses; that of an atomicity violation has three


class Ranks(PaperTable):
    """The rank of the first true pattern among the patterns that `explain` ranks: over the failing run and 100 random
    schedules, with a window of 5. As in the paper, only patterns of the bug's kind count. Where patterns are equally
    suspicious, the best and the worst rank."""

    title = "Falcon: rank of the true access pattern by suspiciousness"
    source = "Park, Vuduc, Harrold: Falcon, ICSE 2010, table 4"
    headings = ("theirs", "ours", "failed", "passed", "of failed")
    judged = "worst rank against theirs"
    missing = {
        "Hedc": "its bug is in a library; the paper found no rank for it either",
        "Philo, Tsp": "they never failed in the paper, so they have no rank",
    }

    def rows(self):
        commands = {name: (self.program(words), self.scratch(words)) for name, (words, _, _) in PROGRAMS.items()}
        reports = on_each_processor(lambda _, name: patterns_of(*commands[name]), PROGRAMS)
        for (name, (words, theirs, lines)), patterns in zip(PROGRAMS.items(), reports):
            true, best, worst = ranks(patterns, lines, 2 if name in ORDER_VIOLATIONS else 3)
            rank = f">{len(patterns)}" if true is None else f"{best}..{worst}" if best < worst else best
            figures = ["", "", ""] if true is None else [true["failed"], true["passed"], true["of_failed"]]
            yield Row(f"{name} ({words})", [theirs, rank, *figures], fewer_is_better(worst, theirs))


def patterns_of(program, folder):
    return explained(failing_recording(program, folder), SECONDS)["patterns"]


def ranks(patterns, lines, accesses):
    """The first true pattern of that many accesses, and its best and worst rank among such patterns. The report has only
    the first patterns; those beyond it that are equally suspicious count as if they had as many accesses."""
    alike = [pattern for pattern in patterns if len(pattern["accesses"]) == accesses]
    true = next((pattern for pattern in alike if is_true(pattern, lines)), None)
    if true is None:
        return None, math.inf, math.inf
    above = sum(pattern["suspiciousness"] > true["suspiciousness"] for pattern in alike)
    equal = sum(pattern["suspiciousness"] == true["suspiciousness"] for pattern in alike)
    return true, above + 1, above + equal + max(0, true["worst_rank"] - len(patterns))


def is_true(pattern, lines):
    return all(any(line in access.get("source", "") for line in lines) for access in pattern["accesses"])
