"""How good a take of a copied voice is: how like the voice, and how right its words are."""

from __future__ import annotations

from backend.contract.media import AudioClip
from backend.voices.activity import find_speech
from backend.voices.speaker import SpeakerEncoder
from backend.voices.words import words_of


def similarity(take: AudioClip, reference: AudioClip, encoder: SpeakerEncoder) -> float:
    """How alike the voices in two clips are, whatever is said.

    Returns:
        Cosine similarity of the speaker embeddings, 0 to 1; 0 when nobody speaks in one of them.
    """
    one, other = find_speech(take).speech, find_speech(reference).speech
    if not one.size or not other.size:
        return 0.0
    return float(encoder.embed(one) @ encoder.embed(other))


def word_error_rate(asked: str, heard: str) -> float:
    """Words to be changed, added and left out to get from one text to the other, per word asked.

    Case, punctuation and the spelling of small numbers do not count. It can be above 1, for a
    take that says more than was asked; without words asked, it is the number of words heard.
    """
    expected, spoken = words_of(asked), words_of(heard)
    # Levenshtein's distance by rows: the distance from the words so far to each beginning.
    row = list(range(len(spoken) + 1))
    for index, word in enumerate(expected, 1):
        above, row = row, [index]
        for place, other in enumerate(spoken, 1):
            changed = above[place - 1] + (word != other)
            row.append(min(changed, above[place] + 1, row[-1] + 1))
    return row[-1] / max(1, len(expected))
