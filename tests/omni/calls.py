"""One question in a call, over the app's own wire."""

from __future__ import annotations

import base64
import io

from PIL import Image
from websockets.asyncio.client import connect

from tests.realtime.sounds import pause, speech
from tests.realtime.test_call import Caller


async def ask_in_a_call(url: str) -> list[dict]:
    """Call the app at ``url``, speak, show a picture, and hear the answer; all that was told."""
    file = io.BytesIO()
    Image.new("RGB", (64, 48), "teal").save(file, "JPEG")
    frame = base64.b64encode(file.getvalue()).decode()
    wanted = ["realtime", f"omni-session.{'e' * 32}"]
    address = f"ws{url[4:]}/v1/realtime"
    async with connect(address, subprotocols=wanted, max_size=None) as socket:
        caller = Caller(socket)
        await caller.until("omni.engine")
        await caller.begin()
        await caller.speak(pause(0.4), speech(), pause(2), frames=[frame])
        return await caller.until("response.done")
