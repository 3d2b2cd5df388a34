/* SPDX-License-Identifier: Apache-2.0 */
/* tare serve: all runs over HTTP. */
#include "args.h"
#include "message.h"
#include "server/server.h"

struct serve_options {
	uint64_t port;
	const char *bind;
	struct words hosts;
	const char *export_root;
};

#define PORT_UNSET UINT64_MAX

static const struct option_spec options[] = {
	{ 'p', "port", OPTION_COUNT, offsetof(struct serve_options, port), "N",
	  NULL, "port (default: 8270 or, if taken, a free one; 0: any)" },
	{ 'b', "bind", OPTION_TEXT, offsetof(struct serve_options, bind),
	  "ADDRESS", NULL, "address to listen on (default: 127.0.0.1)" },
	{ 0, "allow-host", OPTION_LIST, offsetof(struct serve_options, hosts),
	  "NAME", NULL, "another NAME[:PORT] it is reached by; may be "
			"repeated" },
	{ 0, "export-root", OPTION_TEXT,
	  offsetof(struct serve_options, export_root), "DIR", NULL,
	  "folder below which requests may name paths; the option "
	  "export_directory" },
	OPTION_END
};

static int serve_with(const struct args *args,
		      const struct serve_options *opts)
{
	bool is_given = opts->port != PORT_UNSET;
	struct server_options how = {
		.bind = opts->bind,
		.port = is_given ? (uint16_t)opts->port : SERVER_PORT,
		.is_port_given = is_given,
		.hosts = opts->hosts.at,
		.n_hosts = opts->hosts.n,
		.export_root = opts->export_root,
	};

	if (is_given && opts->port > UINT16_MAX)
		return message_usage(args->command, "no port '%llu'",
				     (unsigned long long)opts->port);
	return server_run(&how);
}

static int serve(struct args *args)
{
	struct serve_options opts = { .port = PORT_UNSET };
	int code = args_parse(args, &opts);

	if (code == ARGS_GO)
		code = serve_with(args, &opts);
	words_release(&opts.hosts);
	return code;
}

const struct command cmd_serve = {
	.name = "serve",
	.usage = "[--port N] [--bind ADDRESS] [--export-root DIR]",
	.summary = "serve all runs over HTTP: REST, Prometheus, live stream",
	.examples =
		"  tare serve                print a URL for reading\n"
		"  tare serve --port 9000    use port 9000 or fail\n"
		"  tare url                  the URL again; --steer: one that "
		"changes, too\n"
		"  curl -H \"Authorization: Bearer $(tare url --token)\" \\\n"
		"    127.0.0.1:8270/api/metrics/processing/stats\n",
	.notes = "stops at Ctrl-C or SIGTERM; the routes are described at "
		 "/api/openapi.json\n",
	.options = options,
	.run = serve,
};
