/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watch: looks at the rules of alerts.conf once a second, over all live runs,
 * and has the command and the webhook told.
 */
#ifndef SERVER_WATCH_H
#define SERVER_WATCH_H

struct server;
struct watch;

/* NULL: no memory. Wrong rules are told on stderr and left out. */
struct watch *watch_start(struct server *server);
void watch_stop(struct watch *watch);

#endif
