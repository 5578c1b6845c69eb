"""What the player puts out, sample by sample, against what was pushed into it."""

import base64
import json
from types import SimpleNamespace

import numpy as np
import pytest
import pytest_asyncio

from tests.browser.conftest import HERE, STATIC

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

TONE_HZ = 440
AMPLITUDE = 0.5


def tone(seconds, rate):
    """A tone that starts at its peak, so that its first sample shows where it begins."""
    times = np.arange(round(seconds * rate)) / rate
    return np.round(AMPLITUDE * 32767 * np.cos(2 * np.pi * TONE_HZ * times)).astype(np.int16)


def noise(samples, seed=0):
    """Loud noise without a silent sample."""
    values = np.random.default_rng(seed).integers(1, 20000, samples, dtype=np.int16)
    return values * np.where(np.arange(samples) % 3 == 0, -1, 1).astype(np.int16)


def encoded(pcm):
    return base64.b64encode(pcm.tobytes()).decode()


def heard(result):
    """The recording from its first sound on."""
    captured = np.frombuffer(base64.b64decode(result["captured"]), np.float32)
    return captured[np.flatnonzero(captured)[0] :]


def events(result, kind):
    return [SimpleNamespace(**event) for event in result["events"] if event["type"] == kind]


def longest_gap_s(sound, rate):
    """Longest run of near silence between the first and the last sound, in seconds."""
    loud = np.flatnonzero(np.abs(sound) > 0.02)
    return (np.diff(loud).max() - 1) / rate


def tone_snr_db(sound, rate):
    """Power of the best-fitting tone over the power of all else."""
    phase = 2 * np.pi * TONE_HZ * np.arange(len(sound)) / rate
    basis = np.stack([np.cos(phase), np.sin(phase)], axis=1)
    fit = basis @ np.linalg.lstsq(basis, sound, rcond=None)[0]
    return 10 * np.log10(np.sum(fit**2) / np.sum((sound - fit) ** 2))


@pytest_asyncio.fixture(loop_scope="session")
async def scene(page, site):
    """Runs a scene of ``player_page.js`` in a page that a person has clicked."""
    await page.goto(f"{site}/player_page.html")
    await page.click("button")

    async def run(name, **arguments):
        return await page.evaluate(f"(arguments) => scenes.{name}(arguments)", arguments)

    return run


@pytest.mark.parametrize("rate", [24000, 48000])
async def test_at_the_device_rate_every_sample_comes_out_as_it_went_in(scene, rate):
    pcm = noise(rate)
    result = await scene(
        "say",
        contextRate=rate,
        replies=[{"rate": rate, "pcm": encoded(pcm), "sizes": [1, 3840, 77, 5000, 128]}],
    )
    np.testing.assert_array_equal(heard(result)[: len(pcm)], pcm / np.float32(32768))
    (ended,) = events(result, "ended")
    assert ended.playedSeconds == 1
    assert ended.underruns == 0
    assert not ended.flushed


async def test_a_tone_has_no_hole_or_edge_however_it_is_cut(page, scene):
    rate, seconds, device_rate = 22050, 8, 48000
    pcm = tone(seconds, rate)
    cuts = {
        "0.16 s": [round(0.16 * rate)],
        "0.25 s": [round(0.25 * rate)],
        "1 s": [rate],
        "odd": [1, 4801, 13, 7919, 127, 30011],
        "one": [len(pcm)],
    }
    plans = [
        {
            "contextRate": device_rate,
            "replies": [{"rate": rate, "pcm": encoded(pcm), "sizes": sizes}],
        }
        for sizes in cuts.values()
    ]
    results = await page.evaluate("(plans) => Promise.all(plans.map(scenes.say))", plans)
    sounds = dict(zip(cuts, map(heard, results), strict=True))
    body = sounds["one"][: seconds * device_rate]
    for name, sound in sounds.items():
        assert np.count_nonzero(np.abs(sound) > 0.02) / device_rate == pytest.approx(
            seconds * np.mean(np.abs(body) > 0.02), abs=0.1
        ), name
        np.testing.assert_array_equal(sound[: len(body)], body, err_msg=name)
    assert longest_gap_s(body, device_rate) < 0.005
    assert tone_snr_db(body[480:-480], device_rate) > 50
    for result in results:
        (ended,) = events(result, "ended")
        assert ended.playedSeconds == pytest.approx(seconds, abs=0.1)
        assert ended.underruns == 0


