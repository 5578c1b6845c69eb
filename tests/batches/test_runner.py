"""Batches are spoken item by item, over stops, failures and restarts, and nothing twice."""

from __future__ import annotations

import asyncio
import csv
import io
import zipfile
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from backend.batches.batch import Batch, BatchState, Item, ItemState
from backend.batches.bundle import zipped
from backend.batches.limits import BatchLimits
from backend.batches.refusals import BatchRefused
from backend.batches.runner import BatchRunner, CannotGoOn, ItemFailed
from backend.batches.store import RESTARTED, BatchStore

ANN, BOB = "ann", "bob"
LIMITS = BatchLimits(own=3, in_all=4, age_s=3600)


def a_batch(*texts, owner=ANN, **parts):
    items = [Item(number=n, line=n, text=text) for n, text in enumerate(texts, 1)]
    return Batch(owner=owner, title="lines.txt", items=items, **parts)


class Voice:
    """Speaks a letter as a second, and does what a text says.

    While its gate is closed it holds at the texts in ``held``, or at every one.
    """

    def __init__(self):
        self.spoken = []
        self.at_a_time = 0
        self.most_at_a_time = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.held = None

    def hold(self, *texts):
        self.gate.clear()
        self.held = texts or None

    async def speak(self, batch, item, path, tell):
        self.spoken.append(item.text)
        self.at_a_time += 1
        self.most_at_a_time = max(self.most_at_a_time, self.at_a_time)
        try:
            path.write_text("half")
            tell(0.5)
            await asyncio.sleep(0)
            if self.held is None or item.text in self.held:
                await self.gate.wait()
            if item.text == "fail":
                raise ItemFailed("There is nothing to say.")
            if item.text == "break":
                raise ZeroDivisionError("by zero")
            if item.text == "down":
                raise CannotGoOn("The engine is not running.")
            path.write_text(item.text)
            tell(float(len(item.text)))
        finally:
            self.at_a_time -= 1


@pytest.fixture
def voice():
    return Voice()


@asynccontextmanager
async def running(directory, voice, limits=LIMITS):
    """The app's part that speaks, until it is left as at a shutdown."""
    store = BatchStore(directory, limits)
    runner = BatchRunner(store, voice.speak)
    work = asyncio.create_task(runner.run())
    yield store, runner
    work.cancel()
    await asyncio.wait({work})


async def begun(store, runner, batch):
    await store.add(batch)
    await runner.start(batch)
    return batch


def refused(code):
    return pytest.raises(BatchRefused, check=lambda refusal: refusal.code == code)


def states(batch):
    return [item.state for item in batch.items]


def files(store, batch):
    return sorted(path.name for path in store.folder(batch).iterdir() if "json" not in path.name)


def unpacked(store, batch):
    archive = zipfile.ZipFile(io.BytesIO(b"".join(zipped(batch, store.folder(batch)))))
    table = archive.read("manifest.csv").decode("utf-8-sig")
    return archive, list(csv.DictReader(io.StringIO(table, newline="")))


async def test_all_items_become_files_in_their_order(tmp_path, voice, until):
    async with running(tmp_path, voice) as (store, runner):
        batch = await begun(store, runner, a_batch("Good morning.", "What? Ünd/so…", "你好"))
        await until(lambda: batch.state is BatchState.FINISHED)
    assert voice.spoken == ["Good morning.", "What? Ünd/so…", "你好"]
    assert files(store, batch) == ["001-good-morning.wav", "002-what-ünd-so.wav", "003-你好.wav"]
    assert [item.seconds for item in batch.items] == [13, 13, 2]


async def test_a_stopped_batch_goes_on_where_it_was(tmp_path, voice, until):
    voice.hold("two")
    async with running(tmp_path, voice) as (store, runner):
        batch = await begun(store, runner, a_batch("one", "two", "three"))
        await until(lambda: voice.spoken == ["one", "two"] and runner.now.made_s == 0.5)
        await runner.stop(batch)
        assert batch.state is BatchState.STOPPED
        assert files(store, batch) == ["001-one.wav"]
        assert runner.now is None or runner.now.task.done()
        voice.gate.set()
        await asyncio.sleep(0.05)
        assert voice.spoken == ["one", "two"]
        await runner.start(batch)
        await until(lambda: batch.state is BatchState.FINISHED)
    assert voice.spoken == ["one", "two", "two", "three"]
    assert len(files(store, batch)) == 3


