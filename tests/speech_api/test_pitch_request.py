"""A pitch is asked for only where the engine can change it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from backend.contract.voice import VoiceControls
from backend.speech_api.errors import ApiError
from backend.speech_api.request import SpeechRequest, turn_for
from backend.voices.library import VoiceLibrary
from tests.scripted_engine import ScriptedEngine


@pytest.fixture
def turn(tmp_path):
    """The turn for a request, with an engine whose voice can change its pitch or cannot."""
    library = VoiceLibrary(tmp_path)

    def make(asked, *, changes_pitch):
        engine = ScriptedEngine(voice=VoiceControls(changes_pitch=changes_pitch), recites=True)
        return turn_for(SpeechRequest(**asked), engine.capabilities, library, "api")[0]

    yield make
    library.close()


def test_the_pitch_reaches_an_engine_that_can_change_it(turn):
    asked = {"input": "Hello.", "pitch": -2.5}
    assert turn(asked, changes_pitch=True).settings.voice_pitch == -2.5


def test_it_is_refused_where_the_engine_cannot(turn):
    with pytest.raises(ApiError, match="one pitch") as refusal:
        turn({"input": "Hello.", "pitch": 1}, changes_pitch=False)
    assert (refusal.value.code, refusal.value.param) == ("pitch_fixed", "pitch")
    assert turn({"input": "Hello."}, changes_pitch=False).settings.voice_pitch == 0


@pytest.mark.parametrize("pitch", [-6.5, 7, float("nan")])
def test_it_lies_within_six_semitones(pitch):
    with pytest.raises(ValidationError):
        SpeechRequest(input="Hello.", pitch=pitch)
