"""Send: a good question starts one turn, a bad one is answered beside its field."""

from __future__ import annotations

from pathlib import Path

import gradio as gr
import numpy as np
import pytest
import soundfile
from PIL import Image

from backend.contract.errors import Field
from backend.contract.events import Outcome
from backend.contract.turn import TurnSettings
from backend.conversation.registry import SessionRegistry
from backend.media.limits import MediaLimits
from tests.scripted_engine import ScriptedEngine, echo, tone
from ui.handlers import Sender

ID = "a" * 32
FIELDS = [Field.TEXT, Field.TURN, Field.AUDIO, Field.VIDEO, Field.IMAGE]
CHOICES = ("Be brief.", "en", 64, 4, 1.25)
CLEARED = ["", None, None, None]


@pytest.fixture
def engine():
    return ScriptedEngine(echo)


@pytest.fixture
def registry(start, engine):
    return SessionRegistry(start(engine).submit)


@pytest.fixture
def sender(registry):
    limits = MediaLimits(max_audio_s=5, max_video_s=10, max_bytes=2_000_000)
    return Sender(registry, limits, FIELDS, max_text_chars=100)


@pytest.fixture
def recording(tmp_path) -> str:
    path = tmp_path / "_Voice memo...__ (1) ümlaut 语音.wav"
    soundfile.write(path, tone(1.0, rate=48_000), 48_000)
    return str(path)


async def send(sender, text="", *, audio=None, video=None, image=None, session=ID):
    outputs = await sender.send(session, text, audio, video, image, *CHOICES)
    inputs, errors = outputs[:4], outputs[4:]
    return inputs, {field: words for field, words in zip(FIELDS, errors, strict=True) if words}


def kept(inputs: list) -> bool:
    return all(value == gr.skip() for value in inputs)


async def test_typed_words_start_a_turn_with_the_chosen_settings(sender, registry, engine):
    inputs, errors = await send(sender, "hello <b>")
    await registry.get(ID).settled()
    assert (inputs, errors) == (CLEARED, {})
    (turn,) = engine.runs
    assert turn.text == "hello <b>"
    assert turn.settings == TurnSettings("Be brief.", "en", 64, 1.25)
    assert registry.get(ID).records[0].outcome is Outcome.ANSWERED


async def test_a_recording_reaches_the_engine_as_16_khz_mono(sender, registry, engine, recording):
    inputs, errors = await send(sender, audio=recording)
    await registry.get(ID).settled()
    assert (inputs, errors) == (CLEARED, {})
    clip = engine.runs[0].audio
    assert clip.sample_rate == 16_000
    assert clip.samples.dtype == np.float32
    assert clip.duration_s == pytest.approx(1.0, abs=0.01)
    assert registry.get(ID).records[0].attachments == ("Recording, 1.0 s",)


async def test_a_picture_reaches_the_engine_as_one_frame(sender, registry, engine, tmp_path):
    path = tmp_path / "red.png"
    Image.new("RGB", (64, 48), "red").save(path)
    _, errors = await send(sender, image=str(path))
    await registry.get(ID).settled()
    assert errors == {}
    assert engine.runs[0].frames.images.shape == (1, 48, 64, 3)


async def test_the_sample_video_brings_frames_and_its_sound(sender, registry, engine):
    video = Path(__file__).parents[2] / "assets" / "sign.mp4"
    _, errors = await send(sender, video=str(video))
    await registry.get(ID).settled()
    assert errors == {}
    turn = engine.runs[0]
    assert len(turn.frames.images) == 4
    assert turn.audio.duration_s > 1


@pytest.mark.parametrize("text", ["", "  \n"])
async def test_nothing_to_send_is_a_hint_and_not_a_turn(sender, engine, text):
    inputs, errors = await send(sender, text)
    assert kept(inputs)
    assert errors == {Field.TURN: "Type, say or show something first."}
    assert engine.runs == []


async def test_a_text_over_the_limit_is_refused_with_both_numbers(sender, engine):
    inputs, errors = await send(sender, "x" * 101)
    assert kept(inputs)
    assert errors == {Field.TEXT: "This message has 101 characters; the limit is 100."}
    assert engine.runs == []


async def test_a_recording_over_the_limit_is_refused_beside_the_recorder(sender, tmp_path, engine):
    path = tmp_path / "long.wav"
    soundfile.write(path, np.zeros(16_000 * 7, np.float32), 16_000)
    inputs, errors = await send(sender, "hi", audio=str(path))
    assert kept(inputs)
    assert list(errors) == [Field.AUDIO]
    assert "7 s" in errors[Field.AUDIO]
    assert "5 s" in errors[Field.AUDIO]
    assert engine.runs == []


@pytest.mark.parametrize(
    ("slot", "field"), [("audio", Field.AUDIO), ("video", Field.VIDEO), ("image", Field.IMAGE)]
)
async def test_a_file_that_is_none_of_its_kind_is_refused_beside_its_field(
    sender, engine, tmp_path, slot, field
):
    path = tmp_path / "noise.bin"
    path.write_bytes(b"this is no media file " * 50)
    inputs, errors = await send(sender, **{slot: str(path)})
    assert kept(inputs)
    assert list(errors) == [field]
    assert engine.runs == []


async def test_a_video_and_a_picture_together_are_refused(sender, engine):
    _, errors = await send(sender, video="a.mp4", image="b.png")
    assert list(errors) == [Field.IMAGE]
    assert engine.runs == []


async def test_a_lost_session_asks_for_a_reload(sender, engine):
    _, errors = await send(sender, "hi", session="")
    assert "reload" in errors[Field.TURN]
    assert engine.runs == []


async def test_an_engine_that_is_down_is_named_and_nothing_is_lost(start, until):
    thread = start(ScriptedEngine(load_error="No model."))
    await until(lambda: thread.status.state == "failed")
    limits = MediaLimits(max_audio_s=5, max_video_s=10, max_bytes=2_000_000)
    sender = Sender(SessionRegistry(thread.submit), limits, FIELDS, max_text_chars=100)
    inputs, errors = await send(sender, "hi")
    assert kept(inputs)
    assert "No model." in errors[Field.TURN]
