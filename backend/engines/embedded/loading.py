"""Brings the models of a crew up, all at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from backend.contract.engine import Progress
from backend.contract.turn import TurnSettings
from backend.engines.embedded.crew import Crew
from backend.engines.embedded.prompt import fitting_messages, instructions, user_message
from backend.engines.embedded.stages import StopSignal, no_report
from backend.engines.failures import plainly


async def load_models(crew: Crew, progress: Progress) -> None:
    """Load every model and warm the chat with the default prompt.

    The first failure ends it: what has not begun never begins, and what a thread is at just then
    goes on unheard until the crew is closed, because loading cannot be interrupted.

    Raises:
        StageFailed: A model is missing or cannot be loaded.
        EngineFailed: The crew was closed meanwhile.
    """
    parts = (
        ("chat", crew.think.submit(crew.chat.load)),
        ("voice", crew.speak.submit(crew.voice.load)),
        ("hearing", crew.hear.submit(crew.recognizer.load)),
        ("sight", crew.see.submit(crew.eyes.load)),
    )
    loads = {asyncio.wrap_future(job): name for name, job in parts}
    progress(0.0, "Loading the models")
    try:
        await _each(loads, progress)
    finally:
        for load in loads:
            if not load.cancel() and not load.cancelled():
                load.exception()  # asked for, so that asyncio does not log that nobody did
    with plainly("The chat model could not be warmed up. The log says why."):
        await crew.think.call(lambda: _warm_chat(crew))


async def _each(loads: Mapping[asyncio.Future[None], str], progress: Progress) -> None:
    waiting = set(loads)
    while waiting:
        done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for load in done:
            with plainly(f"The {loads[load]} could not be loaded. The log says why."):
                load.result()
        share = (len(loads) - len(waiting)) / (len(loads) + 1)
        progress(share, f"Ready: {', '.join(loads[load] for load in done)}")


def _warm_chat(crew: Crew) -> None:
    """Read the default system prompt once, so that llama.cpp keeps it in its cache."""
    chat, hello = crew.chat, user_message("Hello")
    system = instructions(TurnSettings().system_prompt, crew.voice.language)
    room = chat.context - 1
    fitting = fitting_messages(system, (), hello, lambda messages: chat.fits(messages, room))
    for _ in chat.reply(fitting or [hello], 1, StopSignal(), no_report):
        pass
