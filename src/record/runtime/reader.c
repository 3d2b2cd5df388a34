/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libtare's side of ledger/hook.h: finds libtare-read if the configuration
 * needs it.
 *
 * It is loaded at the start, or by the monitor's thread when a trace is due;
 * never at exit: the program may be confined (seccomp) by then.
 */
#include "record/runtime.h"

#include <dlfcn.h>
#include <string.h>

#include "ledger/hook.h"

#define LIBRARY "libtare-read.so.0"

/* A static program may have no dynamic linker. */
#pragma weak dlopen
#pragma weak dlsym

static const struct tr_reader *reader;

static bool own_ledger(struct tr_own *ret_own)
{
	if (!tr_ledger_is_open())
		return false;
	ret_own->path = tr_ledger->path[0] ? tr_ledger->path : NULL;
	ret_own->base = tr_ledger->base;
	return true;
}

static const struct tr_recorder recorder = {
	.struct_size = sizeof(recorder),
	.version = TARE_VERSION,
	.own = own_ledger,
};

TARE_API const struct tr_recorder *
tare_reader_connect_(const struct tr_reader *one)
{
	if (!one || one->struct_size != sizeof(*one) ||
	    strcmp(one->version, TARE_VERSION) != 0)
		return NULL;
	__atomic_store_n(&reader, one, __ATOMIC_RELEASE);
	return &recorder;
}

const struct tr_reader *tr_reader(void)
{
	return __atomic_load_n(&reader, __ATOMIC_ACQUIRE);
}

const struct tr_reader *tr_reader_load(void)
{
	const struct tr_reader *one = tr_reader();
	void *library;

	if (one || !dlopen || !dlsym)
		return one;
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	one = library ? dlsym(library, "tare_reader_") : NULL;
	if (one && tare_reader_connect_(one))
		one->connect(&recorder);
	return tr_reader();
}
