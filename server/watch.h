/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watch: evaluates the rules of alerts.conf once a second, over all live runs,
 * and notifies the command and the webhook.
 */
#ifndef SERVER_WATCH_H
#define SERVER_WATCH_H

struct server;
struct watch;

/* NULL: no memory. Invalid rules are reported on stderr and left out. */
struct watch *watch_start(struct server *server);
void watch_stop(struct watch *watch);

#endif
