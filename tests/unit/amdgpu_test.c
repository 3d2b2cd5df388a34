/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AMD's boards, in a made-up /sys.
 */
#include "check.h"
#include "scene.h"

#include <tare/gpu.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu/driver.h"
#include "base/platform.h"

static char device[256]; /* of the card that is made */

static void put(const char *name, const char *text)
{
	char path[400];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", device, name);
	file = fopen(path, "w");
	if (!CHECK(file != NULL))
		return;
	(void)fputs(text, file);
	(void)fclose(file);
}

static void drop(const char *name)
{
	char path[400];

	(void)snprintf(path, sizeof(path), "%s/%s", device, name);
	CHECK_INT(unlink(path), 0);
}

static void make_card(unsigned card, const char *vendor)
{
	char path[400];

	(void)snprintf(device, sizeof(device), "%s/sys/class/drm/card%u/device",
		       scene_dir, card);
	(void)snprintf(path, sizeof(path), "%s/hwmon/hwmon3", device);
	CHECK_INT(tr_dir_make(path), 0);
	put("vendor", vendor);
	put("device", "0x74a1\n");
	put("hwmon/hwmon3/name", "amdgpu\n");
}

static void fill_card(void)
{
	put("unique_id", "92a7f0c1d2e3b4a5\n");
	put("product_name", "Instinct \xff" "X\n");
	put("gpu_busy_percent", "87\n");
	put("mem_busy_percent", "12\n");
	put("mem_info_vram_total", "68702699520\n");
	put("mem_info_vram_used", "17175674880\n");
	put("pp_dpm_sclk", "0: 500Mhz\n1: 1800Mhz *\n2: 2100Mhz\n");
	put("pp_dpm_mclk", "0: 96Mhz *\n1: 1300Mhz\n");
	put("hwmon/hwmon3/temp1_input", "61000\n");
	put("hwmon/hwmon3/temp1_crit", "100000\n");
	put("hwmon/hwmon3/power1_average", "215000000\n");
	put("hwmon/hwmon3/power1_cap", "560000000\n");
}

static void begin(void)
{
	(void)driver_use(NULL);
	tr_root = scene_dir;
	scene_clock();
}

static void play_card(void)
{
	tare_gpu gpu;

	begin();
	make_card(1, "0x1002\n");
	fill_card();
	CHECK_INT(tare_gpu_count(), 1);
	/* One without a driver of NVIDIA misses nothing. */
	CHECK_STR(tare_gpu_reason(), "");
	gpu = driver_read(0);
	CHECK_STR(gpu.backend, "amdgpu");
	CHECK_STR(gpu.name, "Instinct ?X");
	CHECK_STR(gpu.uuid, "92a7f0c1d2e3b4a5");
	CHECK_NEAR(gpu.load_percent, 87, 0);
	CHECK_NEAR(gpu.memory_load_percent, 12, 0);
	CHECK_INT(gpu.memory_total, 68702699520);
	CHECK_INT(gpu.memory_used, 17175674880);
	CHECK_NEAR(gpu.memory_percent, 25, 1e-9);
	CHECK_INT(gpu.memory_own, TARE_UNKNOWN);
	CHECK_NEAR(gpu.temperature, 61, 0);
	CHECK_NEAR(gpu.slowdown_at, 100, 0);
	CHECK_NEAR(gpu.power_w, 215, 0);
	CHECK_NEAR(gpu.power_limit_w, 560, 0);
	CHECK_NEAR(gpu.clock_mhz, 1800, 0);
	CHECK_NEAR(gpu.memory_clock_mhz, 96, 0);
	CHECK_INT(gpu.throttle, TARE_UNKNOWN);
	CHECK(!gpu.is_hot && !gpu.is_gone);
	scene_pass_ns(INT64_C(2000000000));
	put("hwmon/hwmon3/temp1_input", "100000\n");
	gpu = driver_poll_one(0);
	CHECK_NEAR(gpu.energy_j, 430, 1e-6);
	CHECK(gpu.is_hot);
}

