#!/usr/bin/env python3
"""scripts/check_layers.py: the tree is clean, and each kind of violation is found."""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import check_layers  # noqa: E402


def check_tree(files):
    """Returns the problems of a tree with these files, {path: text}."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return list(check_layers.check(root))


def include(*paths):
    return "".join(f'#include "{path}"\n' for path in paths)


# A small tree that has every layer and obeys the rule.
GOOD = {
    "formats/event.h": "#include <cstdint>\n",
    "formats/wire.h": include("formats/event.h"),
    "formats/trace.capnp": "",
    "formats/reader.h": include("formats/wire.h", "formats/trace.capnp.h"),
    "recorder/arena.h": include("formats/wire.h"),
    "recorder/runtime_state.h": include("recorder/arena.h"),
    "recorder/policy.h": include("recorder/runtime_state.h"),
    "recorder/core/base/sys.h": "",
    "recorder/core/syscalls/rows.inc": "",
    "recorder/core/schedule/scheduler.cc": include("recorder/core/base/sys.h", "recorder/policy.h"),
    "recorder/supervisor/target/target.h": include("formats/reader.h", "recorder/arena.h", "recorder/core/syscalls/rows.inc"),
    "explorer/strategies/goals.h": include("recorder/policy.h"),
    "replayer/replay.cc": include("recorder/supervisor/target/target.h", "formats/reader.h"),
    "predictor/race.h": include("formats/reader.h"),
    "explorer/campaign/campaign.cc": include("predictor/race.h", "explorer/strategies/goals.h", "recorder/supervisor/target/target.h"),
}


class CheckLayers(unittest.TestCase):
    def assert_found(self, expected, changes):
        problems = check_tree({**GOOD, **changes})
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(expected, problems[0])

    def test_this_tree(self):
        self.assertEqual(list(check_layers.check(ROOT)), [])
        self.assertGreater(len(check_layers.read_includes(ROOT)), 100)

    def test_good_tree(self):
        self.assertEqual(check_tree(GOOD), [])

    def test_formats_includes_nothing_above(self):
        self.assert_found("formats/ may not include recorder/arena.h", {"formats/x.cc": include("recorder/arena.h")})

    def test_core_does_not_include_readers(self):
        self.assert_found("recorder/core/ may not include formats/reader.h",
                          {"recorder/core/x.cc": include("formats/reader.h")})

    def test_interfaces_do_not_include_the_core(self):
        self.assert_found("recorder/ may not include recorder/core/base/sys.h",
                          {"recorder/x.h": include("recorder/core/base/sys.h")})

    def test_shim_does_not_include_the_core(self):
        self.assert_found("recorder/shim/ may not", {"recorder/shim/x.cc": include("recorder/core/base/sys.h")})

    def test_supervisor_names_no_strategy(self):
        self.assert_found("recorder/supervisor/ may not",
                          {"recorder/supervisor/x.cc": include("explorer/strategies/goals.h")})

    def test_strategies_run_inside_the_target(self):
        self.assert_found("explorer/strategies/ may not",
                          {"explorer/strategies/x.cc": include("formats/reader.h")})

    def test_replayer_does_not_include_predictor(self):
        self.assert_found("replayer/ may not", {"replayer/x.cc": include("predictor/race.h")})

    def test_predictor_runs_nothing(self):
        self.assert_found("predictor/ may not", {"predictor/x.cc": include("recorder/supervisor/target/target.h")})

    def test_explorer_does_not_reach_into_the_core(self):
        self.assert_found("explorer/ may not", {"explorer/x.cc": include("recorder/core/base/sys.h")})

    def test_headers_of_the_core_include_nothing_of_a_room_above(self):
        self.assert_found("of a room above its own",
                          {"recorder/core/signals/x.h": "",
                           "recorder/core/log/x.h": include("recorder/core/signals/x.h")})

    def test_a_new_upward_call_of_the_core(self):
        self.assert_found("calls upward into recorder/core/signals/x.h",
                          {"recorder/core/signals/x.h": "",
                           "recorder/core/log/x.cc": include("recorder/core/signals/x.h")})

    def test_a_listed_upward_call_of_the_core(self):
        files = {**GOOD, "recorder/core/signals/x.h": "",
                 "recorder/core/log/x.cc": include("recorder/core/signals/x.h"),
                 "scripts/core_up_calls.txt": "recorder/core/log/x.cc recorder/core/signals/x.h\n"}
        self.assertEqual(check_tree(files), [])

    def test_an_upward_call_that_is_gone_leaves_the_list(self):
        self.assert_found("no longer includes",
                          {"scripts/core_up_calls.txt": "recorder/core/log/x.cc recorder/core/signals/x.h\n"})

    def test_a_room_without_a_floor(self):
        self.assert_found("does not name", {"recorder/core/attic/x.h": ""})

    def test_rooms_include_nothing_above(self):
        above = {"predictor/report/x.h": "", "predictor/model/x.cc": include("predictor/report/x.h")}
        self.assert_found("predictor/model/x.cc: may not include predictor/report/x.h", above)
        self.assert_found("of a room above its own",
                          {"explorer/x.h": "", "explorer/run/x.h": include("explorer/x.h")})
        below = {"predictor/model/x.h": "", "predictor/report/x.cc": include("predictor/model/x.h"),
                 "explorer/run/x.h": "", "explorer/x.cc": include("explorer/run/x.h"),
                 "formats/base/x.h": include("formats/event.h")}
        self.assertEqual(check_tree({**GOOD, **below}), [])

    def test_a_room_that_is_too_full(self):
        self.assert_found("predictor/model: 41 files", {f"predictor/model/x{i}.h": "" for i in range(41)})

    def test_missing_file(self):
        self.assert_found("is not a file", {"predictor/x.cc": include("race.h")})

    def test_circle(self):
        self.assert_found("a circle: formats/a.h -> formats/b.h -> formats/a.h",
                          {"formats/a.h": include("formats/b.h"), "formats/b.h": include("formats/a.h")})


if __name__ == "__main__":
    unittest.main()
