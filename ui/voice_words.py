"""What the voice part says about an engine."""

from __future__ import annotations

from backend.contract.voice import VoiceControls, VoiceMode


def missing(controls: VoiceControls | None) -> str:
    """Why some of the controls are not there, in plain words; empty when all are."""
    if controls is None:
        return "What can be chosen about the voice is shown once the engine is ready."
    lead = ""
    if VoiceMode.NAMED not in controls.modes:
        lead = "This engine has no voice of its own: it copies the one that you give it."
    elif len(controls.speakers) <= 1:
        lead = "This engine speaks with one voice of its own."
    abilities = {
        "copy a voice": VoiceMode.CLONE in controls.modes,
        "be told which language to speak": len(controls.languages) > 1,
        "follow a style": controls.style_chars > 0,
        "change its speed": controls.changes_speed,
    }
    lacks = [ability for ability, there in abilities.items() if not there]
    if not lacks:
        return lead
    listed = " or ".join(filter(None, (", ".join(lacks[:-1]), lacks[-1])))
    return f"{lead} It cannot {listed}." if lead else f"This engine cannot {listed}."


def reference_label(range_s: tuple[float, float]) -> str:
    """What the reference is called; says how long it may be, where that is known."""
    return f"Voice to copy, {range_s[0]:g} to {range_s[1]:g} s" if range_s[1] else "Voice to copy"
