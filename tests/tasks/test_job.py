"""Work in parts looks like one turn: its text, captions, progress, sound and its one end."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from backend.contract.errors import TurnRefused
from backend.contract.events import (
    Captions,
    Cue,
    Outcome,
    Reasoning,
    ReplyText,
    Silence,
    SpeechChunk,
    Stage,
    StageProgress,
    StageStarted,
    Transcript,
    TurnEnd,
)
from backend.contract.media import AudioClip
from backend.contract.tasks import TASKS, TaskRequest
from backend.contract.turn import Turn
from backend.tasks import job as job_module
from backend.tasks.job import TaskJob
from tests.scripted_engine import RATE, ScriptedEngine, tone

STORY = " ".join(f"This is sentence number {n} of a long story about the sea." for n in range(15))
LONG = AudioClip(tone(70, rate=16_000), 16_000)
CLEAN = TaskRequest("audio_trancribing_sft", variant="clean", clip=LONG)


def scripted(script, **options):
    return ScriptedEngine(script, tasks=tuple(TASKS), **options)


def turn_of(request, **more):
    return Turn(session_id="ann", generation=0, task=request, **more)


async def done(thread, request):
    return [event async for event in TaskJob(turn_of(request), thread.submit).events()]


def of(events, kind):
    return [event for event in events if isinstance(event, kind)]


def text_of(events):
    return "".join(event.delta for event in of(events, ReplyText))


async def speak(engine, turn):
    """Say the text: 0.5 s of sound, and a caption for each of its halves."""
    text = turn.task.text
    yield StageStarted(turn_id=turn.id, stage=Stage.SPEAK)
    for n, half in enumerate((text[:10], text[10:])):
        yield ReplyText(turn_id=turn.id, delta=half)
        yield SpeechChunk(turn_id=turn.id, pcm=tone(0.25), sample_rate=RATE)
        cues = (Cue(0.0, 0.25, text[:10]), Cue(0.25, 0.5, text[10:]))
        yield Captions(turn_id=turn.id, cues=cues[: n + 1])


async def write_down(engine, turn):
    """Write down which part it is."""
    yield StageProgress(turn_id=turn.id, stage=Stage.HEAR, share=0.5)
    yield ReplyText(turn_id=turn.id, delta=f"Part {len(engine.runs)}.")


async def test_a_short_task_is_one_turn(start):
    thread = start(engine := scripted(speak))
    events = await done(thread, TaskRequest("tts_sft", text="One two three."))
    assert text_of(events) == "One two three."
    assert not of(events, StageProgress)
    assert len(engine.runs) == 1
    assert [type(event) for event in events[-1:]] == [TurnEnd]
    assert events[-1].metrics.keys() >= {"first_sound_s", "total_s"}


async def test_a_long_text_is_spoken_on_without_a_gap(start):
    thread = start(engine := scripted(speak))
    events = await done(thread, TaskRequest("tts_sft", text=STORY))
    count = len(engine.runs)
    assert count > 2
    assert text_of(events) == STORY
    sound = np.concatenate([event.pcm for event in of(events, SpeechChunk)])
    assert np.array_equal(sound, np.tile(tone(0.25), 2 * count))
    assert [event.outcome for event in of(events, TurnEnd)] == [Outcome.ANSWERED]


async def test_captions_go_on_where_the_part_before_ended(start):
    thread = start(engine := scripted(speak))
    events = await done(thread, TaskRequest("tts_sft", text=STORY))
    cues = of(events, Captions)[-1].cues
    assert [cue.start_s for cue in cues] == [0.25 * n for n in range(2 * len(engine.runs))]
    assert "".join(cue.text for cue in cues).replace(" ", "") == STORY.replace(" ", "")
    shown = [len(event.cues) for event in of(events, Captions)]
    assert shown == list(range(1, len(cues) + 1))  # none goes while the next part begins


async def test_a_long_recording_is_written_down_with_the_times_of_its_parts(start):
    events = await done(start(scripted(write_down)), CLEAN)
    assert text_of(events) == "Part 1. Part 2. Part 3."
    cues = of(events, Captions)[-1].cues
    assert [cue.text for cue in cues] == ["Part 1.", "Part 2.", "Part 3."]
    assert cues[0].start_s == 0
    assert cues[-1].end_s == pytest.approx(70)
    assert [cue.end_s for cue in cues[:-1]] == [cue.start_s for cue in cues[1:]]


async def test_progress_is_that_of_the_whole(start):
    events = await done(start(scripted(write_down)), CLEAN)
    shares = [event.share for event in of(events, StageProgress)]
    cues = of(events, Captions)[-1].cues
    halves = [(cue.start_s + cue.end_s) / 2 / 70 for cue in cues]
    ends = [cue.end_s / 70 for cue in cues[:-1]]
    assert shares == pytest.approx(sorted(halves + ends))


async def test_what_a_recogniser_says_of_its_parts_is_joined(start):
    async def recognise(engine, turn):
        number = len(engine.runs)
        yield Transcript(turn_id=turn.id, text=f"wor {number}", final=False)
        yield Transcript(turn_id=turn.id, text=f"word {number}", final=True)
        yield ReplyText(turn_id=turn.id, delta="x")

    events = of(await done(start(scripted(recognise)), CLEAN), Transcript)
    assert [(event.text, event.final) for event in events] == [
        ("wor 1", False),
        ("word 1", False),
        ("word 1 wor 2", False),
        ("word 1 word 2", False),
        ("word 1 word 2 wor 3", False),
        ("word 1 word 2 word 3", True),
    ]


async def test_scripts_without_blanks_get_none(start):
    async def chinese(engine, turn):
        yield ReplyText(turn_id=turn.id, delta="\u6d77")

    assert text_of(await done(start(scripted(chinese)), CLEAN)) == "\u6d77" * 3


async def test_each_part_has_a_paragraph_of_reasoning(start):
    async def reason(engine, turn):
        yield Reasoning(turn_id=turn.id, delta="Let me ")
        yield Reasoning(turn_id=turn.id, delta=f"see {len(engine.runs)}.")
        yield ReplyText(turn_id=turn.id, delta=turn.task.text)

    request = TaskRequest("tts_sft_with_instruct", text=STORY, instruct="sad")
    thoughts = of(await done(start(scripted(reason)), request), Reasoning)
    joined = "".join(event.delta for event in thoughts)
    assert joined.startswith("Let me see 1.\n\nLet me see 2.\n\nLet me see 3.")


async def test_a_part_in_which_nobody_speaks_ends_nothing(start):
    async def hear(engine, turn):
        if len(engine.runs) == 2:
            yield Silence(turn_id=turn.id, reason="No speech was heard.")
        else:
            yield ReplyText(turn_id=turn.id, delta=f"Part {len(engine.runs)}.")

    events = await done(start(scripted(hear)), CLEAN)
    assert text_of(events) == "Part 1. Part 3."
    assert not of(events, Silence)
    assert events[-1].outcome is Outcome.ANSWERED


async def test_silence_throughout_is_told_once(start):
    async def hear(engine, turn):
        yield Silence(turn_id=turn.id, reason="No speech was heard.")

    events = await done(start(scripted(hear)), CLEAN)
    assert [event.reason for event in of(events, Silence)] == ["No speech was heard."]
    assert events[-1].outcome is Outcome.SILENT


async def test_a_part_that_fails_ends_the_work_and_says_where(start):
    async def fail(engine, turn):
        if len(engine.runs) == 2:
            raise ValueError("the lights went out")
        yield ReplyText(turn_id=turn.id, delta="Part.")

    thread = start(engine := scripted(fail))
    events = await done(thread, CLEAN)
    assert text_of(events) == "Part."
    assert events[-1].outcome is Outcome.FAILED
    assert events[-1].message.startswith("In part 2 of 3: ")
    assert "the lights went out" in events[-1].message
    assert len(engine.runs) == 2


async def test_a_stop_ends_all_of_it(start, until):
    async def hang_second(engine, turn):
        yield ReplyText(turn_id=turn.id, delta="Part.")
        if len(engine.runs) == 2:
            await asyncio.sleep(3600)

    thread = start(engine := scripted(hang_second))
    job = TaskJob(turn_of(CLEAN), thread.submit)
    events = []
    async for event in job.events():
        events.append(event)
        if len(engine.runs) == 2 and len(of(events, ReplyText)) == 2:
            job.cancel()
    assert events[-1].outcome is Outcome.CANCELLED
    await until(lambda: engine.running == 0)
    assert len(engine.runs) == 2


async def test_a_part_waits_for_a_place_in_a_full_line(start, monkeypatch):
    monkeypatch.setattr(job_module, "_AGAIN_S", 0.01)
    thread = start(scripted(write_down))
    asked = []

    def submit(turn):
        asked.append(turn.task.clip)
        if len(asked) in {2, 3, 4}:
            raise TurnRefused("busy", "Too many people are waiting.")
        return thread.submit(turn)

    events = [event async for event in TaskJob(turn_of(CLEAN), submit).events()]
    assert text_of(events) == "Part 1. Part 2. Part 3."
    assert len(asked) == 6


async def test_a_later_part_that_is_refused_ends_the_work_with_its_code(start):
    thread = start(scripted(write_down))
    taken = []

    def submit(turn):
        if taken:
            raise TurnRefused("engine_down", "The engine is not running.")
        taken.append(turn)
        return thread.submit(turn)

    events = [event async for event in TaskJob(turn_of(CLEAN), submit).events()]
    assert (events[-1].outcome, events[-1].refusal) == (Outcome.FAILED, "engine_down")
    assert text_of(events) == "Part 1."


def test_work_that_finds_no_place_never_begins():
    def submit(turn):
        raise TurnRefused("busy", "Too many people are waiting.")

    with pytest.raises(TurnRefused, match="waiting"):
        TaskJob(turn_of(CLEAN), submit)
