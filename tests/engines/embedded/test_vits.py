"""A voice's model in two halves says what the whole says, and begins sooner."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from backend.engines.embedded.models import find_voice
from backend.engines.embedded.stages import StopSignal
from backend.engines.embedded.vits import SplitVits
from backend.engines.embedded.voice import PiperSpeaker
from backend.engines.failures import ModelMissing

LONG = "This sentence is long enough to come in several pieces, which grow as it goes on."


@pytest.fixture(scope="module")
def voice():
    speaker = PiperSpeaker(lambda: find_voice(None))
    speaker.load()
    yield speaker
    speaker.close()


@pytest.fixture(scope="module")
def pieces(voice):
    return list(voice.speak(LONG, 1.0, StopSignal()))


@pytest.fixture
def voice_without_chance(voice, monkeypatch):
    """The same voice, which says a sentence the same way each time."""
    monkeypatch.setattr(voice._voice.config, "noise_scale", 0.0)
    monkeypatch.setattr(voice._voice.config, "noise_w_scale", 0.0)
    return voice


@pytest.mark.embedded
def test_pieces_are_what_the_decoder_makes_of_the_whole():
    model = SplitVits(find_voice(None))
    latent = np.random.default_rng(0).normal(size=(1, 192, 200)).astype(np.float32)
    (whole,) = model._decoder.run(None, {model._latent: latent})
    hop = whole.size // 200
    for start, end in ((0, 24), (24, 72), (72, 168), (168, 200)):
        piece = model._decode(latent, start, end, {})
        np.testing.assert_allclose(piece, whole.ravel()[start * hop : end * hop], atol=1e-4)


@pytest.mark.embedded
def test_the_first_piece_is_short_and_the_last_completes_the_sentence(voice, pieces):
    assert len(pieces[0]) / voice.sample_rate == pytest.approx(0.28, abs=0.02)
    assert 3.0 < sum(len(piece) for piece in pieces) / voice.sample_rate < 8.0


@pytest.mark.embedded
def test_pieces_join_to_what_the_model_says_when_it_is_not_split(voice_without_chance):
    speaker = voice_without_chance
    pieces = list(speaker.speak(LONG, 1.0, StopSignal()))
    assert len(pieces) > 3
    (phonemes,) = speaker._voice.phonemize(LONG)
    ids = np.asarray([speaker._voice.phonemes_to_ids(phonemes)], np.int64)
    scales = np.asarray([0.0, speaker._voice.config.length_scale, 0.0], np.float32)
    unsplit = onnxruntime.InferenceSession(find_voice(None), providers=["CPUExecutionProvider"])
    sentence = {"input": ids, "input_lengths": np.asarray([ids.size], np.int64), "scales": scales}
    (whole,) = unsplit.run(None, sentence)
    expected = np.clip(whole.ravel() * speaker._gain, -1.0, 1.0)
    np.testing.assert_allclose(np.concatenate(pieces), expected, atol=1e-3)


@pytest.mark.embedded
def test_a_voice_is_loud_enough_and_never_beyond_full_scale(pieces):
    assert 0.5 < np.abs(np.concatenate(pieces)).max() <= 1.0


@pytest.mark.embedded
def test_a_phrase_that_goes_on_is_not_followed_by_the_pause_of_a_sentence(voice):
    def pause_s(text: str) -> float:
        sound = np.concatenate(list(voice.speak(text, 1.0, StopSignal())))
        return (len(sound) - np.flatnonzero(np.abs(sound) > 0.03)[-1]) / voice.sample_rate

    assert pause_s("The largest ocean on Earth") < 0.1 < pause_s("The largest ocean on Earth.")


def test_another_kind_of_model_is_refused_by_name(tmp_path):
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    node = helper.make_node("Identity", ["x"], ["y"])
    made = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
    path = tmp_path / "other.onnx"
    onnx.save(helper.make_model(helper.make_graph([node], "other", [value], [made])), path)
    with pytest.raises(ModelMissing, match=r"other\.onnx is not a Piper voice"):
        SplitVits(path)
