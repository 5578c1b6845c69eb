"""Tasks without the page, on an engine that a test scripts."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import soundfile

from backend.cli import __main__, tasking
from backend.contract.errors import TurnRefused
from backend.contract.events import (
    Captions,
    Cue,
    Notice,
    Reasoning,
    ReplyText,
    SpeechChunk,
    TaskSent,
)
from backend.contract.tasks import MAX_REPLY_TOKENS, PHRASES, TASKS
from tests.scripted_engine import RATE, ScriptedEngine, die, say, stay_silent, tone

ASSETS = Path(__file__).parents[2] / "assets"
QUESTION = str(ASSETS / "question.wav")


async def think_and_say(engine, turn):
    yield TaskSent(
        turn_id=turn.id, prompt="…", clips_s=(), sampling={}, tokens=12, limit=8192, left_out=2
    )
    yield Reasoning(turn_id=turn.id, delta="It is a greeting.")
    yield ReplyText(turn_id=turn.id, delta="Hello there.")
    yield SpeechChunk(turn_id=turn.id, pcm=tone(0.5), sample_rate=RATE)
    yield Captions(turn_id=turn.id, cues=(Cue(0.0, 0.5, "Hello there."),))
    yield Notice(turn_id=turn.id, code="short", text="That was short.")


@pytest.fixture
def engine():
    return ScriptedEngine(think_and_say, tasks=tuple(TASKS))


@pytest.fixture
def work(monkeypatch, tmp_path, engine):
    """Run the command line on the engine, in an empty folder; returns its exit code."""
    monkeypatch.setattr(tasking, "engine_factory", lambda _: lambda: engine)
    monkeypatch.chdir(tmp_path)

    def go(query_type: str, *arguments: str) -> int:
        named = ["--query-type", query_type] if query_type else []
        monkeypatch.setattr(sys, "argv", ["cli", "task", *named, *arguments])
        return __main__.main()

    return go


@pytest.fixture
def dialogue(tmp_path):
    """Write messages to ``dialogue/talk.json``; returns its path."""
    folder = tmp_path / "dialogue"
    folder.mkdir()
    (folder / "q.wav").write_bytes(Path(QUESTION).read_bytes())

    def write(*messages) -> str:
        (folder / "talk.json").write_text(json.dumps(messages))
        return str(folder / "talk.json")

    return write


def of(role, text="", audio=None):
    return {"role": role, "text": text} | ({"audio": audio} if audio else {})


def test_the_reply_its_sound_captions_and_reasoning_are_files(work, tmp_path):
    assert work("tts_sft_with_instruct", "--text", "hi", "--instruct", "warm") == 0
    folder = tmp_path / "out" / "tts_sft_with_instruct"
    assert sorted(file.name for file in folder.iterdir()) == [
        "text.reasoning.txt", "text.srt", "text.txt", "text.wav",
    ]  # fmt: skip
    assert (folder / "text.txt").read_text() == "Hello there."
    assert (folder / "text.reasoning.txt").read_text() == "It is a greeting."
    assert "00:00:00,000 --> 00:00:00,500\nHello there." in (folder / "text.srt").read_text()
    samples, rate = soundfile.read(folder / "text.wav")
    assert (len(samples), rate) == (RATE // 2, RATE)


def test_what_happened_is_printed(work, capsys):
    work("tts_sft", "--text", "hi")
    printed = capsys.readouterr().out
    for words in (
        "text: answered",
        "12 of 8192 tokens, without the 2 oldest turns",
        "It is a greeting.",
        "That was short.",
        "first_sound",
    ):
        assert words in printed


def test_a_reply_in_writing_is_one_file(work, engine, tmp_path):
    engine.script = say("Only text.", chunks=0)
    assert work("text_dialogue_sft_multiturn", "--text", "hi") == 0
    [file] = (tmp_path / "out" / "text_dialogue_sft_multiturn").iterdir()
    assert file.read_text() == "Only text."
    assert engine.runs[0].settings.spoken is False


@pytest.mark.parametrize("wrong", ["", "tts", "audio_transcribing_sft"])
def test_a_wrong_task_prints_the_ten(work, engine, capsys, wrong):
    assert work(wrong, "--text", "hi") == 2
    told = capsys.readouterr().err
    assert told.startswith("--query-type: ")
    assert all(name in told for name in TASKS)
    assert not engine.runs


@pytest.mark.parametrize("name", TASKS)
def test_every_task_reaches_the_engine_with_its_inputs(work, engine, name):
    options = {
        "text": ("--text", "Hello."),
        "instruct": ("--instruct", "warm"),
        "voice": ("--voice-path", QUESTION),
        "clip": ("--audio-path", QUESTION),
        "question": ("--question", "Who speaks?"),
        "system_prompt": ("--system-prompt", "Be kind."),
    }
    kind = TASKS[name]
    taken = [part for part in options if part in kind.required | kind.optional]
    assert work(name, *(word for part in taken for word in options[part])) == 0
    request = engine.runs[0].task
    assert request.task == name
    for part in options:
        assert bool(getattr(request, part)) == (part in taken)


def test_recordings_are_handed_over_at_the_rate_of_the_model(work, engine):
    work("audio_trancribing_sft", "--variant", "clean", "--audio-path", QUESTION)
    request = engine.runs[0].task
    assert (request.clip.sample_rate, request.variant) == (24_000, "clean")
    assert request.clip.duration_s > 1


def test_a_text_that_is_the_path_of_a_file_stays_a_text(work, engine):
    work("text_dialogue_sft_multiturn", "--text", QUESTION)
    assert engine.runs[0].task.text == QUESTION
    assert engine.runs[0].task.clip is None


def test_a_long_text_is_spoken_in_parts_into_one_file(work, engine, tmp_path):
    work("tts_sft", "--text", "One sentence of some words. " * 30)
    assert len(engine.runs) > 1
    [sound] = (tmp_path / "out" / "tts_sft").glob("*.wav")
    assert soundfile.info(sound).frames == len(engine.runs) * RATE // 2


def test_several_prompts_are_numbered(work, engine, tmp_path):
    assert work("tts_sft", "--text", "hi", "--num-prompts", "3", "--output-dir", "here") == 0
    texts = sorted(file.name for file in (tmp_path / "here" / "tts_sft").glob("text-?.txt"))
    assert texts == ["text-1.txt", "text-2.txt", "text-3.txt"]
    assert len({turn.id for turn in engine.runs}) == 3


def test_options_of_the_model_reach_it(work, engine):
    work("tts_sft", "--text", "hi", "--phrase", "3", "--max-reply-tokens", "99")
    assert engine.runs[0].task.phrase == 3
    assert engine.runs[0].settings.max_reply_tokens == 99


def test_a_dialogue_goes_on_from_its_file(work, engine, dialogue, tmp_path):
    path = dialogue(
        of("user", "Hello.", "q.wav"), of("assistant", "Hi.", "q.wav"), of("user", "Bye.", "q.wav")
    )
    assert work("spoken_dialogue_sft_multiturn", "--messages", path) == 0
    request = engine.runs[0].task
    [earlier] = request.history
    assert (earlier.text, earlier.answer) == ("Hello.", "Hi.")
    assert earlier.clip.duration_s == earlier.answer_clip.duration_s == request.clip.duration_s > 1
    assert request.text == ""
    assert (tmp_path / "out" / "spoken_dialogue_sft_multiturn" / "talk.txt").exists()


def test_the_same_file_is_a_dialogue_in_writing(work, engine, dialogue):
    path = dialogue(of("user", "Hello."), of("assistant", "Hi."), of("user", "Bye.", "q.wav"))
    assert work("text_dialogue_sft_multiturn", "--messages", path) == 0
    assert (engine.runs[0].task.text, engine.runs[0].task.clip) == ("Bye.", None)


def test_a_file_that_ends_with_an_answer_is_asked_by_the_options(work, engine, dialogue):
    path = dialogue(of("user", "Hello."), of("assistant", "Hi."))
    assert work("text_dialogue_sft_multiturn", "--messages", path, "--text", "Bye.") == 0
    assert engine.runs[0].task.text == "Bye."
    assert len(engine.runs[0].task.history) == 1


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([], "there are none"),
        ([of("assistant", "Hi.")], "message 1 is of the assistant"),
        ([of("user", "Hi."), of("user", "Hi.")], "message 2 is of the user"),
        ([of("system", "Hi.")], "message 1: role: "),
        ([of("user") | {"file": "q.wav"}], "message 1: file: "),
        ([of("user", audio="none.wav"), of("assistant", "Hi.")], "cannot be read as a recording"),
    ],
)
def test_messages_that_are_no_dialogue_are_told_of(work, dialogue, capsys, messages, words):
    assert work("text_dialogue_sft_multiturn", "--messages", dialogue(*messages)) == 2
    told = capsys.readouterr().err
    assert told.startswith("--messages: ")
    assert words in told


@pytest.mark.parametrize("content", [b"no json", b"\xff\xfe", b"", b'{"role": "user"}'])
def test_a_file_without_messages_is_told_of(work, tmp_path, capsys, content):
    (tmp_path / "talk.json").write_bytes(content)
    assert work("text_dialogue_sft_multiturn", "--messages", "talk.json") == 2
    assert capsys.readouterr().err.startswith("--messages: ")


@pytest.mark.parametrize(
    ("task", "arguments", "told"),
    [
        ("tts_sft", [], "--text: This task needs a text."),
        ("tts_sft", ["--text", "…"], "--text: There are no words"),
        ("tts_sft", ["--text", "caf\udce9"], "--text: this is not UTF-8."),
        ("tts_sft", ["--text", "hi", "--output-dir", "file"], "--output-dir: file/tts_sft cannot"),
        ("tts_sft", ["--text", "hi", "--instruct", "warm"], "--instruct: This task does not take"),
        ("tts_sft", ["--text", "hi", "--variant", "clean"], "--variant: tts_sft has no variant"),
        ("tts_sft", ["--text", "hi", "--num-prompts", "0"], "--num-prompts: "),
        ("tts_sft", ["--text", "hi", "--phrase", str(PHRASES)], "--phrase: "),
        (
            "tts_sft",
            ["--text", "hi", "--max-reply-tokens", str(MAX_REPLY_TOKENS + 1)],
            "--max-reply-tokens: ",
        ),
        ("tts_sft_with_audio", ["--text", "hi"], "--voice-path: This task needs a clip"),
        ("tts_sft_with_audio", ["--text", "hi", "--voice-path", "no.wav"], "--voice-path: This"),
        ("audio_trancribing_sft", [], "--audio-path: This task needs a recording."),
        ("audio_trancribing_sft", ["--audio-path", "no.wav"], "--audio-path: This file cannot"),
        ("audio_trancribing_sft", ["--audio-path", "."], "--audio-path: This file cannot"),
        ("text_dialogue_sft_multiturn", ["--messages", "no.json"], "--messages: no.json cannot"),
    ],
)
def test_a_wrong_option_is_named_before_the_engine_is_loaded(
    work, engine, tmp_path, capsys, task, arguments, told
):
    (tmp_path / "file").touch()
    try:
        code = work(task, *arguments)
    except SystemExit as left:
        code = left.code
    assert code == 2
    assert capsys.readouterr().err.startswith(told)
    assert not engine.runs


def test_a_question_in_the_file_and_one_beside_it_contradict_each_other(work, dialogue, capsys):
    path = dialogue(of("user", "Hello."))
    assert work("text_dialogue_sft_multiturn", "--messages", path, "--text", "Bye.") == 2
    assert "Leave out --text" in capsys.readouterr().err


def test_a_reply_never_overwrites_a_recording(work, tmp_path, capsys):
    folder = tmp_path / "audio_trancribing_sft"
    folder.mkdir()
    (folder / "me.wav").write_bytes(Path(QUESTION).read_bytes())
    arguments = ["--audio-path", str(folder / "me.wav"), "--output-dir", str(tmp_path)]
    assert work("audio_trancribing_sft", *arguments) == 2
    assert "would overwrite" in capsys.readouterr().err


@pytest.mark.parametrize(("script", "code"), [(die, 1), (stay_silent, 0)])
def test_a_failure_is_told_by_the_exit_code_and_a_silence_is_none(work, engine, script, code):
    engine.script = script
    assert work("tts_sft", "--text", "hi") == code


def test_what_was_said_before_a_later_part_is_refused_is_written(work, engine, tmp_path, capsys):
    async def refuse_the_second(engine, turn):
        if len(engine.runs) == 2:
            raise TurnRefused("engine_changed", "Another engine was loaded.")
        async for event in think_and_say(engine, turn):
            yield event

    engine.script = refuse_the_second
    assert work("tts_sft", "--text", "One sentence of some words. " * 30) == 1
    folder = tmp_path / "out" / "tts_sft"
    assert (folder / "text.txt").read_text() == "Hello there."
    assert soundfile.info(folder / "text.wav").frames == RATE // 2
    assert "Another engine was loaded." in capsys.readouterr().out


def test_a_failure_leaves_an_earlier_reply_as_it_was(work, engine, tmp_path):
    assert work("tts_sft", "--text", "hi") == 0
    engine.script = die
    assert work("tts_sft", "--text", "hi") == 1
    assert (tmp_path / "out" / "tts_sft" / "text.txt").read_text() == "Hello there."


def test_what_the_engine_refuses_is_told_and_writes_no_file(work, engine, tmp_path, capsys):
    async def refuse(engine, turn):
        raise TurnRefused("task_not_offered", "This engine cannot do that.")
        yield

    engine.script = refuse
    assert work("tts_sft", "--text", "hi") == 1
    assert "text: This engine cannot do that." in capsys.readouterr().err
    assert not list(tmp_path.rglob("*.txt"))
