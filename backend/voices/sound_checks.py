"""Whether a reference clip sounds well enough to copy a voice from; a finding for each measure."""

from __future__ import annotations

from backend.contract.media import Samples
from backend.voices import measures
from backend.voices.activity import Activity
from backend.voices.findings import Finding, Fix, Severity

SILENT_DB = -75.0
"""Level below which there is only the noise of a converter: 16 bits end at -96."""

QUIET_DB = -40.0
"""A part below this is raised before it is copied. Broadcasts are at -23 (EBU R 128)."""

_CLIPPED, _BADLY_CLIPPED = 0.001, 0.01  # shares; 0.1 % is one top in each syllable or so
_NOISY_DB, _VERY_NOISY_DB = 20.0, 10.0
_TONAL = 0.12  # music without speech has 0.14 to 0.9; hiss, keys and coughs 0.05 at most
_DULL_DB = -45.0  # sound that went through a telephone; speech as it is has -30 to -10


def check_nobody(sound: Samples) -> Finding:
    """Tell what there is in a clip in which nobody speaks."""
    level = measures.level_db(sound)
    if level <= SILENT_DB:
        message = (
            "There is no sound in this clip. Choose the microphone, see that it is not muted, and"
            " record again."
        )
        return Finding("silent", Severity.STOP, message, (Fix.RECORD_AGAIN,))
    if measures.tonality(sound) >= _TONAL:
        message = "This sounds like music or a tone, and nobody speaks in it. Record speech alone."
        return Finding("music", Severity.STOP, message, (Fix.RECORD_AGAIN,))
    message = (
        f"There is sound at {level:.0f} dB of full scale, but nobody speaks in it. Record again,"
        " nearer to the microphone."
    )
    return Finding("no_speech", Severity.STOP, message, (Fix.RECORD_AGAIN,))


def check_level(part: Samples) -> Finding:
    """Judge how loud the part is that is kept; quiet speech is copied all the same."""
    level = measures.level_db(part)
    if level < QUIET_DB:
        message = (
            f"The speech is quiet, {level:.0f} dB of full scale. It is raised for the copy, and"
            " what noise there is with it."
        )
        return Finding("quiet", Severity.NOTE, message)
    return Finding("level", Severity.FINE, f"The speech is at {level:.0f} dB of full scale.")


def check_clipping(speech: Samples) -> Finding:
    """Judge whether the recording was turned up too far."""
    share = measures.clipped_share(speech)
    if share < _CLIPPED:
        return Finding("not_clipped", Severity.FINE, "The recording is not cut off at loud sounds.")
    message = f"The recording was too loud: {share:.1%} of it is cut off flat."
    if share >= _BADLY_CLIPPED:
        message += " The copy will sound harsh."
    message += " Record again, a little further from the microphone or with less gain."
    return Finding("clipped", Severity.WARN, message, (Fix.RECORD_AGAIN,))


def check_noise(part: Activity, rest: Samples) -> Finding:
    """Judge what sounds besides the voice.

    Args:
        part: What is kept of the clip.
        rest: What sounds in the whole clip while nobody speaks.
    """
    ratio = measures.snr_db(part)
    above = f"only {ratio:.0f} dB above" if ratio >= 1 else "no louder than"
    if ratio >= _NOISY_DB:
        message = f"The speech is {ratio:.0f} dB above the noise."
        return Finding("quiet_room", Severity.FINE, message)
    if measures.tonality(rest) >= _TONAL:
        message = (
            f"There is music or a hum in the clip; the speech is {above} it. It gets into the copy."
        )
        return Finding("music_behind", Severity.WARN, message, (Fix.RECORD_AGAIN,))
    if ratio >= _VERY_NOISY_DB:
        message = f"The speech is {above} the noise. The copy may hiss."
        return Finding("noisy", Severity.WARN, message, (Fix.RECORD_AGAIN,))
    message = f"The speech is {above} the noise. The copy will sound like the noise as well."
    return Finding("very_noisy", Severity.WARN, message, (Fix.RECORD_AGAIN,))


def check_band(speech: Samples, sample_rate: int) -> Finding:
    """Judge whether the treble of the voice is there.

    Args:
        speech: Shape ``(N,)``, float32 at 16 kHz.
        sample_rate: Of the clip as it came, in hertz.
    """
    if sample_rate > 2 * measures.TELEPHONE_HZ and measures.treble_db(speech) >= _DULL_DB:
        return Finding("full_band", Severity.FINE, "The treble of the voice is there.")
    message = (
        "There is nothing above 4 kHz, as on a telephone. The copy will sound dull; recordings at"
        " 16 kHz or more are better."
    )
    return Finding("telephone", Severity.NOTE, message, (Fix.RECORD_AGAIN,))
