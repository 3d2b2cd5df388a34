/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../check.h"
#include "base/config.h"
#include "base/text.h"

/* Warnings of the last load, one a line. */
static struct tr_buf warnings;
static unsigned n_warnings;

static void collect(void *arg, const char *text)
{
	CHECK(arg == &warnings);
	tr_buf_addf(&warnings, "%s\n", text);
	n_warnings++;
}

static void load(struct tr_config *config)
{
	tr_buf_release(&warnings);
	n_warnings = 0;
	tr_config_load(config, collect, &warnings);
}

static const char *warned(void)
{
	return warnings.data ? warnings.data : "";
}

/* No variable of the caller reaches a test; TARE_CONF empty: no file. */
static void clear_environment(void)
{
	for (char **entry = environ; entry && *entry;) {
		char name[128];
		size_t len = strcspn(*entry, "=");

		if (strncmp(*entry, "TARE", 4) != 0 || len >= sizeof(name)) {
			entry++;
			continue;
		}
		/* The entries behind it move up, into its place. */
		memcpy(name, *entry, len);
		name[len] = '\0';
		(void)unsetenv(name);
	}
	(void)setenv("TARE_CONF", "", 1);
}

/* Works in a folder of its own until leave_folder(). */
static char folder[] = P_tmpdir "/tare-config-XXXXXX";
static int former_folder = -1;

static void enter_folder(void)
{
	clear_environment();
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	former_folder = open(".", O_RDONLY | O_DIRECTORY);
	CHECK(former_folder >= 0 && mkdtemp(folder) && chdir(folder) == 0);
}

static void leave_folder(void)
{
	(void)remove("tare.conf");
	(void)remove("tare/tare.conf");
	(void)remove("tare");
	CHECK(fchdir(former_folder) == 0 && rmdir(folder) == 0);
	(void)close(former_folder);
	clear_environment();
}

static void write_file(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, text, len), len);
	(void)close(fd);
}

/* Loads with this text as the file. */
static void load_text(struct tr_config *config, const char *text)
{
	write_file("tare.conf", text, strlen(text));
	(void)setenv("TARE_CONF", "tare.conf", 1);
	load(config);
}

TEST(every_option_has_a_complete_row)
{
	const tare_option *option;
	size_t n = 0;

	for (; (option = tare_option_at(n)); n++) {
		CHECK(tr_option_find(option->name) == option);
		CHECK(*option->range && *option->help && option->unit);
		CHECK(option->help[strlen(option->help) - 1] == '.');
		CHECK(!option->live || option->effective);
	}
	CHECK_INT(n, 85);
	CHECK(!tare_option_at(SIZE_MAX));
	CHECK(!tr_option_find("no_such_option"));
	CHECK(!tr_option_find(NULL));
}

/* A new text that names nothing outside the program is added here; one that
 * does is a PATH, COMMAND or URL of the table. */
TEST(every_text_says_whether_it_names_something_outside)
{
	static const char *const plain[] = {
		"monitor",	  "include",	    "exclude",
		"include_source", "exclude_source", "keep_kinds",
	};
	const tare_option *option;

	for (size_t i = 0; (option = tare_option_at(i)); i++) {
		bool is_plain = false;

		for (size_t k = 0; k < sizeof(plain) / sizeof(plain[0]); k++)
			is_plain |= strcmp(option->name, plain[k]) == 0;
		if (option->type != TARE_OPTION_STRING || is_plain)
			CHECK_INT(option->names, TARE_NAMES_NOTHING);
		else
			CHECK(option->names != TARE_NAMES_NOTHING);
		CHECK(!option->words || option->names == TARE_NAMES_PATH);
	}
}

TEST(every_variable_is_the_name_in_upper_case)
{
	const tare_option *option;

	for (size_t i = 0; (option = tare_option_at(i)); i++) {
		char env[64] = "TARE_";
		size_t k = 0;

		for (; option->name[k]; k++) {
			char c = option->name[k];

			env[5 + k] = c == '_' ? c : (char)(c - 32);
		}
		env[5 + k] = '\0';
		CHECK_STR(option->env, env);
	}
}

