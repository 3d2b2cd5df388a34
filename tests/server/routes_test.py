#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every reading route: right numbers, pages, windows, filters, errors."""

import csv
import io
import json
import time

from serving import Scene, check, check_is, finish, jsonschema, skip

STATS = "/api/metrics/processing/stats"
N = 50


def rows(answer):
    return {row["operation"]: row for row in answer.json["operations"]}


def check_stats(server, program):
    answer = server.get(STATS)
    check_is(answer.status, 200, "statistics of the live run")
    load = rows(answer)["load"]
    check_is(load["count"], N, "calls of an operation")
    check_is(load["failure_count"], N // 10, "its failures")
    check_is(load["success_count"], N - N // 10, "the others")
    check(abs(load["success_rate"] - 0.9) < 1e-12, "their share", load)
    check(load["min_duration_ms"] <= load["median_duration_ms"]
          <= load["p95_duration_ms"] <= load["max_duration_ms"],
          "minimum, median, p95, maximum in this order", load)
    check(abs(load["avg_duration_ms"] * N - load["total_duration_ms"]) < 1e-9,
          "average times count is the total", load)
    check_is(answer.json["count"],
             sum(row["count"] for row in answer.json["operations"]),
             "the count of all is the sum")
    check(answer.json["min_duration_ms"] <= answer.json["median_duration_ms"]
          <= answer.json["max_duration_ms"], "all series as one", answer.json)
    check_is([run["pid"] for run in answer.json["runs"]], [program.pid],
             "and which run that is")
    names = [row["operation"] for row in answer.json["operations"]]
    check_is(names, sorted(names), "rows are in the order of names")
    one = server.get(STATS + "?name=load").json
    check_is((one["count"], one["avg_duration_ms"], one["p95_duration_ms"]),
             (load["count"], load["avg_duration_ms"], one["operations"][0]
              ["p95_duration_ms"]), "of one series all is that series")


def check_filters(server):
    def names(query):
        return sorted(rows(server.get(f"{STATS}?{query}")))

    check_is(names("name=db.*"), ["db.store"], "a glob of names")
    check_is(names("name=db.*&name=l%6Fad"), ["db.store", "load"],
             "several are alternatives; codes are decoded")
    check_is(names("source=db"), ["db.store"], "a source")
    check_is(names("name=load&source=db"), [], "different kinds must all fit")
    check_is(names("outcome=failed"), ["load"], "series with failures")
    check("load" not in names("outcome=ok"), "series without")
    check_is(names("type=counter"), [], "counters have no durations")
    check("load" in names("type=time&type=memory"), "types")


def check_windows(server):
    now = int(time.time() * 1000)
    day = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now / 1000 + 3600))

    check_is(rows(server.get(f"{STATS}?window=10m&name=load"))["load"]
             ["count"], N, "the last ten minutes")
    check_is(server.get(f"{STATS}?from={now + 3600000}&name=load").json
             ["count"], 0, "from an hour in the future on: nothing")
    check_is(server.get(f"{STATS}?from={day}Z&name=load").json["count"], 0,
             "the same as RFC 3339")
    check_is(server.get(f"{STATS}?from={day}%2B02:00&name=load").json
             ["count"], N, "with a zone, two hours earlier")
    check_is(server.get(f"{STATS}?from={day}+02:00&name=load").json["count"],
             N, "a plus that nobody encoded")
    window = server.get(f"{STATS}?window=60s").json["window"]
    check_is(window["to_ms"] - window["from_ms"], 60000,
             "the window is in the answer")


