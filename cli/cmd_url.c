/* SPDX-License-Identifier: Apache-2.0 */
/* tare url: the address of the running server. */
#include <errno.h>
#include <stdio.h>

#include "args.h"
#include "ask.h"
#include "base/text.h"
#include "message.h"
#include "output.h"
#include "server/state.h"

static struct {
	bool token;
	bool steer;
	bool json;
} opts;

static const struct option_spec options[] = {
	OPTION_FLAG('t', "token", &opts.token,
		    "print only the token, for an Authorization header"),
	OPTION_FLAG('s', "steer", &opts.steer,
		    "use the token that may also change settings"),
	OPTION_JSON(&opts.json),
	OPTION_END
};

static void print_json(const struct state *state, const char *token)
{
	struct tr_json *json = output_json_begin();

	tr_json_object(json, NULL);
	tr_json_str(json, "url", state->url);
	tr_json_str(json, "token", token);
	tr_json_bool(json, "may_steer", opts.steer);
	tr_json_i64(json, "pid", state->pid);
	tr_json_end_object(json);
	output_json(json, stdout);
}

static int url(struct args *args)
{
	struct state state;
	const char *token;
	char text[400];
	int err = state_read(&state);

	(void)args;
	if (err == ENOENT) {
		message("no server is running; start one with 'tare serve'");
		return CODE_IO;
	}
	if (err)
		return ask_error("read", err);
	token = opts.steer ? state.steer_token : state.token;
	state_print_url(&state, opts.steer, text, sizeof(text));
	if (opts.json)
		print_json(&state, token);
	else
		(void)puts(opts.token ? token : text);
	return CODE_OK;
}

const struct command cmd_url = {
	.name = "url",
	.usage = "[--steer] [--token | --json]",
	.summary = "print the URL of the running server, with its token",
	.examples = "  tare url                  a URL to open in a browser\n"
		    "  tare url --token          for a script or a scraper\n"
		    "  tare url --steer --token  for a script that changes "
		    "settings\n",
	.options = options,
	.run = url,
};