TEST(every_default_is_in_range_and_reads_back)
{
	struct tr_config config, again;
	const tare_option *option;
	char text[TR_CONFIG_STRING];

	tr_config_defaults(&config);
	memset(&again, 0, sizeof(again));
	for (size_t i = 0; (option = tare_option_at(i)); i++) {
		CHECK_INT(tr_config_set(&again, option->name,
					option->default_value), 0);
		CHECK_INT(tr_config_get(&config, option->name, text,
					sizeof(text)),
			  strlen(option->default_value));
		CHECK_STR(text, option->default_value);
	}
	/* To set one is a wish, a default is none. */
	CHECK(again.asks_memory_tracking && again.asks_gpu_tracking);
	CHECK(!config.asks_memory_tracking && !config.asks_gpu_tracking);
	again.asks_memory_tracking = again.asks_gpu_tracking = false;
	CHECK(again.sets_gpu_monitoring && again.sets_components);
	CHECK(!config.sets_gpu_monitoring && !config.sets_components);
	again.sets_gpu_monitoring = again.sets_components = false;
	CHECK(memcmp(&config, &again, sizeof(config)) == 0);
}

TEST(defaults_are_those_that_were_agreed)
{
	struct tr_config config;

	tr_config_defaults(&config);
	CHECK(!config.enable_performance_monitoring);
	CHECK(config.collect_timing && config.collect_memory_basic);
	CHECK_INT(config.profiler_export_interval, 1000);
	CHECK_STR(config.profiler_trace_dir, "traces");
	CHECK_NEAR(config.gpu_monitor_interval, 1, 0);
	CHECK_NEAR(config.performance_threshold, 0.05, 0);
	CHECK_INT(config.max_history_size, 10000);
	CHECK_INT(config.trace_events, 65536);
	CHECK_INT(config.trace_mode, TR_TRACE_OVERWRITE);
	CHECK_INT(config.clock, TR_CLOCK_AUTO);
	CHECK_INT(config.max_depth, 512);
	CHECK_STR(config.report, "stderr");
	CHECK(config.sigbus_guard);
}

/* Two accepted texts and a refused one for each type. */
static void check_values(const struct tr_option_row *row,
			 const char *const text[3])
{
	const char *name = row->option.name;
	char is[TR_CONFIG_STRING];
	struct tr_config config;

	tr_config_defaults(&config);
	for (int i = 0; i < 2; i++) {
		CHECK_INT(tr_config_set(&config, name, text[i]), 0);
		CHECK(tr_config_get(&config, name, is, sizeof(is)) >= 0);
		CHECK_STR(is, text[i]);
	}
	CHECK_INT(tr_config_set(&config, name, text[2]), TARE_ERANGE);
	CHECK_INT(tr_config_set(&config, name, NULL), TARE_ERANGE);
	(void)tr_config_get(&config, name, is, sizeof(is));
	CHECK_STR(is, text[1]);
}

static void check_number(const struct tr_option_row *row)
{
	char low[32], high[32], past[32];

	(void)tr_double_text(low, row->min);
	(void)tr_double_text(high, row->max);
	(void)tr_double_text(past, row->max + 1);
	check_values(row, (const char *const[]){ low, high, past });

	/* Below: nothing is below 0 but a sign. */
	(void)tr_double_text(past, row->min == 0 ? -1 : row->min / 2);
	check_values(row, (const char *const[]){ high, low, past });
	check_values(row, (const char *const[]){ high, low, "" });
	check_values(row, (const char *const[]){ high, low, "nan" });
	check_values(row, (const char *const[]){ high, low, "1x" });
}

