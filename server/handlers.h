/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers: each answers one route. The table is in router.c. */
#ifndef SERVER_HANDLERS_H
#define SERVER_HANDLERS_H

struct exchange;

/* processing.c */
void handle_processing_stats(struct exchange *ex);
void handle_operations_summary(struct exchange *ex);

/* memory.c */
void handle_memory_stats(struct exchange *ex);
void handle_gpu_stats(struct exchange *ex);

/* records.c */
void handle_records(struct exchange *ex);
void handle_count(struct exchange *ex);

/* steering.c */
void handle_monitoring_start(struct exchange *ex);
void handle_monitoring_stop(struct exchange *ex);
void handle_clear(struct exchange *ex);

/* config.c */
void handle_config(struct exchange *ex);
void handle_config_put(struct exchange *ex);

/* exports.c */
void handle_export_json(struct exchange *ex);
void handle_export_csv(struct exchange *ex);
void handle_download(struct exchange *ex);

/* about.c */
void handle_health(struct exchange *ex);
void handle_runs(struct exchange *ex);
void handle_openapi(struct exchange *ex);

/* page.c */
void handle_page(struct exchange *ex);

/* watch.c */
void handle_alerts(struct exchange *ex);

/* scrape.c */
void handle_scrape(struct exchange *ex);

/* stream.c */
void handle_stream(struct exchange *ex);

/* Internal tasks of the server for a reader: they have no route. */

/* processing.c */
void handle_snapshot(struct exchange *ex);

/* measure.c */
void handle_measure(struct exchange *ex);

/* periodic.c */
void handle_periodic(struct exchange *ex);

#endif