@pytest.mark.parametrize(
    ("rate", "device_rate"),
    [(24000, 44100), (44100, 48000), (48000, 44100), (22050, 44100), (48000, 16000)],
)
async def test_every_pair_of_rates_gives_the_same_tone(scene, rate, device_rate):
    result = await scene(
        "say",
        contextRate=device_rate,
        replies=[{"rate": rate, "pcm": encoded(tone(1, rate)), "sizes": [3001]}],
    )
    sound = heard(result)[:device_rate]
    assert tone_snr_db(sound[480:-480], device_rate) > 50
    assert np.abs(sound[480:-480]).max() == pytest.approx(AMPLITUDE, rel=0.01)
    assert events(result, "ended")[0].playedSeconds == pytest.approx(1, abs=0.001)


@pytest.mark.parametrize("seconds", [0.02, 0.2, 0.3])
@pytest.mark.parametrize("rate", [22050, 48000])
async def test_a_short_reply_of_one_chunk_is_heard_in_full(scene, seconds, rate):
    pcm = tone(seconds, rate)
    result = await scene(
        "say",
        contextRate=48000,
        replies=[{"rate": rate, "pcm": encoded(pcm), "sizes": [len(pcm)]}],
    )
    expected = AMPLITUDE * np.cos(2 * np.pi * TONE_HZ * np.arange(round(seconds * 48000)) / 48000)
    sound = heard(result)[: len(expected)]
    # The last millisecond is the interpolator's own edge against the silence that follows.
    np.testing.assert_allclose(sound[96:-96], expected[96:-96], atol=0.01)
    assert len(events(result, "started")) == 1
    assert events(result, "ended")[0].playedSeconds == pytest.approx(seconds, abs=0.001)


async def test_an_empty_reply_ends_and_lets_the_next_one_speak(scene):
    pcm = noise(4800)
    empty = {"rate": 48000, "pcm": "", "sizes": [1]}
    result = await scene(
        "say",
        contextRate=48000,
        replies=[empty, {"rate": 48000, "pcm": encoded(pcm), "sizes": [960]}, empty],
    )
    np.testing.assert_array_equal(heard(result)[: len(pcm)], pcm / np.float32(32768))
    assert [event.replyId for event in events(result, "started")] == ["r1"]
    assert [event.replyId for event in events(result, "ended")] == ["r0", "r1", "r2"]


async def test_replies_at_hand_follow_each_other_without_a_hole(scene):
    parts = [noise(9600 + 7 * index, seed=index) for index in range(3)]
    result = await scene(
        "say",
        contextRate=48000,
        replies=[{"rate": 48000, "pcm": encoded(part), "sizes": [4000]} for part in parts],
    )
    whole = np.concatenate(parts)
    np.testing.assert_array_equal(heard(result)[: len(whole)], whole / np.float32(32768))


async def test_ten_replies_in_one_page_each_start_by_themselves(scene):
    pcm = noise(9600)
    result = await scene("sayInTurn", contextRate=48000, rate=48000, pcm=encoded(pcm), times=10)
    sound = heard(result)
    assert len(events(result, "started")) == 10
    assert [event.replyId for event in events(result, "ended")] == [f"r{n}" for n in range(10)]
    first = np.float32(pcm[0] / 32768)
    starts = [
        at
        for at in np.flatnonzero(sound == first)
        if np.array_equal(sound[at : at + len(pcm)], pcm / np.float32(32768))
    ]
    assert len(starts) == 10


