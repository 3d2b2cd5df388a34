/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of `tare serve`.
 *
 * The printed address has the token behind '#', which browsers do not send.
 * It moves to the local storage of this origin (host and port) and out of the
 * address; each request shows it as Authorization, the stream too, which is
 * why it is read by fetch and not by EventSource. There is no cookie: cookies
 * go to every port of a host. A new server has new tokens, so one that is
 * refused is forgotten.
 */
"use strict";

const KEY = "tare.token";
const status = document.getElementById("status");
const content = document.getElementById("content");
let view = null; /* AbortController of what is shown */

/* ---- the token --------------------------------------------------------- */

function takeToken() {
	const given = /^#token=([0-9a-f]{64})(?:&(.*))?$/.exec(location.hash);

	if (!given)
		return;
	localStorage.setItem(KEY, given[1]);
	history.replaceState(null, "", given[2] ? "/#" + given[2] : "/");
}

class Refused extends Error {}

/* Forgets a token only if it is still the one that was refused. */
function forget(token) {
	if (localStorage.getItem(KEY) === token)
		localStorage.removeItem(KEY);
	throw new Refused();
}

async function ask(path, signal) {
	const token = localStorage.getItem(KEY);

	if (!token)
		throw new Refused();
	const answer = await fetch(path, {
		cache: "no-store",
		credentials: "omit",
		headers: { Authorization: "Bearer " + token },
		redirect: "error",
		signal,
	});
	if (answer.status === 401)
		forget(token);
	if (!answer.ok)
		throw new Error((await answer.json()).detail);
	return answer;
}

/* ---- what is shown ----------------------------------------------------- */

/* Names come from measured programs: text, never markup. */
function row(kind, cells) {
	const line = document.createElement("tr");

	for (const cell of cells) {
		const field = document.createElement(kind);

		field.textContent = cell;
		line.append(field);
	}
	return line;
}

function show(columns, rows) {
	const table = document.createElement("table");

	table.append(row("th", columns), ...rows.map((r) => row("td", r)));
	content.replaceChildren(table);
}

function ms(value) {
	return value === null ? "" : value.toPrecision(4) + " ms";
}

function showSnapshot(snapshot) {
	show(["operation", "count", "mean", "p95", "max", "failed"],
		snapshot.operations.map((o) => [o.operation, o.count,
			ms(o.avg_duration_ms), ms(o.p95_duration_ms),
			ms(o.max_duration_ms), o.failure_count]));
	status.textContent = `live, ${snapshot.runs.length} programs, ` +
		`snapshot ${snapshot.sequence}`;
}

/* Events are apart by an empty line; a piece may end anywhere. */
async function readEvents(body, take) {
	const reader = body.pipeThrough(new TextDecoderStream()).getReader();
	let rest = "";

	for (;;) {
		const { done, value } = await reader.read();

		if (done)
			return;
		const events = (rest + value).split("\n\n");

		rest = events.pop();
		for (const event of events)
			for (const line of event.split("\n"))
				if (line.startsWith("data: "))
					take(JSON.parse(line.slice(6)));
	}
}

function pause(signal) {
	return new Promise((resolve) => {
		const timer = setTimeout(resolve, 1000);

		signal.addEventListener("abort", () => {
			clearTimeout(timer);
			resolve();
		});
	});
}

async function operations(signal) {
	while (!signal.aborted) {
		try {
			const answer = await ask("/api/stream", signal);

			await readEvents(answer.body, showSnapshot);
		} catch (error) {
			if (error instanceof Refused || signal.aborted)
				throw error;
		}
		status.textContent = "the server does not answer";
		await pause(signal);
	}
}

async function runs(signal) {
	const list = await (await ask("/api/runs?limit=100", signal)).json();

	show(["run", "program", "process", "state", "start", "bytes"],
		list.runs.map((r) => [r.run, r.program, r.pid,
			r.readable ? r.state : "not readable",
			new Date(r.start_ms).toLocaleString(), r.bytes]));
	status.textContent = `${list.runs.length} runs`;
}

async function alerts(signal) {
	const list = await (await ask("/api/alerts", signal)).json();

	show(["rule", "series", "state", "value", "bound"],
		list.alerts.map((a) => [a.rule, a.series, a.state, a.value,
			a.bound]));
	status.textContent = `${list.alerts.length} alerts, ` +
		`${list.rules.length} rules`;
}

async function routes(signal) {
	const api = await (await ask("/api/openapi.json", signal)).json();

	show(["path", "method", ""], Object.entries(api.paths).flatMap(
		([path, methods]) => Object.entries(methods).map(
			([method, what]) => [path, method.toUpperCase(),
				what.summary])));
	status.textContent = "version " + api.info.version;
}

const views = { operations, runs, alerts, routes };

async function start() {
	const wanted = location.hash.slice(1);
	const name = Object.hasOwn(views, wanted) ? wanted : "operations";

	if (view)
		view.abort();
	view = new AbortController();
	const { signal } = view;

	for (const link of document.querySelectorAll("nav a"))
		link.toggleAttribute("aria-current",
			link.getAttribute("href") === "#" + name);
	content.replaceChildren();
	try {
		await views[name](signal);
	} catch (error) {
		if (signal.aborted)
			return;
		status.textContent = error instanceof Refused ?
			"no token of the running server: open the address " +
			"that 'tare url' prints" : String(error.message);
	}
}

/* A link with a token that is opened in this tab, and the other tabs. */
addEventListener("hashchange", () => {
	takeToken();
	start();
});
addEventListener("storage", (event) => {
	if (event.key === KEY && event.newValue)
		start();
});
takeToken();
start();
