"""Strangers are turned away first: foreign hosts, foreign pages, wrong tokens, borrowed users."""

from __future__ import annotations

import pytest
from aiohttp import hdrs

from tests.server.conftest import OWN_PAGE, TOKEN, Client, Opener, refused
from tests.server.fake_engine import FakeEngine

BEARER = {"Authorization": f"Bearer {TOKEN}"}
ASK = {
    "Access-Control-Request-Method": "PUT",
    "Access-Control-Request-Headers": "content-type",
}


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8731",
        "127.0.0.1.evil.example",
        "localhost.evil.example:1",
        "localhost.",
        "127.0.0.1:8731@evil.example",
        "127.0.0.1:8731:1",
        "127.0.0.2",
        "0.0.0.0",
        "[::1",
        "[::2]",
        "",
        " ",
    ],
)
async def test_foreign_hosts_are_turned_away(client: Client, engine: FakeEngine, host: str) -> None:
    for method, path in (
        ("GET", "/v1/souls"),
        ("GET", "/nowhere"),
        ("OPTIONS", "/v1/recall"),
    ):
        answer = await client.request(method, path, headers={"Host": host, "Origin": OWN_PAGE})
        assert answer.status == 403
        assert hdrs.ACCESS_CONTROL_ALLOW_ORIGIN not in answer.headers
    assert engine.calls == []


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "LOCALHOST:1", "[::1]", "[::1]:8731", "127.0.0.1:65535"],
)
async def test_own_hosts_come_in(client: Client, host: str) -> None:
    assert (await client.get("/v1/souls", headers={"Host": host})).status == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://127.0.0.1:8000.evil.example",
        "http://localhost:8000@evil.example",
        "file://",
        "http://127.0.0.1:8000/",
        "HTTP://127.0.0.1:8000",
        "*",
        "",
    ],
)
async def test_foreign_pages_are_turned_away(
    client: Client, engine: FakeEngine, origin: str
) -> None:
    more: list[tuple[str, dict[str, str]]] = [
        ("GET", {}),
        ("OPTIONS", ASK),
        ("GET", BEARER),
    ]
    for method, headers in more:
        answer = await client.request(method, "/v1/souls/s1", headers={"Origin": origin, **headers})
        assert answer.status == 403
        assert hdrs.ACCESS_CONTROL_ALLOW_ORIGIN not in answer.headers
    answer = await client.put("/v1/souls/s1", json={"name": "Evil"}, headers={"Origin": origin})
    await refused(answer, 403, "Origin")
    assert engine.calls == []


@pytest.mark.parametrize("origin", [OWN_PAGE, "http://localhost:8000"])
async def test_own_pages_come_in(client: Client, origin: str) -> None:
    for path, status in (
        ("/v1/souls", 200),
        ("/v1/souls/nobody", 404),
        ("/v1/memories", 422),
        ("/x", 404),
    ):
        answer = await client.get(path, headers={"Origin": origin})
        assert answer.status == status
        assert answer.headers[hdrs.ACCESS_CONTROL_ALLOW_ORIGIN] == origin
        assert answer.headers[hdrs.VARY] == "Origin"


async def test_a_preflight_needs_no_token(opened: Opener) -> None:
    client = await opened(host="0.0.0.0")
    answer = await client.options("/v1/souls/s1", headers={"Origin": OWN_PAGE, **ASK})
    assert answer.status == 204
    assert answer.headers[hdrs.ACCESS_CONTROL_ALLOW_ORIGIN] == OWN_PAGE
    assert "PUT" in answer.headers[hdrs.ACCESS_CONTROL_ALLOW_METHODS]
    allowed = answer.headers[hdrs.ACCESS_CONTROL_ALLOW_HEADERS]
    assert all(name in allowed for name in ("content-type", "authorization", "x-soulmem-user"))
    assert "Access-Control-Allow-Private-Network" not in answer.headers


async def test_private_network_access(client: Client) -> None:
    ask = {"Origin": OWN_PAGE, **ASK, "Access-Control-Request-Private-Network": "true"}
    answer = await client.options("/v1/recall", headers=ask)
    assert answer.headers["Access-Control-Allow-Private-Network"] == "true"


async def test_options_and_head_are_sane(client: Client) -> None:
    answer = await client.options("/v1/souls/s1")
    assert (answer.status, await answer.read()) == (204, b"")
    assert answer.headers["Allow"] == "DELETE, GET, HEAD, OPTIONS, PUT"
    await refused(await client.options("/nowhere"), 404)
    head, get = await client.head("/v1/health"), await client.get("/v1/health")
    assert (head.status, await head.read()) == (200, b"")
    assert head.headers["Content-Length"] == get.headers["Content-Length"]


async def test_every_answer_is_data_not_to_be_kept(client: Client) -> None:
    for path in ("/v1/health", "/nowhere", "/v1/memories"):
        answer = await client.get(path)
        assert answer.headers["Content-Type"] == "application/json; charset=utf-8"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"