@pytest.mark.parametrize("rate", [22050, 48000])
async def test_late_sound_is_counted_and_nothing_of_it_is_lost(scene, rate):
    device_rate, seconds = 48000, 1
    pcm = tone(seconds, rate)
    result = await scene(
        "sayWithHole",
        contextRate=device_rate,
        rate=rate,
        pcm=encoded(pcm),
        firstSamples=rate // 5,
    )
    (underrun,) = events(result, "underrun")
    (ended,) = events(result, "ended")
    assert underrun.count == ended.underruns == 1
    assert len(events(result, "started")) == 1
    assert ended.playedSeconds == pytest.approx(seconds, abs=0.001)

    sound = heard(result)
    hole = round(underrun.holeSeconds * device_rate)
    lookahead = 0 if rate == device_rate else round(32 / rate * device_rate)
    cut = device_rate // 5 - lookahead
    joined = np.concatenate([sound[: cut - 8], sound[cut + hole + 8 :]])[: device_rate - 16]
    expected = AMPLITUDE * np.cos(2 * np.pi * TONE_HZ * np.arange(device_rate) / device_rate)
    expected = np.delete(expected, slice(cut - 8, cut + 8))
    settled = np.ones(len(expected), bool)
    settled[cut - 8 : cut + 240] = False
    settled[:96] = settled[-96:] = False
    np.testing.assert_allclose(joined[settled], expected[settled], atol=0.01)
    # The hole itself is silent but for the few milliseconds in which the sound sinks.
    assert np.abs(sound[cut + 300 : cut + hole - 8]).max() == 0


async def test_no_edge_of_a_hole_clicks(scene):
    result = await scene(
        "sayWithHole",
        contextRate=48000,
        rate=48000,
        pcm=encoded(tone(1, 48000)),
        firstSamples=48000 // 5 + 20,
    )
    sound = heard(result)
    steepest = AMPLITUDE * 2 * np.pi * TONE_HZ / 48000
    assert np.abs(np.diff(sound)).max() < 1.2 * steepest


async def test_an_end_that_comes_late_is_no_underrun(scene):
    result = await scene(
        "sayWithLateEnd",
        contextRate=48000,
        rate=22050,
        pcm=encoded(tone(0.3, 22050)),
    )
    (ended,) = events(result, "ended")
    assert ended.underruns == 0
    assert ended.playedSeconds == pytest.approx(0.3, abs=0.001)
    assert not events(result, "underrun")


async def test_sound_starts_on_a_first_chunk_of_120_ms_and_not_on_30(scene):
    pcm = noise(48000)
    result = await scene(
        "startOnFirstChunk",
        contextRate=48000,
        rate=48000,
        pcm=encoded(pcm),
        firstSamples=round(0.12 * 48000),
        tooFewSamples=round(0.03 * 48000),
    )
    assert not result["startedTooEarly"]
    assert events(result, "started")[0].latencyMs > 0
    assert events(result, "ended")[0].playedSeconds == 1


async def test_a_flush_is_quick_clean_and_final(scene):
    rate = 48000
    delays = []
    for _ in range(5):
        result = await scene(
            "interrupt",
            contextRate=rate,
            rate=rate,
            pcm=encoded(tone(3, rate)),
            nextPcm=encoded(noise(4800)),
        )
        captured = np.frombuffer(base64.b64decode(result["captured"]), np.float32)
        before = captured[: result["quietUntil"]]
        spoken = before[np.flatnonzero(before)[0] :]
        last = np.flatnonzero(before)[-1]
        delays.append((last - result["flushedFrame"]) / rate)

        steepest = AMPLITUDE * 2 * np.pi * TONE_HZ / rate
        assert np.abs(np.diff(spoken)).max() < 1.2 * steepest
        ended = {event.replyId: event for event in events(result, "ended")}
        assert ended["r0"].flushed
        assert 0.1 <= ended["r0"].playedSeconds < 1.5
        assert ended["r1"].flushed
        assert ended["r1"].playedSeconds == 0
        assert [event.replyId for event in events(result, "started")] == ["r0", "r2"]
        np.testing.assert_array_equal(
            captured[result["quietUntil"] :][captured[result["quietUntil"] :] != 0][:4800],
            noise(4800) / np.float32(32768),
        )
    # The best of five: a busy machine may hold a message up, the player itself may not.
    assert min(delays) < 0.05


