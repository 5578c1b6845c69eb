"""Send: a good question starts one turn, a bad one is answered beside its field."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from PIL import Image

from backend.contract.errors import Field
from backend.contract.events import Outcome
from backend.contract.turn import TurnSettings
from backend.contract.voice import VoiceControls, VoiceMode, VoiceSpec
from backend.conversation.pcm import to_pcm16
from backend.conversation.registry import SessionRegistry
from backend.media.limits import MediaLimits
from tests.scripted_engine import ScriptedEngine, echo, tone
from ui.handlers import Sender

ID = "a" * 32
FIELDS = [Field.TEXT, Field.TURN, Field.AUDIO, Field.VIDEO, Field.IMAGE, Field.VOICE]
NAMED = ("tone", "auto", "", False, 1.25)
TOO_LONG = ("tone", "auto", "warm and slow", False, 1.25)
VOICE = VoiceControls(tuple(VoiceMode), speakers=("tone",), style_chars=5, changes_speed=True)
LIMITS = MediaLimits(max_audio_s=5, max_video_s=10, max_bytes=2_000_000)


@pytest.fixture
def engine():
    return ScriptedEngine(echo, voice=VOICE)


@pytest.fixture
def thread(start, engine):
    return start(engine)


@pytest.fixture
def registry(thread):
    return SessionRegistry(thread.submit)


@pytest.fixture
async def sender(registry, thread, until):
    await until(lambda: thread.status.state == "ready")
    return Sender(registry, thread, LIMITS, FIELDS, max_text_chars=100)


@pytest.fixture
def recording(tmp_path) -> str:
    path = tmp_path / "_Voice memo...__ (1) ümlaut 语音.wav"
    soundfile.write(path, tone(1.0, rate=48_000), 48_000)
    return str(path)


async def send(sender, text="", *, audio=None, video=None, image=None, session=ID, voice=NAMED):
    """The errors that Send shows, by field; a turn that begins shows none."""
    choices = ("Be brief.", "en", 64, 4, *voice)
    errors = await sender.send(session, text, audio, video, image, *choices)
    return {field: words for field, words in zip(FIELDS, errors, strict=True) if words}


async def test_typed_words_start_a_turn_with_the_chosen_settings(sender, registry, engine):
    errors = await send(sender, "hello <b>")
    await registry.get(ID).settled()
    assert errors == {}
    (turn,) = engine.runs
    assert turn.text == "hello <b>"
    voice = VoiceSpec(mode=VoiceMode.NAMED, speaker="tone")
    assert turn.settings == TurnSettings("Be brief.", "en", 64, 1.25, voice=voice)
    assert registry.get(ID).records[0].outcome is Outcome.ANSWERED


async def test_a_recording_reaches_the_engine_as_16_khz_mono(sender, registry, engine, recording):
    errors = await send(sender, audio=recording)
    await registry.get(ID).settled()
    assert errors == {}
    clip = engine.runs[0].audio
    assert clip.sample_rate == 16_000
    assert clip.samples.dtype == np.float32
    assert clip.duration_s == pytest.approx(1.0, abs=0.01)
    assert registry.get(ID).records[0].attachments == ("Recording, 1.0 s",)


async def test_a_picture_reaches_the_engine_as_one_frame(sender, registry, engine, tmp_path):
    path = tmp_path / "red.png"
    Image.new("RGB", (64, 48), "red").save(path)
    errors = await send(sender, image=str(path))
    await registry.get(ID).settled()
    assert errors == {}
    assert engine.runs[0].frames.images.shape == (1, 48, 64, 3)


async def test_the_sample_video_brings_frames_and_its_sound(sender, registry, engine):
    video = Path(__file__).parents[2] / "assets" / "sign.mp4"
    errors = await send(sender, video=str(video))
    await registry.get(ID).settled()
    assert errors == {}
    turn = engine.runs[0]
    assert len(turn.frames.images) == 4
    assert turn.audio.duration_s > 1


@pytest.mark.parametrize("text", ["", "  \n"])
async def test_nothing_to_send_is_a_hint_and_not_a_turn(sender, engine, text):
    errors = await send(sender, text)
    assert errors == {Field.TURN: "Type, say or show something first."}
    assert engine.runs == []


async def test_a_text_over_the_limit_is_refused_with_both_numbers(sender, engine):
    errors = await send(sender, "x" * 101)
    assert errors == {Field.TEXT: "This message has 101 characters; the limit is 100."}
    assert engine.runs == []


async def test_a_recording_over_the_limit_is_refused_beside_the_recorder(sender, tmp_path, engine):
    path = tmp_path / "long.wav"
    soundfile.write(path, np.zeros(16_000 * 7, np.float32), 16_000)
    errors = await send(sender, "hi", audio=str(path))
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
    errors = await send(sender, **{slot: str(path)})
    assert list(errors) == [field]
    assert engine.runs == []


async def test_a_video_and_a_picture_together_are_refused(sender, engine):
    errors = await send(sender, video="a.mp4", image="b.png")
    assert list(errors) == [Field.IMAGE]
    assert engine.runs == []


async def test_a_lost_session_asks_for_a_reload(sender, engine):
    errors = await send(sender, "hi", session="")
    assert "reload" in errors[Field.TURN]
    assert engine.runs == []


async def test_an_engine_that_is_down_is_named_and_nothing_is_lost(start, until):
    thread = start(ScriptedEngine(load_error="No model."))
    await until(lambda: thread.status.state == "failed")
    sender = Sender(SessionRegistry(thread.submit), thread, LIMITS, FIELDS, max_text_chars=100)
    errors = await send(sender, "hi")
    assert "No model." in errors[Field.TURN]


async def test_a_refused_voice_is_named_beside_it_and_the_next_turn_is_fine(
    sender, registry, engine
):
    assert list(await send(sender, "hi", voice=TOO_LONG)) == [Field.VOICE]
    assert engine.runs == []
    assert await send(sender, "hi") == {}
    await registry.get(ID).settled()
    assert len(engine.runs) == 1


async def test_a_spoken_question_outlasts_a_refusal_of_the_voice(sender, registry, engine):
    registry.get(ID).recording.append(to_pcm16(tone(0.5, rate=16_000)), 16_000)
    assert list(await send(sender, voice=TOO_LONG)) == [Field.VOICE]
    assert await send(sender) == {}
    await registry.get(ID).settled()
    assert engine.runs[0].audio.duration_s == pytest.approx(0.5, abs=0.01)


async def test_an_engine_that_only_copies_answers_in_the_conversations_kept_voice(start, until):
    engine = ScriptedEngine(echo, voice=VoiceControls((VoiceMode.CLONE,)))
    thread = start(engine)
    await until(lambda: thread.status.state == "ready")
    registry = SessionRegistry(thread.submit)
    sender = Sender(registry, thread, LIMITS, FIELDS, max_text_chars=100)
    errors = await send(sender, "hi")
    assert list(errors) == [Field.VOICE]
    assert "keep one in the Voice lab" in errors[Field.VOICE]
    settled = await sender.settle(ID, "Be brief.", "en", 64, 4, *NAMED)
    assert settled == [errors.get(field, "") for field in FIELDS]
    assert engine.runs == []
    anna = VoiceSpec(VoiceMode.CLONE, reference_text="One two.")
    registry.get(ID).kept_voice = anna
    assert await send(sender, "hi") == {}
    await registry.get(ID).settled()
    assert engine.runs[0].settings.voice == anna


async def test_before_the_engine_is_known_its_own_voice_is_asked_for(start):
    engine = ScriptedEngine(echo, load_s=0.3)
    thread = start(engine)
    registry = SessionRegistry(thread.submit)
    sender = Sender(registry, thread, LIMITS, FIELDS, max_text_chars=100)
    assert await send(sender, "hi", voice=TOO_LONG) == {}
    await registry.get(ID).settled()
    assert engine.runs[0].settings == TurnSettings("Be brief.", "en", 64)
