"""The voices that people keep: SQLite, with the reference clips as files beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from sqlalchemy import ColumnElement, Engine, create_engine, event, or_
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, SQLModel, col, select

from backend.contract.media import AudioClip
from backend.voices.clips import ClipFiles, as_wav, from_wav
from backend.voices.refusals import Part, VoiceRefused, no_such_voice
from backend.voices.voice import Voice, VoiceDraft, check_name, made_of, name_key

MAX_VOICES = 500
"""Voices that one person may keep."""

_BUSY_MS = 10_000


class VoiceLibrary:
    """Finds, keeps and forgets voices. All methods block; any thread and any process may call.

    A voice belongs to its owner. Others see it only if it is shared, and never change it.
    """

    def __init__(self, directory: Path, reserved: Callable[[], Sequence[str]] = tuple) -> None:
        """Open the library in ``directory``, or make it there.

        Args:
            directory: Holds the database and the clips.
            reserved: Names of the engine's own voices, which no kept voice may take.
        """
        directory.mkdir(parents=True, exist_ok=True)
        self._reserved = reserved
        self._clips = ClipFiles(directory / "clips")
        self._engine = _open(directory / "voices.sqlite")
        SQLModel.metadata.create_all(self._engine, [Voice.__table__])  # type: ignore[attr-defined]

    def close(self) -> None:
        """Close the database."""
        self._engine.dispose()

    def voices(self, owner: str) -> list[Voice]:
        """All that ``owner`` may use, by name; own ones first."""
        with Session(self._engine) as session:
            found = session.exec(select(Voice).where(_usable_by(owner))).all()
        return sorted(found, key=lambda voice: (voice.owner != owner, voice.name_key, voice.id))

    def voice(self, owner: str, voice_id: str) -> Voice:
        """The voice with this id.

        Raises:
            VoiceRefused: ``voice_unknown``, also where it is another person's.
        """
        with Session(self._engine) as session:
            return _usable(session, owner, voice_id)

    def named(self, owner: str, name: str) -> Voice | None:
        """The voice that ``owner`` calls so: an own one, else the oldest that is shared."""
        same = Voice.name_key == name_key(name)
        with Session(self._engine) as session:
            found = session.exec(select(Voice).where(_usable_by(owner), same)).all()
        return min(found, key=lambda voice: (voice.owner != owner, voice.created_at), default=None)

    def taken_names(self, owner: str) -> set[str]:
        """Keys of the names that a new voice of ``owner`` cannot have; see ``name_key``."""
        with Session(self._engine) as session:
            own = session.exec(select(Voice.name_key).where(Voice.owner == owner)).all()
        return {*own, *map(name_key, self._reserved())}

    def keep(
        self,
        owner: str,
        draft: VoiceDraft,
        clip: AudioClip | None = None,
        *,
        shared: bool = False,
        replace: bool = False,
        consented_at: datetime | None = None,
    ) -> Voice:
        """Keep a voice.

        Args:
            owner: Who keeps it.
            draft: What is said of it.
            clip: The reference clip, at any rate; for a copy.
            shared: Whether everybody may use it.
            replace: Whether it takes the place of the owner's voice of the same name.
            consented_at: When consent was given, in UTC; none for now.

        Raises:
            VoiceRefused: ``name_taken``, ``name_reserved``, ``library_full``, or one of
                ``VoiceDraft.check``.
        """
        draft.check(has_clip=clip is not None)
        check_name(draft.name, self._reserved())
        wav = as_wav(clip) if clip is not None else None
        with self._writing() as session:
            mine = session.exec(select(Voice).where(Voice.owner == owner)).all()
            before = next((one for one in mine if one.name_key == name_key(draft.name)), None)
            if before is not None and not replace:
                raise _taken(draft.name)
            if before is not None:
                self._drop(session, before)
            elif len(mine) >= MAX_VOICES:
                text = f"You keep {MAX_VOICES} voices already. Delete one first."
                raise VoiceRefused("library_full", text)
            kept = self._clips.keep(wav) if wav else ""
            voice = made_of(draft, owner, kept, shared=shared, consented_at=consented_at)
            session.add(voice)
        return voice

    def change(
        self,
        owner: str,
        voice_id: str,
        *,
        name: str | None = None,
        tags: Sequence[str] | None = None,
        shared: bool | None = None,
    ) -> Voice:
        """Change what an own voice is called, is found by, and whether all may use it.

        Raises:
            VoiceRefused: ``voice_unknown``, ``name_empty``, ``name_taken``, ``name_reserved`` or
                ``name_broken``.
        """
        if name is not None:
            check_name(name, self._reserved())
        with self._writing() as session:
            voice = _own(session, owner, voice_id)
            if name is not None:
                voice.name, voice.name_key = name.strip(), name_key(name)
            if tags is not None:
                voice.tags = list(dict.fromkeys(tags))
            if shared is not None:
                voice.shared = shared
            session.add(voice)
        return voice

    def delete(self, owner: str, voice_id: str) -> None:
        """Forget an own voice. Whoever speaks with it at the moment has it to the end.

        Raises:
            VoiceRefused: ``voice_unknown``.
        """
        with self._writing() as session:
            self._drop(session, _own(session, owner, voice_id))

    def clip(self, voice: Voice) -> AudioClip | None:
        """The reference clip at 24 kHz; none where the voice has none.

        Raises:
            VoiceRefused: ``clip_lost`` or ``clip_damaged``.
        """
        return from_wav(self._clips.read(voice.clip)) if voice.clip else None

    def _drop(self, session: Session, voice: Voice) -> None:
        session.delete(voice)
        session.flush()
        if (
            voice.clip
            and not session.exec(select(Voice.id).where(Voice.clip == voice.clip)).first()
        ):
            self._clips.forget(voice.clip)

    @contextmanager
    def _writing(self) -> Iterator[Session]:
        """A session that holds the database's one write lock, files included."""
        try:
            with Session(self._engine, expire_on_commit=False) as session, session.begin():
                yield session
        except IntegrityError as error:
            raise _taken("this name") from error


def _open(path: Path) -> Engine:
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": _BUSY_MS / 1000})

    @event.listens_for(engine, "connect")
    def prepare(connection: object, _: object) -> None:
        connection.isolation_level = None  # type: ignore[attr-defined]  # begun by ``begin`` below
        connection.execute("PRAGMA journal_mode=WAL")  # type: ignore[attr-defined]

    @event.listens_for(engine, "begin")
    def begin(connection: object) -> None:
        # Takes the write lock at once: two that read first and write then would both go wrong.
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # type: ignore[attr-defined]

    return engine


def _usable_by(owner: str) -> ColumnElement[bool]:
    return or_(col(Voice.owner) == owner, col(Voice.shared))


def _usable(session: Session, owner: str, voice_id: str) -> Voice:
    voice = session.get(Voice, voice_id)
    if voice is None or not (voice.owner == owner or voice.shared):
        raise no_such_voice()
    return voice


def _own(session: Session, owner: str, voice_id: str) -> Voice:
    voice = session.get(Voice, voice_id)
    if voice is None or voice.owner != owner:
        raise no_such_voice()
    return voice


def _taken(name: str) -> VoiceRefused:
    text = f"You have a voice called {name.strip()} already. Replace it, or choose another name."
    return VoiceRefused("name_taken", text, Part.NAME)
