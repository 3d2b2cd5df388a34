/* SPDX-License-Identifier: Apache-2.0 */
#include <tare/read/run_file.h>

#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../check.h"

#define HEADER \
	"epoch,total_time,forward_time,backward_time,comm_time,update_time," \
	"loss,train_acc,val_f1,test_f1,peak_memory_mb"

/* ---- a folder of one's own --------------------------------------------- */

static char folder[64];

static const char *make_folder(void)
{
	(void)strcpy(folder, "/tmp/tare-test-csv-XXXXXX");
	return mkdtemp(folder);
}

static void drop_folder(void)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	CHECK_INT(system(command), 0);
}

static char *contents(const char *path)
{
	static char text[1 << 20];
	FILE *file = fopen(path, "r");
	size_t n = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	if (file)
		(void)fclose(file);
	text[n] = '\0';
	return text;
}

static const tare_run_row sample = {
	.epoch = 1, .total_time = 0.1, .forward_time = 1. / 3,
	.backward_time = 1e-9, .comm_time = 0, .update_time = 2.5e-5,
	.loss = 1.9459101090932196, .train_acc = 1, .val_f1 = 0.25,
	.test_f1 = NAN, .peak_memory_mb = 12.5,
};

/* ---- writing ----------------------------------------------------------- */

TEST(a_file_has_comments_the_header_and_rows)
{
	static const char *const pairs[] = { "seed", "7", "odd:\nkey",
					     "two\nlines" };
	tare_run_csv *csv = NULL;
	char path[128], *text;

	CHECK(make_folder() != NULL);
	(void)snprintf(path, sizeof(path), "%s/new/deep", folder);
	CHECK_INT(tare_run_csv_open(path, "mpi_4", pairs, 2, &csv), 0);
	CHECK_INT(tare_run_csv_add(csv, &sample), 0);
	CHECK(strstr(tare_run_csv_path(csv), "/new/deep/mpi_4_metrics.csv"));
	(void)snprintf(path, sizeof(path), "%s", tare_run_csv_path(csv));
	CHECK_INT(tare_run_csv_close(csv), 0);
	text = contents(path);
	CHECK(strncmp(text, "# config: mpi_4\n# host: ", 24) == 0);
	CHECK(strstr(text, "\n# date: 2") && strstr(text, "Z\n# tare: "));
	CHECK(strstr(text, "\n# seed: 7\n# odd__key: two lines\n"));
	CHECK(strstr(text, "\n# total_training_time: 0.1 "));
	CHECK(strstr(text, " \n# finished: yes\nepoch,"));
	CHECK(strstr(text, "\n" HEADER "\n1,0.1,0.3333333333333333,1e-9,0,"
			   "2.5e-5,1.9459101090932196,1,0.25,,12.5\n"));
	drop_folder();
}

/* The number that is in a row of that file; 0: there is none. */
static uint64_t epoch_in(const char *name)
{
	tare_run_file *file = NULL;
	uint64_t epoch = 0;
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (tare_run_file_open(path, &file, NULL))
		return 0;
	if (tare_run_file_table(file)->n_rows == 1)
		epoch = tare_run_file_table(file)->rows[0].epoch;
	tare_run_file_close(file);
	return epoch;
}

static tare_run_csv *write_run(uint64_t number)
{
	tare_run_row row = sample;
	tare_run_csv *csv = NULL;

	row.epoch = number;
	CHECK_INT(tare_run_csv_open(folder, "seq", NULL, 0, &csv), 0);
	CHECK_INT(tare_run_csv_add(csv, &row), 0);
	return csv;
}

TEST(the_newest_run_has_the_name_and_none_is_replaced)
{
	char name[32];

	CHECK(make_folder() != NULL);
	for (uint64_t i = 1; i <= 12; i++) {
		tare_run_csv *csv = write_run(i);

		CHECK_STR(tare_run_csv_path(csv) + strlen(folder),
			  "/seq_metrics.csv");
		CHECK_INT(tare_run_csv_close(csv), 0);
		CHECK_INT(epoch_in("seq_metrics.csv"), i);
	}
	for (uint64_t i = 1; i < 12; i++) {
		(void)snprintf(name, sizeof(name), "seq_metrics_%d.csv",
			       (int)i + 1);
		CHECK_INT(epoch_in(name), i);
	}
	drop_folder();
}

