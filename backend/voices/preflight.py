"""The check of a reference clip before a voice is copied from it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from backend.contract.media import AudioClip, Samples
from backend.engines.embedded.speech_detector import SAMPLE_RATE
from backend.voices import length_checks, measures, sound_checks
from backend.voices.activity import Activity, find_speech
from backend.voices.findings import Finding, Report, Severity, gravest_first
from backend.voices.speaker import SpeakerEncoder
from backend.voices.speakers import check_speakers
from backend.voices.text_checks import check_text

Hear = Callable[[AudioClip], str]
"""A speech recogniser: the words of a clip, empty when it recognises none."""

LOOKED_AT_S = 120.0
"""A longer clip is looked at up to here, so that the check takes no longer for it."""

_MARGIN_S = 0.2  # a consonant is softer than the detector hears, and dies away after a word
_RAISED_DB = -26.0  # of active speech in listening tests, ITU-T P.830
_PEAK = 0.9
_MANY_CHANNELS = 2


def examine(
    clip: AudioClip,
    words: str,
    *,
    range_s: tuple[float, float],
    hear: Hear,
    encoder: SpeakerEncoder,
    x_vector_only: bool = False,
    channels: int = 1,
) -> Report:
    """Look at everything that makes a copy fail or sound bad. Takes seconds: not for a loop.

    Args:
        clip: The reference clip at any rate, as it came.
        words: Its reference text, as the person wrote it.
        range_s: Shortest and longest clip that the engine takes, as in
            ``VoiceControls.reference_s`` of one that copies voices: neither is 0.
        hear: Recognises the words; called once at most, with what is kept.
        encoder: Tells voices apart.
        x_vector_only: Whether the sound of the voice alone is to be copied; words do not matter.
        channels: How many channels the file had; ``clip`` is their mean.

    Returns:
        What was found. For speech longer than the engine takes, the part kept is one that fits,
        and its words are not compared: examine it again once it is cut.
    """
    activity = find_speech(_begin(clip))
    if not activity.spans:
        return Report((sound_checks.check_nobody(activity.samples),))
    whole, kept = _kept(activity, range_s[1])
    part = activity.within(*kept)
    findings = _of_sound(part, activity.rest, encoder)
    findings += length_checks.check_pauses(part.speech_s, kept, clip.duration_s)
    findings.append(length_checks.check_length(part.speech_s, whole, range_s))
    findings.append(sound_checks.check_band(part.speech, clip.sample_rate))
    findings += _of_file(clip, channels)
    heard = ""
    if not x_vector_only and range_s[0] <= part.speech_s and whole <= range_s[1]:
        heard = hear(kept_part(clip, kept)).strip()
        findings.append(check_text(words, heard, kept[1] - kept[0]))
    return Report(gravest_first(findings), kept, heard)


def kept_part(clip: AudioClip, kept_s: tuple[float, float]) -> AudioClip:
    """What a voice is copied from: the part of the clip that is kept, raised when it is quiet.

    Args:
        clip: The clip that was examined.
        kept_s: Its report's ``kept_s``.
    """
    first, last = (round(second * clip.sample_rate) for second in kept_s)
    samples = clip.samples[first:last]
    level, peak = measures.level_db(samples), float(np.abs(samples).max(initial=0.0))
    if level < sound_checks.QUIET_DB and peak > 0:
        gain = min(10 ** ((_RAISED_DB - level) / 20), _PEAK / peak)
        samples = (samples * np.float32(gain)).astype(np.float32)
    return AudioClip(samples, clip.sample_rate)


def _begin(clip: AudioClip) -> AudioClip:
    return AudioClip(clip.samples[: int(LOOKED_AT_S * clip.sample_rate)], clip.sample_rate)


def _kept(activity: Activity, longest_s: float) -> tuple[float, tuple[float, float]]:
    """Length of the speech with a margin, and of it the part that fits, ending in a pause."""
    margin, longest = int(_MARGIN_S * SAMPLE_RATE), int(longest_s * SAMPLE_RATE)
    first = max(0, activity.spans[0][0] - margin)
    nexts = [*(start for start, _ in activity.spans[1:]), len(activity.samples)]
    ends = [
        min(end + margin, following)
        for (_, end), following in zip(activity.spans, nexts, strict=True)
    ]
    if ends[-1] - first <= longest:
        return (ends[-1] - first) / SAMPLE_RATE, (first / SAMPLE_RATE, ends[-1] / SAMPLE_RATE)
    # An early pause would leave too little; then a word is cut instead.
    late = [end for end in ends if longest // 2 <= end - first <= longest]
    last = max(late, default=first + longest)
    return (ends[-1] - first) / SAMPLE_RATE, (first / SAMPLE_RATE, last / SAMPLE_RATE)


def _of_sound(part: Activity, rest: Samples, encoder: SpeakerEncoder) -> list[Finding]:
    speech = part.speech
    return [
        sound_checks.check_level(part.samples),
        sound_checks.check_clipping(speech),
        sound_checks.check_noise(part, rest),
        *check_speakers(encoder.embed_windows(speech)),
    ]


def _of_file(clip: AudioClip, channels: int) -> list[Finding]:
    found = []
    if clip.duration_s > LOOKED_AT_S:
        message = (
            f"The clip is {clip.duration_s / 60:.0f} min long; only its first"
            f" {LOOKED_AT_S / 60:.0f} min were looked at."
        )
        found.append(Finding("looked_at_begin", Severity.NOTE, message))
    if channels > _MANY_CHANNELS:
        message = f"The {channels} channels of the file were mixed into one."
        found.append(Finding("many_channels", Severity.NOTE, message))
    return found
