"""The store on SurrealDB: embedded in this process, or a server."""

from soulmem.adapters.surreal.store import SurrealStore

__all__ = ["SurrealStore"]
