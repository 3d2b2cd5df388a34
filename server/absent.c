/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces the server if tare is built without libevent. */
#include "cli/message.h"
#include "server.h"

int server_run(const struct server_options *options)
{
	(void)options;
	message("this tare was built without its server: libevent was not "
		"there, or -Dserver=disabled was given");
	return CODE_IO;
}
