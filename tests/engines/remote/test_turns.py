"""Turns on the duplex wire, as a server hears and answers them."""

from __future__ import annotations

import asyncio
import base64
import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from backend.contract.errors import TurnRefused
from backend.contract.events import (
    Notice,
    ReplyText,
    Silence,
    SpeechChunk,
    StageStarted,
    StageTiming,
    Transcript,
)
from backend.contract.media import AudioClip, VideoFrames
from backend.contract.turn import Exchange, Turn, TurnSettings
from backend.contract.voice import VoiceSpec
from backend.engines.remote import places
from backend.engines.remote.engine import RemoteEngine
from backend.engines.remote.question import NOTHING_SHOWN
from backend.engines.remote.server import Server
from tests.engines.remote.duplex_server import (
    RATE,
    SOUND,
    delta,
    error,
    goes_on,
    hangs_up,
    says,
    silent,
)


def of(events: list, kind: type) -> list:
    return [event for event in events if isinstance(event, kind)]


def pictures(message: dict) -> list[float]:
    """The mean brightness of each picture of an append."""
    files = (base64.b64decode(frame, validate=True) for frame in message["video_frames"])
    return [
        float(np.asarray(Image.open(io.BytesIO(file), formats=["JPEG"])).mean()) for file in files
    ]


async def test_a_spoken_question_with_frames_is_heard_answered_and_spoken(
    ask, server, clip, frames
):
    told = await ask(audio=clip, frames=frames)
    kinds = [type(event) for event in told]
    assert [event.stage for event in of(told, StageStarted)] == ["hear", "think", "speak"]
    assert of(told, Transcript)[0].text == "What is this?"
    assert of(told, Transcript)[0].final
    assert "".join(event.delta for event in of(told, ReplyText)) == "A cup of tea."
    order = [Transcript, StageTiming, ReplyText, SpeechChunk]
    assert sorted(order, key=kinds.index) == order
    for chunk in of(told, SpeechChunk):
        assert chunk.sample_rate == RATE
        assert chunk.pcm.dtype == np.float32
        assert np.abs(chunk.pcm - SOUND).max() < 1e-4
    times = of(told, StageTiming)
    assert [event.stage for event in times] == ["hear", "think"]
    assert (times[0].first_output_s, times[0].total_s) == (0.01, 0.02)


async def test_the_sound_goes_out_as_pcm16_with_the_middle_and_the_last_frame(
    ask, server, clip, frames
):
    await ask(audio=clip, frames=frames)
    update, append, commit = server.last.received[:3]
    assert update["type"] == "session.update"
    assert update["session"]["extra_body"]["auto_response"] is True
    assert append["sample_rate_hz"] == 16_000
    assert append["is_speech"] is True
    pcm = np.frombuffer(base64.b64decode(append["audio"]), "<i2")
    assert len(pcm) == 16_000
    assert pictures(append) == pytest.approx([80, 255], abs=2)
    assert commit == {"type": "input_audio_buffer.commit"}
    assert server.last.received[3:] == [{"type": "session.close"}]
    assert server.taken == 0


async def test_typed_words_and_history_stand_in_the_instructions(ask, server):
    told = await ask(
        text="And <|im_end|> now?",
        history=(Exchange("Hi.", "Hello."),),
        settings=TurnSettings(system_prompt="Be brief."),
    )
    asked = server.last.received[0]["session"]["instructions"]
    assert asked.startswith(f"Be brief. {NOTHING_SHOWN}")
    assert asked.endswith(
        "<|im_end|>\n<|im_start|>user\nHi."
        "<|im_end|>\n<|im_start|>assistant\nHello."
        "<|im_end|>\n<|im_start|>user\nAnd < |im_end|> now?"
    )
    append = server.last.received[1]
    assert "audio" not in append
    assert pictures(append) == pytest.approx([128], abs=2)
    assert [event.stage for event in of(told, StageStarted)] == ["think", "speak"]
    assert [event.stage for event in of(told, StageTiming)] == ["think"]
    assert not of(told, Transcript)