def check_wrong(server):
    for query in ("windwo=5m", "window=-5m", "window=", "window=5x",
                  "window=5m&from=0", "from=yesterday", "to=0",
                  "from=2026-02-30T00:00:00Z", "from=2026-13-01T00:00:00Z",
                  "from=2026-01-01", "from=99999999999999999999",
                  "from=2000&to=1000", "limit=0", "limit=-1", "limit=1e3",
                  "limit=10001", "limit=5&limit=6", "type=tyme",
                  "outcome=maybe", "cursor=", "run=", "name=%", "name=%zz",
                  "name=%00", "sort=total", "=x", "x",
                  "&".join(["name=a"] * 17), "name=" + "a" * 5000):
        answer = server.get(f"{STATS}?{query}")
        if not check_is(answer.status, 400, f"refused: {query[:60]}"):
            continue
        check(answer.headers["content-type"] == "application/problem+json"
              and len(answer.json["detail"]) > 10, "as a problem with a "
              "sentence", answer.body)
    check_is(server.get(STATS + "?run=nonsense").status, 404, "no such run")
    check_is(server.get(STATS + "?run=/etc/passwd").status, 404,
             "a run is no path")
    check_is(server.get(STATS + "?cursor=0123").status, 410,
             "a cursor of a row that is not there")
    check_is(server.get("/api/records?cursor=zz").status, 400,
             "a cursor that is none")
    check_is(server.get("/nothing").status, 404, "no such route")
    check_is(server.get("/api/metrics/").status, 404, "half a route")
    check_is(server.get(STATS + "/").status, 404, "a route and a slash")
    answer = server.post(STATS)
    check_is((answer.status, answer.headers["allow"]), (405, "GET, HEAD"),
             "the wrong method, and the right ones")


def pages(server, target, key):
    found, cursor, n = [], "", 0
    while cursor is not None:
        answer = server.get(target + (f"&cursor={cursor}" if cursor else ""))
        found += answer.json[key]
        cursor = answer.json["next"]
        n += 1
        if answer.status != 200 or n > 1000:
            break
    return found, n