static void check_string(const struct tr_option_row *row)
{
	char longest[TR_CONFIG_STRING + 1];

	if (row->flags & TR_OPTION_PARTS) {
		check_values(row, (const char *const[]){
				"true", "system,gpu", "system,,gpu" });
		check_values(row, (const char *const[]){
				"all", "detailed,process", "process " });
		check_values(row, (const char *const[]){ "gpu", "false", "" });
		return;
	}
	if (row->flags & TR_OPTION_KINDS) {
		check_values(row, (const char *const[]){
				"all", "value,gauge", "value,,gauge" });
		check_values(row, (const char *const[]){
				"operation,scope", "counter,ratio", "" });
		return;
	}
	memset(longest, 'x', sizeof(longest));
	longest[TR_CONFIG_STRING] = '\0';
	check_values(row, (const char *const[]){ longest + 1, "a b", longest });
	check_values(row, (const char *const[]){ "\xc3\xa4", "*", "a\nb" });
}

TEST(every_option_takes_its_range_and_no_more)
{
	const tare_option *option;

	for (size_t i = 0; (option = tare_option_at(i)); i++) {
		const struct tr_option_row *row = tr_option_row(option);

		switch (option->type) {
		case TARE_OPTION_BOOL:
			check_values(row, (const char *const[]){
					"true", "false", "maybe" });
			break;
		case TARE_OPTION_INT:
		case TARE_OPTION_DOUBLE:
			check_number(row);
			break;
		case TARE_OPTION_STRING:
			check_string(row);
			break;
		case TARE_OPTION_CHOICE:
			check_values(row, (const char *const[]){
					row->choices[0], row->choices[1],
					"other" });
			break;
		}
	}
}

TEST(sizes_take_suffixes_and_zero)
{
	struct tr_config config;

	tr_config_defaults(&config);
	CHECK_INT(tr_config_set(&config, "ledger_limit", "64M"), 0);
	CHECK_INT(config.ledger_limit, 64 << 20);
	CHECK_INT(tr_config_set(&config, "ledger_limit", "2g"), 0);
	CHECK_INT(config.ledger_limit, 2ll << 30);
	CHECK_INT(tr_config_set(&config, "ledger_limit", "2048k"), 0);
	CHECK_INT(config.ledger_limit, 2 << 20);
	CHECK_INT(tr_config_set(&config, "ledger_limit", "0"), 0);
	CHECK_INT(config.ledger_limit, 0);
	CHECK_INT(tr_config_set(&config, "ledger_limit", "1K"), TARE_ERANGE);
	CHECK_INT(tr_config_set(&config, "ledger_limit", "5G"), TARE_ERANGE);
	CHECK_INT(tr_config_set(&config, "ledger_limit", "M"), TARE_ERANGE);
	CHECK_INT(tr_config_set(&config, "ledger_limit", "1MM"), TARE_ERANGE);
	CHECK_INT(tr_config_set(&config, "ledger_limit",
				"18014398509481985K"), TARE_ERANGE);
	CHECK_INT(tr_config_set(&config, "max_sites", "1K"), TARE_ERANGE);
}

TEST(trace_events_become_a_power_of_two)
{
	struct tr_config config;

	tr_config_defaults(&config);
	CHECK_INT(tr_config_set(&config, "trace_events", "1000"), 0);
	CHECK_INT(config.trace_events, 1024);
	CHECK_INT(tr_config_set(&config, "trace_events", "16777215"), 0);
	CHECK_INT(config.trace_events, 16777216);
	CHECK_INT(tr_config_set(&config, "trace_events", "64"), 0);
	CHECK_INT(config.trace_events, 64);
}

TEST(get_tells_what_is_wrong)
{
	struct tr_config config;
	char text[6] = "?";

	tr_config_defaults(&config);
	CHECK_INT(tr_config_get(&config, "nothing", text, 6), TARE_ENOENT);
	CHECK_INT(tr_config_set(&config, "nothing", "1"), TARE_ENOENT);
	CHECK_INT(tr_config_get(&config, "report", text, 6), TARE_EFULL);
	CHECK_INT(tr_config_get(&config, "report", NULL, 0), TARE_EFULL);
	CHECK_STR(text, "?");
	CHECK_INT(tr_config_get(&config, "max_sites", text, 5), 4);
	CHECK_STR(text, "8192");
}

