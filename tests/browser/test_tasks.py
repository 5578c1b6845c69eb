"""The tasks in the page: chosen, given their inputs, followed, and gone on from."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio
import soundfile
from playwright.async_api import expect

from backend.contract.events import (
    Captions,
    Cue,
    Reasoning,
    ReplyText,
    SpeechChunk,
    Stage,
    StageProgress,
    StageStarted,
    TaskSent,
)
from backend.contract.tasks import TASKS, task_kind
from tests.browser.listening import Ear
from tests.browser.world import assert_heard, gate_opens, open_page, scripted
from tests.scripted_engine import RATE, tone

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

OFFERED = tuple(name for name in TASKS if name != "tts_sft_with_natural_instruction")


async def work(engine, turn):
    """Reason where the task does, then say a text in two cues; "wait" in it waits in the middle."""
    asked = turn.task
    kind = task_kind(asked.task, asked.variant)
    words = asked.text or asked.question or f"Turn {len(asked.history) + 1}"
    yield StageStarted(turn_id=turn.id, stage=Stage.THINK)
    yield StageProgress(turn_id=turn.id, stage=Stage.THINK, share=0.25)
    yield TaskSent(
        turn_id=turn.id,
        prompt=f"<user>{words}",
        clips_s=tuple(clip.duration_s for clip in (asked.clip,) if clip),
        sampling={"temperature": 0.5},
        tokens=100 + len(asked.history),
        limit=8192,
    )
    if kind.reasons:
        yield Reasoning(turn_id=turn.id, delta="Let me see.")
    yield ReplyText(turn_id=turn.id, delta=f"Answer to {words}.")
    if "wait" in words:
        await gate_opens()
    if kind.speaks:
        for number, piece in enumerate(np.array_split(tone(0.2), 2)):
            yield SpeechChunk(turn_id=turn.id, pcm=piece, sample_rate=RATE)
            cues = (Cue(0.0, 0.1, "Answer to"), Cue(0.1, 0.2, f"{words}."))
            yield Captions(turn_id=turn.id, cues=cues[: number + 1])


@pytest.fixture(scope="module")
def world():
    with scripted(work, tasks=OFFERED) as world:
        yield world


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def tab(world, browser):
    """One page for all tests: opening it takes most of the time."""
    context = await browser.new_context(accept_downloads=True)
    page = await context.new_page()
    await open_page(page, world.url)
    await page.get_by_text("Tasks", exact=True).click()
    yield page
    await context.close()


async def choose(tab, name):
    await tab.get_by_role("radio", name=name, exact=True).check()


async def give_clip(tab, seconds=1.0):
    """Choose a sound file."""
    sound = io.BytesIO()
    soundfile.write(sound, tone(seconds), RATE, format="WAV", subtype="PCM_16")
    file = {"name": "clip.wav", "mimeType": "audio/wav", "buffer": sound.getvalue()}
    await tab.set_input_files("#task-clip-file", file)


def assert_as_long(pcm16, seconds):
    """As long as that, but for the fade of 5 ms at its end."""
    assert len(pcm16) / 2 / RATE == pytest.approx(seconds, abs=0.006)


def pressed(tab, name):
    return tab.get_by_role("button", name=name, exact=True)


def result(tab):
    """The newest one."""
    return tab.locator(".task-card").first


def turn_of(tab, number):
    return tab.locator(".task-turn").nth(number)


async def saved(tab, name):
    """The file that a button hands out."""
    async with tab.expect_download() as download:
        await pressed(tab, name).first.click()
    return Path(await (await download.value).path())


async def open_dialogue(tab, dialogue):
    """Choose a file that holds it."""
    told = json.dumps(dialogue).encode()
    file = {"name": "dialogue.json", "mimeType": "application/json", "buffer": told}
    await tab.set_input_files("#task-dialogue-file", file)


async def change_stored(tab, change):
    """Change the dialogues that the tab has stored, then open the page again."""
    await tab.evaluate(f"""() => {{
        const kept = JSON.parse(sessionStorage.getItem("omni-live-dialogues"));
        {change};
        sessionStorage.setItem("omni-live-dialogues", JSON.stringify(kept));
    }}""")
    await tab.reload()
    await tab.get_by_text("Tasks", exact=True).click()


async def test_a_text_is_spoken_in_a_style_with_reasoning_and_captions(tab, world):
    ear = await Ear.listen(tab)
    await expect(tab.get_by_role("radio", name="As described in the text")).to_be_disabled()
    await expect(
        tab.get_by_text("This engine has no tasks beside the conversation.")
    ).to_be_visible()
    await choose(tab, "In a style")
    await expect(tab.locator("#task-question")).to_be_hidden()
    await tab.fill("#task-text", "Good morning")
    await pressed(tab, "Style: Whispered").click()
    await tab.click("#task-run")
    assert_heard(await ear.reply())
    asked = world.engine.runs[-1].task
    assert (asked.task, asked.text, asked.voice) == ("tts_sft_with_instruct", "Good morning", None)
    assert asked.instruct.startswith("in a whisper")
    shown = result(tab)
    await shown.get_by_text("Reasoned for").click()
    await expect(shown.get_by_text("Let me see.")).to_be_visible()
    await expect(shown.locator(".task-facts")).to_contain_text("0.20 s · first sound after")
    await expect(shown.locator(".task-facts")).to_contain_text("100 of 8192 tokens")
    await shown.locator(".task-cue").get_by_text("Good morning.").click()
    half = await ear.reply()
    assert_as_long(half, 0.1)
    srt = await saved(tab, "Download the captions as SRT")
    assert "00:00:00,100 --> 00:00:00,200\nGood morning." in srt.read_text()
    flac = await saved(tab, "Download this answer as FLAC")
    assert soundfile.info(flac).duration == pytest.approx(0.2)


async def test_what_is_sent_is_shown_and_written_as_programs(tab):
    await choose(tab, "Plain")
    await tab.fill("#task-text", "It's five")
    await tab.click("#task-run")
    shown = result(tab)
    await shown.get_by_text("What is sent").click()
    await expect(shown.get_by_label("Prompt")).to_have_text("<user>It's five")
    await expect(shown.get_by_text("Sampling: temperature 0.5")).to_be_visible()
    program = shown.get_by_label("Program")
    for kind, words in (
        ("Python", '"text": "It\'s five"'),
        ("command line", "# This was done by scripted: add the engine options"),
        ("command line", "--query-type tts_sft --text 'It'\\''s five'"),
        ("curl", """-d '{"task":"tts_sft","text":"It'\\''s five"}'"""),
    ):
        await pressed(shown, f"Copy as {kind}").click()
        await expect(program).to_contain_text(words)


