"""Messages to a reply with llama.cpp, in this process."""

from __future__ import annotations

import queue
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from backend.engines.embedded.chat_request import ChatFailed, build_request, read_chunk
from backend.engines.embedded.stages import Message, StopSignal

if TYPE_CHECKING:
    import xllamacpp

# Small batches, so that a cancelled turn leaves a long prompt within a second on two cores.
_BATCH_TOKENS = 32
_CACHE_MIB = 256
_REUSE_TOKENS = 32
_COUNT_TIMEOUT_S = 10.0
_IMAGE_TOKENS = 640  # LLaVA takes 576 for a picture, later models fewer at 512 pixels
# The template's own characters, rounded up: around a message, and a system prompt of its own.
_MESSAGE_BYTES, _TEMPLATE_BYTES = 64, 256


class LlamaChat:
    """A GGUF model in llama.cpp. ``reply`` is used by one thread at a time.

    llama.cpp serves on a socket too, needed here to count tokens: a Unix socket in a directory
    that only this user can enter, so that no port is open.
    """

    def __init__(
        self,
        find_model: Callable[[], Path],
        find_projector: Callable[[], Path | None],
        context: int,
        threads: int,
    ) -> None:
        """The two finders are called by ``load`` and may download; ``context`` is in tokens."""
        self._find_model = find_model
        self._find_projector = find_projector
        self._projector: Path | None = None
        self._context = context
        self._threads = threads
        self._server: Any = None
        self._client: httpx.Client | None = None
        self._socket_dir = ""

    @property
    def sees_pictures(self) -> bool:
        """Whether messages may hold pictures; known after ``load``."""
        return self._projector is not None

    @property
    def context(self) -> int:
        """Tokens that prompt and reply may have together."""
        return self._context

    def load(self) -> None:
        """Bring the model up.

        Raises:
            ModelMissing: A file is neither here nor can it be downloaded.
            ChatFailed: llama.cpp cannot load it.
        """
        import xllamacpp

        model, self._projector = self._find_model(), self._find_projector()
        self._socket_dir = tempfile.mkdtemp(prefix="chat-")
        socket = str(Path(self._socket_dir) / "chat.sock")
        try:
            self._server = xllamacpp.Server(self._params(model, socket))
        except Exception as error:
            raise ChatFailed(f"llama.cpp cannot load {model.name}: {error}") from error
        self._client = httpx.Client(
            transport=httpx.HTTPTransport(uds=socket),
            base_url="http://chat",
            timeout=_COUNT_TIMEOUT_S,
        )

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """Tokens of the whole prompt: counted, and estimated from above for pictures."""
        words, images = _without_pictures(messages)
        answer = self._post("/v1/chat/completions/input_tokens", {"messages": words})
        return int(answer["input_tokens"]) + images * _IMAGE_TOKENS

    def fits(self, messages: Sequence[Message], tokens: int) -> bool:
        """Whether the prompt has at most ``tokens``. A token has a byte or more, so few count."""
        words, images = _without_pictures(messages)
        most = sum(len(str(message["content"]).encode()) + _MESSAGE_BYTES for message in words)
        most += _TEMPLATE_BYTES + images * _IMAGE_TOKENS
        return most <= tokens or self.count_tokens(messages) <= tokens

    def reply(
        self, messages: Sequence[Message], max_tokens: int, stop: StopSignal
    ) -> Iterator[str]:
        """The reply, a few characters at a time.

        Args:
            messages: The prompt.
            max_tokens: Longest reply.
            stop: Looked at after each token and each batch of the prompt.

        Raises:
            ChatFailed: llama.cpp reports an error.
        """
        request = build_request(messages, max_tokens)
        deltas: queue.SimpleQueue[str | BaseException | None] = queue.SimpleQueue()

        def take(chunk: str) -> bool:
            try:
                deltas.put(read_chunk(chunk))
            except ChatFailed as error:
                deltas.put(error)
            return stop.is_set()

        def generate() -> None:
            try:
                self._server.handle_chat_completions(request, take)
            except BaseException as error:
                deltas.put(error)
            finally:
                deltas.put(None)

        worker = threading.Thread(target=generate, name="embedded-llama", daemon=True)
        worker.start()
        try:
            while (delta := deltas.get()) is not None:
                if isinstance(delta, BaseException):
                    raise delta
                if delta:
                    yield delta
        finally:
            stop.set()
            worker.join()

    def check(self) -> None:
        """Return when the server answers.

        Raises:
            ChatFailed: It does not.
        """
        if self._client is None:
            raise ChatFailed("The chat model is not loaded.")
        try:
            self._client.get("/health").raise_for_status()
        except httpx.HTTPError as error:
            raise ChatFailed(f"The chat model does not answer: {error}") from error

    def close(self) -> None:
        """Free the model, its threads and its socket. Harmless before ``load`` and twice."""
        if self._client is not None:
            self._client.close()
        self._client = None
        self._server = None  # its destructor stops the server and joins its threads
        if self._socket_dir:
            shutil.rmtree(self._socket_dir, ignore_errors=True)

    def _params(self, model: Path, socket: str) -> xllamacpp.CommonParams:
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(model)
        if self._projector is not None:
            params.mmproj.path = str(self._projector)
        params.hostnames = [socket]
        params.port = 1  # unused with a Unix socket, but must not be zero
        params.n_ctx = self._context
        params.n_parallel = 1
        params.n_batch = params.n_ubatch = _BATCH_TOKENS
        params.n_cache_reuse = _REUSE_TOKENS
        params.cache_ram_mib = _CACHE_MIB
        # Threads wait for each other after every layer, spinning, and crawl as soon as a core is
        # taken: on two busy cores one thread read a prompt three times as fast as two did.
        params.cpuparams_batch.n_threads = max(1, self._threads - 1)
        params.cpuparams.n_threads = max(1, self._threads // 2)
        params.n_threads_http = 2
        params.ui = params.endpoint_slots = params.fit_params = False
        params.verbosity = -1
        return params

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        if self._client is None:
            raise ChatFailed("The chat model is not loaded.")
        answer = self._client.post(path, json=body)
        if answer.is_error:
            raise ChatFailed(f"The chat model refused to count: {answer.text[:200]}")
        result: dict[str, Any] = answer.json()
        return result


def _without_pictures(messages: Sequence[Message]) -> tuple[list[Message], int]:
    """The messages with their words alone, and how many pictures they hold."""
    words: list[Message] = []
    images = 0
    for message in messages:
        content = message["content"]
        if not isinstance(content, str):
            images += sum(part["type"] == "image_url" for part in content)
            content = "".join(part["text"] for part in content if part["type"] == "text")
        words.append({"role": message["role"], "content": content})
    return words, images