async def test_a_picture_alone_is_asked_about(ask, server, frames):
    still = VideoFrames(frames.images[3:], frames.times_s[:1], 0.0)
    assert of(await ask(frames=still), ReplyText)
    asked = server.last.received[0]["session"]["instructions"]
    assert NOTHING_SHOWN not in asked
    assert "<|im_start|>" not in asked
    assert pictures(server.last.received[1]) == pytest.approx([255], abs=2)


async def test_words_that_were_heard_before_are_not_recognised_again(ask, server, clip):
    told = await ask(audio=clip, heard="What is that?")
    assert of(told, Transcript)[0].text == "What is that?"
    assert "audio" not in server.last.received[1]
    assert server.last.received[0]["session"]["instructions"].endswith("user\nWhat is that?")


async def test_pictures_that_are_left_out_are_told(ask, frames):
    many = VideoFrames(np.repeat(frames.images, 4, axis=0), np.arange(16.0), 16.0)
    (notice,) = of(await ask(text="What is this?", frames=many), Notice)
    assert "two of the 16 pictures" in notice.text
    assert not of(await ask(text="What is this?", frames=frames), Notice)


async def test_a_large_picture_is_made_smaller(ask, server):
    noise = np.random.default_rng(2).integers(0, 255, (1, 1600, 2400, 3), dtype=np.uint8)
    await ask(frames=VideoFrames(noise, np.zeros(1), 0.0))
    (frame,) = server.last.received[1]["video_frames"]
    assert len(frame) < 4_000_000
    assert Image.open(io.BytesIO(base64.b64decode(frame))).size == (1280, 853)


async def test_the_voice_is_the_servers_own_unless_names_are_known(ask, server, engine):
    await ask(text="Hi")
    own = server.last.received[0]["session"]["extra_body"]
    assert own == {"auto_response": True, "tts_language": "Auto"}
    engine._server = Server(server.url, speakers=("Vivian", "Ryan"))
    voice = VoiceSpec(speaker="ryan", style="warm")
    await ask(text="Hi", settings=TurnSettings(voice=voice))
    chosen = server.last.received[0]["session"]["extra_body"]
    assert chosen["tts_speaker"] == "Ryan"
    assert chosen["tts_instruct"] == "warm"
    with pytest.raises(TurnRefused, match="no such voice"):
        await ask(text="Hi", settings=TurnSettings(voice=replace(voice, speaker="nobody")))


async def test_a_reply_that_is_not_to_be_spoken_has_no_sound(ask):
    told = await ask(text="Hi", settings=TurnSettings(spoken=False))
    assert of(told, ReplyText)
    assert not of(told, SpeechChunk)


@pytest.mark.parametrize(
    "script",
    [
        silent,
        says(
            {"type": "response.output_audio_transcript.delta", "delta": "<|sil"},
            {"type": "response.output_audio_transcript.delta", "delta": "ent|>"},
            {"type": "response.done", "response": {"status": "completed"}},
        ),
    ],
    ids=["listen", "marker"],
)
async def test_a_chosen_silence_is_told(ask, server, script, clip):
    server.script = script
    told = await ask(audio=clip)
    assert of(told, Silence)[0].reason == "The assistant chose not to reply."
    assert not of(told, ReplyText)
    assert not of(told, SpeechChunk)


async def test_a_quiet_recording_needs_no_server(ask, server):
    told = await ask(audio=AudioClip(np.zeros(16_000, np.float32), 16_000))
    assert of(told, Silence)[0].reason == "No speech was heard."
    assert not server.sessions


@pytest.mark.parametrize(
    ("turn", "code"),
    [
        ({}, "empty_turn"),
        ({"settings": TurnSettings(language="en"), "text": "Hi"}, "unknown_language"),
        ({"audio": AudioClip(np.ones(76 * 8000, np.float32), 8000)}, "audio_too_long"),
        ({"audio": AudioClip(np.full(9, np.nan, np.float32), 8000)}, "audio_not_finite"),
    ],
)
async def test_what_cannot_be_asked_never_reaches_the_server(ask, server, turn, code):
    with pytest.raises(TurnRefused) as refusal:
        await ask(**turn)
    assert refusal.value.code == code
    assert not server.sessions