async def test_after_a_restart_what_is_done_is_not_made_again(tmp_path, voice, until):
    voice.hold("two")
    async with running(tmp_path, voice) as (store, runner):
        batch = await begun(store, runner, a_batch("one", "two", "three"))
        await until(lambda: voice.spoken == ["one", "two"] and runner.now.made_s == 0.5)
        assert states(batch) == [ItemState.DONE, ItemState.WAITING, ItemState.WAITING]
    voice.gate.set()
    voice.spoken.clear()
    async with running(tmp_path, voice) as (store, runner):
        again = store.batch(ANN, batch.id)
        assert (again.state, again.stopped_by) == (BatchState.STOPPED, RESTARTED)
        assert files(store, again) == ["001-one.wav"]
        await asyncio.sleep(0.05)
        assert voice.spoken == []
        await runner.start(again)
        await until(lambda: again.state is BatchState.FINISHED)
    assert voice.spoken == ["two", "three"]


async def test_a_file_that_was_lost_is_made_again(tmp_path, voice, until):
    async with running(tmp_path, voice) as (store, runner):
        batch = await begun(store, runner, a_batch("one", "two"))
        await until(lambda: batch.state is BatchState.FINISHED)
    (store.folder(batch) / batch.items[0].file).unlink()
    again = BatchStore(tmp_path, LIMITS).batch(ANN, batch.id)
    assert states(again) == [ItemState.WAITING, ItemState.DONE]


@pytest.mark.parametrize(
    ("text", "reason"),
    [("fail", "There is nothing to say."), ("break", "This went wrong: by zero")],
)
async def test_an_item_that_fails_is_told_and_tried_again(tmp_path, voice, until, text, reason):
    async with running(tmp_path, voice) as (store, runner):
        batch = await begun(store, runner, a_batch("one", text, "three"))
        await until(lambda: batch.state is BatchState.FINISHED)
        assert states(batch) == [ItemState.DONE, ItemState.FAILED, ItemState.DONE]
        assert batch.items[1].reason == reason
        assert len(files(store, batch)) == 2
        batch.items[1].text = "mended"
        batch.try_again()
        await runner.start(batch)
        await until(lambda: batch.state is BatchState.FINISHED)
    assert states(batch) == [ItemState.DONE] * 3
    assert batch.items[1].reason == ""
    assert voice.spoken == ["one", text, "three", "mended"]


async def test_an_engine_that_is_down_fails_no_item(tmp_path, voice, until):
    async with running(tmp_path, voice) as (store, runner):
        batch = await begun(store, runner, a_batch("down", "two"))
        await until(lambda: batch.state is BatchState.STOPPED)
        assert batch.stopped_by == "The engine is not running."
        assert states(batch) == [ItemState.WAITING, ItemState.WAITING]
        other = await begun(store, runner, a_batch("one", owner=BOB))
        await until(lambda: other.state is BatchState.FINISHED)


async def test_two_batches_take_turns_one_item_at_a_time(tmp_path, voice, until):
    voice.hold()
    async with running(tmp_path, voice) as (store, runner):
        first = await begun(store, runner, a_batch("a1", "a2", "a3"))
        second = await begun(store, runner, a_batch("b1", "b2", "b3", owner=BOB))
        voice.gate.set()
        await until(lambda: {first.state, second.state} == {BatchState.FINISHED})
    assert voice.spoken == ["a1", "b1", "a2", "b2", "a3", "b3"]
    assert voice.most_at_a_time == 1


async def test_a_batch_is_deleted_in_the_middle_and_the_others_go_on(tmp_path, voice, until):
    voice.hold()
    async with running(tmp_path, voice) as (store, runner):
        first = await begun(store, runner, a_batch("a1", "a2"))
        second = await begun(store, runner, a_batch("b1"))
        await until(lambda: runner.now is not None and runner.now.made_s == 0.5)
        await runner.stop(first)
        await store.delete(first)
        voice.gate.set()
        await until(lambda: second.state is BatchState.FINISHED)
        with refused("batch_unknown"):
            store.batch(ANN, first.id)
    assert [path.name for path in tmp_path.iterdir()] == [second.id]


