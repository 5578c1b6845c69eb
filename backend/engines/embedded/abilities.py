"""What the embedded engine can do, in words and as the page asks for it."""

from __future__ import annotations

from backend.contract.engine import Capabilities
from backend.contract.voice import VoiceControls
from backend.engines import task_turns
from backend.engines.embedded.crew import Crew

_SUMMARY = (
    "Small models on the CPU, without a network. It hears and speaks, but its answers are simple"
    " and often wrong."
)
_NOTES_SUMMARY = " It does not see pictures: it gets notes on their text, colours and motion."
_NO_OTHER_TASKS = (
    "These small models cannot copy or describe a voice, follow a style, or tell what a sound is;"
    " MiMo-Audio on a GPU can: --engine omni --deploy-config deploy/mimo_audio.yaml."
)


def abilities_of(crew: Crew) -> Capabilities:
    """What the engine can do with these stages, whose models are loaded."""
    sees = crew.chat.sees_pictures
    return Capabilities(
        name="Embedded",
        summary=_SUMMARY if sees else _SUMMARY + _NOTES_SUMMARY,
        sees_pictures=sees,
        languages=crew.recognizer.languages,
        voice=VoiceControls(speakers=(crew.voice.name,), changes_speed=True, changes_pitch=True),
        sample_rate=crew.voice.sample_rate,
        recites=True,
        tasks=task_turns.TASKS,
        no_other_tasks=_NO_OTHER_TASKS,
    )
