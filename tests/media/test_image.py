"""Intake of still pictures."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from backend.contract.errors import Field, TurnRefused
from backend.media import image, refusals
from backend.media.limits import MediaLimits
from tests import clips

LIMITS = MediaLimits(max_audio_s=300, max_video_s=600, max_bytes=20_000_000)
WHITE = (255, 255, 255)
ORIENTATION = 0x0112


def refusal(path, limits=LIMITS):
    with pytest.raises(TurnRefused) as caught:
        image.decode(path, limits)
    assert caught.value.field is Field.IMAGE
    return caught.value


def decoded(path, limits=LIMITS):
    frames = image.decode(path, limits)
    assert frames.images.dtype == np.uint8
    assert frames.images.shape[0] == 1
    assert frames.times_s.tolist() == [0.0]
    assert frames.duration_s == 0
    return frames.images[0]


def assert_red_on_blue(picture):
    np.testing.assert_allclose(picture[4, 4], clips.RED, atol=30)
    np.testing.assert_allclose(picture[-4, -4], clips.BLUE, atol=30)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP"])
def test_every_kind_is_read_whatever_its_name(tmp_path, kind):
    path = tmp_path / "__ ümlaut 图.txt"
    Image.fromarray(clips.halves(64, 48)).save(path, kind)
    picture = decoded(path)
    assert picture.shape == (48, 64, 3)
    assert_red_on_blue(picture)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr", "I;16"])
def test_every_colour_mode_becomes_rgb(tmp_path, mode):
    kind = "JPEG" if mode in {"CMYK", "YCbCr"} else "PNG"
    source = Image.fromarray(clips.halves(64, 48, WHITE, (0, 0, 0)))
    if mode == "I;16":
        source = Image.fromarray(np.asarray(source.convert("L")).astype(np.uint16) * 257)
    else:
        source = source.convert(mode)
    source.save(tmp_path / "a", kind)
    picture = decoded(tmp_path / "a")
    np.testing.assert_allclose(picture[4, 4], WHITE, atol=10)
    np.testing.assert_allclose(picture[-4, -4], (0, 0, 0), atol=10)


def test_sixteen_bit_grey_keeps_its_shades(tmp_path):
    shades = np.tile(np.linspace(0, 65535, 64).astype(np.uint16), (48, 1))
    Image.fromarray(shades).save(tmp_path / "a.png")
    picture = decoded(tmp_path / "a.png")
    np.testing.assert_allclose(picture[24, :, 0], np.linspace(0, 255, 64), atol=1)


@pytest.mark.parametrize("kind", ["PNG", "WEBP", "GIF"])
def test_transparent_parts_are_laid_on_white(tmp_path, kind):
    source = np.dstack([clips.halves(64, 48), np.full((48, 64), 255, np.uint8)])
    source[24:, :, 3] = 0
    Image.fromarray(source).save(tmp_path / "a", kind)
    picture = decoded(tmp_path / "a")
    np.testing.assert_allclose(picture[4, 4], clips.RED, atol=30)
    np.testing.assert_allclose(picture[-4, -4], WHITE, atol=2)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_red_is_on_top_however_the_phone_was_held(tmp_path, kind, orientation):
    upright = Image.fromarray(clips.halves(64, 48))
    back = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }.get(orientation)
    stored = upright if back is None else upright.transpose(back)
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    stored.save(tmp_path / "a", kind, exif=exif)
    picture = decoded(tmp_path / "a")
    assert picture.shape == (48, 64, 3)
    assert_red_on_blue(picture)


def test_of_an_animation_the_first_picture_is_taken(tmp_path):
    first, second = (
        Image.fromarray(clips.halves(64, 48, *colours))
        for colours in ((clips.RED, clips.BLUE), (clips.GREEN, clips.GREEN))
    )
    first.save(tmp_path / "a.gif", save_all=True, append_images=[second])
    assert_red_on_blue(decoded(tmp_path / "a.gif"))


@pytest.mark.parametrize(
    ("size", "shape"),
    [
        ((1, 1), (1, 1)),
        ((640, 480), (480, 640)),
        ((1281, 961), (480, 640)),
        ((3000, 4000), (640, 480)),
        ((5000, 1), (1, 640)),
    ],
)
@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_any_size_is_scaled_to_the_long_side(tmp_path, kind, size, shape):
    Image.new("RGB", size, "red").save(tmp_path / "a", kind)
    assert decoded(tmp_path / "a").shape == (*shape, 3)


@pytest.mark.parametrize("side", [9_000, 15_000])
def test_a_small_file_that_unpacks_to_a_huge_picture_is_refused(tmp_path, side):
    Image.new("1", (side, side)).save(tmp_path / "a.png")
    refused = refusal(tmp_path / "a.png")
    assert refused.code == "image_too_many_pixels"
    assert "64 million pixels" in refused.message


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        bytes(5000),
        b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic" + bytes(500),
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
    ],
    ids=["empty", "text", "zeros", "HEIC", "SVG", "PostScript"],
)
def test_other_files_are_refused_with_the_accepted_kinds(tmp_path, content):
    path = tmp_path / "a.png"
    path.write_bytes(content)
    refused = refusal(path)
    assert refused.code == "image_unreadable"
    for kind in ("PNG", "JPEG", "WebP", "GIF", "BMP"):
        assert kind in refused.message


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "BMP"])
def test_half_a_picture_is_refused(tmp_path, kind):
    noise = np.random.default_rng(0).integers(0, 255, (96, 128, 3), np.uint8)
    path = tmp_path / "a"
    Image.fromarray(noise).save(path, kind)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert refusal(path).code in {"image_damaged", "image_unreadable"}


def test_a_file_over_the_limit_on_bytes_is_refused_with_the_limit(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(bytes(2_000))
    refused = refusal(path, MediaLimits(300, 600, max_bytes=1_000))
    assert refused.code == "image_too_large"


def test_missing_and_unsuitable_paths_are_refused_alike(tmp_path):
    for path in (tmp_path / "missing", tmp_path, tmp_path / "a\0b"):
        assert refusal(path).message == refusals.unreadable(Field.IMAGE).message
