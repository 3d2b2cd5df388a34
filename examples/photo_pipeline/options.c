/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "image.h"

#define MOST_SECONDS 86400

const char options_help[] =
	"usage: photo_pipeline [options]\n"
	"  --photos N     how many photos (60; with --seconds: no limit)\n"
	"  --seconds S    take no more photos after S seconds\n"
	"  --workers N    threads, 1 to 64 (3)\n"
	"  --seed N       of scenes and mishaps (1)\n"
	"  --size WxH     of the photos in pixels (480x320)\n"
	"  --reserve MIB  memory to be left to others (128)\n"
	"  --out FOLDER   keep the finished photos there\n"
	"  --json         print the counts as JSON\n";

static int take_number(const char *name, const char *text, uint64_t most,
		       uint64_t *ret, struct fault *fault)
{
	char *end;
	unsigned long long v;

	errno = 0;
	v = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || v > most)
		return fault_set(fault, "%s: '%s' is no number from 0 to %llu",
				 name, text, (unsigned long long)most);
	*ret = v;
	return 0;
}

static int take_seconds(const char *text, double *ret, struct fault *fault)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v > 0) || v > MOST_SECONDS)
		return fault_set(fault, "--seconds: '%s' is no time up to %d s",
				 text, MOST_SECONDS);
	*ret = v;
	return 0;
}

static int take_workers(const char *text, unsigned *ret, struct fault *fault)
{
	uint64_t v;

	if (take_number("--workers", text, SERVICE_MAX_WORKERS, &v, fault) != 0)
		return -1;
	if (v == 0)
		return fault_set(fault, "--workers: there must be one");
	*ret = (unsigned)v;
	return 0;
}

static int take_size(const char *text, struct service_options *options,
		     struct fault *fault)
{
	int width, height, used = 0;

	if (sscanf(text, "%5dx%5d%n", &width, &height, &used) != 2 ||
	    text[used] || width < 16 || width > IMAGE_MAX_SIDE || height < 16 ||
	    height > IMAGE_MAX_SIDE)
		return fault_set(fault, "--size: '%s' is not WxH from 16 to %d",
				 text, IMAGE_MAX_SIDE);
	options->width = width;
	options->height = height;
	return 0;
}

static int take_folder(const char *text, const char **ret, struct fault *fault)
{
	struct stat status;

	if (stat(text, &status) != 0)
		return fault_set(fault, "--out: cannot open '%s': %s", text,
				 strerror(errno));
	if (!S_ISDIR(status.st_mode))
		return fault_set(fault, "--out: '%s' is no folder", text);
	*ret = text;
	return 0;
}

static int take(const char *name, const char *value, struct options *options,
		struct fault *fault)
{
	struct service_options *service = &options->service;
	uint64_t mib;
	int err;

	if (strcmp(name, "--photos") == 0) {
		err = take_number(name, value, UINT32_MAX, &service->photos,
				  fault);
		if (!err && service->photos == 0)
			err = fault_set(fault, "--photos: there must be one");
		return err;
	}
	if (strcmp(name, "--seconds") == 0)
		return take_seconds(value, &service->seconds, fault);
	if (strcmp(name, "--workers") == 0)
		return take_workers(value, &service->workers, fault);
	if (strcmp(name, "--seed") == 0)
		return take_number(name, value, UINT64_MAX, &service->seed,
				   fault);
	if (strcmp(name, "--size") == 0)
		return take_size(value, service, fault);
	if (strcmp(name, "--out") == 0)
		return take_folder(value, &service->folder, fault);
	if (strcmp(name, "--reserve") == 0) {
		err = take_number(name, value, 1u << 30, &mib, fault);
		if (!err)
			service->reserve_bytes = mib << 20;
		return err;
	}
	return fault_set(fault, "no option '%s'", name);
}

int options_parse(int argc, char **argv, struct options *ret_options,
		  struct fault *fault)
{
	struct options options = { .service = service_defaults };

	options.service.photos = 0;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0) {
			options.is_help = true;
		} else if (strcmp(argv[i], "--json") == 0) {
			options.is_json = true;
		} else if (i + 1 == argc) {
			return fault_set(fault, argv[i][0] == '-'
					 ? "%s: its value is missing"
					 : "no option '%s'", argv[i]);
		} else {
			if (take(argv[i], argv[i + 1], &options, fault) != 0)
				return -1;
			i++;
		}
	}
	if (!options.service.photos && options.service.seconds <= 0)
		options.service.photos = service_defaults.photos;
	*ret_options = options;
	return 0;
}
