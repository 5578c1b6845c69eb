"""Speech to words with faster-whisper, behind a detector that hears whether anybody speaks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from backend.contract.media import AudioClip, Samples
from backend.engines.embedded.speech_detector import SAMPLE_RATE, at_model_rate, speech_in
from backend.engines.embedded.stages import Report, StopSignal, no_report

if TYPE_CHECKING:
    from faster_whisper.transcribe import Segment

_FRAME = 160  # samples
_MAX_WINDOW = 3000  # mel frames of 10 ms: the 30 s that Whisper was trained on
# A window shorter than 30 s makes the encoder faster in proportion. Filled up with silence, tiny.en
# keeps its word error rate at these lengths (110 synthetic clips at three speeds and levels of
# noise), and starts to say things twice below them.
_SHORT_WINDOWS = ((6.0, 900), (8.0, 1200), (12.0, 1600))
_MIN_TOKENS, _TOKENS_PER_S = 24, 12  # twice as many as the fastest speech has

# Bounds of the Whisper paper's own decoder (section 4.5), a little stricter on the likelihood.
_MAX_NO_SPEECH = 0.6
_MIN_LOGPROB = -1.0
_MAX_COMPRESSION = 2.4


class _Left(Exception):  # noqa: N818 - not a fault
    """The stop signal was seen in the middle of a window."""


class WhisperRecognizer:
    """A faster-whisper model on the CPU. Used by one thread at a time."""

    def __init__(self, find_directory: Callable[[], Path], threads: int) -> None:
        """``find_directory`` is called by ``load`` and may download; ``threads`` of the CPU."""
        self._find_directory = find_directory
        self._threads = threads
        self._model: Any = None
        self._languages: tuple[str, ...] = ()

    @property
    def languages(self) -> tuple[str, ...]:
        """``("en",)`` for an English model, else ``auto`` and all codes of the model."""
        return self._languages

    def load(self) -> None:
        """Bring the model up and run it once."""
        from backend.engines.embedded.whisper_window import WindowedWhisper

        self._model = WindowedWhisper(
            str(self._find_directory()),
            device="cpu",
            compute_type="int8",
            cpu_threads=self._threads,
            local_files_only=True,
        )
        codes = tuple(self._model.supported_languages)
        self._languages = ("auto", *codes) if len(codes) > 1 else ("en",)
        speech_in(np.zeros(SAMPLE_RATE, np.float32))
        list(self._decode(np.zeros(SAMPLE_RATE, np.float32), "en", _SHORT_WINDOWS[0][1]))

    def close(self) -> None:
        """Free the model. Harmless before ``load`` and twice."""
        self._model = None

    def transcribe(
        self, clip: AudioClip, language: str, stop: StopSignal, report: Report = no_report
    ) -> Iterator[str]:
        """The words of each segment; nothing at all when nobody speaks.

        Args:
            clip: Sound at any rate.
            language: One of ``languages``.
            stop: Looked at before each segment, and around the encoding of each 30 s of speech.
            report: Told the share of the speech that is written down, at the same points.

        Yields:
            The segment's words without blanks around them.
        """
        speech = speech_in(at_model_rate(clip))
        if speech.size == 0 or stop.is_set():
            return
        code = None if language == "auto" and len(self._languages) > 1 else language
        code = "en" if self._languages == ("en",) else code
        share = 0.0

        def step() -> None:
            if stop.is_set():
                raise _Left
            report(share)

        model = self._model
        model.step = step
        try:
            for segment in self._segments(speech, code):
                share = min(1.0, segment.end * SAMPLE_RATE / len(speech))
                step()
                text = segment.text.strip()
                if text and not _is_invented(segment):
                    yield text
        except _Left:
            return
        finally:
            model.step = None

    def _segments(self, speech: Samples, language: str | None) -> Iterator[Segment]:
        window = _window(len(speech) / SAMPLE_RATE)
        if window == _MAX_WINDOW:
            yield from self._decode(speech, language, window)
            return
        segments = list(self._decode(speech, language, window))
        most = _most_tokens(speech)
        if not segments or any(_is_doubtful(segment, most) for segment in segments):
            segments = list(self._decode(speech, language, _MAX_WINDOW))
        yield from segments

    def _decode(self, speech: Samples, language: str | None, window: int) -> Iterator[Segment]:
        self._model.window = window
        short = window != _MAX_WINDOW
        padding = max(0, window * _FRAME - len(speech)) if short else 0
        segments, _ = self._model.transcribe(
            np.pad(speech, (0, padding)),
            language=language,
            beam_size=1,
            temperature=0.0,
            condition_on_previous_text=False,
            no_speech_threshold=None,
            # They tell where the next window begins, and cost time where there is no next one.
            without_timestamps=short,
            # Words that repeat themselves are soon cut, and then looked for again with 30 s.
            max_new_tokens=_most_tokens(speech) if short else None,
        )
        yield from segments


def _window(seconds: float) -> int:
    for longest, frames in _SHORT_WINDOWS:
        if seconds <= longest:
            return frames
    return _MAX_WINDOW


def _most_tokens(speech: Samples) -> int:
    return max(_MIN_TOKENS, _TOKENS_PER_S * len(speech) // SAMPLE_RATE)


def _is_doubtful(segment: Segment, most_tokens: int) -> bool:
    return bool(
        len(segment.tokens) >= most_tokens
        or segment.compression_ratio > _MAX_COMPRESSION
        or segment.avg_logprob < _MIN_LOGPROB
        or repeats_itself(segment.text)
    )


def _is_invented(segment: Segment) -> bool:
    unlikely = segment.avg_logprob < _MIN_LOGPROB
    return bool(
        (unlikely and segment.no_speech_prob > _MAX_NO_SPEECH)
        or segment.compression_ratio > _MAX_COMPRESSION
    )


def repeats_itself(text: str) -> bool:
    """Whether words come again at once as people seldom say them.

    That is one to four words four times in a row, or three or more words twice.
    """
    words = re.findall(r"[^\W_]+", text.lower())
    return any(
        words[start : start + size] * times == words[start : start + size * times]
        for times, sizes in ((4, range(1, 5)), (2, range(3, len(words) // 2 + 1)))
        for size in sizes
        for start in range(len(words) - size * times + 1)
    )
