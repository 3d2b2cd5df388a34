/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs: several processes added up, by program and then by function.
 *
 * Views are added one after the other, oldest first, and may be closed at once:
 * texts are copied. A process that replaces itself by exec has several runs
 * with one process id; the kernel's CPU time of the later one
 * includes that of the earlier one, which is taken off.
 */
#include "read/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/maths.h"

struct tr_process_time {
	int64_t pid;
	double cpu_ns; /* since its start */
};

/* ---- rows -------------------------------------------------------------- */

/* Room for one more of `size` bytes; false: out of memory. */
static bool make_room(void **rows, size_t n, size_t *cap, size_t size)
{
	size_t more = *cap ? *cap * 2 : 64;
	void *grown;

	if (n < *cap)
		return true;
	grown = realloc(*rows, more * size);
	if (!grown)
		return false;
	*rows = grown;
	*cap = more;
	return true;
}

/* By name; the last one stands for all beyond TR_PROGRAMS_MOST. */
static struct tr_program *program_of(struct tr_programs *p, const char *name)
{
	struct tr_program *program;

	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->program[i].name, name) == 0)
			return &p->program[i];
	if (p->n == TR_PROGRAMS_MOST)
		return &p->program[p->n - 1];
	if (p->n == TR_PROGRAMS_MOST - 1)
		name = "[other programs]";
	if (!make_room((void **)&p->program, p->n, &p->cap,
		       sizeof(*p->program)))
		return NULL;
	program = &p->program[p->n];
	*program = (struct tr_program){
		.name = tr_pool_text(&p->texts, name),
		.number = (uint32_t)p->n,
	};
	if (!program->name)
		return NULL;
	p->n++;
	return program;
}

static uint32_t find_function(const struct tr_programs *p, uint32_t hash,
			      uint32_t program, const tare_function *wanted)
{
	uint32_t step = 0, i;

	while ((i = tr_lookup_next(&p->by_text, hash, &step)) !=
	       TR_LOOKUP_NONE) {
		const struct tr_program_function *f = &p->function[i];

		if (f->program == program &&
		    strcmp(f->sum.function, wanted->function) == 0 &&
		    strcmp(f->sum.module, wanted->module) == 0)
			break;
	}
	return i;
}

static bool add_row(struct tr_programs *p, uint32_t hash, uint32_t program,
		    const tare_function *like)
{
	struct tr_program_function *f;

	if (!make_room((void **)&p->function, p->n_functions,
		       &p->cap_functions, sizeof(*p->function)))
		return false;
	f = &p->function[p->n_functions];
	*f = (struct tr_program_function){
		.program = program,
		.sum = { .function = tr_pool_text(&p->texts, like->function),
			 .file = tr_pool_text(&p->texts, like->file),
			 .module = tr_pool_text(&p->texts, like->module),
			 .line = like->line,
			 .first_line = like->first_line,
			 .kind = like->kind },
	};
	if (!f->sum.function || !f->sum.file || !f->sum.module ||
	    !tr_lookup_add(&p->by_text, hash, (uint32_t)p->n_functions))
		return false;
	p->n_functions++;
	return true;
}

/* Beyond TR_PROGRAM_FUNCTIONS_MOST its time stays that of the program. */
static bool add_function(struct tr_programs *p, struct tr_program *program,
			 const tare_function *one, bool is_new)
{
	uint32_t hash = tr_hash_text(tr_hash_text(TR_HASH_FIRST ^
							  program->number,
						  one->function),
				     one->module);
	uint32_t i = find_function(p, hash, program->number, one);
	struct tr_program_function *f;

	if (!is_new && i != TR_LOOKUP_NONE &&
	    p->function[i].seen == p->runs)
		return true;
	if (i == TR_LOOKUP_NONE) {
		if (p->n_functions == TR_PROGRAM_FUNCTIONS_MOST)
			return true;
		i = (uint32_t)p->n_functions;
		if (!add_row(p, hash, program->number, one))
			return false;
	}
	f = &p->function[i];
	f->sum.samples += one->samples;
	f->sum.weight_ns += one->weight_ns;
	f->sum.all_samples += one->all_samples;
	f->sum.all_weight_ns += one->all_weight_ns;
	f->processes += f->seen != p->runs;
	f->seen = p->runs;
	program->named_ns += one->weight_ns;
	return true;
}

/*
 * As in the report of one process, runtime code is part of the function that
 * calls it. What has no own time then is there by its total alone.
 */
static int add_functions(struct tr_programs *p, struct tr_program *program,
			 tare_view *view, double *ret_named_ns)
{
	struct tr_frames frames = { 0 };
	struct tr_paid *rows = NULL;
	const tare_function *functions;
	size_t n = 0;
	int err = tr_functions_paid(view, &frames, &rows, &n);

	for (size_t i = 0; i < n && !err; i++) {
		if (rows[i].is_called)
			continue;
		*ret_named_ns += rows[i].function.weight_ns;
		if (!add_function(p, program, &rows[i].function, true))
			err = TARE_ENOMEM;
	}
	free(rows);
	tr_frames_release(&frames);
	if (!err)
		err = tr_functions_folded(view, &functions, &n);
	for (size_t i = 0; i < n && !err; i++) {
		tare_function one = functions[i];

		one.samples = 0;
		one.weight_ns = 0;
		if (!add_function(p, program, &one, false))
			err = TARE_ENOMEM;
	}
	return err;
}

