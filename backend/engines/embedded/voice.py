"""Words to sound with Piper."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from backend.contract.media import Samples
from backend.engines.embedded.pitch import at_pitch
from backend.engines.embedded.stages import StopSignal

# The slowest phoneme that Piper makes on purpose is about a third of this.
_MAX_S_PER_PHONEME = 0.5
_MAX_EXTRA_S = 1.0
# How loud a voice is shows in one sentence; one gain for all keeps their differences.
_SAMPLE = "Hello, and welcome. It is good to hear you."
_PEAK, _MAX_GAIN = 0.8, 4.0
_FAINT = 0.01
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
        self._vits: Any = None
        self._gain = 1.0

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
        """Bring the model up and run it once.

        Raises:
            ModelMissing: The file is not a Piper voice.
        """
        from piper import PiperConfig, PiperVoice

        from backend.engines.embedded.vits import SplitVits

        model = self._find_model()
        config = json.loads(model.with_name(f"{model.name}.json").read_text(encoding="utf-8"))
        self._name = model.stem
        self._language = str(config.get("language", {}).get("name_english", ""))
        # Only what writes phonemes is used of it: the model is run in halves.
        self._voice = PiperVoice(session=None, config=PiperConfig.from_dict(config))
        self._vits = SplitVits(model)
        self._sample_rate = int(self._voice.config.sample_rate)
        sound = np.concatenate(list(self._say(_SAMPLE, 1.0, StopSignal())))
        self._gain = _PEAK / max(float(np.abs(sound).max()), _PEAK / _MAX_GAIN)

    def close(self) -> None:
        """Free the model. Harmless before ``load`` and twice."""
        self._voice = self._vits = None

    def speak(
        self, text: str, speed: float, stop: StopSignal, pitch: float = 0.0
    ) -> Iterator[Samples]:
        """The sound of one sentence, the first 0.3 s of it long before the rest.

        Args:
            text: Plain prose, such as ``speakable`` gives.
            speed: Rate relative to the voice's own; 2.0 is twice as fast.
            stop: Looked at before each piece.
            pitch: Semitones above the voice's own. The formants move too, as with a smaller or a
                larger speaker; length and intonation stay.

        Yields:
            Shape ``(N,)``, float32 mono, full scale at ±1; never empty, always finite, and
            bounded in length by the number of phonemes.
        """
        for piece in at_pitch(self._say(text, speed, stop), pitch, self.sample_rate):
            yield np.clip(piece * self._gain, -1.0, 1.0)

    def _say(self, text: str, speed: float, stop: StopSignal) -> Iterator[Samples]:
        voice = self._voice
        length_scale = voice.config.length_scale / speed
        scales = (voice.config.noise_scale, length_scale, voice.config.noise_w_scale)
        for phonemes in voice.phonemize(text.translate(_RAW_PHONEMES)):
            longest_s = (_MAX_EXTRA_S + _MAX_S_PER_PHONEME * len(phonemes)) * length_scale
            left = int(longest_s * self.sample_rate)
            for piece, last in self._vits.speak(voice.phonemes_to_ids(phonemes), scales):
                if stop.is_set():
                    return
                sound, left = piece[:left], left - len(piece)
                if last and text[-1].isalnum():
                    sound = _without_pause(sound)
                if sound.size and np.isfinite(sound).all():
                    yield sound
                if left <= 0:
                    break


def _without_pause(sound: Samples) -> Samples:
    """The end of a phrase that goes on, without the 0.3 s that the voice makes after a sentence."""
    loud = np.flatnonzero(np.abs(sound) > _FAINT)
    return sound[: loud[-1] + 1] if loud.size else sound