TEST(a_run_that_goes_on_keeps_its_name)
{
	tare_run_csv *first, *second, *third;

	CHECK(make_folder() != NULL);
	first = write_run(1);
	second = write_run(2);
	CHECK_STR(tare_run_csv_path(second) + strlen(folder),
		  "/seq_metrics_2.csv");
	CHECK_INT(tare_run_csv_close(first), 0);
	third = write_run(3); /* the first is moved, the second goes on */
	CHECK_STR(tare_run_csv_path(third) + strlen(folder),
		  "/seq_metrics.csv");
	CHECK_INT(epoch_in("seq_metrics_3.csv"), 1);
	CHECK_INT(epoch_in("seq_metrics_2.csv"), 2);
	CHECK_INT(tare_run_csv_close(second), 0);
	CHECK_INT(tare_run_csv_close(third), 0);
	drop_folder();
}

/* Eight processes at once, eight runs each: all are there, once. */
TEST(processes_that_begin_together_lose_no_run)
{
	bool seen[65] = { false };
	char name[32];
	int status, n = 0;

	CHECK(make_folder() != NULL);
	for (int p = 0; p < 8; p++)
		if (fork() == 0) {
			for (int i = 0; i < 8; i++)
				(void)tare_run_csv_close(
					write_run(8 * p + i + 1));
			_exit(0);
		}
	for (int p = 0; p < 8; p++)
		CHECK(wait(&status) > 0 && status == 0);
	for (int i = 1; i <= 80; i++) {
		uint64_t epoch;

		(void)snprintf(name, sizeof(name), i > 1 ?
			       "seq_metrics_%d.csv" : "seq_metrics.csv", i);
		epoch = epoch_in(name);
		if (epoch && epoch <= 64) {
			CHECK(!seen[epoch]);
			seen[epoch] = true;
			n++;
		}
	}
	CHECK_INT(n, 64);
	drop_folder();
}

/* What is no file of ours is neither moved nor followed. */
TEST(a_link_or_a_folder_of_that_name_is_left_alone)
{
	char path[256], there[256];
	tare_run_csv *csv;

	CHECK(make_folder() != NULL);
	(void)snprintf(path, sizeof(path), "%s/seq_metrics.csv", folder);
	(void)snprintf(there, sizeof(there), "%s/elsewhere", folder);
	CHECK_INT(symlink(there, path), 0);
	csv = write_run(1);
	CHECK_STR(tare_run_csv_path(csv) + strlen(folder),
		  "/seq_metrics_2.csv");
	CHECK_INT(tare_run_csv_close(csv), 0);
	CHECK(access(there, F_OK) != 0);
	drop_folder();
}

TEST(a_killed_run_keeps_every_row_and_its_total)
{
	tare_run_file *file = NULL;
	char path[128];
	pid_t child;
	int status;

	CHECK(make_folder() != NULL);
	child = fork();
	if (child == 0) {
		tare_run_csv *csv;
		tare_run_row row = sample;

		if (tare_run_csv_open(folder, "k", NULL, 0, &csv))
			_exit(1);
		for (row.epoch = 1; row.epoch <= 500; row.epoch++)
			if (tare_run_csv_add(csv, &row))
				_exit(1);
		(void)raise(SIGKILL);
	}
	CHECK_INT(waitpid(child, &status, 0), child);
	CHECK(WIFSIGNALED(status));
	(void)snprintf(path, sizeof(path), "%s/k_metrics.csv", folder);
	if (CHECK_INT(tare_run_file_open(path, &file, NULL), 0)) {
		CHECK_INT(tare_run_file_table(file)->n_rows, 500);
		CHECK_NEAR(tare_run_file_table(file)->total_training_time, 50,
			   1e-9);
		CHECK(tare_run_file_table(file)->is_open);
	}
	tare_run_file_close(file);
	drop_folder();
}

TEST(a_locale_changes_nothing)
{
	tare_run_csv *csv = NULL;

	CHECK(make_folder() != NULL);
	(void)setlocale(LC_ALL, "de_DE.UTF-8");
	CHECK_INT(tare_run_csv_open(folder, "l", NULL, 0, &csv), 0);
	CHECK_INT(tare_run_csv_add(csv, &sample), 0);
	CHECK(strstr(contents(tare_run_csv_path(csv)), "\n1,0.1,0.333"));
	CHECK_INT(tare_run_csv_close(csv), 0);
	(void)setlocale(LC_ALL, "C");
	drop_folder();
}

