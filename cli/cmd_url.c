/* SPDX-License-Identifier: Apache-2.0 */
/* tare url: where the running server is. */
#include <errno.h>
#include <stdio.h>

#include "args.h"
#include "json.h"
#include "message.h"
#include "server/state.h"

struct url_options {
	bool token;
	bool json;
};

static const struct option_spec options[] = {
	{ 't', "token", OPTION_FLAG, offsetof(struct url_options, token), NULL,
	  NULL, "only the token, for an Authorization header" },
	OPTION_JSON(struct url_options),
	OPTION_END
};

static void print_json(const struct state *state)
{
	struct json json = { .stream = stdout };

	json_begin_object(&json, NULL);
	json_text(&json, "url", state->url);
	json_text(&json, "token", state->token);
	json_signed(&json, "pid", state->pid);
	json_end_object(&json);
	json_finish(&json);
}

static int url(struct args *args)
{
	struct url_options opts = { 0 };
	struct state state;
	char text[400];
	int err, code = args_parse(args, &opts);

	if (code != ARGS_GO)
		return code;
	err = state_read(&state);
	if (err == ENOENT) {
		message("no server is running; start one with 'tare serve'");
		return CODE_FOUND;
	}
	if (err)
		return message_error("read", "the state of the server", err);
	state_print_url(&state, text, sizeof(text));
	if (opts.json)
		print_json(&state);
	else
		(void)puts(opts.token ? state.token : text);
	return CODE_OK;
}

const struct command cmd_url = {
	.name = "url",
	.usage = "[--token | --json]",
	.summary = "the address of the running server, with its token",
	.examples = "  tare url                  open it in a browser\n"
		    "  tare url --token          for a script or a scraper\n",
	.options = options,
	.run = url,
};
