"""The page of a reproduction: Markdown for people, JSON for programs, with all that the numbers depend on.

OUT/NAME.md, NAME.json, NAME-*.png    written anew each time
OUT/findings/NAME.md                  written by hand, and taken into the page
"""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from levt.errors import InputError, reason
from levt.recipes.reproduce import Reproduction
from levt.recipes.reproduce.framework.report import Report, Section, markdown_table, read_report
from levt.recipes.reproduce.framework.setting import CLOSE_CALLS, Setting
from levt.recipes.reproduce.framework.step import Step, chain
from levt.recipes.reproduce.framework.workplace import Workplace
from levt.recipes.shards import write_whole

FINDINGS = "findings"


def check_place(out: Path, *names: str) -> None:
    """Refuse, before any work is done, pages that could not be written, or findings that cannot be read."""
    there = next(place for place in (out, *out.absolute().parents) if place.exists())
    if not there.is_dir():
        raise InputError(
            f"{there} is not a folder, so no page can be written to {out}", hint="choose another --out"
        )
    for name in names:
        findings(out, name)


def publish(reproduction: Reproduction, goal: Step, work: Workplace, setting: Setting, out: Path) -> Path:
    """Write the page of a chain that is done; gives its path."""
    out.mkdir(parents=True, exist_ok=True)
    place, name = work.place(goal), reproduction.name
    report = read_report(place)
    command = command_of(reproduction, goal, setting)
    provenance = {"command": command, **provenance_of(goal, work, report, setting)}
    for section in report.sections:
        if section.picture:
            shutil.copyfile(place / section.picture, out / f"{name}-{section.picture}")
    whole = {
        "name": name,
        "title": reproduction.title,
        "values": report.values,
        "tables": {
            s.heading: {"columns": list(s.table.columns), "rows": [list(row) for row in s.table.rows]}
            for s in report.sections
            if s.table is not None
        },
        "provenance": provenance,
    }
    write_whole(out / f"{name}.json", whole, indent=1)
    path = out / f"{name}.md"
    page = page_of(reproduction, report, provenance, findings(out, name))
    partial = path.with_name(f".{path.name}")
    partial.write_text(page, encoding="utf-8")
    partial.replace(path)
    return path


def command_of(reproduction: Reproduction, goal: Step, setting: Setting) -> str:
    """What one types to have this page; tasks where it has several, and seeds where others than usual made it."""
    usual = reproduction.goal(replace(setting, seeds=1, close_calls=CLOSE_CALLS[setting.scale]))
    tasks = f" --tasks {' '.join(setting.tasks)}" if reproduction.by_task and setting.tasks else ""
    seeds = "" if goal.digest == usual.digest else f" --seeds {setting.seeds}"
    return f"levt reproduce {reproduction.name} --scale {setting.scale}{tasks}{seeds}"


def provenance_of(goal: Step, work: Workplace, report: Report, setting: Setting) -> dict[str, Any]:
    """Every step with its settings, every file with its checksum, every machine and package."""
    stamps = [stamp for step in chain(goal) if (stamp := work.stamp(step)) is not None]
    data = {known["file"]: known["sha256"] for stamp in stamps for known in stamp["data"].values()}
    seeds = sorted({stamp["config"]["seed"] for stamp in stamps if "seed" in stamp["config"]})
    return {
        "scale": setting.scale,
        "seeds": seeds,
        "data": dict(sorted(data.items())),
        "signatures": list(report.signatures),
        "where": _distinct([stamp["where"] for stamp in stamps]),
        "seconds": round(sum(stamp["seconds"] for stamp in stamps), 1),
        "steps": [
            {key: value for key, value in stamp.items() if key not in ("files", "where")} for stamp in stamps
        ],
    }


def findings(out: Path, name: str) -> str:
    """What somebody has written about the results."""
    path = out / FINDINGS / f"{name}.md"
    if path.is_file():
        try:
            return path.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"{path} cannot be read: {reason(error)}",
                hint="it is Markdown in UTF-8, and becomes part of the page; `iconv -t UTF-8` it, or take it away",
            ) from error
    return f"*Nobody has written about these numbers yet: `{FINDINGS}/{name}.md` would stand here.*"


def page_of(reproduction: Reproduction, report: Report, provenance: dict[str, Any], found: str) -> str:
    """The page."""
    parts = [f"# {reproduction.title}", _first(provenance), "## Findings", found]
    for section in report.sections:
        parts += _section(section, reproduction.name)
    parts += ["## Where the numbers come from", _sources(provenance)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _first(provenance: dict[str, Any]) -> str:
    machines = [one["hardware"].get("gpu") or one["hardware"]["cpu"] for one in provenance["where"]]
    seeds = ", ".join(map(str, provenance["seeds"])) or "none"
    return (
        f"`{provenance['command']}` on {' and '.join(dict.fromkeys(machines))}; seeds {seeds}; "
        f"{provenance['seconds'] / 60:.1f} minutes of work in {len(provenance['steps'])} steps."
    )


def _section(section: Section, name: str) -> list[str]:
    parts = [f"## {section.heading}", section.text]
    if section.table is not None:
        parts.append(markdown_table(section.table))
    if section.picture:
        parts.append(f"![{section.caption or section.heading}]({name}-{section.picture})")
    if section.caption:
        parts.append(f"*{section.caption}*")
    return parts


def _sources(provenance: dict[str, Any]) -> str:
    lines = []
    machines: dict[str, list[dict[str, Any]]] = {}
    for one in provenance["where"]:
        machines.setdefault(json.dumps([one["hardware"], one["versions"]]), []).append(one)
    for same in machines.values():
        one = same[0]
        codes = ", ".join(f"`{other['code']}`" for other in same)
        versions = ", ".join(f"{name} {version}" for name, version in one["versions"].items())
        gpu = f", {one['hardware']['gpu']}" if "gpu" in one["hardware"] else ""
        lines.append(
            f"- {one['hardware']['cpu']}, {one['hardware']['cores']} cores{gpu}; {versions}; code {codes}"
        )
    lines += [f"- metric: `{signature}`" for signature in provenance["signatures"]]
    lines += [f"- data: `{file}` `{checksum[:16]}…`" for file, checksum in provenance["data"].items()]
    lines.append("- settings, seeds and checksums of every step: the JSON file beside this page")
    return "\n".join(lines)


def _distinct(values: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({json.dumps(value, sort_keys=True): value for value in values}.values())
