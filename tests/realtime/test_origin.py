"""The app's own page is let in wherever the app is served; pages of other sites are not."""

from __future__ import annotations

import pytest

from backend.realtime.origin import is_own_page


def test_a_client_that_is_no_browser_is_let_in():
    assert is_own_page({"host": "127.0.0.1:7860"})


@pytest.mark.parametrize(
    ("origin", "host", "forwarded_host"),
    [
        ("http://localhost:7860", "localhost:7860", None),
        ("http://[::1]:7860", "[::1]:7860", None),
        ("https://me-app.hf.space", "me-app.hf.space", None),
        ("https://talk.test", "Talk.test", None),
        ("https://talk.test", "talk.test:443", None),
        ("https://talk.test:8443", "talk.test:8443", None),
        ("https://talk.test:8443", "talk.test", None),
        ("https://talk.test", "127.0.0.1:7860", "talk.test"),
        ("https://talk.test", "127.0.0.1:7860", "talk.test, inner.test"),
    ],
)
def test_the_page_is_let_in_at_every_address_of_the_app(origin, host, forwarded_host):
    headers = {"origin": origin, "host": host}
    if forwarded_host:
        headers["x-forwarded-host"] = forwarded_host
    assert is_own_page(headers)


@pytest.mark.parametrize(
    "origin",
    [
        "https://elsewhere.test",
        "https://talk.test.elsewhere.test",
        "https://elsewhere.test/talk.test",
        "https://talk.test@elsewhere.test",
        "http://talk.test:1",
        "null",
        "",
        "file://",
        "https://[broken",
        "https://talk.test:port",
    ],
)
def test_other_pages_are_refused(origin):
    assert not is_own_page({"origin": origin, "host": "talk.test:7860"})
    assert not is_own_page({"origin": origin})
