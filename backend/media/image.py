"""Intake of still pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image

from backend.contract.errors import Field, TurnRefused
from backend.contract.media import VideoFrames
from backend.media import refusals
from backend.media.container import check_file
from backend.media.limits import MediaLimits

_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")

# Decoded at full size this is a quarter of a gigabyte; phones make up to 50 million.
_MAX_PIXELS = 64_000_000

# By the value of the EXIF orientation tag.
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def decode(path: Path, limits: MediaLimits) -> VideoFrames:
    """Decode a picture whatever its name: PNG, JPEG, WebP, GIF or BMP.

    It is turned upright as its EXIF tag says, laid on white where it is transparent, and scaled
    down to ``limits.long_side``. Of an animation the first picture is taken.

    Args:
        path: The file.
        limits: Bounds on bytes and pixels.

    Returns:
        One frame at time 0 with a duration of 0.

    Raises:
        TurnRefused: ``image_unreadable``, ``image_too_large``, ``image_too_many_pixels`` or
            ``image_damaged``.
    """
    check_file(path, limits, Field.IMAGE)
    try:
        opened = Image.open(path, formats=_FORMATS)
    except Image.DecompressionBombError as error:
        text = f"This picture has over {_MAX_PIXELS / 1e6:.0f} million pixels. Send a smaller one."
        raise TurnRefused("image_too_many_pixels", text, Field.IMAGE) from error
    except Exception as error:  # Pillow's readers raise many kinds on broken files
        raise refusals.unreadable(Field.IMAGE) from error
    with opened:
        if opened.width * opened.height > _MAX_PIXELS:
            raise refusals.too_many_pixels(*opened.size, _MAX_PIXELS, Field.IMAGE)
        try:
            picture = _upright_rgb(opened, limits.long_side)
        except Exception as error:  # Pillow's readers raise many kinds on broken files
            text = "This picture is damaged and cannot be shown. Send it again."
            raise TurnRefused("image_damaged", text, Field.IMAGE) from error
    return VideoFrames(picture[np.newaxis], np.zeros(1), 0.0)


def _upright_rgb(image: Image.Image, long_side: int) -> NDArray[np.uint8]:
    """Shape ``(H, W, 3)``, uint8 RGB."""
    turn = _turn(image)
    # A JPEG can be read at a half, a quarter or an eighth of its size at once.
    image.draft("RGB", (2 * long_side, 2 * long_side))
    picture = _eight_bit(image)
    picture = picture.convert("RGBA" if picture.has_transparency_data else "RGB")
    picture.thumbnail((long_side, long_side), Image.Resampling.LANCZOS)
    if turn is not None:
        picture = picture.transpose(turn)
    if picture.mode == "RGBA":
        white = Image.new("RGBA", picture.size, "white")
        picture = Image.alpha_composite(white, picture).convert("RGB")
    return np.array(picture, np.uint8)


def _eight_bit(image: Image.Image) -> Image.Image:
    """Scale 16-bit grey values down; Pillow's own conversion clips them at 255."""
    if not image.mode.startswith("I"):
        return image
    return Image.fromarray((np.asarray(image) >> 8).clip(0, 255).astype(np.uint8))


def _turn(image: Image.Image) -> Image.Transpose | None:
    """What the EXIF tag says must be done to see the picture upright."""
    try:
        orientation = image.getexif().get(ExifTags.Base.Orientation)
    except Exception:  # a damaged tag raises many kinds of error, and should not cost the picture
        return None
    return _TURNS.get(orientation) if isinstance(orientation, int) else None
