"""Who is let in: the token, the server's own name, and no page of another origin."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import httpx
from serving import TOKEN, Running, serving

from hopgate.kb import KnowledgeBase
from hopgate.serve import ServeSettings, create_app
from hopgate.serve.middleware import HEADERS

COOKIE = ServeSettings(TOKEN).cookie
PATHS = ("/", "/index.html", "/graph/17", "/api/v1/health", "/api/v1/openapi.json", "/api/v1/nothing", "/docs")


def plain(running: Running, method: str, path: str, **headers: str) -> httpx.Response:
    """A request with these headers alone, and no token of the client's."""
    answer = running.stranger.request(method, path, headers={name.replace("_", "-"): headers[name] for name in headers})
    # What it was given it does not keep.
    running.stranger.cookies.clear()
    return answer


def test_without_the_token_there_is_a_plain_401_whatever_is_asked(reading: Running) -> None:
    tokens: tuple[dict[str, str], ...] = (
        {},
        {"Authorization": "Bearer nonsense"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Cookie": f"{COOKIE}=x"},
        # Another server's of this machine.
        {"Cookie": f"hopgate_1={TOKEN}; other={TOKEN}"},
    )
    for method, path, headers in itertools.product(("GET", "POST", "DELETE", "OPTIONS", "PUT"), PATHS, tokens):
        answer = plain(reading, method, path, **headers)
        assert answer.status_code == 401, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        assert set(answer.json()) == {"type", "title", "status", "detail"}
        assert answer.json()["detail"].endswith("or send it in the header Authorization")
        assert "access-control-allow-origin" not in answer.headers


def test_the_token_is_taken_as_a_bearer_and_as_a_cookie(reading: Running) -> None:
    assert plain(reading, "GET", "/api/v1/health", Authorization=f"Bearer {TOKEN}").status_code == 200
    assert plain(reading, "GET", "/api/v1/health", Cookie=f"other=1; {COOKIE}={TOKEN}").status_code == 200
    # In the address of the API it would stay in a log or a history.
    assert plain(reading, "GET", f"/api/v1/health?token={TOKEN}").status_code == 401


def test_the_url_that_is_printed_sets_the_cookie_and_leads_on_without_the_token(reading: Running) -> None:
    answer = plain(reading, "GET", f"/recall?q=who%20is&token={TOKEN}&k=3")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/recall?q=who+is&k=3"
    kept = answer.headers["set-cookie"]
    assert f"{COOKIE}={TOKEN}" in kept and "HttpOnly" in kept and "SameSite=strict" in kept
    assert plain(reading, "GET", "/?token=another-token-than-ours").status_code == 401


def test_two_servers_of_one_machine_let_the_same_browser_in(reading: Running, shared_kb: KnowledgeBase) -> None:
    with serving(shared_kb, token="another-token-entirely") as second, httpx.Client(follow_redirects=True) as browser:
        for url, token in ((reading.url, TOKEN), (second.url, "another-token-entirely")):
            assert browser.get(f"{url}/?token={token}").status_code == 200
        assert [browser.get(f"{url}/api/v1/health").status_code for url in (reading.url, second.url)] == [200, 200]


def test_it_does_not_lead_to_another_host(reading: Running) -> None:
    for path in ("//evil.example/x", "/%5C%5Cevil.example", "/%2F%2Fevil.example"):
        answer = plain(reading, "GET", f"{path}?token={TOKEN}")
        location = answer.headers["location"]
        assert answer.status_code == 303 and location.startswith("/") and not location.startswith(("//", "/\\"))


def test_the_names_of_this_machine_are_known_and_no_other_ones(reading: Running) -> None:
    def asked(host: str) -> int:
        return plain(reading, "GET", "/api/v1/health", Authorization=f"Bearer {TOKEN}", Host=host).status_code

    for host in ("evil.example", "evil.example:80", "localhost.evil.example", "192.0.2.7", ""):
        assert asked(host) in (400, 421), host
    for host in ("localhost", "localhost:1", "127.0.0.1", "[::1]:80"):
        assert asked(host) == 200, host
    wide = ServeSettings(TOKEN, host="0.0.0.0")
    assert TOKEN not in repr(wide)
    assert wide.knows_host("192.0.2.7") and wide.knows_host("[2001:db8::1]") and not wide.knows_host("evil.example")
    assert ServeSettings(TOKEN, host="nas.example").knows_host("NAS.example.")


def test_what_another_page_sends_is_refused(reading: Running) -> None:
    for headers in (
        *({"Origin": origin} for origin in ("http://evil.example", "null", "http://127.0.0.1:1", "http://[")),
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"},
    ):
        for method, path in (("POST", "recall"), ("DELETE", "memories/m1"), ("GET", "memories")):
            answer = plain(reading, method, f"/api/v1/{path}", Cookie=f"{COOKIE}={TOKEN}", **headers)
            assert answer.status_code == 403, answer.text


def test_what_its_own_page_sends_is_taken_and_a_link_to_a_page_may_be_followed(reading: Running) -> None:
    own = reading.client.get("/api/v1/health", headers={"Origin": reading.url, "Sec-Fetch-Site": "same-origin"})
    assert own.status_code == 200
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert reading.client.get("/somewhere", headers=link).status_code in (200, 404)
    framed = {**link, "Sec-Fetch-Dest": "iframe"}
    assert reading.client.get("/somewhere", headers=framed).status_code == 403


def test_every_answer_has_the_headers_that_shut_the_doors(reading: Running) -> None:
    for path in (*PATHS, "/api/v1/memories?limit=0"):
        for answer in (reading.client.get(path), plain(reading, "GET", path)):
            for name, value in HEADERS.items():
                if name != "Cache-Control":
                    assert answer.headers[name] == value
            assert "access-control-allow-origin" not in answer.headers and "server" not in answer.headers


def test_a_web_socket_is_refused(shared_kb: KnowledgeBase) -> None:
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    headers = [(b"authorization", f"Bearer {TOKEN}".encode()), (b"host", b"localhost")]
    scope = {"type": "websocket", "path": "/api/v1/health", "query_string": b"", "headers": headers}
    asyncio.run(create_app(shared_kb, ServeSettings(TOKEN))(scope, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]