/* ---- times ------------------------------------------------------------- */

/*
 * The CPU time of this run alone; notes that of its process. The weight of
 * samples is that of the run anyway: it `is_own`.
 */
static bool take_cpu(struct tr_programs *p, int64_t pid, bool is_own,
		     double *cpu_ns)
{
	double whole = *cpu_ns;

	for (size_t i = 0; i < p->n_times; i++) {
		if (p->time[i].pid != pid)
			continue;
		if (is_own)
			return true;
		/* Less than before: another process with the same id. */
		if (whole >= p->time[i].cpu_ns)
			*cpu_ns = whole - p->time[i].cpu_ns;
		else
			p->processes++;
		p->time[i].cpu_ns = whole;
		return true;
	}
	if (!make_room((void **)&p->time, p->n_times, &p->cap_times,
		       sizeof(*p->time)))
		return false;
	p->time[p->n_times++] = (struct tr_process_time){ pid, whole };
	p->processes++;
	return true;
}

static void add_span(struct tr_programs *p, const tare_run *run)
{
	if (!p->runs || run->start_ns < p->start_ns)
		p->start_ns = run->start_ns;
	if (!p->runs || run->end_ns > p->end_ns)
		p->end_ns = run->end_ns;
	p->runs++;
}

/* What n equal samples would be: see uncertainty.c. */
static void add_certainty(struct tr_programs *p, tare_view *view)
{
	const tare_sampling *s = tare_view_sampling(view);
	double effective = tr_samples_effective(view);

	p->samples += s->samples;
	p->whole += s->whole_share * (double)s->samples;
	p->is_wall |= s->is_wall;
	p->measuring_ns += s->cost_ns;
	if (*s->python_refused && !p->python_refused) {
		memcpy(p->python, s->python, sizeof(p->python));
		p->python_refused = s->python_refused;
	}
	p->weight_ns += s->weight_ns;
	if (effective > 0)
		p->square_ns2 += s->weight_ns * s->weight_ns / effective;
}

int tr_programs_add(struct tr_programs *p, tare_view *view)
{
	const tare_run *run = tare_view_run(view);
	const tare_sampling *s = tare_view_sampling(view);
	double time_ns = s->is_wall ? s->weight_ns : s->cpu_ns, named_ns = 0;
	struct tr_program *program;
	int err;

	program = program_of(p, run->program);
	if (!program ||
	    !take_cpu(p, run->pid, s->is_wall || tr_profile_has_window(view),
		      &time_ns))
		return TARE_ENOMEM;
	add_span(p, run);
	add_certainty(p, view);
	err = add_functions(p, program, view, &named_ns);
	if (err)
		return err;
	program->processes++;
	program->samples += s->samples;
	program->time_ns += tr_most(time_ns, named_ns);
	return 0;
}

/* ---- the end ----------------------------------------------------------- */

static int most_time_first(const void *a, const void *b)
{
	const struct tr_program *x = a, *y = b;
	int order = TR_ORDER(y->time_ns, x->time_ns);

	return order ? order : strcmp(x->name, y->name);
}

static int most_own_first(const void *a, const void *b)
{
	const struct tr_program_function *x = a, *y = b;
	int order = TR_ORDER(x->program, y->program);

	if (!order)
		order = TR_ORDER(y->sum.weight_ns, x->sum.weight_ns);
	if (!order)
		order = TR_ORDER(y->sum.all_weight_ns, x->sum.all_weight_ns);
	return order ? order : strcmp(x->sum.function, y->sum.function);
}

int tr_programs_finish(struct tr_programs *p)
{
	uint32_t *place = malloc((p->n + 1) * sizeof(*place));

	if (!place)
		return TARE_ENOMEM;
	qsort(p->program, p->n, sizeof(*p->program), most_time_first);
	for (size_t i = 0; i < p->n; i++) {
		place[p->program[i].number] = (uint32_t)i;
		p->time_ns += p->program[i].time_ns;
	}
	for (size_t i = 0; i < p->n_functions; i++)
		p->function[i].program = place[p->function[i].program];
	free(place);
	qsort(p->function, p->n_functions, sizeof(*p->function),
	      most_own_first);
	for (size_t i = 0; i < p->n; i++)
		p->program[i].number = (uint32_t)i;
	for (size_t i = p->n_functions; i-- > 0;) {
		struct tr_program *of = &p->program[p->function[i].program];

		of->first = i;
		of->n_functions++;
	}
	/* Numbers have changed. */
	tr_lookup_release(&p->by_text);
	return 0;
}

double tr_programs_effective(const struct tr_programs *p)
{
	return p->square_ns2 > 0 ? p->weight_ns * p->weight_ns / p->square_ns2 :
				   0;
}

void tr_programs_release(struct tr_programs *p)
{
	free(p->program);
	free(p->function);
	free(p->time);
	tr_lookup_release(&p->by_text);
	tr_pool_release(&p->texts);
	*p = (struct tr_programs){ .n = 0 };
}
