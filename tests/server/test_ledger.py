"""Does the route to the books tell all that they hold?"""

from __future__ import annotations

from tests.server.conftest import Client, refused
from tests.server.fake_engine import FakeEngine


async def test_the_books_of_a_soul(client: Client, engine: FakeEngine) -> None:
    await client.put("/v1/souls/s1", json={"name": "Mira"})
    answer = await client.get("/v1/ledger?soul=s1")
    spent = {
        "calls": 3,
        "failed": 1,
        "prompt_tokens": 900,
        "answer_tokens": 120,
        "seconds": 4.5,
        "memories": 7,
    }
    assert answer.status == 200
    assert await answer.json() == {
        "totals": {"consolidation": spent},
        "this_hour": spent,
        "most_an_hour": {
            "calls": 120,
            "tokens": 400_000,
            "memories": 3000,
            "minutes": 30.0,
        },
        "due": {"calls": 4, "minutes": 0.1},
        "parked": [
            {
                "chat": "c1",
                "work": "summary",
                "reason": "it babbles",
                "attempts": 2,
                "again": "2024-03-01T12:00:00Z",
            }
        ],
        "down": None,
    }
    assert engine.calls[-1] == ("books", "s1")


async def test_nobody_has_no_books(client: Client) -> None:
    await refused(await client.get("/v1/ledger?soul=s9"), 404, "soul")
