#!/usr/bin/env python3
"""Counts comments, messages and paragraphs whose English has to be read twice; the count may only fall.

    scripts/check_english.py [ROOT]          exit status 1 if the count is above MOST
    scripts/check_english.py --list FILE     the passages of a file that match, and why

A passage is a comment (of lines, or after code), a docstring's paragraph, a document's paragraph or table cell, or a
message: a string with a space in it, outside tests/. The patterns are those of translated English: a noun clause as
subject, words that the field does not use, and sentences of more than 35 words. A match is no proof of bad English, and
none is no proof of good English: CONTRIBUTING.md has the rules.
"""
import ast
import inspect
import io
import pathlib
import re
import sys
import tokenize

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["recorder", "replayer", "explorer", "predictor", "formats", "scripts", "tests", "docs"]
DOCUMENTS = ["README.md", "CONTRIBUTING.md"]
MOST = 0
MOST_WORDS = 35
PATTERNS = {
    "begins with a noun clause": r"^(What|Who|Whoever|Whatever|How|Of|That|Those|Where|Which)\b",
    "words of old books": r"\b(in vain|anew|for ever|lest|thereby|wherever|whoever|whatever)\b",
    "'behind' instead of 'after'": r"\bbehind (a|an|it|them|that|the (call|record|program|instruction|write|read|last|first))\b",
    "'for' instead of 'because'": r", for (it|they|that|this|these|those|there|to|who|what|a|an|the)\b",
    "a number without a name": r"\b(so many(?! that)|so many-th|every so)\b",
    "'who' without a name": r"\b(for|of|by|to|from|with) who\b",
    "say, tell, lie, come": r"\b(is said|are said|says so|told of|lies|lie in|came to be|comes? to (it|them|its)|go(es)? on)\b",
    "'too' after a comma": r", too[,.]",
}
KINDS = {".py": "python", ".md": "document", ".js": "code", ".S": "code"} | dict.fromkeys([".cc", ".h", ".c", ".inc"], "c++")
# Two spaces separate the columns of lists, and the lines of messages.
SENTENCE_END = re.compile(r"(?<=[.:;]) |\s{2,}")
HASH_COMMENT = re.compile(r"^([ \t]*)#(?!!)(.*)", re.M)
TOKEN = re.compile(r"""
    //[/!]?(?P<comment>.*) | /\*(?s:.*?)\*/              # comments
    | R"\((?s:.*?)\)" | "(?P<string>(?:\\.|[^"\\\n])*)"  # strings
    | (?<!\w)'(?:\\.|[^'\\\n])+'                         # characters; an apostrophe within a number separates digits
""", re.X)
CODE = re.compile(r"%%|%\[|\\n\\t|\\b")  # in assembly and regular expressions


def kind_of(path, text):
    """Returns "python", "shell", "document", "c++" or "code" (another language with // comments); None: not to be read."""
    if path.suffix in KINDS or not text.startswith("#!"):
        return KINDS.get(path.suffix)
    return "python" if "python" in text.split("\n", 1)[0] else "shell"


def joined(comments):
    """One text for each comment, from (line, column, True if code precedes it, text) of each of its lines."""
    found, last = [], None
    for line, column, follows_code, text in comments:
        text = text.removeprefix(" ")
        if last == (line - 1, column) and not follows_code:
            found[-1] += " " + text
        else:
            found.append(text)
        last = (line, column)
    return found


def shell_comments(text):
    """The lines that are comments."""
    for found in HASH_COMMENT.finditer(text):
        yield text.count("\n", 0, found.start()), len(found[1]), False, found[2]


def python_comments(text):
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            yield *token.start, bool(token.line[:token.start[1]].strip()), token.string[1:]


def slash_comments(text):
    for token in TOKEN.finditer(text):
        if token["comment"] is not None:
            before = text[text.rfind("\n", 0, token.start()) + 1:token.start()]
            yield text.count("\n", 0, token.start()), len(before), bool(before.strip()), token["comment"]


def messages(strings):
    """The strings that are neither one word nor code."""
    return [one.strip() for one in strings if " " in one.strip() and not CODE.search(one)]


