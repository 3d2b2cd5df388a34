/* SPDX-License-Identifier: Apache-2.0 */
#include "findings.h"

#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "output.h"
#include "terminal.h"

void findings_add(struct findings *f, enum finding_state state,
		  const char *name, struct tr_buf *text)
{
	struct finding finding = { state, strdup(name),
				   text->failed || !text->len ? strdup("") :
								text->data };

	if (text->failed || !text->len)
		tr_buf_release(text);
	*text = (struct tr_buf)TR_BUF_INIT;
	if (!finding.name || !finding.text ||
	    !TR_ARRAY_ROOM(f->at, f->n, f->room)) {
		free(finding.name);
		free(finding.text);
		f->failed = true;
		return;
	}
	f->at[f->n++] = finding;
}

void findings_release(struct findings *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->at[i].name);
		free(f->at[i].text);
	}
	free(f->at);
	*f = (struct findings){ .n = 0 };
}

int findings_code(const struct findings *f)
{
	enum finding_state worst = FINDING_OK;

	if (f->failed)
		return message_error("check", "findings", TARE_ENOMEM);
	for (size_t i = 0; i < f->n; i++)
		worst = f->at[i].state > worst ? f->at[i].state : worst;
	return worst == FINDING_BAD    ? CODE_FOUND :
	       worst == FINDING_UNSURE ? CODE_UNSURE :
					 CODE_OK;
}

static const char *state_text(enum finding_state state)
{
	static const char *const texts[] = { "ok", "cannot tell", "problem" };

	return texts[state];
}

void findings_print(const struct findings *f)
{
	static const enum tint tints[] = { TINT_GREEN, TINT_YELLOW, TINT_RED };
	bool color = terminal_wants_color(stdout);

	for (size_t i = 0; i < f->n; i++) {
		terminal_tinted(stdout, color, tints[f->at[i].state],
				state_text(f->at[i].state));
		(void)fputs(": ", stdout);
		terminal_safe(stdout, f->at[i].name);
		(void)fputs(": ", stdout);
		terminal_safe(stdout, f->at[i].text);
		(void)putchar('\n');
	}
}

/* ---- GitHub ------------------------------------------------------------ */

/* A line is a command: what ends or divides it is written as %XX. */
static void github_text(FILE *stream, const char *text, bool is_title)
{
	for (; *text; text++) {
		bool is_special = *text == '%' || *text == '\r' ||
				  *text == '\n' ||
				  (is_title && (*text == ':' || *text == ','));

		if (is_special)
			(void)fprintf(stream, "%%%02X", (unsigned char)*text);
		else
			(void)fputc(*text, stream);
	}
}

void findings_github(const struct findings *f, FILE *stream)
{
	for (size_t i = 0; i < f->n; i++) {
		if (f->at[i].state == FINDING_OK)
			continue;
		(void)fprintf(stream, "::%s title=tare check%%3A ",
			      f->at[i].state == FINDING_BAD ? "error" :
							      "warning");
		github_text(stream, f->at[i].name, true);
		(void)fputs("::", stream);
		github_text(stream, f->at[i].text, false);
		(void)fputc('\n', stream);
	}
}

/* ---- JUnit ------------------------------------------------------------- */

/* What XML has no character for becomes '?'. */
static void xml_text(FILE *stream, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		uint32_t code;
		size_t n = tr_utf8_decode(text, left, &code);

		if (!n || (code < ' ' && code != '\t' && code != '\n') ||
		    code == 0xfffe || code == 0xffff)
			(void)fputc('?', stream);
		else if (*text == '<' || *text == '&' || *text == '"')
			(void)fprintf(stream, "&#%u;", (unsigned)*text);
		else
			(void)fwrite(text, 1, n, stream);
		text += n ? n : 1;
		left -= n ? n : 1;
	}
}

static void write_case(FILE *stream, const struct finding *finding)
{
	const char *element = finding->state == FINDING_BAD    ? "failure" :
			      finding->state == FINDING_UNSURE ? "skipped" :
								 "system-out";

	(void)fputs("<testcase classname=\"tare.check\" name=\"", stream);
	xml_text(stream, finding->name);
	if (finding->state == FINDING_OK)
		(void)fprintf(stream, "\"><%s>", element);
	else {
		(void)fprintf(stream, "\"><%s message=\"", element);
		xml_text(stream, finding->text);
		(void)fputs("\">", stream);
	}
	xml_text(stream, finding->text);
	(void)fprintf(stream, "</%s></testcase>\n", element);
}

int findings_junit(const struct findings *f, const char *path)
{
	struct output output;
	size_t bad = 0, unsure = 0;
	int err = output_open(&output, path);

	if (err)
		return message_error("write", path, err);
	for (size_t i = 0; i < f->n; i++) {
		bad += f->at[i].state == FINDING_BAD;
		unsure += f->at[i].state == FINDING_UNSURE;
	}
	(void)fprintf(output.stream,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<testsuite name=\"tare check\" tests=\"%zu\" "
		      "failures=\"%zu\" skipped=\"%zu\" errors=\"0\">\n",
		      f->n, bad, unsure);
	for (size_t i = 0; i < f->n; i++)
		write_case(output.stream, &f->at[i]);
	(void)fputs("</testsuite>\n", output.stream);
	err = output_close(&output, 0);
	return err ? message_error("write", path, err) : CODE_OK;
}

void findings_json(const struct findings *f, struct tr_json *json)
{
	tr_json_array(json, "findings");
	for (size_t i = 0; i < f->n; i++) {
		tr_json_object(json, NULL);
		tr_json_str(json, "state", state_text(f->at[i].state));
		tr_json_str(json, "name", f->at[i].name);
		tr_json_str(json, "text", f->at[i].text);
		tr_json_end_object(json);
	}
	tr_json_end_array(json);
}