TEST(what_diverged_is_written_and_read)
{
	tare_run_row row = sample;
	tare_run_csv *csv = NULL;
	tare_run_file *file = NULL;
	const tare_run_table *table;

	CHECK(make_folder() != NULL);
	CHECK_INT(tare_run_csv_open(folder, "d", NULL, 0, &csv), 0);
	row.loss = INFINITY;
	CHECK_INT(tare_run_csv_add(csv, &row), 0);
	row.loss = NAN;
	row.epoch = 2;
	CHECK_INT(tare_run_csv_add(csv, &row), 0);
	CHECK(strstr(contents(tare_run_csv_path(csv)), ",nan,1,"));
	if (CHECK_INT(tare_run_file_open(tare_run_csv_path(csv), &file, NULL),
		      0)) {
		table = tare_run_file_table(file);
		CHECK(isinf(table->rows[0].loss) && isnan(table->rows[1].loss));
	}
	tare_run_file_close(file);
	CHECK_INT(tare_run_csv_close(csv), 0);
	drop_folder();
}

TEST(names_that_are_no_file_names_are_refused)
{
	static const char *const names[] = { "", ".hidden", "a/b", "a\nb",
					     "..", NULL };
	tare_run_csv *csv = NULL;

	CHECK(make_folder() != NULL);
	for (int i = 0; i < 6; i++)
		CHECK_INT(tare_run_csv_open(folder, names[i], NULL, 0, &csv),
			  TARE_EINVAL);
	CHECK_INT(tare_run_csv_open(NULL, "a", NULL, 0, &csv), TARE_EINVAL);
	CHECK_INT(tare_run_csv_open("", "a", NULL, 0, &csv), TARE_EINVAL);
	CHECK_INT(tare_run_csv_open(folder, "a", NULL, 1, &csv), TARE_EINVAL);
	CHECK_INT(tare_run_csv_add(NULL, &sample), TARE_EINVAL);
	CHECK_INT(tare_run_csv_close(NULL), 0);
	CHECK(!csv);
	drop_folder();
}

/* Root may write anywhere: what is no folder serves as one that refuses. */
TEST(a_folder_that_cannot_be_written_is_an_error)
{
	tare_run_csv *csv = NULL;
	char path[128];

	CHECK(make_folder() != NULL);
	(void)snprintf(path, sizeof(path), "%s/file", folder);
	(void)fclose(fopen(path, "w"));
	CHECK(tare_run_csv_open(path, "a", NULL, 0, &csv) < 0);
	CHECK(tare_run_csv_open("/proc/none", "a", NULL, 0, &csv) < 0);
	CHECK(!csv);
	if (geteuid() != 0) {
		CHECK_INT(chmod(folder, 0500), 0);
		CHECK_INT(tare_run_csv_open(folder, "a", NULL, 0, &csv),
			  TARE_EPERM);
		CHECK_INT(chmod(folder, 0700), 0);
	}
	drop_folder();
}

/* A limit of file sizes stands for a full disk. */
TEST(a_full_disk_costs_no_row_once_there_is_room_again)
{
	struct rlimit before, tight;
	tare_run_row row = sample;
	tare_run_csv *csv = NULL;
	tare_run_file *file = NULL;
	uint64_t failed = 0;

	CHECK(make_folder() != NULL);
	CHECK_INT(tare_run_csv_open(folder, "f", NULL, 0, &csv), 0);
	CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
	tight = before;
	tight.rlim_cur = 1000;
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &tight), 0);
	for (row.epoch = 1; row.epoch <= 50; row.epoch++)
		failed += tare_run_csv_add(csv, &row) != 0;
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
	CHECK(failed > 30);
	if (CHECK_INT(tare_run_file_open(tare_run_csv_path(csv), &file, NULL),
		      0)) {
		CHECK_INT(tare_run_file_table(file)->n_rows, 50 - failed);
		CHECK(!tare_run_file_table(file)->is_cut);
	}
	tare_run_file_close(file);
	CHECK_INT(tare_run_csv_add(csv, &row), 0);
	CHECK_INT(tare_run_file_open(tare_run_csv_path(csv), &file, NULL), 0);
	CHECK_INT(tare_run_file_table(file)->n_rows, 51);
	tare_run_file_close(file);
	CHECK_INT(tare_run_csv_close(csv), 0);
	drop_folder();
}

TEST(a_disk_that_is_full_at_once_leaves_no_file)
{
	struct rlimit before, tight;
	tare_run_csv *csv = NULL;
	char path[320];

	CHECK(make_folder() != NULL);
	CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
	tight = before;
	tight.rlim_cur = 10;
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &tight), 0);
	CHECK(tare_run_csv_open(folder, "f", NULL, 0, &csv) != 0);
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
	(void)snprintf(path, sizeof(path), "%s/f_metrics.csv", folder);
	CHECK(access(path, F_OK) != 0);
	drop_folder();
}

