"""What the voice part says about an engine."""

from __future__ import annotations

from backend.contract.voice import VoiceControls, VoiceMode

HOW_TO_COPY = (
    "To have the assistant speak in a copied voice, keep it in the Voice lab below and press Use in"
    " the conversation."
)


def about(controls: VoiceControls | None) -> str:
    """Why some of the controls are not there, and where voices are copied, in plain words."""
    if controls is None:
        return "What can be chosen about the voice is shown once the engine is ready."
    lead = ""
    if controls.modes == (VoiceMode.CLONE,):
        lead = "This engine has no voice of its own."
    elif VoiceMode.NAMED in controls.modes and len(controls.speakers) <= 1:
        lead = "This engine speaks with one voice of its own."
    copies = VoiceMode.CLONE in controls.modes
    abilities = {
        "copy a voice": copies,
        "be told which language to speak": len(controls.languages) > 1,
        "follow a style": controls.style_chars > 0,
        "change its speed": controls.changes_speed,
    }
    lacks = [ability for ability, there in abilities.items() if not there]
    listed = " or ".join(filter(None, (", ".join(lacks[:-1]), *lacks[-1:])))
    cannot = f"{'It' if lead else 'This engine'} cannot {listed}." if lacks else ""
    return " ".join(filter(None, (lead, cannot, HOW_TO_COPY if copies else "")))
