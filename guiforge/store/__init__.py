"""Store: the run folder, everything that a run recorded.

    run.json                  format version, when it was made, the run's parameters
    run.db                    SQLite (WAL): episodes, calls, steps, states
    images/ab/<hash>.png      encoded images by content hash
    blobs/ab/<hash>           files of final states, snapshots and tasks, zlib-compressed, by hash of the content
    run.lock                  held by the one process that writes

Invariant: what a Recorder call gave is there once it returned, whatever kills the process afterwards, and nothing
half-written is ever read. A power cut may cost what an unfinished episode recorded, which a resumed run plays again;
`finish` flushes the episode to the disk before it returns, so a finished episode survives that too.
"""

from guiforge.store.errors import (
    AlreadyFinished,
    Damaged,
    NotARun,
    StoreError,
    StoreFull,
    StoreLocked,
    UnknownEpisode,
    WrongFormat,
)
from guiforge.store.reader import Blobs, EpisodeRecord, RunReader, is_run
from guiforge.store.writer import Store

__all__ = [
    "AlreadyFinished",
    "Blobs",
    "Damaged",
    "EpisodeRecord",
    "NotARun",
    "RunReader",
    "Store",
    "StoreError",
    "StoreFull",
    "StoreLocked",
    "UnknownEpisode",
    "WrongFormat",
    "is_run",
]
