"""The report as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from backend.engines.omni.doctor.cards import Card
from backend.engines.omni.doctor.memory import StageFit
from backend.engines.omni.doctor.models import GIB
from backend.engines.omni.doctor.packages import Package
from backend.engines.omni.doctor.placement import CardFit
from backend.engines.omni.doctor.report import Finding, Level, Report

_STAGE_HEADINGS = (
    "stage", "model", "share", "is", "weights", "working", "left for KV", "KV tokens", "turns"
)  # fmt: skip


def print_report(report: Report) -> str:
    """All of it, without a line break at the end."""
    parts = [[f"The omni engine with {report.profile}"]]
    if wrong := [package for package in report.packages if not package.fits]:
        parts.append(["Packages to put right", *_table([_package_row(p) for p in wrong])])
    if report.cards:
        parts.append(
            ["Cards", *_table([_card_row(n, card) for n, card in enumerate(report.cards)])]
        )
    if report.placement and report.placement.stages:
        rows = [_STAGE_HEADINGS, *(_stage_row(fit) for fit in report.placement.stages)]
        title = f"Stages on {report.placed_on}, in GiB, estimated"
        parts.append([title, *_table(rows), *map(_card_line, report.placement.cards)])
    parts.append(["Findings", *(line for finding in report.findings for line in _lines(finding))])
    parts.append([_verdict(report)])
    return "\n\n".join("\n".join(part) for part in parts)


def gib(size: int) -> str:
    """Bytes as GiB with one decimal."""
    return f"{size / GIB:.1f}"


def shown(path: Path) -> Path:
    """A path as one would type it here."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _package_row(package: Package) -> tuple[str, ...]:
    there = f"{package.found} is here" if package.found else "not here"
    return package.name, there, f"{package.wanted} is wanted"


def _card_row(number: int, card: Card) -> tuple[str, ...]:
    capability = f"capability {card.capability}" if card.capability else ""
    memory = f"{gib(card.total_bytes)} GiB, {gib(card.free_bytes)} free"
    return str(number), card.name, memory, f"driver {card.driver}", capability


def _stage_row(fit: StageFit) -> tuple[str, ...]:
    stage = fit.stage
    has_kv = fit.turns is not None
    return (
        f"{stage.number} {stage.role}",
        f"{stage.model}{f' in {stage.quantization}' if stage.quantization else ''}",
        f"{stage.share:.2f}",
        gib(fit.share_bytes),
        gib(fit.weights_bytes),
        gib(fit.working_bytes),
        gib(fit.kv_bytes) if has_kv else "-",
        f"{fit.kv_tokens:,}" if has_kv else "-",
        str(fit.turns) if has_kv else "-",
    )


def _card_line(fit: CardFit) -> str:
    verdict = "fits" if fit.holds else "TOO MUCH"
    usable = fit.card.usable_bytes
    return (
        f"  card {fit.number}: shares {fit.share:.2f} = {gib(int(usable * fit.share))}, and "
        f"{gib(fit.outside_bytes)} outside them (contexts and the like) = {gib(fit.taken_bytes)} "
        f"of {gib(usable)}: {verdict}"
    )


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Columns under each other; those of figures to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if len(row) > 5 and column > 1 else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(f"  {'  '.join(cells)}".rstrip())
    return lines


def _lines(finding: Finding) -> list[str]:
    lines = [f"  {finding.level:7}{finding.text}"]
    return [*lines, *(f"           $ {line}" for line in finding.command.splitlines())]


def _verdict(report: Report) -> str:
    to_do = sum(finding.level is Level.TO_DO for finding in report.findings)
    if report.exit_code == 2:
        return "Nothing more can be said before the deploy file can be read."
    if to_do:
        return f"Not ready: {to_do} thing{'s' if to_do > 1 else ''} to do."
    sessions = report.placement.sessions if report.placement else 0
    return f"Ready, for {sessions} session{'' if sessions == 1 else 's'} at once."
