#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser: the token goes from the address into the local
storage and is sent as Authorization only; stream, links, reload, a second
tab, a new server, hostile names."""

from browser import Browser, find
from serving import Scene, check, check_is, finish, skip

HOSTILE = "</script><script>alert(1)</script>"


def rows(tab):
    return tab.value("[...document.querySelectorAll('td:first-child')]"
                     ".map((cell) => cell.textContent)")


def has_row(name):
    return ("[...document.querySelectorAll('td:first-child')]"
            f".some((cell) => cell.textContent === {name!r})")


def check_first(server, tab):
    check(tab.wait(has_row("load")), "the stream is shown",
          (tab.value("document.body.innerText"), tab.logs))
    check_is(tab.value("location.href"), f"http://{server.host}/",
             "the token is gone from the address")
    check_is(tab.value("localStorage.getItem('tare.token')"), server.token,
             "it is in the storage of this origin")
    check_is(tab.value("document.cookie"), "", "there is no cookie")
    kept = tab.value("history.length")
    check(kept <= 2, "nor is it a page to go back to", kept)
    first = tab.value("document.getElementById('status').textContent")
    check(tab.wait("document.getElementById('status').textContent !== "
                   f"{first!r}"), "the stream goes on", first)
    check(tab.wait(has_row(HOSTILE)), "a hostile name is text", rows(tab))
    check_is(tab.value("document.querySelectorAll('main script').length"), 0,
             "and no markup")


def check_requests(server, tab):
    urls = [url for url, _ in tab.requests if not url.startswith("data:")]
    check(all(url.startswith(f"http://{server.host}/") for url in urls),
          "it asks its own server only", urls)
    check(not any(server.token in url.partition("#")[0] for url in urls),
          "no token in an address that is sent", urls)
    check(not any(headers.get("Referer") or "Cookie" in headers
                  for _, headers in tab.requests),
          "no referrer, no cookie", tab.requests)
    api = [headers for url, headers in tab.requests if "/api/" in url]
    check(api and all(headers.get("Authorization")
                      == f"Bearer {server.token}" for headers in api),
          "the token is in the header", api)
    check(not any("Content Security Policy" in log or "exception" in log
                  for log in tab.logs), "no policy is violated", tab.logs)


def check_links(server, browser, tab):
    tab.value("document.querySelector('a[href=\"#runs\"]').click()")
    check(tab.wait("document.getElementById('status').textContent"
                   ".endsWith(' runs')"), "a link to the runs")
    tab.reload()
    check(tab.wait("location.hash === '#runs' && "
                   "!!document.querySelector('td')"), "which a reload keeps")
    tab.value("history.back()")
    check(tab.wait("location.hash === '' && " + has_row("load")),
          "and a step back leaves")
    second = browser.open(f"http://{server.host}/#routes")
    check(second.wait(has_row("/api/stream")),
          "a second tab needs no token in its address",
          second.value("document.body.innerText"))
    second.value("location.hash = '#constructor'")
    check(second.wait(has_row("load")), "an unknown link is the first page")
    second.close()


def check_restart(scene, browser, tab, server):
    """A new server on the same port: same origin, other tokens."""
    old = server.token
    port = server.port
    server.stop()
    check(tab.wait("document.getElementById('status').textContent === "
                   "'the server does not answer'"), "a server that is gone")
    server = scene.serve("--port", str(port))
    check_is(server.port, port, "a new one on the same port")
    check(server.token != old, "with tokens of its own")
    check(tab.wait("document.getElementById('status').textContent"
                   ".startsWith('no token')"), "the old token is refused",
          tab.value("document.body.innerText"))
    check_is(tab.value("localStorage.getItem('tare.token')"), None,
             "and forgotten")
    other = browser.open(server.url)
    check(other.wait(has_row("load")), "the new address works")
    check(tab.wait(has_row("load")), "and wakes the old tab up")
    check_is(tab.value("fetch('/api/metrics/clear', {method: 'POST', "
                       "headers: {Authorization: 'Bearer ' + "
                       "localStorage.getItem('tare.token')}})"
                       ".then((answer) => answer.status)"), 403,
             "a page with the printed address changes nothing")


def main():
    if not find():
        skip("no chromium")
        finish()
    with Scene() as scene:
        program = scene.measured()
        program.ask("steps 20")
        program.ask("hostile")
        server = scene.serve()
        with Browser(scene.folder) as browser:
            bare = browser.open(f"http://{server.host}/")
            check(bare.wait("document.getElementById('status').textContent"
                            ".startsWith('no token')"),
                  "without a token there is nothing to see")
            bare.close()
            tab = browser.open(server.url)
            check_first(server, tab)
            check_requests(server, tab)
            check_links(server, browser, tab)
            check_restart(scene, browser, tab, server)
    finish()


main()