TEST(differences_are_whole_lines)
{
	struct tr_config config;
	char text[64];

	tr_config_defaults(&config);
	CHECK_INT(tr_config_differences(&config, text, sizeof(text)), 0);
	CHECK_STR(text, "");

	CHECK_INT(tr_config_set(&config, "max_depth", "100"), 0);
	CHECK_INT(tr_config_set(&config, "clock", "tsc"), 0);
	CHECK_INT(tr_config_differences(&config, text, sizeof(text)), 24);
	CHECK_STR(text, "max_depth=100\nclock=tsc\n");
	CHECK_INT(tr_config_differences(&config, text, 24), 14);
	CHECK_STR(text, "max_depth=100\n");
	CHECK_INT(tr_config_differences(&config, text, 1), 0);
	CHECK_STR(text, "");
	CHECK_INT(tr_config_differences(&config, NULL, 0), 0);
}

TEST(a_wrong_variable_gives_one_warning)
{
	struct tr_config config;

	clear_environment();
	(void)setenv("TARE_MAX_SITES", "abc", 1);
	load(&config);
	CHECK_STR(warned(), "TARE_MAX_SITES: 'abc' is not a whole number "
			    "from 16 to 1048576, using 8192\n");
	CHECK_INT(config.max_sites, 8192);
	clear_environment();
}

TEST(each_type_says_what_it_accepts)
{
	struct tr_config config;

	clear_environment();
	(void)setenv("TARE_TRACE", "maybe", 1);
	(void)setenv("TARE_CLOCK", "sun\ndial", 1);
	(void)setenv("TARE_LEDGER_LIMIT", "5", 1);
	(void)setenv("TARE_PERFORMANCE_THRESHOLD", "7", 1);
	(void)setenv("TARE_DIR", "a\tb", 1);
	(void)setenv("TARE_MAX_DEPTH", "", 1);
	load(&config);
	CHECK_STR(warned(),
		  "TARE_TRACE: 'maybe' is not true or false, using false\n"
		  "TARE_CLOCK: 'sun?dial' is not auto, tsc or monotonic, "
		  "using auto\n"
		  "TARE_LEDGER_LIMIT: '5' is not 0 or a size from 1M to 4G, "
		  "using 0\n"
		  "TARE_PERFORMANCE_THRESHOLD: '7' is not a number from 0 "
		  "to 1, using 0.05\n"
		  "TARE_DIR: 'a?b' is not a text of at most 191 printable "
		  "bytes, using ''\n");
	clear_environment();
}

TEST(an_unknown_variable_is_told_with_a_guess)
{
	struct tr_config config;

	clear_environment();
	(void)setenv("TARE_MAX_SITE", "100", 1);
	load(&config);
	CHECK_STR(warned(), "TARE_MAX_SITE: no such option, did you mean "
			    "TARE_MAX_SITES?\n");
	(void)unsetenv("TARE_MAX_SITE");

	(void)setenv("TARE_max_sites", "100", 1);
	load(&config);
	CHECK_STR(warned(), "TARE_max_sites: no such option, did you mean "
			    "TARE_MAX_SITES?\n");
	(void)unsetenv("TARE_max_sites");

	(void)setenv("TARE_ZZZZZZZZ", "100", 1);
	load(&config);
	CHECK_STR(warned(), "TARE_ZZZZZZZZ: no such option\n");
	(void)unsetenv("TARE_ZZZZZZZZ");
}

TEST(reserved_variables_are_nobodys_mistake)
{
	static const char *const name[] = { "TARE", "TARE_GROUP",
					    "TARE_TOKEN", "TARE_DISABLE",
					    "TARE_DISABLE_GPU", "TAREX",
					    "TARE_NVML_LIBRARY",
					    "TARE_SIGNAL_COST" };
	struct tr_config config;

	clear_environment();
	for (size_t i = 0; i < 8; i++)
		(void)setenv(name[i], "1", 1);
	load(&config);
	CHECK_STR(warned(), "");
	for (size_t i = 0; i < 8; i++)
		(void)unsetenv(name[i]);
}

