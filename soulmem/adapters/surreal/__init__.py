"""SurrealDB as the system of record: embedded in this process, or a server."""

from soulmem.adapters.surreal.store import SurrealStore

__all__ = ["SurrealStore"]
