"""What of a file can be spoken: said line by line before anything is."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import ValidationError

from backend.batches.batch import Batch, Item, ItemState
from backend.batches.limits import ITEM_CHARS, BatchLimits
from backend.batches.refusals import BatchRefused
from backend.batches.sheet import Row, Sheet
from backend.contract.engine import Capabilities
from backend.contract.voice import VoiceControls
from backend.speech_api.errors import ApiError
from backend.speech_api.request import SpeechRequest, check_engine, turn_for
from backend.voices.library import VoiceLibrary
from backend.voices.refusals import VoiceRefused

_PLAIN = {
    "speed": "The speed must be a number from 0.25 to 4",
    "seed": "The seed must be a whole number from 0 to 4294967295",
    "language": "The language must be auto or a code of two or three small letters, such as en",
}


def planned(
    sheet: Sheet,
    title: str,
    owner: str,
    can: Capabilities,
    library: VoiceLibrary,
    limits: BatchLimits,
) -> Batch:
    """The batch that a file makes; items that cannot be spoken are left out, with the reason.

    It may read the clips of the voices that are named.

    Raises:
        BatchRefused: ``too_many_items`` or ``too_many_characters``.
        ApiError: The engine speaks no texts at all.
    """
    _check_size(sheet, limits)
    check_engine(SpeechRequest(input="a"), can)
    check = _Check(can, lambda asked: turn_for(asked, can, library, owner))
    items = [check.item(number, row) for number, row in enumerate(sheet.rows, 1)]
    return Batch(owner=owner, title=title[:120], notes=sheet.notes, items=items)


def asked_of(item: Item, batch: Batch) -> SpeechRequest:
    """An item as a request to speak it."""
    return SpeechRequest.model_validate(
        {
            "input": item.text,
            "voice": item.voice or batch.voice,
            "speed": item.speed,
            "instructions": item.instructions,
            "language": item.language,
            "seed": item.seed,
            "response_format": batch.kind,
        }
    )


def _check_size(sheet: Sheet, limits: BatchLimits) -> None:
    items, chars = len(sheet.rows), sum(len(row.cells.get("text", "")) for row in sheet.rows)
    if items > limits.items:
        text = f"The file has {items:,} items; the limit is {limits.items:,}. Split it."
        raise BatchRefused("too_many_items", text)
    if chars > limits.chars:
        text = f"The texts have {chars:,} characters; the limit is {limits.chars:,}. Split them."
        raise BatchRefused("too_many_characters", text)


class _Check:
    """Looks at one item after the other, and at what many have in common only once."""

    def __init__(self, can: Capabilities, turn_of: Callable[[SpeechRequest], object]) -> None:
        self._can = can
        self._turn_of = turn_of
        self._known: dict[str, str] = {}

    def item(self, number: int, row: Row) -> Item:
        """The item that a row makes."""
        cells = {column: cell for column, cell in row.cells.items() if cell}
        name, text = cells.pop("name", ""), cells.pop("text", "")
        if "speed" in cells:
            cells["speed"] = cells["speed"].replace(",", ".")  # as half of Europe writes it
        item = Item(number=number, line=row.line, name=name[:200], text=text)
        problems = [row.problem] if row.problem else [_text_problem(text)]
        try:
            asked = SpeechRequest.model_validate({"input": "a", **cells})
        except ValidationError as error:
            problems += [_in_words(one["loc"][0], one["input"]) for one in error.errors()]
        else:
            problems += [self._refusal(asked), *_unheeded(asked, self._can.voice)]
            given = asked.model_dump(include={"speed", "instructions", "language", "seed"})
            item = item.model_copy(update=given)
        item.voice = cells.get("voice", "")
        item.reason = " ".join(filter(None, problems))
        item.state = ItemState.LEFT_OUT if item.reason else ItemState.WAITING
        return item

    def _refusal(self, asked: SpeechRequest) -> str:
        same = asked.model_dump_json(exclude={"input", "seed"})
        if same not in self._known:
            try:
                # Which voice speaks an item that names none is known at the start alone.
                if "voice" in asked.model_fields_set:
                    self._turn_of(asked)
                else:
                    check_engine(asked, self._can)
                self._known[same] = ""
            except (ApiError, VoiceRefused) as refusal:
                self._known[same] = str(refusal)
        return self._known[same]


def _text_problem(text: str) -> str:
    if not text:
        return "There is no text on this line."
    if len(text) > ITEM_CHARS:
        return f"The text has {len(text):,} characters; the limit is {ITEM_CHARS:,}. Split it."
    if not any(character.isalnum() for character in text):
        return "There are no words to speak in this text."
    return ""


def _in_words(column: object, written: object) -> str:
    return f"{_PLAIN.get(str(column), f'The {column} is not right')}; it says {str(written)[:40]}."


def _unheeded(asked: SpeechRequest, voice: VoiceControls) -> list[str]:
    problems = []
    if asked.instructions and not voice.style_chars:
        problems.append("The engine that runs here follows no instructions.")
    elif len(asked.instructions) > voice.style_chars:
        problems.append(
            f"The instructions have {len(asked.instructions):,} characters; the limit is"
            f" {voice.style_chars:,}."
        )
    if asked.language != "auto" and not voice.languages:
        problems.append("The engine that runs here is not told which language to speak.")
    elif asked.language != "auto" and asked.language not in voice.languages:
        problems.append(f"The engine that runs here does not speak {asked.language}.")
    if asked.seed is not None and not voice.takes_sampling:
        problems.append("The engine that runs here takes no seed.")
    return problems
