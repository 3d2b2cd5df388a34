/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: the program and the libraries that contain the addresses. */
#include "read/view.h"
#include "read/profile.h"

#include <stdlib.h>
#include <string.h>

static const char *name_in(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static const char *id_text(tare_view *view, const struct tr_module *row)
{
	static const char digit[] = "0123456789abcdef";
	char *text = tr_pool_take(&view->profile.texts,
				  2 * sizeof(row->id) + 1);

	if (!text)
		return "";
	for (uint32_t i = 0; i < row->id_bytes; i++) {
		text[2 * i] = digit[row->id[i] >> 4];
		text[2 * i + 1] = digit[row->id[i] & 15];
	}
	text[2 * row->id_bytes] = '\0';
	return text;
}

/* False: the row is invalid. */
static bool add_module(tare_view *view, const struct tr_module *row)
{
	struct tr_profile *p = &view->profile;
	tare_module *m = &p->modules[p->n_modules];

	if (row->id_bytes > sizeof(row->id) || row->from > row->to)
		return false;
	m->path = tr_image_string(&view->image, row->path);
	m->name = name_in(m->path);
	m->build_id = id_text(view, row);
	m->from = row->from;
	m->to = row->to;
	m->bias = row->bias;
	m->came_ns = row->came ? tr_time_real(&view->image, row->came) : 0;
	m->gone_ns = row->gone ? tr_time_real(&view->image, row->gone) : 0;
	p->n_modules++;
	return true;
}

/* Python functions are in no file: they have a module of their own. */
static void add_python(tare_view *view)
{
	const struct tr_header *header = tr_image_header(&view->image);
	struct tr_profile *p = &view->profile;

	p->python_module = TARE_NO_MODULE;
	if (!header->region[TR_REGION_CODE].used)
		return;
	p->python_module = (uint32_t)p->n_modules;
	p->modules[p->n_modules++] = (tare_module){
		.path = "", .name = TR_PYTHON_MODULE, .build_id = ""
	};
}

int tr_profile_modules(tare_view *view)
{
	struct tr_profile *p = &view->profile;
	const struct tr_module *row;
	uint64_t n;

	if (p->modules)
		return 0;
	row = tr_image_rows(&view->image, TR_REGION_MODULES, sizeof(*row), &n,
			    &p->damaged);
	if (n > TR_MAX_MODULES) {
		p->damaged++;
		n = 0;
	}
	p->modules = calloc(n + 2, sizeof(*p->modules));
	p->module_index = malloc((n + 1) * sizeof(*p->module_index));
	if (!p->modules || !p->module_index) {
		free(p->modules);
		free(p->module_index);
		p->modules = NULL;
		p->module_index = NULL;
		return TARE_ENOMEM;
	}
	for (uint64_t i = 0; i < n; i++) {
		p->module_index[i] = (uint32_t)p->n_modules;
		if (row[i].ready && add_module(view, &row[i]))
			continue;
		p->module_index[i] = TARE_NO_MODULE;
		p->damaged += row[i].ready != 0;
	}
	p->n_module_numbers = (uint32_t)n;
	add_python(view);
	return 0;
}

uint32_t tr_profile_module(tare_view *view, uint32_t number)
{
	struct tr_profile *p = &view->profile;

	if (!number || tr_profile_modules(view))
		return TARE_NO_MODULE;
	if (number <= p->n_module_numbers &&
	    p->module_index[number - 1] != TARE_NO_MODULE)
		return p->module_index[number - 1];
	/* In a live run a module may be mapped after its table was copied. */
	p->damaged += !view->live;
	return TARE_NO_MODULE;
}

const char *tr_module_name(const tare_view *view, uint32_t module)
{
	return module < view->profile.n_modules ?
		       view->profile.modules[module].name :
		       "";
}

bool tr_module_is_own(tare_view *view, uint32_t number)
{
	const struct tr_profile *p = &view->profile;

	return number && !tr_profile_modules(view) &&
	       number <= p->n_module_numbers &&
	       tr_module_name_is_own(
		       tr_module_name(view, p->module_index[number - 1]));
}

TARE_API int tare_view_modules(tare_view *view,
			       const tare_module **ret_modules, size_t *ret_n)
{
	int err = view && ret_modules && ret_n ? tr_profile_modules(view) :
						 TARE_EINVAL;

	if (err)
		return err;
	*ret_modules = view->profile.modules;
	*ret_n = view->profile.n_modules;
	return 0;
}

TARE_API uint32_t tare_view_module_at(tare_view *view, uint64_t address)
{
	uint32_t best = TARE_NO_MODULE;
	const tare_module *m;

	if (!view || tr_profile_modules(view))
		return TARE_NO_MODULE;
	m = view->profile.modules;
	for (uint32_t i = 0; i < view->profile.n_modules; i++) {
		if (address < m[i].from || address >= m[i].to)
			continue;
		if (best == TARE_NO_MODULE || !m[i].gone_ns ||
		    (m[best].gone_ns && m[i].came_ns >= m[best].came_ns))
			best = i;
	}
	return best;
}
