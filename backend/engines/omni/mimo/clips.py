"""Clips as MiMo-Audio hears them: 24 kHz mono, counted in groups of 160 ms."""

from __future__ import annotations

from backend.contract.errors import Field, TurnRefused
from backend.contract.media import AudioClip
from backend.engines.door import check_audio
from backend.engines.omni.mimo.tokens import GROUP_SAMPLES, SAMPLE_RATE
from backend.media import pcm

MIN_S = 0.1
"""Shortest clip, in seconds; the audio tokenizer fails on a few milliseconds."""

_WOVEN = 5
"""Words and groups are woven five by five."""


def at_model_rate(
    clip: AudioClip, name: str = "recording", field: Field = Field.AUDIO
) -> AudioClip:
    """A clip of any rate at 24 kHz.

    Args:
        clip: The clip.
        name: What the person calls it.
        field: Where it was given.

    Raises:
        TurnRefused: ``audio_empty``, ``audio_format``, ``audio_not_finite`` or ``audio_rate``.
    """
    check_audio(clip, name, field)
    if not pcm.MIN_RATE <= clip.sample_rate <= pcm.MAX_RATE:
        text = (
            f"This {name} is at {clip.sample_rate} Hz."
            f" Rates from {pcm.MIN_RATE} to {pcm.MAX_RATE} Hz are taken."
        )
        raise TurnRefused("audio_rate", text, field)
    resampler = pcm.MonoResampler(SAMPLE_RATE)
    resampler.add(clip.samples, clip.sample_rate)
    return AudioClip(resampler.join(), SAMPLE_RATE)


def check_clip(clip: AudioClip, name: str = "recording", field: Field = Field.AUDIO) -> None:
    """Refuse a clip that the audio tokenizer fails on or makes nothing of.

    Args:
        clip: The clip, at 24 kHz.
        name: What the person calls it.
        field: Where it was given.

    Raises:
        TurnRefused: ``audio_empty``, ``audio_format``, ``audio_not_finite``, ``audio_rate`` or
            ``audio_too_short``.
    """
    check_audio(clip, name, field)
    if clip.sample_rate != SAMPLE_RATE:
        text = f"This {name} is at {clip.sample_rate} Hz; the model hears {SAMPLE_RATE} Hz."
        raise TurnRefused("audio_rate", text, field)
    if clip.duration_s < MIN_S:
        text = f"This {name} is too short: it must have at least {MIN_S:g} s."
        raise TurnRefused("audio_too_short", text, field)


def groups_of(clip: AudioClip) -> int:
    """Tokens that a clip at 24 kHz takes in a prompt.

    The tokenizer's spectrum has a column more than there are hops in the clip, and what is left
    over is padded to a whole group: one more than there are whole groups in the clip, always.
    """
    return len(clip.samples) // GROUP_SAMPLES + 1


def carries(groups: int, text_tokens: int) -> bool:
    """Whether sound is long enough to be woven with the words of an earlier spoken turn.

    The model lays five words, then five groups, and so on up to the last words. Where there are
    not enough groups, it takes those of the next clip instead, or the stage dies: such a turn must
    go as text only. It is what an interruption leaves behind.

    Args:
        groups: Groups of the turn's sound.
        text_tokens: Tokens of its words.
    """
    gaps = max(0, -(-text_tokens // _WOVEN) - 1)
    return groups >= _WOVEN * gaps
