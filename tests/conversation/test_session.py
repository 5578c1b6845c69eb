"""A conversation: one turn at a time, nothing of an older one, a history that can be prompted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from backend.contract.errors import TurnRefused
from backend.contract.events import Outcome, SpeechChunk
from backend.contract.media import VideoFrames
from backend.contract.turn import Exchange, TurnSettings
from backend.contract.voice import VoiceMode, VoiceSpec
from backend.conversation import session as session_module
from backend.conversation.pcm import to_pcm16
from backend.conversation.session import ConversationCleared, Session, TurnChanged, TurnStarted
from tests.scripted_engine import (
    RATE,
    ScriptedEngine,
    echo,
    hang,
    raise_error,
    say,
    stay_silent,
    tone,
)

ID = "0" * 32


async def ask(session: Session, text: str):
    record = session.ask(text=text)
    await session.settled()
    return record


async def test_a_turn_is_recorded_with_its_words_and_its_sound(start):
    session = Session(ID, start(ScriptedEngine(say("Hello there.", chunks=3))).submit)
    record = await ask(session, "hi")
    assert record.outcome is Outcome.ANSWERED
    assert record.reply == "Hello there."
    assert bytes(record.speech) == to_pcm16(tone(0.6))
    assert record.sample_rate == RATE


async def test_the_next_turn_carries_the_exchanges_before_it(start):
    engine = ScriptedEngine(echo)
    session = Session(ID, start(engine).submit)
    await ask(session, "one")
    await ask(session, "two")
    await ask(session, "three")
    assert engine.runs[2].history == (Exchange("one", "one"), Exchange("two", "two"))


async def test_silent_and_failed_turns_leave_nothing_in_the_history(start):
    engine = ScriptedEngine(echo, scripts={"quiet": stay_silent, "bad": raise_error})
    session = Session(ID, start(engine).submit)
    for text in ("quiet", "quiet", "quiet", "bad", "real"):
        await ask(session, text)
    assert engine.runs[-1].history == ()
    await ask(session, "next")
    assert engine.runs[-1].history == (Exchange("real", "real"),)


async def test_a_new_question_interrupts_and_nothing_of_the_old_reply_follows(start, until):
    engine = ScriptedEngine(
        echo, scripts={"long": say("Long.", chunks=500, chunk_s=0.02, pause_s=0.005)}
    )
    session = Session(ID, start(engine).submit)
    seen = []
    session.listeners.add(seen.append)
    first = session.ask(text="long")
    await until(lambda: len(first.speech) > 0)
    second = session.ask(text="short")
    cut = len(seen)
    await session.settled()
    await until(lambda: first.outcome is not None)
    late = [c.event for c in seen[cut:] if isinstance(c, TurnChanged) and c.record is first]
    assert [type(event).__name__ for event in late] == ["TurnEnd"]
    assert first.outcome is Outcome.CANCELLED
    assert second.outcome is Outcome.ANSWERED
    assert engine.runs[1].generation > engine.runs[0].generation


async def test_what_was_shown_of_an_interrupted_reply_stays_in_the_history(start, until):
    engine = ScriptedEngine(echo, scripts={"long": hang})
    session = Session(ID, start(engine).submit)
    first = session.ask(text="long")
    await until(lambda: first.reply == "Well,")
    session.interrupt()
    await session.settled()
    await ask(session, "next")
    assert engine.runs[-1].history == (Exchange("long", "Well,"),)


async def test_the_question_that_interrupts_knows_what_it_interrupted(start, until):
    engine = ScriptedEngine(echo, scripts={"long": hang})
    session = Session(ID, start(engine).submit)
    first = session.ask(text="long")
    await until(lambda: first.reply == "Well,")
    await ask(session, "and shorter")
    assert engine.runs[-1].history == (Exchange("long", "Well,"),)


async def test_a_question_that_was_stopped_while_it_was_read_does_not_start(start):
    engine = ScriptedEngine()
    session = Session(ID, start(engine).submit)
    pressed = session.generation
    session.interrupt()
    with pytest.raises(TurnRefused, match="Stopped"):
        session.ask(text="too late", generation=pressed)
    assert engine.runs == []
    assert session.records == []


async def test_waiting_is_not_kept_with_the_answer(start):
    engine = ScriptedEngine(say(chunks=3, pause_s=0.05))
    thread = start(engine)
    first, second = Session("a" * 32, thread.submit), Session("b" * 32, thread.submit)
    first.ask(text="one")
    record = second.ask(text="two")
    await second.settled()
    assert record.outcome is Outcome.ANSWERED
    assert record.notices == []


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
async def test_a_turn_with_nothing_in_it_is_refused(start, text):
    engine = ScriptedEngine()
    session = Session(ID, start(engine).submit)
    with pytest.raises(TurnRefused, match="Type, say or show"):
        session.ask(text=text)
    assert session.records == []
    assert engine.runs == []


async def test_a_refused_turn_leaves_the_conversation_as_it_was(start, until):
    thread = start(ScriptedEngine(load_error="No model."))
    session = Session(ID, thread.submit)
    await until(lambda: thread.status.state == "failed")
    with pytest.raises(TurnRefused, match="No model"):
        session.ask(text="hi")
    assert session.records == []
    await session.settled()


async def test_clear_stops_the_turn_and_forgets_everything(start, until):
    engine = ScriptedEngine(hang)
    session = Session(ID, start(engine).submit)
    seen = []
    session.listeners.add(seen.append)
    session.ask(text="long")
    await until(lambda: engine.running == 1)
    session.clear()
    await session.settled()
    assert session.records == []
    assert any(isinstance(change, ConversationCleared) for change in seen)
    await until(lambda: engine.running == 0)


async def test_listeners_hear_the_start_and_every_event(start):
    session = Session(ID, start(ScriptedEngine(say(chunks=2))).submit)
    seen = []
    session.listeners.add(seen.append)
    await ask(session, "hi")
    assert isinstance(seen[0], TurnStarted)
    sound = [c.event.pcm for c in seen[1:] if isinstance(c.event, SpeechChunk)]
    np.testing.assert_array_equal(np.concatenate(sound), tone(0.4))


async def test_every_listener_is_handed_the_bytes_that_are_kept(start):
    session = Session(ID, start(ScriptedEngine(say(chunks=7, chunk_s=0.0123))).submit)
    ann, bob = [], []
    session.listeners |= {ann.append, bob.append}
    record = await ask(session, "hi")
    for seen in (ann, bob):
        assert b"".join(change.pcm16 for change in seen[1:]) == bytes(record.speech)
    assert all(a.pcm16 is b.pcm16 for a, b in zip(ann[1:], bob[1:], strict=True))


async def test_two_conversations_do_not_mix(start):
    engine = ScriptedEngine(echo, concurrent=2)
    thread = start(engine)
    ann, bob = Session("a" * 32, thread.submit), Session("b" * 32, thread.submit)
    ann_record, bob_record = ann.ask(text="I am Ann"), bob.ask(text="I am Bob")
    await ann.settled()
    await bob.settled()
    assert (ann_record.reply, bob_record.reply) == ("I am Ann", "I am Bob")
    await ask(ann, "who?")
    assert engine.runs[-1].history == (Exchange("I am Ann", "I am Ann"),)


async def test_frames_are_let_go_when_the_turn_has_ended(start):
    session = Session(ID, start(ScriptedEngine()).submit)
    frames = VideoFrames(np.zeros((2, 4, 4, 3), np.uint8), np.arange(2.0), 1.0)
    record = session.ask(frames=frames)
    await session.settled()
    assert record.turn.frames is None


async def test_old_speech_goes_first_when_there_is_too_much(start, monkeypatch):
    monkeypatch.setattr(session_module, "MAX_SPEECH_S", 1.0)
    session = Session(ID, start(ScriptedEngine(say(chunks=3))).submit)
    records = [await ask(session, str(n)) for n in range(4)]
    assert [record.speech_s > 0 for record in records] == [False, False, True, True]
    assert all(record.reply for record in records)


async def test_only_the_newest_turns_are_kept(start, monkeypatch):
    monkeypatch.setattr(session_module, "MAX_TURNS", 3)
    session = Session(ID, start(ScriptedEngine(echo)).submit)
    for n in range(5):
        await ask(session, str(n))
    assert [record.reply for record in session.records] == ["2", "3", "4"]


@pytest.mark.parametrize(
    ("heard_s", "kept"),
    [(0.0, ""), (0.3, "One two …"), (0.6, "One two three four."), (99.0, "One two three four.")],
)
async def test_of_an_interrupted_reply_history_keeps_what_was_heard(start, heard_s, kept):
    session = Session(ID, start(ScriptedEngine(say("One two three four.", chunks=3))).submit)
    record = await ask(session, "hi")
    assert session.truncate(record.turn.id, heard_s) is record
    assert record.reply == kept


async def test_a_reply_stopped_while_it_was_made_is_cut_at_the_pace_of_speech(start, until):
    long = say("word " * 100, chunks=400, pause_s=0.02)
    session = Session(ID, start(ScriptedEngine(long)).submit)
    record = session.ask(text="hi")
    await until(lambda: record.speech)
    session.interrupt()
    await session.settled()
    session.truncate(record.turn.id, 1.0)
    assert record.reply == "word word word …"


ANNA = VoiceSpec(VoiceMode.CLONE, language="fr", style="calm", reference_text="One two.")
OLD_MAN = VoiceSpec(VoiceMode.DESIGN, language="fr", style="an old man")


@pytest.mark.parametrize(
    ("kept", "chosen", "spoken"),
    [
        (ANNA, VoiceSpec(VoiceMode.NAMED, "Ryan"), ANNA),
        (
            ANNA,
            VoiceSpec(VoiceMode.NAMED, "Ryan", "de", "warm", pass_token_ids=True),
            replace(ANNA, language="de", style="warm", pass_token_ids=True),
        ),
        (
            OLD_MAN,
            VoiceSpec(VoiceMode.NAMED, "Ryan", "de", "warm"),
            replace(OLD_MAN, language="de"),
        ),
    ],
    ids=["nothing chosen", "language and style chosen", "made up from words"],
)
async def test_a_kept_voice_speaks_in_the_language_and_style_that_are_chosen(
    start, kept, chosen, spoken
):
    engine = ScriptedEngine(echo)
    session = Session(ID, start(engine).submit)
    session.kept_voice = kept
    session.settings = TurnSettings(voice=chosen, voice_speed=1.5)
    await ask(session, "hi")
    assert engine.runs[0].settings == TurnSettings(voice=spoken, voice_speed=1.5)
    assert session.next_turn("hi").settings.voice == spoken


async def test_a_kept_voice_outlasts_the_turns_until_it_is_taken_away(start):
    engine = ScriptedEngine(echo)
    session = Session(ID, start(engine).submit)
    session.kept_voice = ANNA
    session.clear()
    await ask(session, "hi")
    session.kept_voice = None
    await ask(session, "hi")
    assert [turn.settings.voice for turn in engine.runs] == [ANNA, VoiceSpec()]


async def test_nothing_is_cut_of_a_turn_that_is_not_known(start):
    session = Session(ID, start(ScriptedEngine(echo)).submit)
    assert session.truncate("0" * 32, 1.0) is None
