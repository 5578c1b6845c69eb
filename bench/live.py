"""A call: first sound after speech, silence after a barge-in, end-of-turn decisions, noise.

The whole app on the embedded engine in a process of its own, and its page in Chromium. The fake
microphone says questions in the built-in voice; what the player puts out is watched behind its last
node, in blocks of 10 ms. The decisions are taken over the wire, fed at the pace of speech. The
device's own delay comes on top of everything.

Run ``python -m bench.live --rounds 20 --noise-minutes 10``.
"""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from playwright.sync_api import sync_playwright

from bench.call_page import SIZE, CallPage, Film
from bench.chromium import launch, summarise
from bench.first_sound import RESULTS, running_app
from bench.said import QUESTIONS, Speaker, a_speaker
from bench.turn_taking import decide_cases, sit_in_noise

LONG_REQUEST = "Please tell me a long story about a dog."
INTERRUPTION = "Wait, stop, please."
TARGETS_MS = {"first_sound": 900, "silenced": 200}


def hold_call(url: str, speaker: Speaker, rounds: int) -> tuple[dict[str, list[float]], str]:
    """Ask and interrupt in Chromium; the milliseconds of each round, and Chromium's version."""
    found: dict[str, list[float]] = {"first_sound": [], "lowered": [], "silenced": []}
    with sync_playwright() as playwright:
        browser = launch(playwright, fake_devices=True)
        page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]})
        call = CallPage(page, url)
        for number in range(rounds + 1):
            sound = call.first_sound_ms(speaker.say(QUESTIONS[number % len(QUESTIONS)]))
            call.listening()
            print(f"question {number:2d}  first sound {sound:6.0f} ms", flush=True)
            if number:  # the first one warms the page
                found["first_sound"].append(sound)
        while len(found["lowered"]) < rounds // 2:
            number = len(found["lowered"])
            took = call.barge_in_ms(speaker.say(LONG_REQUEST), speaker.say(INTERRUPTION))
            call.listening()
            if took is None:
                continue
            lowered, silenced = took
            print(f"barge-in {number:2d}  lowered {lowered:4.0f}  silent {silenced:4.0f} ms")
            found["lowered"].append(lowered)
            found["silenced"].append(silenced)
        film = Film(page)  # after the measurements, which it would slow down
        call.first_sound_ms(speaker.say(QUESTIONS[0]))
        call.listening()
        call.barge_in_ms(speaker.say(LONG_REQUEST), speaker.say(INTERRUPTION))
        call.listening()
        film.save(RESULTS / "live.mp4")
        version = browser.version
        browser.close()
    return found, version


def print_table(result: dict[str, Any]) -> None:
    """Print what was measured."""
    print(f"\n{'call in Chromium':44s}{'median':>9s}{'p95':>9s}{'max':>9s}   (ms)")
    labels = {
        "first_sound": "end of speech → first sound",
        "lowered": "speech over a reply → lowered by 12 dB",
        "silenced": "speech over a reply → silent",
        "decided": "end of speech → taken for finished",
    }
    for key, label in labels.items():
        row = result["summary"][key]
        cells = "".join(f"{row[f'{name}_ms']:>9}" for name in ("median", "p95", "max"))
        print(f"{label:44s}{cells}")
    cases = result["cases"]
    wrong = {name: sum(bool(case[name]) for case in cases) for name in ("cut_short", "missed")}
    print(
        f"\n{len(cases)} recorded cases: {wrong['cut_short']} cut short, {wrong['missed']} missed"
    )
    for name, counts in result["noise"].items():
        print(f"{counts['seconds']} s of {name}: lowered {counts['lowered']} times,", end=" ")
        print(f"stopped {counts['stopped']} times")


def plot(result: dict[str, Any]) -> None:
    """Every round as a point beside its target."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 2.6), layout="constrained")
    for row, (key, values) in enumerate(result["rounds"].items()):
        axes.plot(values, [row] * len(values), "o", alpha=0.5)
        if key in TARGETS_MS:
            axes.plot([TARGETS_MS[key]] * 2, [row - 0.3, row + 0.3], "k:")
    axes.set(yticks=range(len(result["rounds"])), yticklabels=list(result["rounds"]), xlabel="ms")
    axes.set(title="A call in Chromium; dotted: targets", xlim=(0, None))
    figure.savefig(RESULTS / "live.png", dpi=150)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20, help="questions; half as many barge-ins")
    parser.add_argument("--noise-minutes", type=float, default=10.0)
    options = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    with a_speaker() as speaker, running_app() as url:
        rounds, chromium = hold_call(url, speaker, options.rounds)
        cases = decide_cases(url, speaker)
    rounds["decided"] = [case["decided_ms"] for case in cases if case["decided_ms"] is not None]
    result = {
        "what": "a call on the embedded engine, milliseconds",
        "cpus": os.cpu_count(),
        "chromium": chromium,
        "summary": {key: summarise(values) for key, values in rounds.items()},
        "rounds": rounds,
        "cases": cases,
        "noise": sit_in_noise(60 * options.noise_minutes),
    }
    (RESULTS / "live.json").write_text(json.dumps(result, indent=2) + "\n")
    plot(result)
    print_table(result)


if __name__ == "__main__":
    main()
