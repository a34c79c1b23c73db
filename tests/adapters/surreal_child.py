"""A process of its own that uses a store: `python surreal_child.py write|open URL`.

`write` prints the number of each commit once it is acknowledged, for ever; `open` reads everything and prints
the error that gave.
"""

from __future__ import annotations

import asyncio
import sys

from soulmem.adapters.surreal import SurrealStore
from soulmem.domain.errors import StoreError
from soulmem.ports.store import Change, ChatChange
from tests.ports.stores import OWNER, chat, edge, memory, message, snapshot, soul


async def write(url: str) -> None:
    store = SurrealStore(url)
    await store.open()
    await store.commit(Change(OWNER, souls=[soul()], put_memories=[memory("m-1")]))
    for number in range(1_000_000):
        await store.commit(
            Change(
                OWNER,
                chats=[ChatChange(chat(), [message(number)])],
                put_memories=[memory(f"m{number}")],
                put_edges=[edge(f"m{number - 1}", f"m{number}")],
            )
        )
        print(number, flush=True)


async def try_to_open(url: str) -> None:
    try:
        store = SurrealStore(url)
        await store.open()
        await snapshot(store)
        await store.close()
    except StoreError as error:
        print(f"{type(error).__name__}: {error.message}")


if __name__ == "__main__":
    asyncio.run({"write": write, "open": try_to_open}[sys.argv[1]](sys.argv[2]))