async def test_nobody_finds_another_persons_batch(tmp_path):
    store = BatchStore(tmp_path, LIMITS)
    batch = a_batch("one")
    await store.add(batch)
    assert store.of(BOB) == []
    with refused("batch_unknown"):
        store.batch(BOB, batch.id)
    with refused("batch_unknown"):
        store.opened(batch.id, "")
    assert store.opened(batch.id, batch.key) is batch


async def test_one_person_and_all_of_them_have_only_so_many(tmp_path):
    store = BatchStore(tmp_path, LIMITS)
    for _ in range(3):
        await store.add(a_batch("one"))
    with pytest.raises(BatchRefused, match="You have 3 batches"):
        await store.add(a_batch("one"))
    await store.add(a_batch("one", owner=BOB))
    with pytest.raises(BatchRefused, match="too many batches in the app"):
        await store.add(a_batch("one", owner=BOB))
    await store.delete(store.of(ANN)[0])
    await store.add(a_batch("one", owner=BOB))


async def test_what_nobody_touched_for_long_is_deleted_but_not_while_it_is_spoken(tmp_path):
    store = BatchStore(tmp_path, LIMITS)
    old, spoken, fresh = a_batch("one"), a_batch("two"), a_batch("three")
    for batch in (old, spoken, fresh):
        await store.add(batch)
    spoken.state = BatchState.RUNNING
    for batch in (old, spoken):
        batch.changed_at -= timedelta(hours=2)
    await store.sweep()
    assert {batch.id for batch in store.of(ANN)} == {spoken.id, fresh.id}
    assert not store.folder(old).exists()


async def test_the_zip_says_what_became_of_each_item(tmp_path, voice, until):
    async with running(tmp_path, voice) as (store, runner):
        batch = a_batch("one", "fail", "", voice_name="Anna")
        batch.items[0].name = "Intro"
        batch.items[2].state, batch.items[2].reason = ItemState.LEFT_OUT, "There is no text."
        await begun(store, runner, batch)
        await until(lambda: batch.state is BatchState.FINISHED)
    archive, table = unpacked(store, batch)
    assert archive.testzip() is None
    assert archive.namelist() == ["manifest.csv", "001-intro.wav"]
    assert archive.read("001-intro.wav") == b"one"
    assert [(row["name"], row["voice"], row["file"], row["seconds"]) for row in table] == [
        ("Intro", "Anna", "001-intro.wav", "3.00"),
        ("", "Anna", "", ""),
        ("", "Anna", "", ""),
    ]
    assert [row["error"] for row in table] == ["", "There is nothing to say.", "There is no text."]


async def test_the_time_left_follows_the_pace_so_far(tmp_path):
    batch = a_batch("1234567890", "12345", "fail")
    assert batch.left_s is None
    batch.items[0].state, batch.worked_s = ItemState.DONE, 4.0
    batch.items[2].state = ItemState.FAILED
    assert batch.left_s == pytest.approx(2.0)


async def test_a_damaged_folder_does_not_keep_the_others_from_being_found(tmp_path):
    store = BatchStore(tmp_path, LIMITS)
    kept, damaged = a_batch("one"), a_batch("two")
    for batch in (kept, damaged):
        await store.add(batch)
    (store.folder(damaged) / "batch.json").write_text('{"id": "half')
    (tmp_path / "no-batch").mkdir()
    assert [batch.id for batch in BatchStore(tmp_path, LIMITS).of(ANN)] == [kept.id]


async def test_a_disk_that_takes_no_more_stops_the_batch_and_not_the_app(tmp_path, voice, until):
    async with running(tmp_path, voice) as (store, runner):
        batch = await begun(store, runner, a_batch("one"))
        await until(lambda: batch.state is BatchState.FINISHED)
        lost = a_batch("one", "two")
        await store.add(lost)
        store.folder(lost).rename(tmp_path / "elsewhere")
        await runner.start(batch)
        store.folder(lost).write_text("no folder")
        with pytest.raises(FileExistsError):
            await runner.start(lost)
        await until(lambda: lost.state is BatchState.STOPPED)
        assert lost.stopped_by
        await until(lambda: batch.state is BatchState.FINISHED)
