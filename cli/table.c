/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define GAP 2u	    /* spaces between columns */
#define COMFORT 20u /* a shrinking column keeps this if others can go */
#define LEAST 8u    /* and this in any case */

void table_init(struct table *table, const struct column *columns,
		size_t n_columns)
{
	*table = (struct table){ .columns = columns, .n_columns = n_columns };
}

void table_release(struct table *table)
{
	for (size_t i = 0; i < table->n_cells; i++)
		free(table->cells[i].text);
	free(table->cells);
	table_init(table, table->columns, table->n_columns);
}

static bool table_grow(struct table *table)
{
	size_t cap = table->cap ? table->cap * 2 : 64;
	struct table_cell *cells;

	if (table->n_cells < table->cap)
		return true;
	cells = realloc(table->cells, cap * sizeof(*cells));
	if (!cells)
		return false;
	table->cells = cells;
	table->cap = cap;
	return true;
}

void table_add_tinted(struct table *table, const char *text, enum tint tint)
{
	char *copy = strdup(text ? text : "");

	if (!copy || !table_grow(table)) {
		table->failed = true;
		free(copy);
		return;
	}
	tr_text_make_printable(copy);
	table->cells[table->n_cells++] =
		(struct table_cell){ .text = copy, .tint = tint };
}

void table_add(struct table *table, const char *text)
{
	table_add_tinted(table, text, TINT_NONE);
}

void table_addf(struct table *table, const char *format, ...)
{
	char *text = NULL;
	va_list list;

	va_start(list, format);
	if (vasprintf(&text, format, list) < 0)
		text = NULL;
	va_end(list);
	table->failed |= !text;
	table_add(table, text);
	free(text);
}

void table_add_name(struct table *table, const char *name, const char *labels)
{
	if (labels[0])
		table_addf(table, "%s{%s}", name, labels);
	else
		table_add(table, name);
}

static void measure(const struct table *table, size_t width[])
{
	for (size_t i = 0; i < table->n_columns; i++)
		width[i] = tr_text_columns(table->columns[i].title);
	for (size_t i = 0; i < table->n_cells; i++) {
		size_t w = tr_text_columns(table->cells[i].text);

		if (w > width[i % table->n_columns])
			width[i % table->n_columns] = w;
	}
}

/* Width of the remaining columns; a dropped one has a width of 0. */
static size_t total_width(const struct table *table, const size_t width[])
{
	size_t total = 0;

	for (size_t i = 0; i < table->n_columns; i++)
		if (width[i])
			total += width[i] + (total ? GAP : 0);
	return total;
}

/* Drops the next column; false: none can be dropped. */
static bool drop_one(const struct table *table, size_t width[])
{
	size_t next = table->n_columns;
	unsigned drop;

	for (size_t i = 0; i < table->n_columns; i++) {
		drop = table->columns[i].drop;
		if (drop && width[i] && (next == table->n_columns ||
					 drop < table->columns[next].drop))
			next = i;
	}
	if (next == table->n_columns)
		return false;
	width[next] = 0;
	return true;
}

/* Reduces `*width` by the excess over `limit`, but not below `least`. */
static void cut(size_t *width, size_t total, size_t limit, size_t least)
{
	size_t over = total > limit ? total - limit : 0;

	if (*width > least)
		*width = *width > over + least ? *width - over : least;
}

static void fit(const struct table *table, size_t width[], size_t limit)
{
	size_t none = 0, *shrinking = &none;

	if (!limit)
		return;
	for (size_t i = 0; i < table->n_columns; i++)
		if (table->columns[i].shrinks)
			shrinking = &width[i];
	cut(shrinking, total_width(table, width), limit, COMFORT);
	while (total_width(table, width) > limit && drop_one(table, width))
		;
	cut(shrinking, total_width(table, width), limit, LEAST);
}

static void print_spaces(FILE *stream, size_t n)
{
	while (n-- > 0)
		(void)fputc(' ', stream);
}

static void print_cell(const struct table_cell *cell, size_t width,
		       FILE *stream, bool color)
{
	size_t len = tr_text_cut(cell->text, width);
	char *cut;

	if (!cell->text[len]) {
		terminal_tinted(stream, color, cell->tint, cell->text);
		return;
	}
	len = tr_text_cut(cell->text, width - 1);
	cut = strndup(cell->text, len);
	if (cut)
		terminal_tinted(stream, color, cell->tint, cut);
	(void)fputc('~', stream);
	/* A wide character may have left one column unused. */
	if (cut)
		print_spaces(stream, width - 1 - tr_text_columns(cut));
	free(cut);
}

static void print_row(const struct table *table,
		      const struct table_cell cells[], const size_t width[],
		      FILE *stream, bool color)
{
	for (size_t i = 0; i < table->n_columns; i++) {
		size_t w = tr_text_columns(cells[i].text);
		size_t pad = w < width[i] ? width[i] - w : 0;

		if (!width[i])
			continue;
		if (i)
			print_spaces(stream, GAP);
		if (table->columns[i].right)
			print_spaces(stream, pad);
		print_cell(&cells[i], width[i], stream, color);
		/* No spaces at the end of a line. */
		if (!table->columns[i].right && i + 1 < table->n_columns)
			print_spaces(stream, pad);
	}
	(void)fputc('\n', stream);
}

void table_print(const struct table *table, FILE *stream, unsigned width,
		 bool color)
{
	struct table_cell title[TABLE_COLUMNS];
	size_t widths[TABLE_COLUMNS];

	measure(table, widths);
	fit(table, widths, width);
	for (size_t i = 0; i < table->n_columns; i++)
		title[i] = (struct table_cell){
			.text = (char *)(uintptr_t)table->columns[i].title,
			.tint = TINT_BOLD,
		};
	print_row(table, title, widths, stream, color);
	for (size_t i = 0; i + table->n_columns <= table->n_cells;
	     i += table->n_columns)
		print_row(table, table->cells + i, widths, stream, color);
}

void table_end(struct table *table, FILE *stream)
{
	table_print(table, stream, terminal_width(stream),
		    terminal_wants_color(stream));
	table_release(table);
}
