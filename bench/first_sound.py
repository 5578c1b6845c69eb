"""First sound: from the end of a question to the first sound heard in Chromium.

The whole app on the embedded engine, in a process of its own, and the page as a person uses it. A
spoken question is recorded from a fake microphone that plays the sample question; it ends when the
Talk button is pressed again. A typed one ends when Enter is pressed. "Heard" is the first audible
sample that leaves the player, seen by an AudioWorklet behind its last node; the device's own delay
comes on top.

Run ``python -m bench.first_sound --rounds 10``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, WebSocket, sync_playwright

from bench.chromium import launch, summarise

HERE = Path(__file__).parent
ROOT = HERE.parent
RESULTS = HERE / "results"
QUESTION = ROOT / "assets" / "question.wav"
QUESTION_S = 3.0
TYPED = "How many legs does a spider have?"
START_TIMEOUT_S = 120.0
ROUND_TIMEOUT_MS = 30_000
QUIET_MS = 1_000  # the onset detector wants 0.7 s of quiet before it hears a new sound
PARTS = {
    "sent_ms": "recorded, taken in",
    "text_ms": "to the first word (hear, think)",
    "speech_ms": "to the first speech (speak)",
    "page_ms": "to the ear (wire, player)",
    "total_ms": "end of question → first sound",
}


@contextmanager
def running_app() -> Iterator[str]:
    """The app on its embedded engine, as ``make run`` starts it; yields its address."""
    port = 7000 + os.getpid() % 1000
    command = [sys.executable, "app.py", "--engine", "embedded", "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_until_ready(url)
        yield url
    finally:
        process.terminate()
        process.wait(30)


def _wait_until_ready(url: str) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5):  # noqa: S310 - our own server
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError("the app was not ready in time")


class Wire:
    """Notes when the page is told of a turn, and what the engine says of its times."""

    def __init__(self, page: Page) -> None:
        """Listen to the page's socket."""
        self.created_at = 0.0
        self.metrics: dict[str, float] = {}
        self.stages: dict[str, dict[str, float]] = {}
        page.on("websocket", self._attach)

    def _attach(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._note)

    def _note(self, frame: str | bytes) -> None:
        message = json.loads(frame)
        if message["type"] == "omni.turn.created":
            self.created_at = message["turn"]["created_at"] * 1000
            self.stages = {}
        elif message["type"] == "omni.stage.timing":
            self.stages[message["stage"]] = message
        elif message["type"] == "response.done":
            self.metrics = message["metrics"]


def prepare_page(page: Page, url: str) -> None:
    """Open the page, wait for the engine, and listen behind the player."""
    page.goto(url)
    page.wait_for_selector(".engine[data-state=ready]", timeout=60_000)
    page.click("#title")
    page.evaluate(
        """async (source) => {
            const { player } = window.omni;
            await player.unlock();
            const { context } = player.output;
            const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
            await context.audioWorklet.addModule(url);
            const onset = new AudioWorkletNode(context, "sound-onset");
            onset.port.onmessage = ({ data }) => {
                if (data.type === "onset") window.heardAt ??= data.at;
            };
            player.output.connect(onset).connect(context.destination);
            document.addEventListener("click", (event) => {
                if (event.target.closest("#talk")) window.endedAt = Date.now();
            }, { capture: true });
            document.addEventListener("keydown", (event) => {
                if (event.key === "Enter") window.endedAt = Date.now();
            }, { capture: true });
        }""",
        (HERE / "sound_onset_worklet.js").read_text(),
    )


def ask(page: Page, kind: str) -> None:
    """Put the question as a person does."""
    if kind == "typed":
        page.fill("#message textarea", TYPED)
        page.press("#message textarea", "Enter")
        return
    page.click("#talk")
    page.wait_for_selector("#talk[data-state=recording]")
    page.wait_for_timeout(QUESTION_S * 1000)
    page.click("#talk")


def run_round(page: Page, wire: Wire, kind: str) -> dict[str, float]:
    """One question in a new conversation; the parts of the wait, in milliseconds."""
    page.click("#new-conversation")
    page.wait_for_selector(".empty")
    page.wait_for_timeout(QUIET_MS)
    page.evaluate("window.heardAt = undefined; window.endedAt = undefined")
    ask(page, kind)
    page.wait_for_function("window.heardAt", timeout=ROUND_TIMEOUT_MS)
    page.wait_for_selector(".turn[data-outcome=answered]", timeout=ROUND_TIMEOUT_MS)
    ended_at, heard_at = page.evaluate("[window.endedAt, window.heardAt]")
    text_at = wire.created_at + wire.metrics["first_text_s"] * 1000
    speech_at = wire.created_at + wire.metrics["first_sound_s"] * 1000
    stages = {f"{name}_ms": t["first_output_s"] * 1000 for name, t in wire.stages.items()}
    return {
        "sent_ms": wire.created_at - ended_at,
        "text_ms": text_at - wire.created_at,
        "speech_ms": speech_at - text_at,
        "page_ms": heard_at - speech_at,
        "total_ms": heard_at - ended_at,
        **{f"stage_{name}": value for name, value in stages.items()},
    }


def print_table(summary: dict[str, dict[str, dict[str, float | int]]]) -> None:
    """Print medians and 95th percentiles of each part, for each kind of question."""
    for kind, parts in summary.items():
        print(f"\n{kind + ' question':36s}{'median':>10s}{'p95':>10s}{'max':>10s}   (ms)")
        for part, label in PARTS.items():
            row = parts[part]
            cells = "".join(f"{row[f'{name}_ms']:>10}" for name in ("median", "p95", "max"))
            print(f"{label:36s}{cells}")


def plot(summary: dict[str, dict[str, dict[str, float | int]]], path: Path) -> None:
    """The medians of the parts, one bar for each kind of question."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 2.4), layout="constrained")
    for part, label in list(PARTS.items())[:-1]:
        widths = [parts[part]["median_ms"] for parts in summary.values()]
        lefts = [bar.get_x() + bar.get_width() for bar in axes.patches[-len(summary) :]]
        axes.barh(list(summary), widths, left=lefts or None, label=label)
    axes.axvline(1500, color="black", linestyle=":", label="target")
    axes.set(xlabel="ms, medians", title="End of question → first sound in Chromium")
    axes.legend(fontsize="x-small", ncols=3)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10, help="rounds of each kind, in turn")
    rounds = parser.parse_args().rounds
    measured: dict[str, list[dict[str, float]]] = {"spoken": [], "typed": []}
    with running_app() as url, sync_playwright() as playwright:
        browser = launch(playwright, QUESTION)
        page = browser.new_page()
        wire = Wire(page)
        prepare_page(page, url)
        for number in range(rounds + 1):
            for kind, found in measured.items():
                parts = run_round(page, wire, kind)
                print(f"round {number:2d}  {kind:8s}{parts['total_ms']:7.0f} ms", flush=True)
                if number:  # the first round warms the page and the prompt cache
                    found.append(parts)
        chromium = browser.version
        browser.close()
    summary = {
        kind: {part: summarise([one.get(part) for one in found]) for part in found[0]}
        for kind, found in measured.items()
    }
    result = {
        "what": "end of question to first sound heard in Chromium, milliseconds",
        "cpus": os.cpu_count(),
        "chromium": chromium,
        "summary": summary,
        "rounds": measured,
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "first_sound.json").write_text(json.dumps(result, indent=2) + "\n")
    plot(summary, RESULTS / "first_sound.png")
    print_table(summary)


if __name__ == "__main__":
    main()