def cpp_strings(text):
    """The strings, adjacent ones joined, with two spaces for line breaks."""
    found, end = [], None
    for token in TOKEN.finditer(text):
        if token["string"] is None:
            continue
        if end is not None and not text[end:token.start()].strip():
            found[-1] += token["string"]
        else:
            found.append(token["string"])
        end = token.end()
    return [re.sub(r"\\n(?!\\t)", "  ", one) for one in found]


def is_docstring(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def docstrings(tree):
    """The paragraphs of the docstrings."""
    texts = [inspect.cleandoc(node.value.value) for node in ast.walk(tree) if is_docstring(node)]
    return [" ".join(part.splitlines()) for text in texts for part in text.split("\n\n") if part.strip()]


def python_text(node):
    """The text of a string or an f-string, with {} for its values; "" for another node."""
    if isinstance(node, ast.JoinedStr):
        return "".join(python_text(part) or "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def python_strings(tree):
    """The strings, without docstrings and the parts of f-strings, with two spaces for line breaks."""
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    parts |= {id(node.value) for node in ast.walk(tree) if is_docstring(node)}
    return [python_text(node).replace("\n", "  ") for node in ast.walk(tree) if id(node) not in parts]


def cells(row):
    """The cells of a row of a table; none if it is the line below the header."""
    found = [cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))]
    return [cell for cell in found if cell.strip("-: ")]


def paragraphs(text):
    """The paragraphs and the table cells of a document, without headings and code."""
    found = []
    for part in re.sub(r"```.*?```", "", text, flags=re.S).split("\n\n"):
        rows = [line for line in part.splitlines() if line.startswith("|")]
        prose = [line.strip() for line in part.splitlines() if not line.startswith(("|", "#"))]
        found += [cell for row in rows for cell in cells(row)]
        found += [" ".join(prose).strip()] if any(prose) else []
    return found


def passages(path, text):
    """The comments, messages and paragraphs of a file, in one line each. `path` is within the tree."""
    kind, is_test = kind_of(path, text), path.parts[0] == "tests"
    if kind == "document":
        return paragraphs(text)
    if kind == "shell":
        return joined(shell_comments(text))
    if kind == "python":
        tree = ast.parse(text)
        return joined(python_comments(text)) + docstrings(tree) + ([] if is_test else messages(python_strings(tree)))
    return joined(slash_comments(text)) + (messages(cpp_strings(text)) if kind == "c++" and not is_test else [])


def complaints(passage):
    """Names of the patterns that the passage matches."""
    found = [name for name, pattern in PATTERNS.items() if re.search(pattern, passage)]
    if any(len(sentence.split()) > MOST_WORDS for sentence in SENTENCE_END.split(passage)):
        found.append(f"a sentence of more than {MOST_WORDS} words")
    return found


def files(root):
    """(path within the tree, text) of its sources and documents. The programs under test are users' code."""
    paths = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*")) if path.is_file()]
    for path in paths + [root / name for name in DOCUMENTS]:
        name = path.relative_to(root)
        if name.parts[:2] != ("tests", "programs") and (path.suffix in KINDS or not path.suffix):
            text = path.read_text(encoding="utf-8", errors="replace")
            if kind_of(name, text):
                yield name, text


def count(root):
    """(passages that match by file, passages in all)"""
    matching, total = {}, 0
    for path, text in files(root):
        found = passages(path, text)
        total += len(found)
        if number := sum(bool(complaints(passage)) for passage in found):
            matching[path.as_posix()] = number
    return matching, total


def main():
    if sys.argv[1:2] == ["--list"]:
        path = pathlib.Path(sys.argv[2]).resolve()
        for passage in passages(path.relative_to(ROOT), path.read_text(encoding="utf-8")):
            if complaints(passage):
                print(f"- {passage}\n    {', '.join(complaints(passage))}")
        return 0
    matching, total = count(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT))
    number = sum(matching.values())
    print(f"{number} of {total} comments, messages and paragraphs have to be read twice; at most {MOST} may")
    if number <= MOST:
        return 0
    for path, own in sorted(matching.items(), key=lambda row: -row[1])[:20]:
        print(f"{own:5} {path}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
