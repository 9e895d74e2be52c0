#!/usr/bin/env python3
"""Counts comments and paragraphs whose English has to be read twice; the count may only fall.

    scripts/check_english.py [ROOT]          exit status 1 if the count is above MOST
    scripts/check_english.py --list FILE     the comments of a file that match, and why

The patterns are those of translated English: a noun clause as subject, words that the field does not use, and sentences
of more than 35 words. A match is no proof of bad English, and none is no proof of good English: CONTRIBUTING.md has the
rules.
"""
import pathlib
import re
import sys

FOLDERS = ["recorder", "replayer", "explorer", "predictor", "formats", "scripts", "tests", "docs"]
DOCUMENTS = ["README.md", "CONTRIBUTING.md"]
MOST = 3
MOST_WORDS = 35
PATTERNS = {
    "begins with a noun clause": r"^(What|Who|Whoever|Whatever|How|Of|That|Those|Where|Which)\b",
    "in vain, anew, for ever, lest, thereby": r"\b(in vain|anew|for ever|lest|thereby|wherever|whoever|whatever)\b",
    "'behind' instead of 'after'": r"\bbehind (a|an|it|them|that|the (call|record|program|instruction|write|read|last|first))\b",
    "'for' instead of 'because'": r", for (it|they|that|this|these|those|there|to|who|what|a|an|the)\b",
    "'so many', 'every so'": r"\b(so many(?! that)|so many-th|every so)\b",
    "'who' instead of 'whoever'": r"\b(for|of|by|to|from|with) who\b",
    "say, tell, lie, come": r"\b(is said|are said|says so|told of|lies|lie in|came to be|comes? to (it|them|its)|goes on|go on)\b",
    "', too,'": r", too[,.]",
}
MARKS = {".py": r"^\s*# ?"} | dict.fromkeys([".cc", ".h", ".c", ".inc", ".S", ".js"], r"^\s*//[/!]? ?")
SENTENCE_END = re.compile(r"(?<=[.:;]) ")


def comments(path, text):
    """The blocks of comment lines, or the paragraphs of a document, in one line each. Trailing comments do not count."""
    if path.suffix == ".md":
        prose = re.sub(r"```.*?```", "", text, flags=re.S)
        return [" ".join(part.split()) for part in prose.split("\n\n") if part.strip()[:1] not in "|#"]
    mark, found, block = re.compile(MARKS[path.suffix]), [], []
    for line in text.splitlines() + [""]:
        if mark.match(line):
            block.append(mark.sub("", line))
        elif block:
            found.append(" ".join(block))
            block = []
    return found


def complaints(comment):
    """Names of the patterns that the comment matches."""
    found = [name for name, pattern in PATTERNS.items() if re.search(pattern, comment)]
    if any(len(sentence.split()) > MOST_WORDS for sentence in SENTENCE_END.split(comment)):
        found.append(f"a sentence of more than {MOST_WORDS} words")
    return found


def files(root):
    """The sources and documents of the tree; the programs under test are users' code."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and (path.suffix in MARKS or path.suffix == ".md") and "tests/programs" not in path.as_posix():
                yield path
    yield from (root / name for name in DOCUMENTS)


def count(root):
    """(comments that match by file, comments in all)"""
    matching, total = {}, 0
    for path in files(root):
        found = comments(path, path.read_text(encoding="utf-8"))
        total += len(found)
        if number := sum(bool(complaints(comment)) for comment in found):
            matching[path.relative_to(root).as_posix()] = number
    return matching, total


def main():
    if sys.argv[1:2] == ["--list"]:
        path = pathlib.Path(sys.argv[2])
        for comment in comments(path, path.read_text(encoding="utf-8")):
            if complaints(comment):
                print(f"- {comment}\n    {', '.join(complaints(comment))}")
        return 0
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    matching, total = count(root)
    number = sum(matching.values())
    print(f"{number} of {total} comments and paragraphs have to be read twice; at most {MOST} may")
    if number <= MOST:
        return 0
    for path, own in sorted(matching.items(), key=lambda row: -row[1])[:20]:
        print(f"{own:5} {path}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
