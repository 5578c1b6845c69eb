"""What the benchmarks of a call say into its microphone, in the built-in voice."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import soundfile

from backend.contract.media import Samples
from backend.engines.embedded.models import find_voice
from backend.engines.embedded.stages import StopSignal
from backend.engines.embedded.voice import PiperSpeaker

QUESTIONS = [
    "What is the largest ocean on earth?",
    "How many legs does a spider have?",
    "What colour is the sky?",
    "What is the capital of Italy?",
    "How many days are there in a week?",
    "Who wrote Romeo and Juliet?",
    "What do bees make?",
    "Why do leaves fall in autumn?",
    "What is the opposite of hot?",
    "How do birds fly?",
    "What is bread made of?",
    "Where do penguins live?",
    "What does a doctor do?",
    "How many months are in a year?",
    "What is ice made of?",
    "Which animal says meow?",
    "What is the fastest land animal?",
    "Can you name a yellow fruit?",
    "What do you need to make tea?",
    "How can I sleep better?",
]

CASES = [
    # Finished: the answer should begin soon.
    ["What time is it in London?"],
    ["Yes."],
    ["Stop."],
    ["Tell me about the moon."],
    ["I have two cats and a dog."],
    ["My number is five five one, two nine three."],
    # A pause of 0.8 s in the middle, in which the person has not finished.
    ["I would like a coffee and", "a piece of cake."],
    ["Can you tell me what the", "weather is like today?"],
    ["I went there because", "I wanted to see the river."],
    ["My phone number is four two", "seven nine three one."],
    ["When I was young,", "we lived near the sea."],
    ["Please write to my", "sister about the party."],
]
CASE_PAUSE_S = 0.8

_AUDIBLE = 0.02


@dataclass(frozen=True)
class Said:
    """Something said.

    Attributes:
        samples: Shape ``(N,)``, float32 mono, with a second of quiet behind it.
        rate: In hertz.
        begins_s: When its first loud sample comes.
        ends_s: When its last loud sample has gone.
    """

    samples: Samples
    rate: int
    begins_s: float
    ends_s: float

    @property
    def wav(self) -> str:
        """The same as a WAV file, base64."""
        file = io.BytesIO()
        soundfile.write(file, self.samples, self.rate, format="WAV", subtype="PCM_16")
        return base64.b64encode(file.getvalue()).decode()


class Speaker:
    """Says things."""

    def __init__(self, voice: PiperSpeaker) -> None:
        """Speak with a loaded voice."""
        self._voice = voice

    def say(self, *parts: str) -> Said:
        """All the parts, with the pause of the cases between them."""
        rate = self._voice.sample_rate
        sounds: list[Samples] = []
        for part in parts:
            spoken = np.concatenate(list(self._voice.speak(part, 1.0, StopSignal())))
            sounds += [_trimmed(spoken), np.zeros(int(CASE_PAUSE_S * rate), np.float32)]
        sounds[-1] = np.zeros(rate, np.float32)
        samples = np.concatenate(sounds)
        loud = np.flatnonzero(np.abs(samples) > _AUDIBLE)
        return Said(samples, rate, loud[0] / rate, loud[-1] / rate)


@contextmanager
def a_speaker() -> Iterator[Speaker]:
    """The built-in voice, loaded."""
    voice = PiperSpeaker(lambda: find_voice(None))
    voice.load()
    yield Speaker(voice)
    voice.close()


def _trimmed(samples: Samples) -> Samples:
    loud = np.flatnonzero(np.abs(samples) > _AUDIBLE)
    return samples[loud[0] : loud[-1] + 1]