TEST(a_board_of_amd_is_read_from_sys)
{
	scene_play(play_card);
}

static void play_sparse(void)
{
	tare_gpu gpu;

	begin();
	make_card(0, "0x10de\n"); /* somebody else's */
	put("gpu_busy_percent", "1\n");
	make_card(2, "0x1002\n");
	put("gpu_busy_percent", "0\n");
	put("hwmon/hwmon3/power1_input", "9000000\n");
	CHECK_INT(tare_gpu_count(), 1);
	gpu = driver_read(0);
	CHECK_STR(gpu.name, "AMD GPU 0x74a1");
	CHECK_STR(gpu.uuid, "");
	CHECK_NEAR(gpu.load_percent, 0, 0);
	CHECK_NEAR(gpu.power_w, 9, 0);
	CHECK(isnan(gpu.temperature) && isnan(gpu.slowdown_at));
	CHECK(isnan(gpu.clock_mhz) && isnan(gpu.memory_percent));
	CHECK_INT(gpu.memory_total, TARE_UNKNOWN);
}

TEST(what_a_board_of_amd_has_not_is_unknown)
{
	scene_play(play_sparse);
}

static void play_garbled(void)
{
	static const char *const texts[] = {
		"", "\n", "-1\n", "12.5\n", "99999999999999999999999\n",
		"abc\n", "1 2\n", "*\n", ":*\n", "1: *\n", "1: Mhz *\n",
		"1: 99999999999999999999Mhz *\n", "1: 12\n*",
	};
	static const char *const files[] = {
		"gpu_busy_percent", "mem_busy_percent",
		"mem_info_vram_total", "pp_dpm_sclk", "pp_dpm_mclk",
		"hwmon/hwmon3/temp1_input", "hwmon/hwmon3/power1_average",
		"hwmon/hwmon3/power1_cap",
	};
	tare_gpu gpu;

	begin();
	make_card(0, "0x1002\n");
	fill_card();
	(void)driver_poll_one(0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); f++)
			put(files[f], texts[i]);
		gpu = driver_poll_one(0);
		if (!CHECK(isnan(gpu.load_percent) &&
			   isnan(gpu.memory_load_percent) &&
			   isnan(gpu.temperature) && isnan(gpu.power_w) &&
			   isnan(gpu.power_limit_w) && isnan(gpu.clock_mhz) &&
			   gpu.memory_total == TARE_UNKNOWN))
			printf("# text %zu: clock %d\n", i,
			       (int)gpu.clock_mhz);
	}
}

TEST(garbled_files_of_sys_are_unknown_values)
{
	scene_play(play_garbled);
}

static void play_pulled(void)
{
	tare_gpu gpu;

	begin();
	make_card(0, "0x1002\n");
	put("gpu_busy_percent", "5\n");
	CHECK_INT(tare_gpu_count(), 1);
	drop("gpu_busy_percent");
	gpu = driver_poll_one(0);
	CHECK(gpu.is_gone && isnan(gpu.load_percent));
	put("gpu_busy_percent", "6\n");
	CHECK_NEAR(driver_poll_one(0).load_percent, 6, 0);
}

TEST(a_board_of_amd_that_is_pulled_is_gone)
{
	scene_play(play_pulled);
}

static void play_both(void)
{
	(void)driver_use("nvml_stand_in");
	tr_root = scene_dir;
	make_card(0, "0x1002\n");
	fill_card();
	CHECK_INT(tare_gpu_count(), 2);
	CHECK_STR(driver_read(0).backend, "nvml");
	CHECK_STR(driver_read(1).backend, "amdgpu");
	CHECK_INT(driver_read(1).index, 1);
	CHECK_STR(tare_gpu_reason(), "");
}

TEST(boards_of_both_are_counted_on)
{
	scene_play(play_both);
}
