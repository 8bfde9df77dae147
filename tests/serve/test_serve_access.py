"""Who is let in: the token, the server's own name, and no page of another origin."""

import asyncio
import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any

import httpx
import pytest
from serving import TOKEN, Running, serving

from hopgate.errors import HopgateError
from hopgate.serve import ServeSettings, create_app
from hopgate.serve.middleware import HEADERS
from hopgate.serve.settings import read_bearers

HEALTH = "/api/v1/health"
PATHS = ("/", "/index.html", "/graph/17", HEALTH, "/api/v1/openapi.json", "/api/v1/nothing", "/docs")
NAME = ServeSettings(TOKEN).cookie
BEARER, COOKIE = {"Authorization": f"Bearer {TOKEN}"}, {"Cookie": f"other=1; {NAME}={TOKEN}"}
NO_TOKENS: tuple[dict[str, str], ...] = (
    {},
    {"Authorization": "Bearer nonsense"},
    {"Authorization": f"Basic {TOKEN}"},
    {"Cookie": f"{NAME}=x"},
    # Another server's of this machine.
    {"Cookie": f"hopgate_1={TOKEN}; other={TOKEN}"},
)
LINK = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
OTHER_PAGES: tuple[dict[str, str], ...] = (
    *({"Origin": origin} for origin in ("http://evil.example", "null", "http://127.0.0.1:1", "http://[")),
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    LINK,
)


def plain(running: Running, method: str, path: str, headers: dict[str, str]) -> httpx.Response:
    """A request with these headers alone, and no token of the client's."""
    answer = running.stranger.request(method, path, headers=headers)
    # What it was given it does not keep.
    running.stranger.cookies.clear()
    return answer


def test_without_the_token_there_is_a_plain_401_whatever_is_asked(reading):
    for method, path, headers in itertools.product(("GET", "POST", "DELETE", "OPTIONS", "PUT"), PATHS, NO_TOKENS):
        answer = plain(reading, method, path, headers)
        assert answer.status_code == 401, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        assert set(answer.json()) == {"type", "title", "status", "detail"}
        assert answer.json()["detail"].endswith("or send it in the header Authorization")


def rows(url: str) -> Iterator[tuple[int, str, str, dict[str, str]]]:
    """A status, and requests that are answered with it."""
    yield from ((200, "GET", HEALTH, headers) for headers in (BEARER, COOKIE))
    # In the address of the API it would stay in a log or a history.
    yield 401, "GET", f"{HEALTH}?token={TOKEN}", {}
    yield 401, "GET", "/?token=another-token-than-ours", {}
    for host in ("evil.example", "evil.example:80", "localhost.evil.example", "192.0.2.7"):
        yield 421, "GET", HEALTH, {**BEARER, "Host": host}
    for host in ("localhost", "localhost:1", "127.0.0.1", "[::1]:80"):
        yield 200, "GET", HEALTH, {**BEARER, "Host": host}
    for headers in OTHER_PAGES:
        for method, path in (("POST", "recall"), ("DELETE", "memories/m1"), ("GET", "memories")):
            yield 403, method, f"/api/v1/{path}", COOKIE | headers
    yield 200, "GET", HEALTH, {**COOKIE, "Origin": url, "Sec-Fetch-Site": "same-origin"}
    # A link to a page may be followed, and the page not be framed.
    yield 200, "GET", "/somewhere", COOKIE | LINK
    yield 403, "GET", "/somewhere", COOKIE | LINK | {"Sec-Fetch-Dest": "iframe"}


def test_who_is_let_in_and_who_is_not(reading):
    for status, method, path, headers in rows(reading.url):
        answer = plain(reading, method, path, headers)
        assert answer.status_code == status, (method, path, headers, answer.text)
    wide = ServeSettings(TOKEN, host="0.0.0.0")
    assert TOKEN not in repr(wide)
    assert wide.knows_host("192.0.2.7") and wide.knows_host("[2001:db8::1]") and not wide.knows_host("evil.example")
    assert ServeSettings(TOKEN, host="nas.example").knows_host("NAS.example.")


def test_the_url_that_is_printed_sets_the_cookie_and_leads_on_without_the_token(reading):
    answer = plain(reading, "GET", f"/recall?q=who%20is&token={TOKEN}&k=3", {})
    assert (answer.status_code, answer.headers["location"]) == (303, "/recall?q=who+is&k=3")
    kept = answer.headers["set-cookie"]
    assert f"{NAME}={TOKEN}" in kept and "HttpOnly" in kept and "SameSite=strict" in kept
    # Never to another host.
    for path in ("//evil.example/x", "/%5C%5Cevil.example", "/%2F%2Fevil.example"):
        answer = plain(reading, "GET", f"{path}?token={TOKEN}", {})
        location = answer.headers["location"]
        assert answer.status_code == 303 and location.startswith("/") and not location.startswith(("//", "/\\"))