TEST(a_file_sets_values)
{
	struct tr_config config;

	enter_folder();
	load_text(&config, "\xef\xbb\xbf# a comment\n"
			   "max_sites = 100\r\n"
			   "\t max_depth=64 # behind a value\n"
			   "\n"
			   "include = io.*, db.*\n"
			   "dir = \"/a # b \" # quoted\n"
			   "report = out#1.txt\n"
			   "exclude =\n"
			   "clock = tsc");
	CHECK_STR(warned(), "");
	CHECK_INT(config.max_sites, 100);
	CHECK_INT(config.max_depth, 64);
	CHECK_STR(config.include, "io.*, db.*");
	CHECK_STR(config.dir, "/a # b ");
	CHECK_STR(config.report, "out#1.txt");
	CHECK_INT(config.clock, TR_CLOCK_TSC);
	leave_folder();
}

TEST(a_wrong_line_is_told_with_its_place)
{
	struct tr_config config;

	enter_folder();
	load_text(&config, "max_site = 5\n"
			   "max_sites = 5\n"
			   "[section]\n"
			   "zzzzzzzzz = 1\n"
			   "dir = \"open\n"
			   "max_depth =\n"
			   "= 5\n"
			   "max_nodes = 100\n");
	CHECK_STR(warned(),
		  "tare.conf:1: unknown option 'max_site', did you mean "
		  "'max_sites'?\n"
		  "tare.conf:2: max_sites: '5' is not a whole number from 16 "
		  "to 1048576, using 8192\n"
		  "tare.conf:3: '[section]' is not 'option = value'\n"
		  "tare.conf:4: unknown option 'zzzzzzzzz'\n"
		  "tare.conf:5: dir: the quotes do not match\n"
		  "tare.conf:6: max_depth: '' is not a whole number from 8 to "
		  "1800, using 512\n"
		  "tare.conf:7: unknown option ''\n");
	CHECK_INT(config.max_nodes, 100);
	leave_folder();
}

TEST(the_environment_is_over_the_file)
{
	struct tr_config config;

	enter_folder();
	(void)setenv("TARE_MAX_SITES", "300", 1);
	(void)setenv("TARE_MAX_DEPTH", "x", 1);
	load_text(&config, "max_sites = 200\nmax_nodes = 200\n"
			   "max_depth = 200\n");
	CHECK_INT(config.max_sites, 300);
	CHECK_INT(config.max_nodes, 200);
	CHECK_STR(warned(), "TARE_MAX_DEPTH: 'x' is not a whole number from "
			    "8 to 1800, using 200\n");
	leave_folder();
}

TEST(the_file_is_looked_up_in_three_places)
{
	struct tr_config config;
	char *xdg = getenv("XDG_CONFIG_HOME");

	xdg = xdg ? strdup(xdg) : NULL;
	enter_folder();
	(void)setenv("XDG_CONFIG_HOME", folder, 1);
	CHECK_INT(mkdir("tare", 0700), 0);
	write_file("tare/tare.conf", "max_sites = 301\n", 16);
	(void)unsetenv("TARE_CONF");
	load(&config);
	CHECK_INT(config.max_sites, 301);

	write_file("tare.conf", "max_sites = 302\n", 16);
	load(&config);
	CHECK_INT(config.max_sites, 302);

	(void)setenv("TARE_CONF", "tare/tare.conf", 1);
	load(&config);
	CHECK_INT(config.max_sites, 301);

	(void)setenv("TARE_CONF", "/dev/null", 1);
	load(&config);
	CHECK_INT(config.max_sites, 8192);
	CHECK_STR(warned(), "");

	(void)unsetenv("XDG_CONFIG_HOME");
	if (xdg)
		(void)setenv("XDG_CONFIG_HOME", xdg, 1);
	free(xdg);
	leave_folder();
}