async def test_a_dropped_reply_makes_way_for_the_next_and_never_begins_again(scene):
    rate = 48000
    result = await scene(
        "dropSome",
        contextRate=rate,
        rate=rate,
        pcm=encoded(tone(3, rate)),
        nextPcm=encoded(noise(4800)),
    )
    captured = np.frombuffer(base64.b64decode(result["captured"]), np.float32)
    expected = noise(4800) / np.float32(32768)
    starts = np.flatnonzero(captured == expected[0])
    assert any(np.array_equal(captured[at : at + 4800], expected) for at in starts)
    assert [event.replyId for event in events(result, "started")] == ["r0", "r1"]
    ended = {event.replyId: event.flushed for event in events(result, "ended")}
    assert ended == {"r0": True, "r1": False}


async def test_sound_that_came_before_the_first_click_is_kept_for_it(page, site):
    rate = 24000
    arguments = {"rate": rate, "pcm": encoded(tone(0.5, rate))}
    scene = json.dumps({"name": "sayBlocked", "arguments": arguments})
    await page.add_init_script(f"window.sceneAtLoad = {scene}")
    async with page.expect_console_message(
        lambda message: message.text.startswith("first event")
    ) as first:
        await page.goto(f"{site}/player_page.html")
    assert (await first.value).text == "first event: blocked"
    await page.click("button")
    result = await page.evaluate("() => scenes.finishBlocked()")
    assert len(events(result, "started")) == 1
    assert events(result, "ended")[0].playedSeconds == pytest.approx(0.5, abs=0.001)
    sound = heard(result)[: round(0.5 * result["rate"])]
    assert tone_snr_db(sound[480:-480], result["rate"]) > 50


async def test_an_insecure_page_is_told_why_it_stays_silent(page):
    async def serve(route):
        path = route.request.url.removeprefix("http://insecure.test/")
        folder = STATIC if path.startswith("static/") else HERE
        await route.fulfill(path=folder / path.removeprefix("static/"))

    await page.route("http://insecure.test/**", serve)
    await page.goto("http://insecure.test/player_page.html")
    (event,) = await page.evaluate("() => scenes.sayUnsupported()")
    assert event["type"] == "unsupported"
    assert "https" in event["reason"]


async def test_a_player_that_cannot_load_says_so_and_ends_its_replies(page, site):
    await page.add_init_script(
        "AudioWorklet.prototype.addModule = () => Promise.reject(new Error('no network'))"
    )
    await page.goto(f"{site}/player_page.html")
    said = await page.evaluate("() => scenes.sayUnsupported()")
    assert {event["type"] for event in said} == {"unsupported", "ended"}
    assert "no network" in next(e["reason"] for e in said if e["type"] == "unsupported")


async def test_a_hushed_reply_is_silent_within_20_ms_and_loud_again_within_80_ms(scene):
    rate = 48000
    pcm = tone(2.0, rate)
    result = await scene("hush", contextRate=rate, rate=rate, pcm=encoded(pcm))
    captured = np.frombuffer(base64.b64decode(result["captured"]), np.float32)

    def loudest(frame, after_s):
        start = round(frame + after_s * rate) + 256  # a block or two until the thread is told
        return np.abs(captured[start : start + rate // 20]).max()

    assert loudest(result["hushedFrame"], -0.1) == pytest.approx(AMPLITUDE, rel=0.01)
    assert loudest(result["hushedFrame"], 0.02) == 0
    assert loudest(result["loudFrame"], 0.08) == pytest.approx(AMPLITUDE, rel=0.01)