def test_two_servers_of_one_machine_let_the_same_browser_in(reading, shared_kb):
    with serving(shared_kb, token="another-token-entirely") as second, httpx.Client(follow_redirects=True) as browser:
        for url, token in ((reading.url, TOKEN), (second.url, "another-token-entirely")):
            assert browser.get(f"{url}/?token={token}").status_code == 200
        assert [browser.get(f"{url}{HEALTH}").status_code for url in (reading.url, second.url)] == [200, 200]


def test_every_answer_has_the_headers_that_shut_the_doors(reading):
    for path, headers in itertools.product((*PATHS, "/api/v1/memories?limit=0"), (BEARER, {})):
        answer = plain(reading, "GET", path, headers)
        for name, value in HEADERS.items():
            if name != "Cache-Control":
                assert answer.headers[name] == value
        assert "access-control-allow-origin" not in answer.headers and "server" not in answer.headers


def test_a_web_socket_is_refused(shared_kb):
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    headers = [(name.lower().encode(), value.encode()) for name, value in {**BEARER, "Host": "localhost"}.items()]
    scope = {"type": "websocket", "path": HEALTH, "query_string": b"", "headers": headers}
    asyncio.run(create_app(shared_kb, ServeSettings(TOKEN))(scope, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


TOKENS = """
[reader]
token = "a-token-that-only-reads"
scopes = ["home"]
read_only = true

[seldom]
token = "a-token-for-now-and-then"
rate = 2
"""


def test_each_token_of_a_file_opens_what_it_is_for(shared_kb, tmp_path):
    path = tmp_path / "tokens.toml"
    path.write_text(TOKENS)
    path.chmod(0o600)
    with serving(shared_kb, bearers=read_bearers(path), mcp=True) as running:

        def ask(token: str, method: str, path: str, body: object = None) -> httpx.Response:
            return running.stranger.request(method, path, headers={"Authorization": f"Bearer {token}"}, json=body)

        reader = partial(ask, "a-token-that-only-reads")
        assert reader("GET", HEALTH).json()["scopes"] == ["home"] and reader("GET", HEALTH).json()["read_only"]
        assert reader("GET", "/api/v1/memories/m3").status_code == 404
        assert reader("GET", "/api/v1/memories/m1").status_code == 200
        assert reader("POST", "/api/v1/memories", {"text": "x"}).status_code == 403
        # What is about the whole store is for the server's own token.
        assert reader("POST", "/mcp").status_code == 403
        # In a browser, too, it stays what it is.
        let_in = running.stranger.get("/?token=a-token-that-only-reads")
        assert let_in.status_code == 303 and running.stranger.get(HEALTH).json()["scopes"] == ["home"]
        running.stranger.cookies.clear()
        seldom = [ask("a-token-for-now-and-then", "GET", HEALTH) for _ in range(3)]
        assert [answer.status_code for answer in seldom] == [200, 200, 429]
        assert 1 <= int(seldom[2].headers["retry-after"]) <= 30 and "2 times a minute" in seldom[2].json()["detail"]
        assert running.get("health").json()["scopes"] is None
    with pytest.raises(HopgateError, match="a token is for 'home', and this server is bound"):
        create_app(shared_kb, ServeSettings(TOKEN, scopes=("work",), bearers=read_bearers(path)))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[a", "is not TOML"),
        ("a = 1", "is to be a table with a token"),
        ("[a]\nscopes = ['x']", "is to be a table with a token"),
        ("[a]\ntoken = 'short'", r"\[a\]: a token has 16 to 512"),
        ("[a]\ntoken = 1", "token is a text"),
        ("[a]\ntoken = 'sixteen-letters-x'\nscope = 'home'", "has 'scope': it may have"),
        ("[a]\ntoken = 'sixteen-letters-x'\nrate = 0", "rate"),
        ("[a]\ntoken = 'sixteen-letters-x'\nscopes = []", "name at least one scope"),
        ("[a]\ntoken = 'sixteen-letters-x'\n[b]\ntoken = 'sixteen-letters-x'", "a token twice"),
    ],
)
def test_a_file_of_tokens_that_is_wrong_is_refused(tmp_path, text, sentence):
    path = tmp_path / "tokens.toml"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(HopgateError, match=sentence):
        read_bearers(path)
    path.chmod(0o640)
    with pytest.raises(HopgateError, match="chmod 600"):
        read_bearers(path)