def check_pages(server, program):
    program.ask("many 250")
    time.sleep(0.3)
    found, n = pages(server, STATS + "?name=many.*&limit=20", "operations")
    check_is(n, 13, "250 rows are 13 pages of 20")
    check_is([row["operation"] for row in found],
             [f"many.{i:05}" for i in range(250)], "each row once, in order")
    found, n = pages(server, "/api/records?limit=7&name=load", "records")
    check_is(len(found), N, "every record once")
    check_is(sorted(record["attributes"]["photo_id"] for record in found),
             list(range(N)), "each with its attributes")
    starts = [record["start_ms"] for record in found]
    check_is(starts, sorted(starts, reverse=True), "newest first")
    found, n = pages(server, "/api/records?limit=2&outcome=failed", "records")
    check_is((len(found), {record["error"] for record in found}),
             (N // 10, {"not found"}), "failed ones, with their error")


def check_summary(server):
    target = "/api/metrics/operations/summary"
    for sort, key in (("total", "net_total_duration_ms"),
                      ("slowest", "net_avg_duration_ms"),
                      ("average", "avg_duration_ms"),
                      ("failures", "failure_count"), ("count", "count")):
        values = [row[key] for row in
                  server.get(f"{target}?sort={sort}").json["operations"]]
        check_is(values, sorted(values, reverse=True), f"ranked by {sort}")
    check_is(server.get(f"{target}?sort=failures&limit=1").json["operations"]
             [0]["operation"], "load", "what fails most")
    check_is(server.get(f"{target}?sort=size").status, 400, "a wrong order")


def check_counts(server, program):
    count = server.get("/api/metrics/count").json
    check_is(count["count"], program.number("records"),
             "as many records as the process itself sees")
    check_is(count["processing_count"], N, "operations")
    check_is(server.get("/api/metrics/count?outcome=failed").json
             ["processing_count"], N // 10, "failed ones")


def check_memory(server, program):
    before = server.get("/api/metrics/memory/stats").json
    check(before["current"]["system"]["total_bytes"] > 1 << 20,
          "memory of the system now", before)
    mine = before["current"]["processes"][0]
    with open(f"/proc/{program.pid}/statm", encoding="ascii") as file:
        pages_now = int(file.read().split()[0])
    check_is((mine["pid"], mine["vm_bytes"]),
             (program.pid, pages_now * 4096), "and of the process")
    check_is(before["count"], 0, "no sample yet")
    check_is(server.get("/api/metrics/gpu/stats").json["available"], False,
             "no GPU: a clear answer, no error")
    program.ask("memory")
    time.sleep(0.3)
    after = server.get("/api/metrics/memory/stats").json
    check_is(after["count"], 1, "a sample of memory")
    rss = after["values"].get("rss_bytes", {})
    check(rss.get("current", 0) > 0 and rss["current"] == rss["max"],
          "with its values", after["values"])
    gpu = server.get("/api/metrics/gpu/stats").json
    check(gpu["available"] is False and "not available" in gpu["reason"],
          "still no GPU", gpu)


def check_exports(server):
    made = server.post("/api/metrics/export/json")
    check_is(made.status, 201, "an export")
    check_is(made.headers["location"], made.json["download_url"],
             "its place in the header, too")
    got = server.get(made.headers["location"])
    check_is((got.status, len(got.body)), (200, made.json["size_bytes"]),
             "is downloaded whole")
    check(got.headers["content-disposition"]
          == f'attachment; filename="{made.json["filename"]}"',
          "as a file", got.headers)
    check("load" in json.dumps(json.loads(got.body)), "is JSON with the data")
    again = server.post("/api/metrics/export/json")
    check(again.json["filename"] != made.json["filename"],
          "a second one has another name", again.json)
    for table, least in (("processing", N), ("memory", 1), ("stats", 4)):
        made = server.post(f"/api/metrics/export/csv?table={table}")
        check_is(made.status, 201, f"CSV: {table}")
        got = server.get(made.headers["location"])
        lines = list(csv.reader(io.StringIO(got.body.decode(), newline="")))
        check(len(lines) - 1 == made.json["rows"] >= least,
              "as many lines as it says", (made.json, len(lines)))
    check_is(server.post("/api/metrics/export/csv?table=disk").status, 400,
             "no such table")


def check_runs(server, scene, program):
    runs = server.get("/api/runs").json["runs"]
    check_is([(run["pid"], run["state"]) for run in runs],
             [(program.pid, "live")], "the runs")
    other = scene.measured()
    other.ask("steps 30")
    other.end()
    time.sleep(0.3)
    runs = server.get("/api/runs?state=finished").json["runs"]
    check_is([run["pid"] for run in runs], [other.pid], "a finished one")
    run_id = runs[0]["run"]
    for name in (run_id, str(other.pid), run_id[:-2], "last"):
        check_is(rows(server.get(f"{STATS}?run={name}&name=load"))["load"]
                 ["count"], 30, f"read by its name: {name}")
    for name in (runs[0]["program"], runs[0]["program"] + "~0", "last~0"):
        check_is(rows(server.get(f"{STATS}?run={name}&name=load"))["load"]
                 ["count"], 30, f"by its program: {name}")
    for name in (runs[0]["program"] + "~1", "last~1"):
        check_is(server.get(f"{STATS}?run={name}&name=load").json["count"], N,
                 f"the run before: {name}")
    check_is(server.get(f"{STATS}?run=last~2&name=load").status, 404,
             "there are two")
    check_is(server.get(f"{STATS}?run={run_id[:4]}&name=load").status, 400,
             "an ambiguous beginning")
    both = server.get(f"{STATS}?run={run_id}&run={program.pid}&name=load")
    check_is(both.json["count"], N + 30, "two runs as one")
    check_is(server.get(f"{STATS}?name=load").json["count"], N,
             "without a name: the live ones alone")
    first = server.get("/api/runs?limit=1").json
    second = server.get(f"/api/runs?limit=1&cursor={first['next']}").json
    check_is([len(first["runs"]), second["runs"][0]["pid"], second["next"]],
             [1, program.pid, None], "runs by pages")


OPEN = ("/api/health", "/", "/page.js", "/page.css")


def check_rest(server):
    check_is(server.get("/api/health", token=False).json["status"], "ok",
             "health needs no token")
    head = server.ask("HEAD", STATS)
    check_is((head.status, head.body), (200, b""), "HEAD is GET without body")
    document = server.document
    check_is(document["openapi"], "3.1.0", "the OpenAPI document")
    operations = [operation["operationId"] for path in
                  document["paths"].values() for operation in path.values()]
    check_is(len(operations), len(set(operations)), "operations have names")
    for path, verbs in document["paths"].items():
        path = path.replace("{filename}", "none")
        for verb in verbs:
            status = server.ask(verb.upper(), path, token=False).status
            check_is(status, 200 if path in OPEN else 401,
                     f"needs the token: {verb} {path}")


def main():
    if not jsonschema:
        skip("validation against the document: no jsonschema in Python")
    with Scene() as scene:
        program = scene.measured()
        program.ask(f"steps {N}")
        server = scene.serve()
        check_stats(server, program)
        check_filters(server)
        check_windows(server)
        check_wrong(server)
        check_summary(server)
        check_counts(server, program)
        check_pages(server, program)
        check_memory(server, program)
        check_exports(server)
        check_runs(server, scene, program)
        check_rest(server)
        check_is(server.stop(), 0, "it stops in order")
    finish()


if __name__ == "__main__":
    main()