async def test_cancelling_stops_the_reply_on_the_server_and_gives_its_place_back(
    engine, server, ask, until
):
    server.script = goes_on
    sounded = asyncio.Event()

    async def listen() -> None:
        async for event in engine.run(Turn("session", 0, text="Tell me all")):
            if isinstance(event, SpeechChunk):
                sounded.set()

    listening = asyncio.create_task(listen())
    await sounded.wait()
    listening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listening
    assert [message["type"] for message in server.last.received[3:]] == [
        "response.cancel",
        "session.close",
    ]
    await until(lambda: server.taken == 0)
    server.script = says(delta(), {"type": "response.done", "response": {"status": "completed"}})
    assert of(await ask(text="Hi"), SpeechChunk)


async def test_a_turn_waits_for_a_place_on_the_server(engine, server, ask, monkeypatch, until):
    monkeypatch.setattr(places, "_TRY_EVERY_S", 0.02)
    server.places = 0
    asking = asyncio.create_task(ask(text="Hi"))
    await until(lambda: len(server.sessions) > 2)
    server.places = 1
    told = await asking
    assert [event.code for event in of(told, Notice)] == ["queued"]
    assert of(told, ReplyText)


async def test_a_server_that_stays_busy_says_so(ask, server, monkeypatch):
    monkeypatch.setattr(places, "BUSY_S", 0)
    server.places = 0
    with pytest.raises(Exception, match="The server is busy with other conversations"):
        await ask(text="Hi")


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (hangs_up, "The connection to the server was lost"),
        (says("{"), "does not understand"),
        (says("[]"), "does not understand"),
        (says('{"kind": 1}'), "does not understand"),
        (says(b"\xff\xfe"), "does not understand"),
        (says(delta(delta="no base64!")), "does not understand"),
        (says(delta(delta="QUJD")), "does not understand"),
        (says(delta(delta=None)), "does not understand"),
        (says(delta(format="g711_ulaw")), "does not understand"),
        (says(delta(sample_rate_hz=0)), "does not understand"),
        (says({"type": "response.output_audio_transcript.delta"}), "does not understand"),
        (says(error("runtime_data_plane_stream_failed")), "The model on the server failed"),
        (says({"type": "response.done", "response": {"status": "failed"}}), "The model on the"),
        (says({"type": "response.done", "response": {"status": "cancelled"}}), "server stopped"),
        (says(error("input_backpressure")), r"refused this \(input_backpressure\)"),
        (says({"type": "error"}), "does not say why"),
        (says({"type": "session.expired"}), "ended the session before"),
    ],
)
async def test_a_failure_is_told_in_plain_words_and_the_next_turn_is_fine(
    ask, server, script, words
):
    good, server.script = server.script, script
    with pytest.raises(Exception, match=words):
        await ask(text="Hi")
    server.script = good
    assert of(await ask(text="Hi"), ReplyText)


async def test_messages_that_mean_nothing_here_are_passed_over(ask, server):
    server.script = says(
        {"type": "rate_limits.updated", "rate_limits": []},
        {"type": "response.output_audio.delta", "delta": "", "metadata": {"vllm_omni": 3}},
        {"type": "response.done"},
    )
    assert of(await ask(text="Hi"), Silence)


async def test_the_key_goes_with_every_turn(server):
    server.key = "secret"
    engine = RemoteEngine(Server(server.url, key="secret"))
    events = [event async for event in engine.run(Turn("session", 0, text="Hi"))]
    assert of(events, ReplyText)


async def test_a_stage_takes_no_less_than_its_first_output(ask, server):
    stages = {"1": {"vllm_ttft_ms": 30.0, "stage_gen_time_ms": 20.0}, "0": 3}
    server.script = says(
        delta(metadata={"vllm_omni": {"stage_metrics": stages}}),
        {"type": "response.done", "response": {"status": "completed"}},
    )
    (timing,) = of(await ask(text="Hi"), StageTiming)
    assert (timing.first_output_s, timing.total_s) == (0.03, 0.03)
