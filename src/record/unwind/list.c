/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/list.h"

#include "record/unwind/reach.h"

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

/* The segment that contains [vaddr, + bytes), if it is mapped. */
static const ElfW(Phdr) *segment_of(const struct dl_phdr_info *info,
				    uint64_t vaddr, uint64_t bytes)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *load = &info->dlpi_phdr[i];

		if (load->p_type == PT_LOAD && load->p_flags & PF_R &&
		    vaddr >= load->p_vaddr &&
		    vaddr - load->p_vaddr <= load->p_memsz &&
		    bytes <= load->p_memsz - (vaddr - load->p_vaddr))
			return load;
	}
	return NULL;
}

static bool is_code(const ElfW(Phdr) *segment)
{
	return segment->p_type == PT_LOAD && segment->p_flags & PF_X &&
	       segment->p_memsz > 0;
}

/* A copy, since the module may be unloaded. */
static void find_build_id(const struct dl_phdr_info *info,
			  const ElfW(Phdr) *note,
			  struct tr_unwind_module *module)
{
	uint64_t align = note->p_align == 8 ? 8 : 4, at = 0, text, all;
	uint64_t n = note->p_memsz < 512 ? note->p_memsz : 512;
	_Alignas(8) char notes[512];
	ElfW(Nhdr) head;

	if (!tr_reach_copy(info->dlpi_addr + note->p_vaddr, notes,
			   (uint32_t)n))
		return;
	for (; at <= n && n - at >= sizeof(head); at += all) {
		memcpy(&head, notes + at, sizeof(head));
		text = sizeof(head) +
		       ((head.n_namesz + align - 1) & ~(align - 1));
		all = text + ((head.n_descsz + align - 1) & ~(align - 1));
		if (text + head.n_descsz > n - at)
			return;
		if (head.n_type != NT_GNU_BUILD_ID || head.n_namesz != 4 ||
		    memcmp(notes + at + sizeof(head), "GNU", 4) != 0)
			continue;
		module->id_bytes = head.n_descsz < sizeof(module->id) ?
					   head.n_descsz :
					   sizeof(module->id);
		memcpy(module->id, notes + at + text, module->id_bytes);
		return;
	}
}

static bool is_inside(const struct dl_phdr_info *info, uint64_t address)
{
	return address && segment_of(info, address - info->dlpi_addr, 1);
}

/* Modules that are known never to be unloaded. */
static bool is_staying(const struct dl_phdr_info *info)
{
	return !info->dlpi_name || !info->dlpi_name[0] ||
	       is_inside(info, getauxval(AT_SYSINFO_EHDR)) ||
	       is_inside(info, getauxval(AT_BASE)) ||
	       is_inside(info, (uint64_t)(uintptr_t)dl_iterate_phdr) ||
	       is_inside(info, (uint64_t)(uintptr_t)tr_unwind_look);
}

static void list_code(struct tr_list *list, struct tr_listed *to, uint64_t from,
		      uint64_t end)
{
	struct tr_code *code;

	if (list->n_codes == list->most_codes)
		return;
	code = &list->code[list->n_codes++];
	code->from = from;
	code->to = end;
	if (!to->n_codes++ || from < to->module.from)
		to->module.from = from;
	if (end > to->module.to)
		to->module.to = end;
}

static void list_segment(struct tr_list *list, struct tr_listed *to,
			 const struct dl_phdr_info *info,
			 const ElfW(Phdr) *segment)
{
	uint64_t at = info->dlpi_addr + segment->p_vaddr;
	const ElfW(Phdr) *around;

	if (is_code(segment)) {
		list_code(list, to, at, at + segment->p_memsz);
		return;
	}
	around = segment_of(info, segment->p_vaddr, segment->p_memsz);
	if (!around)
		return;
	if (segment->p_type == PT_NOTE && !to->module.id_bytes) {
		find_build_id(info, segment, &to->module);
	} else if (segment->p_type == PT_DYNAMIC) {
		to->dynamic = at;
		to->dynamic_bytes = segment->p_memsz;
	} else if (segment->p_type == PT_GNU_EH_FRAME) {
		to->table = at;
		to->read_from = info->dlpi_addr + around->p_vaddr;
		to->read_to = to->read_from + around->p_memsz;
	}
}

/* The program's own path is found later: it takes a system call. */
static void list_path(struct tr_list *list, struct tr_listed *to,
		      const struct dl_phdr_info *info)
{
	const char *name = info->dlpi_name ? info->dlpi_name : "";
	size_t n;

	if (is_inside(info, getauxval(AT_SYSINFO_EHDR)))
		name = "[vdso]";
	n = strlen(name) + 1;
	if (n > list->most_text - list->n_text)
		return;
	to->module.path = list->text + list->n_text;
	memcpy(list->text + list->n_text, name, n);
	list->n_text += n;
}

void tr_list_count(struct tr_list *list, const struct dl_phdr_info *info)
{
	list->most++;
	list->most_text += 16 + (info->dlpi_name ? strlen(info->dlpi_name) : 0);
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		list->most_codes += is_code(&info->dlpi_phdr[i]);
}

bool tr_list_add(struct tr_list *list, const struct dl_phdr_info *info)
{
	struct tr_listed *to;

	if (list->n == list->most)
		return false;
	to = &list->at[list->n++];
	to->module.path = "";
	to->module.bias = info->dlpi_addr;
	to->first_code = list->n_codes;
	to->is_staying = is_staying(info);
	list_path(list, to, info);
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		list_segment(list, to, info, &info->dlpi_phdr[i]);
	return true;
}

bool tr_list_open(struct tr_list *list)
{
	char *memory;

	list->bytes = list->most * sizeof(*list->at) +
		      list->most_codes * sizeof(*list->code) +
		      list->most_text;
	memory = tr_memory_map(list->bytes);
	if (!memory)
		return false;
	list->at = (void *)memory;
	list->code = (void *)(memory + list->most * sizeof(*list->at));
	list->text = memory + list->most * sizeof(*list->at) +
		     list->most_codes * sizeof(*list->code);
	return true;
}

bool tr_list_has(const struct tr_list *list, uint64_t from, uint64_t to)
{
	for (uint32_t i = 0; i < list->n_codes; i++)
		if (from < list->code[i].to && to > list->code[i].from)
			return true;
	return false;
}

void tr_list_close(struct tr_list *list)
{
	tr_memory_unmap(list->at, list->bytes);
}
