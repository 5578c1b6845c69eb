"""The wire: OpenAI Realtime events, with ``omni.*`` for what that protocol lacks.

Every message is a JSON object with a ``type``. What a client may say is in ``incoming`` and
``session_config``; what it is told, in ``outgoing``, ``turn_events`` and ``reply_events``.

A turn's id is the id of its response and of the item that is its reply; the item of its question
has an id of its own. Sound is base64 PCM16 mono. From and to the app's own page it has the
``sample_rate`` that rides on each piece; clients that say nothing of it send and get 24 kHz, as
that protocol has it.
"""

from __future__ import annotations

from typing import Any

Message = dict[str, Any]

WIRE_RATE = 24_000
"""Samples per second of sound of which nothing else is said."""
