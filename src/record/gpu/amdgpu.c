/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AMD's boards, through the files of their driver in /sys.
 *
 * No file is kept open: the files of a removed board disappear with it.
 * Folders are found by trying numbers, because reading a directory takes
 * memory from the host's heap. Used only by the thread of record/gpu.
 */
#include "record/gpu/state.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_CARDS 256u
#define MOST_SENSORS 256u
#define MOST_PATH 384u
#define NO_SENSOR UINT32_MAX

static struct {
	unsigned card[TR_GPU_MOST];
	unsigned sensor[TR_GPU_MOST]; /* number of its hwmon folder */
	unsigned n;
} amd;

/* ---- files ------------------------------------------------------------- */

/* A file of the board as text, without what follows the last newline. */
static bool read_text(unsigned card, const char *name, char *text, size_t size)
{
	char path[MOST_PATH];
	int64_t n;

	if ((size_t)snprintf(path, sizeof(path),
			     "%s/sys/class/drm/card%u/device/%s", tr_root,
			     card, name) >= sizeof(path))
		return false;
	n = tr_file_read(path, text, size - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	while (n && (text[n - 1] == '\n' || text[n - 1] == ' '))
		text[--n] = '\0';
	return n > 0;
}

static uint64_t read_number(unsigned card, const char *name)
{
	char text[32];
	uint64_t value;

	if (!read_text(card, name, text, sizeof(text)) ||
	    !tr_parse_u64(text, &value))
		return TARE_UNKNOWN;
	return value;
}

static uint64_t read_sensor(unsigned index, const char *name)
{
	char path[64];

	if (amd.sensor[index] == NO_SENSOR)
		return TARE_UNKNOWN;
	(void)snprintf(path, sizeof(path), "hwmon/hwmon%u/%s",
		       amd.sensor[index], name);
	return read_number(amd.card[index], path);
}

static double scaled(uint64_t value, double unit)
{
	return value == TARE_UNKNOWN ? NAN : (double)value / unit;
}

/* ---- opening ----------------------------------------------------------- */

static unsigned find_sensor(unsigned card)
{
	char path[64], name[32];

	for (unsigned i = 0; i < MOST_SENSORS; i++) {
		(void)snprintf(path, sizeof(path), "hwmon/hwmon%u/name", i);
		if (read_text(card, path, name, sizeof(name)))
			return i;
	}
	return NO_SENSOR;
}

static bool is_amd(unsigned card)
{
	char vendor[16];

	return read_text(card, "vendor", vendor, sizeof(vendor)) &&
	       strcmp(vendor, "0x1002") == 0 &&
	       (read_number(card, "mem_info_vram_total") != TARE_UNKNOWN ||
		read_number(card, "gpu_busy_percent") != TARE_UNKNOWN);
}

static unsigned open_amdgpu(void)
{
	amd.n = 0;
	for (unsigned i = 0; i < MOST_CARDS && amd.n < TR_GPU_MOST; i++) {
		if (!is_amd(i))
			continue;
		amd.sensor[amd.n] = find_sensor(i);
		amd.card[amd.n++] = i;
	}
	if (!amd.n)
		tr_gpu_reason_absent("no amdgpu in /sys/class/drm");
	return amd.n;
}

static void close_amdgpu(void)
{
	amd.n = 0;
}

/* The name of the device's folder is its address on the bus. */
static void describe_address(unsigned card, tare_gpu *gpu)
{
	char path[MOST_PATH], target[MOST_PATH], *last;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%s/sys/class/drm/card%u/device",
		       tr_root, card);
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return;
	target[n] = '\0';
	last = strrchr(target, '/');
	tr_gpu_text(gpu->uuid, sizeof(gpu->uuid), last ? last + 1 : target);
}

static void describe(unsigned index, tare_gpu *gpu)
{
	unsigned card = amd.card[index];
	char text[96];

	if (read_text(card, "product_name", text, sizeof(text)))
		tr_gpu_text(gpu->name, sizeof(gpu->name), text);
	else if (read_text(card, "device", text, sizeof(text)))
		(void)snprintf(gpu->name, sizeof(gpu->name), "AMD GPU %.16s",
			       text);
	if (read_text(card, "unique_id", text, sizeof(text)))
		tr_gpu_text(gpu->uuid, sizeof(gpu->uuid), text);
	else
		describe_address(card, gpu);
	gpu->slowdown_at = scaled(read_sensor(index, "temp1_crit"), 1e3);
}

/* ---- reading ----------------------------------------------------------- */

/* Lines such as "1: 2100Mhz *": the star marks the present clock. */
static double read_clock(unsigned card, const char *name)
{
	char text[1024], *star, *colon, *end;
	unsigned long mhz;

	if (!read_text(card, name, text, sizeof(text)))
		return NAN;
	star = strchr(text, '*');
	if (!star)
		return NAN;
	*star = '\0';
	colon = strrchr(text, ':');
	if (!colon)
		return NAN;
	mhz = strtoul(colon + 1, &end, 10);
	return end > colon + 1 && mhz < 1000000 && (*end | 32) == 'm' ?
		       (double)mhz :
		       (double)NAN;
}

static bool is_any_known(const tare_gpu *gpu)
{
	return !isnan(gpu->load_percent) || !isnan(gpu->temperature) ||
	       !isnan(gpu->power_w) || gpu->memory_used != TARE_UNKNOWN;
}

static bool read_amdgpu(unsigned index, tare_gpu *gpu)
{
	unsigned card = amd.card[index];
	uint64_t power = read_sensor(index, "power1_average");

	if (power == TARE_UNKNOWN)
		power = read_sensor(index, "power1_input");
	gpu->load_percent = scaled(read_number(card, "gpu_busy_percent"), 1);
	gpu->memory_load_percent = scaled(read_number(card,
						      "mem_busy_percent"), 1);
	gpu->memory_used = read_number(card, "mem_info_vram_used");
	if (gpu->memory_used != TARE_UNKNOWN)
		gpu->memory_total = read_number(card, "mem_info_vram_total");
	gpu->temperature = scaled(read_sensor(index, "temp1_input"), 1e3);
	gpu->power_w = scaled(power, 1e6);
	gpu->power_limit_w = scaled(read_sensor(index, "power1_cap"), 1e6);
	gpu->clock_mhz = read_clock(card, "pp_dpm_sclk");
	gpu->memory_clock_mhz = read_clock(card, "pp_dpm_mclk");
	return is_any_known(gpu);
}

/* No energy counter; and memory by process is only in the fdinfo of files that
 * this library does not own. */
const struct tr_gpu_backend tr_gpu_amdgpu = {
	.name = "amdgpu",
	.open = open_amdgpu,
	.describe = describe,
	.read = read_amdgpu,
	.close = close_amdgpu,
};
