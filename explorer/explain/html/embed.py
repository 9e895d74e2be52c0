#!/usr/bin/env python3
"""Writes the C++ source that holds the script and the style of a report, with the hashes for its security policy.

    embed.py OUTPUT FILE.css FILE.js...

Joins the scripts, in the order of the command line, into one strict-mode function. The page calls it after the browser
has drawn the content that needs no script.
"""
import base64
import hashlib
import pathlib
import sys

# A hidden page is never drawn, so requestAnimationFrame() alone might never start the script.
START = """const once = () => { if (!started) { started = true; start(); } };
requestAnimationFrame(() => setTimeout(once));
setTimeout(once, 500);
"""
PIECE = 12_000  # bytes of one literal: compilers need not accept more than 65,536


def literal(text):
    data = text.encode()
    pieces = [data[i:i + PIECE] for i in range(0, len(data), PIECE)]
    return "\n    ".join('"' + "".join(escape(byte) for byte in piece) + '"' for piece in pieces)


def escape(byte):
    plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
    return chr(byte) if plain else "\\n" if byte == 10 else f"\\{byte:03o}"


def constant(name, text):
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return (f"const std::string_view {name} =\n    {literal(text)};\n"
            f'const std::string_view {name}Hash = "sha256-{digest}";\n')


def main():
    output, *paths = map(pathlib.Path, sys.argv[1:])
    style = "".join(path.read_text(encoding="utf-8") for path in paths if path.suffix == ".css")
    scripts = "".join(path.read_text(encoding="utf-8") for path in paths if path.suffix == ".js")
    script = f'"use strict";\nconst start = () => {{\n{scripts}}};\nlet started = false;\n{START}'
    for text in (style, script):
        for end in ("</", "<!--"):
            if end in text:  # would end the element that the text is in
                sys.exit(f"{end} in a script or a style")
    output.write_text('#include "explorer/explain/html/assets.h"\n\nnamespace reweave {\n\n'
                      + constant("kReportStyle", style) + constant("kReportScript", script)
                      + "\n}  // namespace reweave\n", encoding="utf-8")


if __name__ == "__main__":
    main()
