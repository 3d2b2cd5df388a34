/* SPDX-License-Identifier: Apache-2.0 */
/* tare serve: all runs over HTTP. */
#include "args.h"
#include "message.h"
#include "server/server.h"

#define PORT_UNSET UINT64_MAX

static struct {
	uint64_t port;
	const char *bind;
	struct words hosts;
	const char *export_root;
} opts = { .port = PORT_UNSET };

static const struct option_spec options[] = {
	OPTION_COUNT('p', "port", &opts.port, "N",
		     "port (default: 8270 or, if taken, a free one; 0: any)"),
	OPTION_TEXT('b', "bind", &opts.bind, "ADDRESS",
		    "address to listen on (default: 127.0.0.1)"),
	OPTION_LIST(0, "allow-host", &opts.hosts, "NAME", NULL,
		    "another NAME[:PORT] it is reached by; may be repeated"),
	OPTION_TEXT(0, "export-root", &opts.export_root, "DIR",
		    "folder below which requests may name paths; the option "
		    "export_directory"),
	OPTION_END
};

static int serve(struct args *args)
{
	bool is_given = opts.port != PORT_UNSET;
	struct server_options how = {
		.bind = opts.bind,
		.port = is_given ? (uint16_t)opts.port : SERVER_PORT,
		.is_port_given = is_given,
		.hosts = opts.hosts.at,
		.n_hosts = opts.hosts.n,
		.export_root = opts.export_root,
	};

	(void)args;
	if (is_given && opts.port > UINT16_MAX)
		return message_usage("no port '%llu'",
				     (unsigned long long)opts.port);
	return server_run(&how);
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