/* Others look at results, too. */
TEST(a_new_folder_is_as_the_umask_has_it)
{
	mode_t before = umask(022);
	tare_run_csv *csv = NULL;
	char path[320];
	struct stat st;

	CHECK(make_folder() != NULL);
	(void)snprintf(path, sizeof(path), "%s/new", folder);
	CHECK_INT(tare_run_csv_open(path, "f", NULL, 0, &csv), 0);
	CHECK_INT(stat(path, &st), 0);
	CHECK_INT(st.st_mode & 0777, 0755);
	CHECK_INT(unlink(tare_run_csv_path(csv)), 0);
	CHECK_INT(tare_run_csv_close(csv), 0);
	CHECK_INT(rmdir(path), 0);
	(void)umask(before);
	drop_folder();
}

/* ---- reading what others write ----------------------------------------- */

static tare_run_file *parsed(const char *text)
{
	tare_run_problem problem;
	tare_run_file *file = NULL;

	if (!CHECK_INT(tare_run_file_parse(text, strlen(text), &file,
					   &problem), 0))
		CHECK_STR(problem.text, "");
	return file;
}

/* Two rows of epoch, total_time, loss: 1, 0.5, 2.25 and 2, 0.25, not known. */
static void check_two_rows(const char *text)
{
	tare_run_file *file = parsed(text);
	const tare_run_table *table = tare_run_file_table(file);

	if (table && CHECK_INT(table->n_rows, 2)) {
		CHECK_INT(table->rows[0].epoch, 1);
		CHECK_NEAR(table->rows[0].total_time, 0.5, 0);
		CHECK_NEAR(table->rows[0].loss, 2.25, 0);
		CHECK(isnan(table->rows[0].comm_time));
		CHECK_INT(table->rows[1].epoch, 2);
		CHECK_NEAR(table->rows[1].total_time, 0.25, 0);
		CHECK(isnan(table->rows[1].loss));
		CHECK_INT(table->columns, 1 << 0 | 1 << 5);
		CHECK(!table->is_cut);
	}
	tare_run_file_close(file);
}

TEST(all_line_ends_are_read)
{
	check_two_rows("epoch,total_time,loss\n1,0.5,2.25\n2,0.25,\n");
	check_two_rows("epoch,total_time,loss\r\n1,0.5,2.25\r\n2,0.25,\r\n");
	check_two_rows("epoch,total_time,loss\r1,0.5,2.25\r2,0.25,\r");
	check_two_rows("\n\nepoch,total_time,loss\n\n1,0.5,2.25\n2,0.25,");
}

TEST(what_spreadsheets_make_of_it_is_read)
{
	check_two_rows("\xef\xbb\xbf" "epoch,total_time,loss\n"
		       "1,0.5,2.25\n2,0.25,\n");
	check_two_rows("\"epoch\",\"total_time\",\"loss\"\r\n"
		       "\"1\",\"0.5\",\"2.25\"\r\n\"2\",\"0.25\",\"\"\r\n");
	check_two_rows("epoch;total_time;loss\n1;0,5;2,25\n2;0,25;\n");
	check_two_rows("epoch;total_time;loss\n1;0.5;2.25\n2;0.25;\n");
	check_two_rows("epoch\ttotal_time\tloss\n1\t0.5\t2.25\n2\t0.25\t\n");
	check_two_rows("\"# a: b\",,\nepoch,total_time,loss,,\n"
		       "1,0.5,2.25,,\n2,0.25,,,\n,,,,\n");
}

TEST(order_more_columns_and_missing_values_do_not_matter)
{
	check_two_rows("loss,gpu,epoch,total_time\n2.25,x,1,0.5\n,,2,0.25\n");
	check_two_rows("Epoch, Total_Time , LOSS\n 1 , 0.5 , 2.25 \n"
		       "2.0,0.25,NaN\n");
	check_two_rows("epoch,total_time,loss\n1,0.5,2.25\n2,0.25,n/a\n");
}

TEST(comments_are_found_by_their_key)
{
	tare_run_file *file = parsed("# config: mpi_4\n#seed=7\n# a remark\n"
				     "\"# odd: a \"\"b\"\"\",,,\n"
				     "# total_training_time: 1.5   \n" HEADER
				     "\n# later: yes\n");

	CHECK_STR(tare_run_file_comment(file, "config"), "mpi_4");
	CHECK_STR(tare_run_file_comment(file, "seed"), "7");
	CHECK_STR(tare_run_file_comment(file, "odd"), "a \"b\"");
	CHECK_STR(tare_run_file_comment(file, "later"), "yes");
	CHECK(!tare_run_file_comment(file, "a remark"));
	CHECK_NEAR(tare_run_file_table(file)->total_training_time, 1.5, 0);
	CHECK_INT(tare_run_file_table(file)->n_rows, 0);
	tare_run_file_close(file);
}

