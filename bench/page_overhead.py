"""Page overhead: from the engine's first chunk to the first sound heard in Chromium.

Our player, fed through a WebSocket, against ``gr.Audio(streaming=True, autoplay=True)``, fed by a
generator: one process, one page, the same chunks at the same pace, rounds in turn. "Heard" is the
first audible sample in what each really puts out, seen by the same AudioWorklet: behind our
player's last node, and behind the audio element of ``gr.Audio`` through a media element source.
The device's own delay comes on top for both. Python and Chromium read the same machine clock.

Run ``python -m bench.page_overhead --rounds 10``.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import gradio as gr
import numpy as np
import uvicorn
from fastapi import FastAPI, WebSocket, WebSocketDisconnect
from fastapi.responses import FileResponse
from playwright.sync_api import Page, sync_playwright

from bench.chromium import launch, summarise

HERE = Path(__file__).parent
STATIC = HERE.parent / "ui" / "static"
RESULTS = HERE / "results"

SAMPLE_RATE = 22050
CHUNK_S = 0.2
CHUNKS = 20
PACE = 5.0
THINKING_S = 0.3
ROUND_TIMEOUT_S = 30.0
KINDS = {"player": "our player", "gradio": "gr.Audio(streaming=True)"}


class Reply:
    """A made-up engine's reply: a tone in chunks, at a fixed multiple of real time."""

    def __init__(self) -> None:
        """Cut the tone; it starts at its peak, so that its first sample can be heard."""
        size = round(CHUNK_S * SAMPLE_RATE)
        times = np.arange(size * CHUNKS) / SAMPLE_RATE
        tone = (12000 * np.cos(2 * np.pi * 440 * times)).astype(np.int16)
        self.chunks = np.split(tone, CHUNKS)
        self.first_chunk_at = 0.0

    def schedule(self) -> Iterator[tuple[float, np.ndarray]]:
        """Pairs of seconds to wait and the chunk that is then ready; notes the first one's time."""
        start = time.monotonic() + THINKING_S
        for index, chunk in enumerate(self.chunks):
            due = start + index * CHUNK_S / PACE
            yield max(0.0, due - time.monotonic()), chunk

    def note_chunk(self, index: int) -> None:
        """Note the wall clock when the first chunk leaves the engine."""
        if index == 0:
            self.first_chunk_at = time.time()


async def send_reply(websocket: WebSocket, reply: Reply, response_id: str) -> None:
    """Send the reply as the app's wire has it."""
    await websocket.send_json(
        {"type": "response.created", "response_id": response_id, "sample_rate": SAMPLE_RATE}
    )
    for index, (delay, chunk) in enumerate(reply.schedule()):
        await asyncio.sleep(delay)
        reply.note_chunk(index)
        delta = base64.b64encode(chunk.tobytes()).decode()
        await websocket.send_json(
            {"type": "response.output_audio.delta", "response_id": response_id, "delta": delta}
        )
    await websocket.send_json({"type": "response.output_audio.done", "response_id": response_id})


def build_blocks(reply: Reply) -> gr.Blocks:
    """The Gradio page with the component that is compared."""

    async def speak():  # noqa: ANN202 - Gradio takes any generator
        for index, (delay, chunk) in enumerate(reply.schedule()):
            await asyncio.sleep(delay)
            reply.note_chunk(index)
            yield SAMPLE_RATE, chunk

    with gr.Blocks(analytics_enabled=False) as blocks:
        prepare = gr.Button("Prepare", elem_id="prepare")
        button = gr.Button("Speak", elem_id="speak")
        streamed = gr.Audio(streaming=True, autoplay=True, elem_id="streamed")
        prepare.click(None, js="() => { window.prepared = window.prepare(); }")
        button.click(speak, outputs=streamed)
    return blocks


def build_app(reply: Reply) -> FastAPI:
    """The page, our player's files and the socket that feeds it."""
    app = FastAPI()

    @app.get("/static/{name}")
    def static(name: str) -> FileResponse:
        return FileResponse(STATIC / Path(name).name)

    @app.get("/bench/{name}")
    def page_half(name: str) -> FileResponse:
        return FileResponse(HERE / Path(name).name)

    @app.websocket("/ws")
    async def speak(websocket: WebSocket) -> None:
        await websocket.accept()
        count = 0
        try:
            while True:
                await websocket.receive_json()
                count += 1
                await send_reply(websocket, reply, f"resp_{count}")
        except WebSocketDisconnect:
            return

    return gr.mount_gradio_app(app, build_blocks(reply), path="/")


class Server:
    """The app on a free local port, in a thread of this process."""

    def __init__(self, app: FastAPI) -> None:
        """Bind the port."""
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],))

    def __enter__(self) -> str:
        """Start; the address is the value."""
        self._thread.start()
        while not self._server.started:
            time.sleep(0.05)
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self._server.should_exit = True
        self._thread.join()