async def test_one_recording_is_asked_about_again_and_both_ways_at_once(tab, world):
    uploads = []
    tab.on("request", lambda sent: uploads.append(sent) if sent.url.endswith("/clips") else None)
    await choose(tab, "Ask about a recording")
    await tab.fill("#task-question", "Who is it")
    await tab.click("#task-run")
    await expect(tab.locator(".task-clip").get_by_text("Record something first")).to_be_visible()
    await give_clip(tab)
    await tab.get_by_text("1.00 s", exact=True).wait_for()
    await tab.click("#task-run")
    await expect(result(tab)).to_contain_text("Answer to Who is it.")
    await expect(tab.locator(".task-clip").get_by_role("alert").first).to_be_hidden()
    await tab.fill("#task-question", "And where")
    await pressed(tab, "Ask with and without reasoning, side by side").click()
    pair = tab.locator(".task-pair .task-card")
    for card in (pair.first, pair.last):
        await expect(card).to_contain_text("Answer to And where.")
        await expect(card).to_contain_text("tokens")
    assert await pair.last.get_by_text("Reasoned for").count() == 1
    assert await pair.first.get_by_text("Reasoned for").is_hidden()
    runs = [turn.task for turn in world.engine.runs[-3:]]
    assert [task.task for task in runs] == [
        "audio_understanding_sft",
        "audio_understanding_sft",
        "audio_understanding_sft_with_thinking",
    ]
    assert {task.clip.duration_s for task in runs} == {1.0}
    assert len(uploads) == 1


async def test_a_transcription_is_read_along_with_its_recording(tab):
    ear = await Ear.listen(tab)
    await choose(tab, "Transcribe")
    await give_clip(tab, 0.4)
    await tab.get_by_text("0.40 s", exact=True).wait_for()
    await tab.click("#task-run")
    await result(tab).locator(".task-cue").click()
    assert_as_long(await ear.reply(), 0.4)


async def test_a_refusal_stands_beside_what_it_is_about_and_leaves_no_result(tab, world):
    await choose(tab, "In a style")
    count, runs = await tab.locator(".task-card").count(), len(world.engine.runs)
    await tab.fill("#task-text", "Hello")
    await tab.fill("#task-instruct", "x" * 1001)
    await tab.click("#task-run")
    box = tab.locator("#task-instruct")
    await expect(box).to_have_attribute("aria-invalid", "true")
    await expect(tab.locator("#task-instruct-error")).to_contain_text("1000")
    await expect(box).to_be_focused()
    assert await tab.locator(".task-card").count() == count
    assert len(world.engine.runs) == runs


