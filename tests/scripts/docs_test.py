#!/usr/bin/env python3
"""What the documents name exists: files, and functions that are said to be in a file."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# `folder/file.ext`, `folder/`, with or without an argument after it.
PATH = re.compile(r"`((?:[\w.-]+/)+(?:[\w-]+\.(?:h|cc|c|S|py|md|inc|txt|json|ld|capnp|svg)|(?=`)))`")
# `function` in `folder/file.ext`
FUNCTION = re.compile(r"`(\w+)`(?:,)? in\s+`((?:[\w.-]+/)*[\w-]+\.(?:h|cc|S|py))`")
# Where the documents leave the beginning of a path out.
BEGINNINGS = ("", "recorder/", "replayer/", "tests/")


def find(path):
    """The file or folder that a document means, or None."""
    return next((ROOT / begin / path for begin in BEGINNINGS if (ROOT / begin / path).exists()), None)


class Docs(unittest.TestCase):
    def test_files_exist(self):
        # A path begins with a folder of ours; others are of the reader's machine.
        folders = {path.name for path in ROOT.iterdir() if path.is_dir()} - {"build", "build-check"}
        folders |= {path.name for path in (ROOT / "recorder").iterdir() if path.is_dir()}
        missing = [f"{document.name} names {path}" for document in DOCUMENTS
                   for path in PATH.findall(document.read_text(encoding="utf-8"))
                   if path.split("/")[0] in folders and find(path) is None]
        self.assertEqual(missing, [])

    def test_functions_are_where_they_are_said_to_be(self):
        missing = []
        for document in DOCUMENTS:
            for name, path in FUNCTION.findall(document.read_text(encoding="utf-8")):
                file = find(path) or next(ROOT.glob(f"recorder/core/**/{path}"), None)
                if file is None or not re.search(rf"\b{name}\b", file.read_text(encoding="utf-8")):
                    missing.append(f"{document.name}: {name} in {path}")
        self.assertEqual(missing, [])


if __name__ == "__main__":
    unittest.main()