TEST(a_file_that_cannot_be_used_is_told_once)
{
	struct tr_config config;

	enter_folder();
	(void)setenv("TARE_CONF", "absent.conf", 1);
	load(&config);
	CHECK_STR(warned(), "TARE_CONF: absent.conf: not found, no file is "
			    "used\n");

	(void)setenv("TARE_CONF", ".", 1);
	load(&config);
	CHECK_STR(warned(), "TARE_CONF: .: is not a plain file, no file is "
			    "used\n");

	/* Opening a pipe that nobody writes must not wait. */
	(void)unsetenv("TARE_CONF");
	CHECK_INT(mkfifo("tare.conf", 0600), 0);
	load(&config);
	CHECK_STR(warned(), "tare.conf: is not a plain file, no file is "
			    "used\n");
	leave_folder();
}

TEST(a_file_that_everybody_can_write_must_be_named)
{
	struct tr_config config;

	enter_folder();
	write_file("tare.conf", "max_sites = 300\n", 16);
	CHECK_INT(chmod("tare.conf", 0666), 0);
	(void)unsetenv("TARE_CONF");
	load(&config);
	CHECK_INT(config.max_sites, 8192);
	CHECK_INT(n_warnings, 1);

	(void)setenv("TARE_CONF", "tare.conf", 1);
	load(&config);
	CHECK_INT(config.max_sites, 300);
	leave_folder();
}

TEST(a_file_that_its_group_can_write_must_be_named)
{
	struct tr_config config;

	enter_folder();
	write_file("tare.conf", "max_sites = 300\n", 16);
	CHECK_INT(chmod("tare.conf", 0660), 0);
	(void)unsetenv("TARE_CONF");
	load(&config);
	CHECK_INT(config.max_sites, 8192);
	CHECK_STR(warned(), "tare.conf: can be written by its group "
			    "(TARE_CONF can name it), no file is used\n");
	leave_folder();
}

TEST(a_file_of_another_user_must_be_named)
{
	struct tr_config config;

	if (geteuid() != 0)
		SKIP("only root can give a file away");

	enter_folder();
	write_file("tare.conf", "max_sites = 300\n", 16);
	CHECK_INT(chown("tare.conf", 12345, 12345), 0);
	(void)unsetenv("TARE_CONF");
	load(&config);
	CHECK_INT(config.max_sites, 8192);
	CHECK_STR(warned(), "tare.conf: belongs to another user (TARE_CONF "
			    "can name it), no file is used\n");
	leave_folder();
}

TEST(a_large_file_is_read_up_to_its_limit)
{
	static char text[17000];
	struct tr_config config;

	enter_folder();
	memset(text, '#', sizeof(text) - 1);
	memcpy(text, "max_sites = 300\n", 16);
	memcpy(text + 16370, "\nmax_nodes = 99\n", 16);
	load_text(&config, text);
	CHECK_INT(config.max_sites, 300);
	CHECK_INT(config.max_nodes, 4096);
	CHECK_STR(warned(), "tare.conf: is larger than 16384 bytes, the rest "
			    "is ignored\n");

	/* Exactly the limit is not too large. */
	text[16384] = '\0';
	memcpy(text + 16369, "\nmax_nodes = 99", 15);
	load_text(&config, text);
	CHECK_INT(config.max_nodes, 99);
	CHECK_STR(warned(), "");
	leave_folder();
}

TEST(hostile_files_give_few_and_clean_warnings)
{
	static char text[16384];
	struct tr_config config;
	unsigned seed = 1;

	enter_folder();
	for (int round = 0; round < 200; round++) {
		for (size_t i = 0; i < sizeof(text); i++) {
			seed = seed * 1103515245 + 12345;
			text[i] = "=\n\"# \tax_\0\x1b\xff"[(seed >> 16) % 12];
		}
		write_file("tare.conf", text, sizeof(text));
		(void)setenv("TARE_CONF", "tare.conf", 1);
		load(&config);
		CHECK_INT(n_warnings, 21);
		CHECK(!strchr(warned(), '\x1b'));
	}
	tr_config_load(&config, NULL, NULL);
	leave_folder();
	tr_buf_release(&warnings);
}
