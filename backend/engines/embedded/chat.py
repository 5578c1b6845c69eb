"""Messages to a reply with llama.cpp, in this process."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.engines.embedded.chat_request import build_request, read_chunk
from backend.engines.embedded.chat_socket import ChatSocket, most_tokens
from backend.engines.embedded.stages import Message, Report, StopSignal, no_report
from backend.engines.failures import ChatFailed

if TYPE_CHECKING:
    import xllamacpp

# Small batches, so that a cancelled turn leaves a long prompt within a second on two cores.
_BATCH_TOKENS = 32
_CACHE_MIB = 256
_REUSE_TOKENS = 32


class LlamaChat:
    """A GGUF model in llama.cpp. ``reply`` is used by one thread at a time."""

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
        self._socket: ChatSocket | None = None

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
        # Threads wait for each other after every layer. Spinning, they crawl as soon as a core is
        # taken: one of two cores busy made a reply ten times as slow. OpenMP reads this once.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        import xllamacpp

        model, self._projector = self._find_model(), self._find_projector()
        self._socket = ChatSocket()
        try:
            self._server = xllamacpp.Server(self._params(model, self._socket.path))
        except Exception as error:
            text = f"The chat model {model.name} cannot be loaded: damaged, or too big for memory."
            raise ChatFailed(text) from error

    def fits(self, messages: Sequence[Message], tokens: int) -> bool:
        """Whether the prompt has at most ``tokens``; counted only when it is not clearly short.

        Raises:
            ChatFailed: It takes a count to tell, and llama.cpp does not count.
        """
        return (
            most_tokens(messages) <= tokens or self._open_socket().count_tokens(messages) <= tokens
        )

    def reply(
        self,
        messages: Sequence[Message],
        max_tokens: int,
        stop: StopSignal,
        report: Report = no_report,
    ) -> Iterator[str]:
        """The reply, a few characters at a time.

        Args:
            messages: The prompt.
            max_tokens: Longest reply.
            stop: Looked at after each token and each batch of the prompt.
            report: Told the share of the prompt that is read, after each batch of it. Pictures
                are encoded before, in one step that tells nothing.

        Raises:
            ChatFailed: llama.cpp reports an error.
        """
        request = build_request(messages, max_tokens)
        deltas: queue.SimpleQueue[str | BaseException | None] = queue.SimpleQueue()

        def take(chunk: str) -> bool:
            try:
                piece = read_chunk(chunk)
                if piece.prompt_share is not None:
                    report(piece.prompt_share)
                deltas.put(piece.words)
            except Exception as error:  # none may pass through llama.cpp's own code
                deltas.put(error)
                return True
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
        self._open_socket().check()

    def close(self) -> None:
        """Free the model, its threads and its socket. Harmless before ``load`` and twice."""
        self._server = None  # its destructor stops the server and joins its threads
        if self._socket is not None:
            self._socket.close()
        self._socket = None

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
        params.cpuparams_batch.n_threads = params.cpuparams.n_threads = self._threads
        params.n_threads_http = 2
        params.ui = params.endpoint_slots = params.fit_params = False
        params.verbosity = -1
        return params

    def _open_socket(self) -> ChatSocket:
        if self._socket is None:
            raise ChatFailed("The chat model is not loaded.")
        return self._socket
