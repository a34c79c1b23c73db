"""Copies a store row by row into a new one, in a process of its own: `python copy_rows.py`.

The first line of standard input is a JSON object: `source` and `target`, URLs; `namespace`, `database`; `schema`,
the statements that define the tables. Prints the number of rows of each table as a JSON object, after all of the
target was read again and equals the source, also once it was closed; fails otherwise. It ends when its standard
input does.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from surrealdb.data.cbor import decode, encode
from surrealdb_embedded import SyncEmbeddedDB

_ROWS = 500  # read and written at once
# Bytes read and written after which a store is opened anew, as it keeps what it reads in memory
_REOPEN_BYTES = 48 << 20
_EDGES = "edge"
_EMPTY = b"\x80"  # an array without elements, in CBOR
_NICENESS = 10


class Database:
    """A store, opened anew where it holds too much memory."""

    def __init__(self, url: str, namespace: str, database: str) -> None:
        self._url = url
        self._use = [namespace, database]
        self._moved = 0
        self._open()

    def rows(self, ids: list[Any]) -> bytes:
        """The rows with these ids in that order, as an array in CBOR."""
        (rows,) = self.run("SELECT * FROM $ids;", {"ids": ids})
        return bytes(encode(rows))

    def put(self, table: str, rows: bytes) -> None:
        """Add these rows, an array in CBOR, as an import, which may write how protected memories fade."""
        verb = "INSERT RELATION" if table == _EDGES else "INSERT"
        sql = f"{verb} INTO {table} $rows RETURN NONE;"
        start = _request([sql, {"hand": "import", "rows": []}])
        self._execute(start.removesuffix(_EMPTY) + rows)

    def ids(self, table: str) -> list[Any]:
        """The ids of all rows, in order."""
        (ids,) = self.run(f"SELECT VALUE id FROM {table};", {})
        return list(ids)

    def tables(self) -> list[str]:
        """The names of all tables, edges last, as they need their ends."""
        (names,) = self.run("RETURN (INFO FOR DB).tables.keys();", {})
        return sorted(names, key=lambda name: (name == _EDGES, name))

    def run(self, sql: str, params: dict[str, Any]) -> list[Any]:
        """The results of the statements."""
        return self._execute(_request([sql, params]))

    def count(self, table: str) -> int:
        """The number of its rows, in a store that is opened anew."""
        self.reopen()
        sql = f"SELECT VALUE count FROM (SELECT count() FROM {table} GROUP ALL);"
        (counts,) = self.run(sql, {})
        return int(counts[0]) if counts else 0

    def close(self) -> None:
        """Move everything into tables."""
        self._engine.close()

    def reopen(self) -> None:
        """Close, which frees what was read, and open again."""
        self.close()
        self._open()

    def _execute(self, request: bytes) -> list[Any]:
        if self._moved > _REOPEN_BYTES:
            self.reopen()
        answer = self._engine.execute(request)
        self._moved += len(request) + len(answer)
        statements = _result(answer)
        for statement in statements:
            if statement["status"] != "OK":
                raise SystemExit(f"{self._url}: {statement['result']}")
        return [statement["result"] for statement in statements]

    def _open(self) -> None:
        self._moved = 0
        self._engine = SyncEmbeddedDB(self._url)
        self._engine.connect()
        _result(self._engine.execute(_request(self._use, "use")))


def copy(source: Database, target: Database) -> dict[str, int]:
    """Copy all rows; returns how many each table has. Ends the process if the copies differ."""
    counts: dict[str, int] = {}
    digests: dict[str, str] = {}
    for table in source.tables():
        digest = hashlib.sha256()
        ids = source.ids(table)
        for page in _pages(ids):
            rows = source.rows(page)
            target.put(table, rows)
            digest.update(rows)
        counts[table], digests[table] = len(ids), digest.hexdigest()
    source.close()
    for table, expected in digests.items():
        digest = hashlib.sha256()
        for page in _pages(target.ids(table)):
            digest.update(target.rows(page))
        if digest.hexdigest() != expected:
            raise SystemExit(f"the copy of table {table} differs")
    for table, count in counts.items():
        if target.count(table) != count:
            raise SystemExit(f"the closed copy of table {table} has other rows")
    target.close()
    return counts


def _pages(ids: list[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(ids), _ROWS):
        yield ids[start : start + _ROWS]


def _request(params: list[Any], method: str = "query") -> bytes:
    return bytes(encode({"id": "1", "method": method, "params": params}))


def _result(answer: bytes) -> Any:
    content = decode(answer)
    if "error" in content:
        raise SystemExit(str(content["error"]))
    return content["result"]


def _end_with_input() -> None:
    """End this process when the one that started it does."""
    sys.stdin.read()
    os._exit(1)


def main() -> None:
    """Copy as the first line of the input says."""
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_input, daemon=True).start()
    with suppress(AttributeError, OSError):  # no such call on Windows
        os.nice(_NICENESS)
    source, target = (
        Database(task[name], task["namespace"], task["database"]) for name in ("source", "target")
    )
    for statements in task["schema"]:
        target.run(statements, {})
    print(json.dumps(copy(source, target)))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
