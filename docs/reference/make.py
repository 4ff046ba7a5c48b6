"""Write the command-line reference from the commands and the table of the README from the main job.

    python docs/reference/make.py [--check]

With --check nothing is written; a stale reference, or a table whose errors differ by more than .3 points, fails.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import typer

from structens.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
MARKS = re.compile(r"(<!-- main job -->\n```\n)(.*?)(```\n<!-- end -->)", re.DOTALL)
ROW = re.compile(r"^[* ]  (\S.{22}).*?(\d+\.\d\d) \[", re.MULTILINE)


def reference():
    """Markdown of every command, from what the parser knows."""
    parts = [
        "# Command line",
        "Made from the commands by `docs/reference/make.py`. Every option is a parameter in Python.",
    ]
    for name, command in typer.main.get_command(app).commands.items():
        arguments = " ".join(p.name.upper() for p in command.params if p.param_type_name == "argument")
        parts.append(f"## structens {name}\n\n    structens {name} [OPTIONS] {arguments}")
        parts.append(command.help.strip())
        rows = [
            f"| {', '.join(f'`{o}`' for o in p.opts) if p.param_type_name == 'option' else p.name.upper()} "
            f"| {'' if p.default in (None, False, ()) or callable(p.default) else f'`{p.default}`'} | {p.help} |"
            for p in command.params
            if p.name != "help"
        ]
        parts.append("\n".join(["| option | default | meaning |", "|---|---|---|", *rows]))
        parts.append(command.epilog)
    return "\n\n".join(parts) + "\n"


def main_job():
    """What the main job prints on standard error."""
    with tempfile.TemporaryDirectory() as folder:
        target = str(Path(folder) / "predictions.jsonl")
        command = [sys.executable, "-m", "structens", "combine", "data/pronunciation.jsonl", "-o", target, "--table"]
        environment = {**os.environ, "NO_COLOR": "1"}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=ROOT)
    return done.stderr.replace(target, "predictions.jsonl")


def errors(table):
    return {name.strip(): float(rate) for name, rate in ROW.findall(table)}


def check(page, front):
    if page.read_text(encoding="utf-8") != reference():
        raise SystemExit("docs/reference/cli.md is stale; run python docs/reference/make.py")
    shown, found = errors(MARKS.search(front.read_text(encoding="utf-8"))[2]), errors(main_job())
    if not shown or shown.keys() != found.keys() or any(abs(shown[name] - found[name]) > 0.3 for name in shown):
        raise SystemExit(f"the README's table is stale: {shown} there, {found} now; run python docs/reference/make.py")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    page, front = ROOT / "docs" / "reference" / "cli.md", ROOT / "README.md"
    if parser.parse_args().check:
        check(page, front)
        return
    page.write_text(reference(), encoding="utf-8")
    table = main_job()
    front.write_text(MARKS.sub(lambda m: m[1] + table + m[3], front.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