TEST(half_a_last_line_is_left_out)
{
	static const char *const ends[] = { "2,0.2", "2", "2,0.25,1,x",
					    "2,0.25,1,1,1,1,1,1,1,1,e" };
	char text[512];

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		tare_run_file *file;

		(void)snprintf(text, sizeof(text), HEADER
			       "\n1,0.5,,,,,2.25,,,,\n%s", ends[i]);
		file = parsed(text);
		CHECK_INT(tare_run_file_table(file)->n_rows, 1);
		CHECK(tare_run_file_table(file)->is_cut);
		tare_run_file_close(file);
	}
}

/* ---- what cannot be read ----------------------------------------------- */

struct bad {
	const char *text;
	unsigned line, column;
	const char *why; /* a part of it */
};

static const struct bad bad[] = {
	{ "", 0, 0, "no header row" },
	{ "# config: a\n", 0, 0, "no header row" },
	{ "1,2,3\n", 1, 0, "header row is missing" },
	{ "# a: b\nname,value\n", 2, 0, "header row is missing" },
	{ "epoch,loss\n", 1, 0, "no column 'total_time'" },
	{ "total_time,loss\n", 1, 0, "no column 'epoch'" },
	{ "epoch,total_time,loss,LOSS\n", 1, 4, "'loss' is there twice" },
	{ HEADER "\n" HEADER "\n", 2, 0, "second header" },
	{ HEADER "\n1,1,,,,,,,,,\n" HEADER "\n1,1,,,,,,,,,\n", 3, 0,
	  "second header" },
	{ HEADER "\n1,1,,,,,,,,,\n1,1,,,,,,,,,\n", 3, 0, "after epoch 1" },
	{ HEADER "\n1,abc,,,,,,,,,\n", 2, 2, "total_time: 'abc'" },
	{ HEADER "\n1,nan,,,,,,,,,\n", 2, 2, "no time" },
	{ HEADER "\n1,-1,,,,,,,,,\n", 2, 2, "no time" },
	{ HEADER "\n1,1,inf,,,,,,,,\n", 2, 3, "no time" },
	{ HEADER "\n1,,,,,,,,,,\n", 2, 2, "total_time is missing" },
	{ HEADER "\n,1,,,,,,,,,\n", 2, 1, "epoch is missing" },
	{ HEADER "\nnan,1,,,,,,,,,\n", 2, 1, "no epoch" },
	{ HEADER "\n1.5,1,,,,,,,,,\n", 2, 1, "no epoch" },
	{ HEADER "\n-1,1,,,,,,,,,\n", 2, 1, "no epoch" },
	{ HEADER "\n1e300,1,,,,,,,,,\n", 2, 1, "no epoch" },
	{ HEADER "\n1,1,,,\n2,1,,,,,,,,,\n", 2, 0, "5 cells" },
	{ HEADER "\n1,1,,,,,,,,,,,7\n", 2, 0, "13 cells" },
	{ HEADER "\n1,1,,,,,,x\ty,,,\n", 2, 8, "'x?y' is no number" },
};

TEST(what_cannot_be_read_is_told_with_its_place)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		tare_run_problem problem = { .line = 99 };
		tare_run_file *file = NULL;

		CHECK_INT(tare_run_file_parse(bad[i].text,
					      strlen(bad[i].text), &file,
					      &problem), TARE_EFORMAT);
		CHECK_INT(problem.line, bad[i].line);
		CHECK_INT(problem.column, bad[i].column);
		if (!strstr(problem.text, bad[i].why))
			CHECK_STR(problem.text, bad[i].why);
		CHECK(!file);
	}
}

TEST(what_is_no_text_or_no_file_is_refused)
{
	tare_run_problem problem;
	tare_run_file *file = NULL;

	CHECK_INT(tare_run_file_parse("epoch\0x", 7, &file, &problem),
		  TARE_EFORMAT);
	CHECK_INT(tare_run_file_open("/proc/none", &file, &problem),
		  TARE_ENOENT);
	CHECK_INT(tare_run_file_open("/proc", &file, &problem), TARE_EFORMAT);
	CHECK_INT(tare_run_file_open(NULL, &file, NULL), TARE_EINVAL);
	CHECK_INT(tare_run_file_parse(NULL, 1, &file, NULL), TARE_EINVAL);
	CHECK(!tare_run_file_table(NULL));
	CHECK(!tare_run_file_comment(NULL, "a"));
	CHECK(!file);
	tare_run_file_close(NULL);
}