async def test_what_has_come_stays_when_a_task_is_stopped(tab, world, gate):
    await choose(tab, "Plain")
    await tab.fill("#task-text", "Please wait")
    await tab.press("#task-text", "Control+Enter")
    shown = result(tab)
    await expect(shown).to_contain_text("Answer to Please wait.")
    await expect(shown.get_by_text("Thinking… 25 %")).to_be_visible()
    await pressed(tab, "Stop this task").click()
    await expect(shown.get_by_text("Stopped.")).to_be_visible()
    await expect(shown).to_contain_text("Answer to Please wait.")
    await expect(pressed(tab, "Stop this task")).to_be_disabled()


async def test_a_typed_dialogue_is_edited_and_goes_on_after_a_reload(tab, world):
    await choose(tab, "Text")
    for number, words in enumerate(("One", "Two")):
        await tab.fill("#task-text", words)
        await tab.press("#task-text", "Enter")
        await expect(turn_of(tab, number)).to_contain_text(f"Answer to {words}.")
        await pressed(turn_of(tab, number), "Edit this turn").wait_for()
    assert await tab.input_value("#task-text") == ""
    await pressed(turn_of(tab, 0), "Edit this turn").click()
    await tab.get_by_role("textbox", name="The answer").fill("Other words.")
    await pressed(tab, "Save this turn").click()
    for turn in (None, {"cues": "x"}):
        await open_dialogue(tab, {"format": "omni-live-dialogue-1", "turns": [turn]})
        await expect(tab.get_by_text("This is no dialogue that was saved here.")).to_be_visible()
    await change_stored(tab, 'kept.all.push({ turns: [null] }, { turns: [{ cues: "x" }] })')
    await expect(tab.get_by_role("radio", name="Text", exact=True)).to_be_checked()
    await expect(turn_of(tab, 0)).to_contain_text("Other words.")
    await tab.fill("#task-text", "Three")
    await tab.press("#task-text", "Enter")
    await expect(turn_of(tab, 2)).to_contain_text("Answer to Three.")
    earlier = world.engine.runs[-1].task.history
    assert [(turn.text, turn.answer) for turn in earlier] == [
        ("One", "Other words."),
        ("Two", "Answer to Two."),
    ]


async def test_a_spoken_dialogue_is_recorded_by_keyboard_branched_saved_and_opened(tab, world):
    await choose(tab, "Speech to speech")
    await pressed(tab, "Begin a new dialogue").click()
    ear = await Ear.listen(tab)
    await tab.locator("#task-clip-record").press("Space")
    await expect(tab.locator("#task-clip-record")).to_contain_text(re.compile(r"Stop \([1-9]"))
    await tab.locator("#task-clip-record").press("Space")
    assert_heard(await ear.reply())
    await pressed(turn_of(tab, 0), "Try this turn again; later turns are removed").click()
    assert_heard(await ear.reply())
    await pressed(turn_of(tab, 0), "Go on from here in a new dialogue").click()
    await expect(tab.get_by_label("Dialogue that is shown")).to_have_value("2")
    file = await saved(tab, "Save this dialogue as a file")
    dialogue = json.loads(file.read_text())
    assert dialogue["turns"][0]["answerSound"]
    dialogue["turns"][0]["cues"].append(None)
    await open_dialogue(tab, dialogue)
    await expect(tab.get_by_label("Dialogue that is shown")).to_have_value("3")
    await expect(turn_of(tab, 0).locator(".task-cue")).to_have_count(2)
    await give_clip(tab)
    await expect(turn_of(tab, 1)).to_contain_text("Answer to Turn 2.")
    await pressed(turn_of(tab, 1), "Edit this turn").wait_for()
    (earlier,) = world.engine.runs[-1].task.history
    assert earlier.clip.duration_s > 0.4
    assert earlier.answer_clip.duration_s > 0.19
    assert earlier.answer == "Answer to Turn 1."
    lose = 'Object.assign(kept.all[kept.current].turns[0], { clip: "gone", answerClip: "gone" })'
    await change_stored(tab, lose)
    await expect(tab.get_by_role("radio", name="Speech to speech", exact=True)).to_be_checked()
    await give_clip(tab)
    await expect(turn_of(tab, 2)).to_contain_text("Answer to Turn 3.")
    first, second = world.engine.runs[-1].task.history
    assert (first.clip, first.answer_clip, first.answer) == (None, None, "Answer to Turn 1.")
    assert second.clip.duration_s == 1.0
    await tab.set_viewport_size({"width": 390, "height": 844})
    await tab.wait_for_function("document.documentElement.scrollWidth <= 390")
