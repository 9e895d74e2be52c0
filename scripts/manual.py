#!/usr/bin/env python3
"""Writes the manual pages and the shell completions, both from the output of `reweave --help`.

    scripts/manual.py REWEAVE FOLDER

FOLDER gets reweave.1, reweave-VERB.1 for each verb, and reweave.bash, _reweave (zsh) and reweave.fish.
"""
import dataclasses
import pathlib
import re
import subprocess
import sys


@dataclasses.dataclass
class Item:
    """An option, an argument, a verb or an exit status."""
    name: str
    text: str


@dataclasses.dataclass
class Help:
    description: str
    usage: str
    sections: dict  # of Items, by title
    footer: str


def read_help(reweave, *words):
    done = subprocess.run([reweave, *words, "--help"], capture_output=True, text=True, check=True, timeout=60)
    return parse(done.stdout)


def parse(text):
    about, _, rest = text.partition("\nUsage: ")
    usage, _, rest = rest.partition("\n")
    sections, items, footer = {}, None, []
    for line in rest.splitlines():
        item = re.match(r"  (\S.*?)(?:\s{2,}(\S.*))?$", line)
        if re.fullmatch(r"\S.*:", line):
            items = sections.setdefault(line[:-1], [])
        elif items is not None and item:
            items.append(Item(item[1], item[2] or ""))
        elif items is not None and line.startswith("   ") and items:
            items[-1].text = f"{items[-1].text} {line.strip()}".strip()
        elif line.strip():
            items = None
            footer.append(line.strip())
    return Help(about.strip(), usage, sections, "\n".join(footer))


def verbs_of(top):
    """Items of the groups of verbs that `reweave --help` shows."""
    return [item for title, items in top.sections.items() if title.endswith(" verbs") for item in items]


def roff(text):
    """Text for roff: nothing in it is taken as a request or an escape."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"(?m)^([.'])", r"\\&\1", text)


# The variable, what it does, and the verbs that read it; none: all.
ENVIRONMENT = [
    ("REWEAVE_DIR", "where recordings go that are not named; default: $XDG_DATA_HOME/reweave or ~/.local/share/reweave",
     []),
    ("NO_COLOR", "if set, no colours unless --color always", []),
    ("TMPDIR", "where scratch folders are made; default: /tmp", []),
    ("TSAN_OPTIONS", "for programs built with -fsanitize=thread: suppressions, and the exit status of races",
     ["hunt", "explore", "explain"]),
    ("GITHUB_STEP_SUMMARY", "with --github: the file that the summary is appended to", ["hunt", "campaign"]),
]

READERS = ["replay", "explore", "explain", "predict", "dump", "traceinfo", "ps", "trace", "query", "pack", "dap"]
# The path, its content, and the verbs whose pages name it; none: all, "" is reweave itself.
FILES = [
    ("~/.local/share/reweave/PROGRAM-N/", "recordings that are not named; the link latest leads to the last one",
     ["", "record", *READERS]),
    ("RECORDING/manifest, RECORDING/events", "what a recording is of, and what happened in the run",
     ["", "record", "hunt", *READERS]),
    ("RECORDING/files/", "copies of files that the program mapped", ["", "record", "hunt", *READERS]),
    ("RECORDING/story.txt", "how the failure was found, its cause and its steps", ["", "hunt", "explore", "campaign"]),
    ("RECORDING/explanation.json", "what explain --save found", ["", "hunt", "explain", "replay"]),
    ("FOLDER/failure-1/, ...", "recordings that fail in each replay", ["", "hunt", "explore"]),
    ("reweave-hunt-PROGRAM-N/", "a hunt: its recordings with report.html, and hunt.json, summary.md, junit.xml, "
     "report.sarif, quality.json", ["", "hunt"]),
    ("CAMPAIGN/campaign.json, CAMPAIGN/units/", "a campaign: its plan, and the results of its units", ["", "campaign"]),
    ("CAMPAIGN/merged/", "the results of all units: failures.json, index.html, summary.md, and recordings",
     ["", "campaign"]),
    ("/usr/share/doc/reweave/docs/", "the formats of these files", ["", "record", "hunt", "campaign"]),
    ("/usr/share/doc/reweave/examples/", "files for CI services, and a program to try", ["", "hunt"]),
]


STATUSES = "Exit statuses"


def statuses_of(top):
    [items] = [items for title, items in top.sections.items() if title.startswith(STATUSES)]
    return [Item("0", "it did what was asked")] + items


def entries(rows, verb):
    """The rows that concern a verb, as roff."""
    lines = []
    for name, text, verbs in rows:
        if not verbs or verb in verbs:
            lines += [".TP", f".B {roff(name)}", roff(text)]
    return lines or ["None that other pages do not name: see \\fBreweave\\fR(1)."]


def page(name, verb, shown, version, verbs, statuses):
    lines = [f'.TH {roff(name.upper())} 1 "" "reweave {version}" "User Commands"', ".SH NAME",
             f"{roff(name)} \\- {roff(shown.description.splitlines()[0].rstrip('.'))}", ".SH SYNOPSIS",
             f".B {roff(shown.usage.removeprefix('reweave ') if verb == '' else shown.usage)}"]
    if verb == "":
        lines[-1] = f".B reweave\n{roff(shown.usage.removeprefix('reweave '))}"
    if len(shown.description.splitlines()) > 1:
        lines += [".SH DESCRIPTION", roff(shown.description)]
    for title, items in shown.sections.items():
        if title.startswith(STATUSES):
            continue
        title = "Arguments" if title == "Positionals" else title.split(",")[0]
        lines.append(f".SH {roff(title.upper())}")
        for item in items:
            lines += [".TP", f".B {roff(item.name)}", roff(item.text) or "\\&"]
    if shown.footer:
        lines += [".SH NOTES", roff(shown.footer).replace("\n", "\n.br\n")]
    lines += [".SH EXIT STATUS"]
    for item in statuses:
        lines += [".TP", f".B {roff(item.name)}", roff(item.text)]
    lines += [".SH FILES"] + entries(FILES, verb) + [".SH ENVIRONMENT"] + entries(ENVIRONMENT, verb)
    others = ["reweave"] + [f"reweave-{each}" for each in verbs]
    lines += [".SH SEE ALSO", ", ".join(f"\\fB{roff(each)}\\fR(1)" for each in others if each != name)]
    return "\n".join(lines) + "\n"


def long_options(shown):
    """(option, its help) for a verb."""
    return [(option, item.text) for item in shown.sections.get("Options", [])
            for option in re.findall(r"--[a-z][a-z-]*", item.name.split(" ")[0])]


# Values that an option accepts besides those that a user makes up: (verb, short option, long option, values).
VALUES = [("replay", "-g", "--goto", "end inevitable")]


def bash(helps):
    values = "\n".join(f'    "{verb} {short}"|"{verb} {long}") mapfile -t COMPREPLY < <(compgen -W "{words}" -- "$current"); return ;;'
                       for verb, short, long, words in VALUES)
    cases = "\n".join(f'    {verb}) words="{" ".join(option for option, _ in long_options(shown))}" ;;'
                      for verb, shown in helps.items())
    return f"""# Completion of reweave's verbs and options.
