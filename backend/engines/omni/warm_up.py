"""A first piece of work for every stage: lazy processors load and kernels are chosen."""

from __future__ import annotations

from contextlib import aclosing

import numpy as np

from backend.contract.events import Event
from backend.contract.media import AudioClip, VideoFrames
from backend.contract.tasks import TaskRequest
from backend.contract.turn import Turn, TurnSettings
from backend.contract.voice import VoiceMode, VoiceSpec
from backend.engines.omni.mimo.pipeline import MimoPipeline
from backend.engines.omni.mimo.work import TaskWork
from backend.engines.omni.pipeline import Pipeline
from backend.engines.omni.speech_pipeline import SpeechPipeline

_RATE = 16000


async def warm_up(pipeline: SpeechPipeline | MimoPipeline) -> None:
    """Hear a second of noise, look at two grey frames, and say a word: what the pipeline can.

    Raises:
        Exception: Whatever a stage raises: the pipeline would fail on a person's turn too.
    """
    noise = np.random.default_rng(0).normal(0, 0.05, _RATE * 2).astype(np.float32)
    clip = AudioClip(noise, _RATE)
    if isinstance(pipeline, MimoPipeline):
        await _hear_and_repeat(pipeline, clip)
        return
    turn = Turn("warm-up", 0, frames=_frames(), settings=_settings(pipeline, clip))
    if isinstance(pipeline, Pipeline):
        await _hear_and_think(pipeline, clip, turn)
    async with aclosing(
        pipeline.speak("Hello.", pipeline.voice(turn), "warm-speak", turn.settings)
    ) as outputs:
        async for output in outputs:
            pipeline.sample_rate = output.sample_rate or pipeline.sample_rate


async def _hear_and_repeat(pipeline: MimoPipeline, clip: AudioClip) -> None:
    task = TaskRequest("audio_trancribing_sft", clip=clip)
    settings = TurnSettings(max_reply_tokens=16)
    await TaskWork(Turn("warm-up", 0, task=task, settings=settings), pipeline, _unheard).run()


def _unheard(event: Event) -> None:
    """Nobody listens."""


async def _hear_and_think(pipeline: Pipeline, clip: AudioClip, turn: Turn) -> None:
    async with aclosing(pipeline.hear(clip, "auto", "warm-hear")) as outputs:
        async for _ in outputs:
            pass
    prompt = await pipeline.prompt_for(turn, "Hello.")
    async with aclosing(pipeline.think(prompt, 4, "warm-think")) as outputs:
        async for _ in outputs:
            pass


def _settings(pipeline: SpeechPipeline, clip: AudioClip) -> TurnSettings:
    voices = {
        VoiceMode.NAMED: VoiceSpec(),
        VoiceMode.CLONE: VoiceSpec(reference_audio=clip, reference_text="Hello there."),
        VoiceMode.DESIGN: VoiceSpec(style="A calm voice."),
    }
    return TurnSettings(voice=voices[pipeline.checkpoint.controls().modes[0]])


def _frames() -> VideoFrames:
    grey = np.full((2, 64, 64, 3), 128, np.uint8)
    return VideoFrames(images=grey, times_s=np.array([0.0, 0.5]), duration_s=1.0)