@pytest.mark.parametrize(
    "sent",
    [
        "Bearer wrong",
        "Bearer ",
        "Bearer",
        "Basic YTpi",
        TOKEN,
        f"Bearer {TOKEN}x",
        "Bearer ü",
    ],
)
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
async def test_a_wrong_token_is_turned_away_everywhere(
    opened: Opener, host: str, sent: str
) -> None:
    client = await opened(host=host)
    answer = await client.get("/v1/health", headers={"Authorization": sent})
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert TOKEN not in await refused(answer, 401, "Authorization")


async def test_without_a_token_of_its_own_nobody_can_prove_anything(
    opened: Opener,
) -> None:
    client = await opened(token="")
    await refused(
        await client.get("/v1/health", headers={"Authorization": "Bearer "}),
        401,
        "Authorization",
    )
    assert (await client.get("/v1/health")).status == 200


async def test_beyond_loopback_every_request_needs_the_token(opened: Opener) -> None:
    client = await opened(host="192.168.1.5", hosts=("memory.home",))
    for path in ("/v1/health", "/v1/souls", "/openapi.json", "/nowhere"):
        for host in (
            "127.0.0.1",
            "192.168.1.5:8731",
            "memory.home:8731",
            "Memory.Home",
        ):
            await refused(await client.get(path, headers={"Host": host}), 401, "Authorization")
    for host in ("127.0.0.1", "192.168.1.5:8731", "memory.home:8731"):
        assert (await client.get("/v1/souls", headers={"Host": host, **BEARER})).status == 200
    await refused(
        await client.get("/v1/souls", headers={"Host": "evil.example", **BEARER}),
        403,
        "Host",
    )


async def test_configured_names_count_beyond_loopback_only(opened: Opener) -> None:
    client = await opened(hosts=("memory.home",))
    await refused(await client.get("/v1/souls", headers={"Host": "memory.home"}), 403, "Host")


async def test_users_are_told_apart_by_the_token_holder_alone(client: Client) -> None:
    bob = {"X-SoulMem-User": "bob", **BEARER}
    await client.put("/v1/souls/s1", json={"name": "Mira"})
    assert (await client.put("/v1/souls/s2", json={"name": "Bo"}, headers=bob)).status == 201
    own = await (await client.get("/v1/souls")).json()
    bobs = await (await client.get("/v1/souls", headers=bob)).json()
    assert [s["id"] for s in own["souls"]] == ["s1"]
    assert [s["id"] for s in bobs["souls"]] == ["s2"]
    await refused(await client.get("/v1/souls/s1", headers=bob), 404)
    plain = await (await client.get("/v1/souls", headers=BEARER)).json()
    assert plain == own


async def test_a_user_without_the_token_is_turned_away(client: Client, engine: FakeEngine) -> None:
    answer = await client.put(
        "/v1/souls/s1", json={"name": "Bo"}, headers={"X-SoulMem-User": "bob"}
    )
    await refused(answer, 403, "X-SoulMem-User")
    answer = await client.get("/v1/souls", headers={"X-SoulMem-User": "default-user"})
    await refused(answer, 403, "X-SoulMem-User")
    answer = await client.get("/v1/souls", headers={"X-SoulMem-User": "a b", **BEARER})
    await refused(answer, 422, "X-SoulMem-User")
    assert engine.calls == []


@pytest.mark.parametrize(
    "origin",
    [
        "http://127.0.0.1:8123",
        "http://localhost:80",
        "http://[::1]:9999",
        "https://localhost:8443",
        "http://127.0.0.2",
    ],
)
async def test_pages_of_this_machine_come_in_on_any_port(client: Client, origin: str) -> None:
    answer = await client.get(
        "/v1/souls", headers={"Origin": origin, "Sec-Fetch-Site": "same-site"}
    )
    assert answer.status == 200
    assert answer.headers[hdrs.ACCESS_CONTROL_ALLOW_ORIGIN] == origin


@pytest.mark.parametrize("path", ["/v1/llm/next", "/v1/events", "/v1/souls", "/v1/health"])
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_what_a_foreign_page_has_loaded_for_it_is_refused(
    client: Client, engine: FakeEngine, path: str, site: str
) -> None:
    answer = await client.get(path, headers={"Sec-Fetch-Site": site, "Sec-Fetch-Dest": "image"})
    await refused(answer, 403, "Sec-Fetch-Site")
    assert engine.calls == []


async def test_a_refused_page_learns_that_somebody_is_there(client: Client) -> None:
    foreign = {"Origin": "http://evil.example"}
    for path, shut in (("/v1/health", False), ("/v1/souls", True)):
        answer = await client.get(path, headers=foreign)
        assert answer.status == 403
        assert ("Cross-Origin-Resource-Policy" in answer.headers) is shut
    assert "Cross-Origin-Resource-Policy" in (await client.get("/v1/health")).headers
