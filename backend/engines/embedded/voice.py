"""Words to sound with Piper."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from backend.contract.media import Samples
from backend.engines.embedded.stages import StopSignal

if TYPE_CHECKING:
    from piper import AudioChunk

# The slowest phoneme that Piper makes on purpose is about a third of this.
_MAX_S_PER_PHONEME = 0.5
_MAX_EXTRA_S = 1.0
# Piper writes sounds between double square brackets as raw phonemes.
_RAW_PHONEMES = str.maketrans("[]", "()")


class PiperSpeaker:
    """A Piper voice on the CPU. Used by one thread at a time."""

    def __init__(self, find_model: Callable[[], Path]) -> None:
        """``find_model`` is called by ``load``; a ``.onnx.json`` lies beside the file."""
        self._find_model = find_model
        self._name = ""
        self._language = ""
        self._sample_rate = 0
        self._voice: Any = None

    @property
    def language(self) -> str:
        """English name of the voice's language, as its config says; known after ``load``."""
        return self._language

    @property
    def name(self) -> str:
        """The file's name, such as ``en_US-joe-medium``; known after ``load``."""
        return self._name

    @property
    def sample_rate(self) -> int:
        """Samples per second; known after ``load``."""
        return self._sample_rate

    def load(self) -> None:
        """Bring the model up and run it once."""
        from piper import PiperVoice

        model = self._find_model()
        self._name = model.stem
        self._language = _language_of(model)
        self._voice = PiperVoice.load(model)
        self._sample_rate = int(self._voice.config.sample_rate)
        for _ in self.speak("Hello.", 1.0, StopSignal()):
            pass

    def close(self) -> None:
        """Free the model. Harmless before ``load`` and twice."""
        self._voice = None

    def speak(self, text: str, speed: float, stop: StopSignal) -> Iterator[Samples]:
        """The sound of one sentence.

        Args:
            text: Plain prose, such as ``speakable`` gives.
            speed: Rate relative to the voice's own; 2.0 is twice as fast.
            stop: Looked at before each part of the sentence.

        Yields:
            Shape ``(N,)``, float32 mono, full scale at ±1; never empty, always finite, and
            bounded in length by the number of phonemes.
        """
        from piper import SynthesisConfig

        length_scale = self._voice.config.length_scale / speed
        config = SynthesisConfig(length_scale=length_scale)
        for chunk in self._voice.synthesize(text.translate(_RAW_PHONEMES), config):
            if stop.is_set():
                return
            sound = self._bounded(chunk, length_scale)
            if sound.size and np.isfinite(sound).all():
                yield sound

    def _bounded(self, chunk: AudioChunk, length_scale: float) -> Samples:
        longest_s = (_MAX_EXTRA_S + _MAX_S_PER_PHONEME * len(chunk.phonemes)) * length_scale
        sound: Samples = np.asarray(chunk.audio_float_array, np.float32)
        return sound[: int(longest_s * self.sample_rate)]


def _language_of(model: Path) -> str:
    config = json.loads(model.with_name(f"{model.name}.json").read_text(encoding="utf-8"))
    return str(config.get("language", {}).get("name_english", ""))