_reweave() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words=
  case "${{COMP_WORDS[1]}} ${{COMP_WORDS[COMP_CWORD-1]}}" in
{values}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{" ".join(helps)} --help --version"
  else
    case ${{COMP_WORDS[1]}} in
{cases}
    esac
  fi
  case $current in
    -*) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") ;;
    *) if [ "$COMP_CWORD" -eq 1 ]; then mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
       else mapfile -t COMPREPLY < <(compgen -f -- "$current"); fi ;;
  esac
}}
complete -o filenames -F _reweave reweave
"""


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh(helps, top):
    about = {item.name: item.text for item in verbs_of(top)}
    verbs = "\n".join(f"    {quoted(f'{verb}:{about[verb]}')}" for verb in helps)
    values = {verb: "".join(f" '{option}[]:value:({words})'" for option in (short, long))
              for verb, short, long, words in VALUES}
    cases = "\n".join(
        f"    {verb}) _arguments" + values.get(verb, "") + " " +
        " ".join(quoted(f"{option}[{re.sub(r'[][:]', ' ', text)}]") for option, text in long_options(shown)
                 if not any(row[0] == verb and row[2] == option for row in VALUES)) +
        " '*:file:_files' ;;" for verb, shown in helps.items())
    return f"""#compdef reweave
local -a verbs
if (( CURRENT == 2 )); then
  verbs=(
{verbs}
  )
  _describe verb verbs
else
  local verb=$words[2]
  shift words
  (( CURRENT-- ))
  case $verb in
{cases}
  esac
fi
"""


def fish(helps, top):
    about = {item.name: item.text for item in verbs_of(top)}
    lines = ["# Completion of reweave's verbs and options."]
    for verb, shown in helps.items():
        lines.append(f"complete -c reweave -n __fish_use_subcommand -f -a {verb} -d {quoted(about[verb])}")
        for option, text in long_options(shown):
            lines.append(f"complete -c reweave -n '__fish_seen_subcommand_from {verb}' -l {option[2:]} -d {quoted(text)}")
    for verb, short, long, words in VALUES:
        lines.append(f"complete -c reweave -n '__fish_seen_subcommand_from {verb}' -s {short[1:]} -l {long[2:]} -x -a '{words}'")
    return "\n".join(lines) + "\n"


def main():
    reweave, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    version = subprocess.run([reweave, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    top = read_help(reweave)
    verbs = [item.name for item in verbs_of(top)]
    statuses = statuses_of(top)
    helps = {verb: read_help(reweave, verb) for verb in verbs}
    (folder / "reweave.1").write_text(page("reweave", "", top, version, verbs, statuses))
    for verb, shown in helps.items():
        (folder / f"reweave-{verb}.1").write_text(page(f"reweave-{verb}", verb, shown, version, verbs, statuses))
    (folder / "reweave.bash").write_text(bash(helps))
    (folder / "_reweave").write_text(zsh(helps, top))
    (folder / "reweave.fish").write_text(fish(helps, top))


if __name__ == "__main__":
    main()
