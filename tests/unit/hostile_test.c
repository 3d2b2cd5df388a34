/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hostile names: what a program or a file may call a series, in the report
 * for people and in the one for programs. JSON is judged by Python's parser,
 * which knows nothing of ours.
 */
#include "check.h"
#include "scene.h"

#include "ledger/write.h"
#include "base/text.h"
#include "read/view.h"

#include <tare/control.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- names ------------------------------------------------------------- */

static const char *const odd_names[] = {
	"</script><script>alert(1)</script>",
	"\"quoted\\\"",
	"{\"a\":1}",
	"\xe2\x80\xa8line\xe2\x80\xa9separators",
	"\xe2\x80\xaeoverride",
	"\xf0\x9f\x98\x80 emoji",
	"\xed\xa0\x80surrogate\xed\xbf\xbf",
	"\xc0\x80overlong\xe0\x80\xaf",
	"\xf4\x90\x80\x80 beyond",
	"\xc3",
	"\xe2\x82",
	"\xf0\x9f\x98",
	"\x80\x81\x9b[31m",
	"\xc2\x9b[31m C1",
	"\xfe\xff",
	"%s%n%d",
	"a,b;c\td",
	" ",
	"=1+1",
	"$(reboot)",
};

#define N_ODD (sizeof(odd_names) / sizeof(odd_names[0]))

static void measure(const char *name)
{
	tare_site *scope = tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME, name,
					 NULL, name);
	tare_site *value = tare_site_get(TARE_KIND_VALUE, TARE_TYPE_CUSTOM,
					 name, name, NULL);
	const char *pairs[] = { name, name };
	tare_site *labels = tare_site_labels(value, 1, pairs);

	tare_scope_end(tare_scope_begin(scope));
	tare_value_observe(value, 1);
	tare_value_observe(labels, 2);
}

/* Every byte alone and in company, then the odd ones. */
static void measure_all(void)
{
	char name[8] = "";

	for (unsigned c = 1; c < 256; c++) {
		name[0] = (char)c;
		name[1] = '\0';
		measure(name);
		(void)snprintf(name, sizeof(name), "a%cb", (int)c);
		measure(name);
	}
	for (size_t i = 0; i < N_ODD; i++)
		measure(odd_names[i]);
}

static int append(void *arg, const char *text, size_t len)
{
	tr_buf_add(arg, text, len);
	return 0;
}

/* ---- JSON -------------------------------------------------------------- */

/* Strict: no NaN, no key twice, and all names are there. */
static const char python[] =
	"import json,sys\n"
	"def no(x): raise ValueError(x)\n"
	"def pairs(p):\n"
	"    d=dict(p)\n"
	"    assert len(d)==len(p), p\n"
	"    return d\n"
	"raw=open(sys.argv[1],'rb').read()\n"
	"d=json.loads(raw.decode('utf-8'),parse_constant=no,"
	"object_pairs_hook=pairs)\n"
	"names=[s['name'] for s in d['series']]\n"
	"assert len(names)==int(sys.argv[2]), len(names)\n"
	"for c in range(1,128):\n"
	"    assert chr(c) in names, c\n"
	"    assert 'a%cb'%c in names, c\n"
	"for s in d['series']+d['tree']:\n"
	"    for v in s.values():\n"
	"        assert not isinstance(v,str) or '\\x00' not in v\n"
	"assert any('\\ufffd' in n for n in names)\n"
	"assert '\\u2028line\\u2029separators' in names\n"
	"assert d['health']['lost']==0\n";

static int run_python(const struct tr_buf *json, size_t n_series)
{
	char path[160], script[160], command[512];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/report.json", scene_dir);
	(void)snprintf(script, sizeof(script), "%s/check.py", scene_dir);
	file = fopen(path, "wb");
	if (!file || fwrite(json->data, 1, json->len, file) != json->len ||
	    fclose(file))
		return -1;
	file = fopen(script, "wb");
	if (!file || fwrite(python, 1, sizeof(python) - 1, file) !=
			     sizeof(python) - 1 || fclose(file))
		return -1;
	(void)snprintf(command, sizeof(command), "python3 '%s' '%s' %zu",
		       script, path, n_series);
	return system(command);
}

