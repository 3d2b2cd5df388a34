/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two tracepoints of lttng.c. LTTng's headers include this file again by
 * its name, several times: hence the unusual guard.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER tare_peer

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_provider.h"

#if !defined(PEER_LTTNG_PROVIDER_H) || \
	defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define PEER_LTTNG_PROVIDER_H

#include <stdint.h>

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(
	tare_peer, begin,
	LTTNG_UST_TP_ARGS(uint32_t, id),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, id, id)))

LTTNG_UST_TRACEPOINT_EVENT(
	tare_peer, end,
	LTTNG_UST_TP_ARGS(uint32_t, id),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, id, id)))

#endif

#include <lttng/tracepoint-event.h>
