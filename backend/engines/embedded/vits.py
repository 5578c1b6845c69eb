"""A Piper model in two halves: one reads a sentence whole, the other makes its sound bit by bit.

Piper's models are VITS (Kim et al. 2021): text becomes some 86 latent frames a second, and a
convolutional decoder turns frames into sound. The decoder takes most of the time and looks only a
few frames around each, so its first frames are heard while the others are still being decoded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from backend.contract.media import Samples
from backend.engines.failures import ModelMissing

if TYPE_CHECKING:
    import onnx
    import onnxruntime

_DECODER_BEGINS = "dec.conv_pre.weight"

# Sum of what the decoder's convolutions reach to one side, in frames: 10.4 with Piper's largest
# kernels. With this many frames around it a piece is what the whole would be, to 1e-6.
_CONTEXT = 12
_FIRST = 24  # 0.28 s at Piper's medium quality, which is decoded in about 30 ms
_LONGEST = 192


class SplitVits:
    """One model, loaded. Used by one thread at a time."""

    def __init__(self, path: Path) -> None:
        """Load and split an ONNX file.

        Raises:
            ModelMissing: It is not a Piper model.
        """
        import onnx
        from onnx.utils import Extractor

        model = onnx.load(path)
        self._latent = _decoder_input(model, path)
        names = [value.name for value in model.graph.input]
        self._has_speakers = "sid" in names
        split = Extractor(model)
        sound = [value.name for value in model.graph.output]
        speaker = ["sid"] if self._has_speakers else []
        self._encoder = _session(split.extract_model(names, [self._latent]))
        self._decoder = _session(split.extract_model([self._latent, *speaker], sound[:1]))

    def speak(
        self, phoneme_ids: Sequence[int], scales: Sequence[float]
    ) -> Iterator[tuple[Samples, bool]]:
        """The sound of one sentence, in pieces that grow.

        Args:
            phoneme_ids: With the pauses between them, as Piper's ``phonemes_to_ids`` gives them.
            scales: Noise, length (2.0 is half as fast), and noise of the lengths.

        Yields:
            Shape ``(N,)``, float32 mono, at the level that the model makes; and whether it is the
            last of the sentence.
        """
        speaker: dict[str, NDArray[Any]] = {}
        if self._has_speakers:
            speaker["sid"] = np.zeros(1, np.int64)
        sentence = {
            "input": np.asarray([phoneme_ids], np.int64),
            "input_lengths": np.asarray([len(phoneme_ids)], np.int64),
            "scales": np.asarray(scales, np.float32),
        }
        (latent,) = self._encoder.run(None, sentence | speaker)
        start, count, end = 0, _FIRST, latent.shape[-1]
        while start < end:
            stop = min(start + count, end)
            yield self._decode(latent, start, stop, speaker), stop == end
            start, count = stop, min(2 * count, _LONGEST)

    def _decode(
        self, latent: NDArray[np.float32], start: int, end: int, speaker: dict[str, NDArray[Any]]
    ) -> Samples:
        first = max(0, start - _CONTEXT)
        around = latent[..., first : end + _CONTEXT]
        (sound,) = self._decoder.run(None, {self._latent: around} | speaker)
        hop = sound.size // around.shape[-1]
        piece: Samples = sound.reshape(-1)[(start - first) * hop : (end - first) * hop]
        return piece


def _decoder_input(model: onnx.ModelProto, path: Path) -> str:
    """Name of the tensor that the decoder begins with."""
    for node in model.graph.node:
        if _DECODER_BEGINS in node.input:
            return str(node.input[0])
    raise ModelMissing(f"The file {path.name} is not a Piper voice.")


def _session(model: onnx.ModelProto) -> onnxruntime.InferenceSession:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # Threads that spin while they wait take the core on which the reply is being written.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    providers = ["CPUExecutionProvider"]
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=providers)