static void play_json(void)
{
	struct tr_buf buf = TR_BUF_INIT;
	const tare_stats *rows;
	tare_view *view;

	scene_start(NULL);
	measure_all();
	view = scene_view();
	CHECK_INT(tare_view_json(view, NULL, append, &buf), 0);
	CHECK_INT(run_python(&buf, scene_rows(view, NULL, &rows)), 0);
	tr_buf_release(&buf);
	tare_view_close(view);
}

TEST(json_with_hostile_names_is_read_by_another_parser)
{
	if (system("python3 -c 0 2>/dev/null"))
		SKIP("no python3");
	scene_play(play_json);
}

/* ---- the report for people --------------------------------------------- */

/* No control character, none of C1 either, and nothing that is no UTF-8. */
static bool is_clean(const char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		uint32_t c;
		size_t n = tr_utf8_decode(text + i, len - i, &c);

		if (n == 0 || (c < 0x20 && c != '\n') ||
		    (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 ||
		    (c >= 0x202a && c <= 0x202e) ||
		    (c >= 0x2066 && c <= 0x2069)) {
			printf("# byte %zu: 0x%02x\n", i,
			       (unsigned char)text[i]);
			return false;
		}
		i += n;
	}
	return true;
}

static void check_report(tare_view *view, unsigned width)
{
	tare_report_options options = { .struct_size = sizeof(options),
					.width = width };
	struct tr_buf buf = TR_BUF_INIT;

	CHECK_INT(tare_view_report(view, &options, append, &buf), 0);
	CHECK(buf.len > 500);
	CHECK(is_clean(buf.data, buf.len));
	tr_buf_release(&buf);
}

static void play_report(void)
{
	tare_view *view;

	scene_start(NULL);
	measure_all();
	view = scene_view();
	check_report(view, 80);
	check_report(view, 127);
	check_report(view, 1000);
	tare_view_close(view);
}

TEST(the_report_has_no_control_characters)
{
	scene_play(play_report);
}

/* A ledger from elsewhere may say anything of its program. */
static void play_metadata(void)
{
	static const char meta[] =
		"command=\x1b]0;title\x07\x9b"
		"31m\nprogram=\x1b[2J\r\nhost=\x80\xc2\x85\n"
		"cpu=\x0b\x0c\ngit=\x1b[31m\x1b[31\n"
		"folder=\x7f\ngroup=\x08\nconfig=\x1b[1m";
	tare_view *view;

	scene_start(NULL);
	TARE_COUNT("counter", 1);
	for (int i = 0; i < 10; i++) {
		TARE_SCOPE("a scope with a name that takes its time");
	}
	memcpy(tr_ledger->base + TR_META_AT, meta, sizeof(meta));
	view = scene_view();
	check_report(view, 100);
	tare_view_close(view);
}

TEST(the_report_has_no_control_characters_from_metadata)
{
	scene_play(play_metadata);
}

static void play_file_name(void)
{
	char path[256];
	tare_view *view = NULL;

	scene_start(NULL);
	for (int i = 0; i < 10; i++) {
		TARE_SCOPE("a scope with a name that takes its time");
		TARE_COUNT("counter", 1);
	}
	(void)snprintf(path, sizeof(path), "%s/\x1b[31m\x9b\n.tare",
		       scene_dir);
	CHECK_INT(link(tare_ledger_path(), path), 0);
	if (CHECK_INT(tare_view_open(path, &view), 0))
		check_report(view, 100);
	tare_view_close(view);
}

TEST(the_report_has_no_control_characters_from_a_file_name)
{
	scene_play(play_file_name);
}