def prepare_page(page: Page, address: str) -> None:
    """Open the page, and give it the click that lets it make sound."""
    page.goto(address)
    page.wait_for_selector("#prepare")
    page.add_script_tag(type="module", url="/bench/page_overhead.js")
    page.wait_for_function("() => window.prepare")
    page.click("#prepare")
    page.wait_for_function("() => window.prepared")
    page.evaluate("() => window.prepared")


def measure(page: Page, reply: Reply, rounds: int) -> dict[str, list[dict[str, float | None]]]:
    """Play the rounds in turn; milliseconds from the first chunk to each sign of sound."""
    measured: dict[str, list[dict[str, float | None]]] = {kind: [] for kind in KINDS}
    for number in range(rounds):
        for kind, found in measured.items():
            signs = page.evaluate(
                "([kind, timeout]) => playRound(kind, timeout)", [kind, ROUND_TIMEOUT_S * 1000]
            )
            start_ms = reply.first_chunk_at * 1000
            found.append(
                {
                    "heard_ms": signs["heardAt"] and signs["heardAt"] - start_ms,
                    "playing_event_ms": signs["playingAt"] and signs["playingAt"] - start_ms,
                }
            )
            heard = found[-1]["heard_ms"]
            print(
                f"round {number + 1:2d}  {KINDS[kind]:26s}",
                "not heard" if heard is None else f"{heard:7.0f} ms",
                flush=True,
            )
    return measured


def report(measured: dict[str, list[dict[str, float | None]]], browser: str) -> dict[str, object]:
    """All that was found, ready for JSON."""
    summary = {
        kind: summarise([one["heard_ms"] for one in found]) for kind, found in measured.items()
    }
    medians = [summary[kind].get("median_ms") for kind in ("gradio", "player")]
    return {
        "what": "engine's first chunk to first sound heard in Chromium, milliseconds",
        "chunks": {"sample_rate": SAMPLE_RATE, "chunk_s": CHUNK_S, "count": CHUNKS, "pace": PACE},
        "gradio": gr.__version__,
        "chromium": browser,
        "cpus": os.cpu_count(),
        "summary": summary,
        "gradio_playing_event": summarise([one["playing_event_ms"] for one in measured["gradio"]]),
        "ratio_of_medians": round(medians[0] / medians[1], 1) if all(medians) else None,
        "rounds": measured,
    }


def print_table(result: dict) -> None:
    """Print medians, 95th percentiles and the ratio."""
    print(f"\n{'':28s}{'heard':>8s}{'median':>10s}{'p95':>10s}{'min':>10s}{'max':>10s}   (ms)")
    rows = {label: result["summary"][kind] for kind, label in KINDS.items()}
    rows["  its 'playing' event"] = result["gradio_playing_event"]
    for label, row in rows.items():
        cells = "".join(
            f"{row.get(f'{name}_ms', '-'):>10}" for name in ("median", "p95", "min", "max")
        )
        print(f"{label:28s}{row['heard']:>8d}{cells}")
    print(f"\nratio of medians: {result['ratio_of_medians']}")


def plot(result: dict, path: Path) -> None:
    """Every round as a dot, on a logarithmic scale, with the medians."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 2.6), layout="constrained")
    for row, (kind, label) in enumerate(KINDS.items()):
        heard = [one["heard_ms"] for one in result["rounds"][kind] if one["heard_ms"] is not None]
        axes.plot(heard, [row] * len(heard), "o", alpha=0.5, label=label)
        median = result["summary"][kind].get("median_ms")
        if median is not None:
            axes.plot(median, row, "|", color="black", markersize=28)
            axes.annotate(
                f"median {median:.0f} ms",
                (median, row),
                (0, 18),
                textcoords="offset points",
                ha="center",
            )
    axes.set(
        xscale="log",
        xlim=(3, 5000),
        xticks=(10, 100, 1000),
        xticklabels=("10", "100", "1000"),
        xlabel="first chunk → first sound heard, ms",
        yticks=range(len(KINDS)),
        yticklabels=list(KINDS.values()),
        ylim=(-0.5, len(KINDS) - 0.3),
        title="Page overhead, same chunks in the same run",
    )
    axes.grid(axis="x", which="both", alpha=0.3)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10, help="rounds of each, in turn")
    rounds = parser.parse_args().rounds

    reply = Reply()
    with Server(build_app(reply)) as address, sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page()
        prepare_page(page, address)
        result = report(measure(page, reply, rounds), browser.version)
        browser.close()

    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "page_overhead.json").write_text(json.dumps(result, indent=2) + "\n")
    plot(result, RESULTS / "page_overhead.png")
    print_table(result)


if __name__ == "__main__":
    main()
