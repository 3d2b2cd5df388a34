/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File: creates this process's ledger, and moves it to the runs at the end.
 *
 * The descriptor is closed as soon as the file is mapped: a host that closes
 * all descriptors may get the same number for a file of its own, which we must
 * never touch.
 */
#include "ledger/write.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TR_LIMIT_DEFAULT (UINT64_C(32) << 20)
#define TR_LIMIT_LEAST (UINT64_C(512) << 10)
#define TR_MAP_BYTES (UINT64_C(1) << 30)
#define TR_MAP_LEAST (UINT64_C(4) << 20)

struct tr_ledger *tr_ledger;

/*
 * State that a child needs from its parent: a fork does not wipe it. The
 * control page keeps its address, because sites point into it.
 */
static char *parent_base;
static uint64_t parent_bytes;
static void *control_address;

uint64_t tr_ledger_ticks(void)
{
	if (tr_ledger->counter_clock)
		return tr_counter();
	return (uint64_t)tr_monotonic_ns();
}

void tr_ledger_anchor(uint32_t slice)
{
	struct tr_header *header = tr_ledger->header;
	uint32_t seen = TR_LOAD(header->anchor_slice);
	struct tr_anchor anchor, *at;
	uint32_t n;

	if (seen == slice ||
	    !TR_SWAP(header->anchor_slice, &seen, slice))
		return;
	tr_anchor_take(&anchor, tr_ledger->counter_clock);
	n = TR_LOAD(header->anchor_count);
	at = &header->anchor[n % TR_ANCHORS];
	TR_STORE(at->ticks, anchor.ticks);
	TR_STORE(at->mono_ns, anchor.mono_ns);
	TR_STORE(at->real_ns, anchor.real_ns);
	TR_STORE(at->width, anchor.width);
	TR_PUBLISH(header->anchor_count, n + 1);
	/* Nothing else notices a truncation between two pages in use. */
	tr_ledger_watch();
}

static uint64_t choose_limit(const struct tr_config *config, const char *dir)
{
	uint64_t limit = TR_LIMIT_DEFAULT, bound;

	if (config->ledger_limit)
		return config->ledger_limit;
	if (dir[0]) {
		bound = tr_file_free_bytes(dir) / 4;
		if (bound < limit)
			limit = bound;
	}
	bound = tr_memory_limit() / 64;
	if (bound < limit)
		limit = bound;
	return limit < TR_LIMIT_LEAST ? TR_LIMIT_LEAST : limit;
}

/*
 * yyyymmdd of a day since 1970. Not gmtime_r(): in a child it may wait for a
 * lock that another thread of the parent held at the fork. Years begin in March
 * here, so that the leap day is the last day of a year.
 */
static unsigned date_of(uint64_t day)
{
	uint64_t since = day + 719468; /* 0000-03-01 */
	uint64_t era = since / 146097, in_era = since % 146097;
	uint64_t year = (in_era - in_era / 1460 + in_era / 36524 -
			 in_era / 146096) / 365;
	uint64_t in_year = in_era - (365 * year + year / 4 - year / 100);
	uint64_t month = (5 * in_year + 2) / 153;
	uint64_t date = in_year - (153 * month + 2) / 5 + 1;

	year += era * 400 + (month >= 10);
	month = month < 10 ? month + 3 : month - 9;
	return (unsigned)(year * 10000 + month * 100 + date);
}

static void name_run(char *id, size_t size, uint32_t pid, int attempt)
{
	int64_t now = tr_realtime_ns();
	uint64_t ms = now > 0 ? (uint64_t)now / 1000000 + (uint64_t)attempt : 0;
	uint64_t seconds = ms / 1000, in_day = seconds % 86400;

	(void)snprintf(id, size, "%08u-%02u%02u%02u.%03u-%u",
		       date_of(seconds / 86400), (unsigned)(in_day / 3600),
		       (unsigned)(in_day / 60 % 60), (unsigned)(in_day % 60),
		       (unsigned)(ms % 1000), pid);
}

/* Creates a file in `dir`, or unnamed memory if dir is empty. */
static int create_file(const char *dir, const char *id, const char *suffix,
		       char *path, size_t size)
{
	int fd;

	if (!dir[0]) {
		(void)snprintf(path, size, "tare-%s%s", id, suffix);
		fd = memfd_create(path, MFD_CLOEXEC);
		path[0] = '\0';
		return fd;
	}
	if ((size_t)snprintf(path, size, "%s/%s%s", dir, id, suffix) >=
	    size) {
		errno = ENAMETOOLONG;
		fd = -1;
	} else {
		fd = tr_file_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW,
				  0600);
	}
	if (fd < 0)
		path[0] = '\0'; /* not ours: must not be removed */
	return fd;
}

/* fd -1: memory without a file. */
static void *map_file(int fd, uint64_t bytes, void *address)
{
	int flags = MAP_SHARED | (address ? MAP_FIXED : 0) |
		    (fd < 0 ? MAP_ANONYMOUS : 0);
	void *at;

	if (fd >= 0 && tr_file_resize(fd, bytes))
		return NULL;
	at = mmap(address, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (at == MAP_FAILED)
		return NULL;
	if (fd >= 0 && bytes > TR_PAGE)
		tr_memory_no_readahead(at, bytes);
	return at;
}

/*
 * True if a file of that size would cause a signal instead of an error. Then no
 * file is created. Unnamed memory has a size limit all the same.
 */
static bool is_too_large(uint64_t bytes)
{
	return bytes > tr_file_limit();
}

static int reserve_file(int fd, uint64_t bytes)
{
	int err;

	do
		err = posix_fallocate(fd, 0, (off_t)bytes);
	while (err == EINTR);
	return err;
}

/* Maps a complete control page in place of the parent's. */
static void *map_control(int fd, const struct tr_identity *self)
{
	void *page, *moved;

	/* Allocate it before use: a store cannot report an error. */
	if (fd >= 0 && reserve_file(fd, TR_PAGE))
		return NULL;
	page = map_file(fd, TR_PAGE, NULL);
	if (!page)
		return NULL;
	tr_control_init(page, control_address, self);
	if (!control_address)
		return page;
	/* Complete, and in one step: other threads read it. */
	moved = mremap(page, TR_PAGE, TR_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		       control_address);
	if (moved != MAP_FAILED)
		return moved;
	(void)munmap(page, TR_PAGE);
	return NULL;
}

/*
 * The page is still the parent's, whose governor closes the gate of paused
 * sites most of the time: calls of the child would not start its measuring.
 */
static void open_gate_in_child(void)
{
	struct tr_control *parent = control_address, *page;

	if (!parent)
		return;
	page = mmap(NULL, TR_PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return;
	memcpy(page, parent, sizeof(*page));
	page->pause = page->generation;
	if (mremap(page, TR_PAGE, TR_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		   parent) == MAP_FAILED)
		(void)munmap(page, TR_PAGE);
}

void tr_ledger_open_gate_in_children(void)
{
	static bool is_done;

	if (!is_done && !pthread_atfork(NULL, NULL, open_gate_in_child))
		is_done = true;
}

static int open_control(const char *dir, const struct tr_identity *self)
{
	char *path = tr_ledger->control_path;
	int fd = -1;
	void *page;

	if (dir[0] && is_too_large(TR_PAGE))
		return TARE_EFULL;
	if (!is_too_large(TR_PAGE)) {
		fd = create_file(dir, tr_ledger->id, ".ctl", path,
				 sizeof(tr_ledger->control_path));
		if (fd < 0)
			return TARE_EIO;
	}
	page = map_control(fd, self);
	if (fd >= 0)
		(void)close(fd);
	if (!page) {
		(void)unlink(path);
		path[0] = '\0';
		return TARE_EFULL;
	}
	control_address = page;
	tr_ledger->control = page;
	return 0;
}

/*
 * One row per stack, and twice as much for row caches and snapshots, if
 * allocations are tracked. Threads without a cache write to the rows
 * themselves.
 */
static uint64_t alloc_bytes(const struct tr_config *config)
{
	uint64_t rows = config->max_stacks * 3 + 16 * TR_ALLOC_CACHE_ROWS;

	return config->alloc ? rows * sizeof(struct tr_alloc) : 0;
}

/*
 * Limit for enlarging the ring of records at run time: eight times its size,
 * within half of the ledger's limit and an eighth of the address space.
 */
static uint64_t most_blocks(const struct tr_header *header, uint64_t bytes,
			    uint64_t blocks)
{
	uint64_t most = header->limit_bytes / 2;

	if (most > bytes / 8)
		most = bytes / 8;
	most /= TR_BLOCK_BYTES;
	return most < blocks * 8 ? most : blocks * 8;
}

/* The calls of activities, which are also kept, may be more than these. */
static uint64_t gpu_bytes(const struct tr_config *config)
{
	return config->gpu_kernels ?
		       TR_GPU_RINGS_BYTES(config->gpu_events,
					  config->gpu_events) +
			       TR_GPU_ROWS_BYTES :
		       0;
}

static void place_regions(struct tr_header *header, uint64_t bytes,
			  const struct tr_config *config)
{
	uint64_t sites = config->max_sites * sizeof(struct tr_site);
	uint64_t blocks = tr_blocks_for(config->max_history_size);
	uint64_t most = most_blocks(header, bytes, blocks);
	bool has_stacks = tr_config_wants_stacks(config);
	uint64_t stacks = has_stacks ? config->max_stacks : 0;
	uint64_t samples = has_stacks ? config->sample_events : 0;
	const uint64_t size[TR_REGIONS] = {
		[TR_REGION_SITES] = sites + TR_PAGE,
		[TR_REGION_STRINGS] = sites + TR_MORE_STRINGS,
		[TR_REGION_TRACKS] = tr_max_threads * sizeof(uint32_t),
		[TR_REGION_GAUGES] = config->max_sites * sizeof(uint64_t),
		[TR_REGION_BLOCKS] = most * TR_BLOCK_BYTES,
		[TR_REGION_MODULES] = TR_MAX_MODULES * sizeof(struct tr_module),
		[TR_REGION_STACKS] = stacks * sizeof(struct tr_stack),
		[TR_REGION_ALLOCS] = alloc_bytes(config),
		[TR_REGION_SAMPLES] = samples * sizeof(struct tr_sample),
		[TR_REGION_PRICES] = TR_PRICE_ROWS * sizeof(struct tr_price),
		[TR_REGION_GPU] = gpu_bytes(config),
		[TR_REGION_CODE] = has_stacks ? TR_CODE_BYTES : 0,
	};
	uint64_t at = TR_REGIONS_AT;

	for (int i = 0; i < TR_REGIONS; i++) {
		header->region[i].off = at;
		header->region[i].cap = size[i];
		at += (size[i] + TR_PAGE - 1) & ~(uint64_t)(TR_PAGE - 1);
	}
	/* Last: it takes the rest. */
	header->region[TR_REGION_ARENA].off = at;
	header->region[TR_REGION_ARENA].cap = bytes - at;
	header->block_count = (uint32_t)(blocks < most ? blocks : most);
	header->max_history = config->max_history_size;
	header->max_history_age = config->max_history_age;
	memcpy(tr_ledger->region, header->region, sizeof(header->region));
	tr_ledger->block_count = header->block_count;
}

/* Bytes of address space before the arena, for the smallest mapping. */
static uint64_t fixed_bytes(const struct tr_config *config)
{
	uint64_t bytes = config->max_sites * 136 +
			 config->max_history_size * TR_RECORD_ABOUT +
			 TR_MAX_TRACKS * 4 +
			 262144 + TR_MAX_MODULES * sizeof(struct tr_module) +
			 alloc_bytes(config) + gpu_bytes(config) + 6 * TR_PAGE +
			 TR_PRICE_ROWS * sizeof(struct tr_price);

	if (tr_config_wants_stacks(config))
		bytes += TR_CODE_BYTES +
			 config->max_stacks * sizeof(struct tr_stack) +
			 config->sample_events * sizeof(struct tr_sample);
	return bytes;
}

static void fill_header(struct tr_header *header, uint64_t limit,
			const struct tr_identity *self)
{
	header->major = TR_FORMAT_MAJOR;
	header->minor = TR_FORMAT_MINOR;
	header->endian = TR_ENDIAN;
	header->sink[TR_SINK_SLICE] = UINT64_MAX;
	header->header_bytes = sizeof(struct tr_header);
	header->site_bytes = sizeof(struct tr_site);
	header->track_bytes = TR_TRACK_BYTES;
	header->node_bytes = sizeof(struct tr_node);
	header->cell_bytes = sizeof(struct tr_cell);
	header->map_bytes = tr_ledger->map_bytes;
	header->limit_bytes = limit;
	header->real_bytes = 2 * TR_PAGE;
	header->pid = self->pid;
	header->start_time = self->start_time;
	header->pid_ns = self->pid_ns;
	memcpy(header->boot_id, self->boot_id, sizeof(header->boot_id));
	header->base_address = (uint64_t)(uintptr_t)tr_ledger->base;
	memcpy(header->version, TARE_VERSION, sizeof(TARE_VERSION));
	tr_ledger->pid = self->pid;
	tr_ledger->limit_bytes = limit;
	tr_ledger->real_bytes = header->real_bytes;
	tr_ledger->next_counter = 3; /* 0 to 2: the overflow series */
	tr_ledger->next_gauge = 1;
	header->next_counter = tr_ledger->next_counter;
	header->next_gauge = tr_ledger->next_gauge;
	header->state = TR_STATE_LIVE;
}

static void fill_metadata(const struct tr_config *config)
{
	char *meta = tr_ledger->base + TR_META_AT;
	size_t n = tr_process_describe(meta, TR_META_BYTES - 512);

	memcpy(meta + n, "config=", 7);
	n += 7;
	n += tr_config_differences(config, meta + n, TR_META_BYTES - n - 1);
	meta[n] = '\0';
}

/* If address space is limited, the host needs it more than we do. */
static uint64_t map_bytes(const struct tr_config *config, uint64_t least)
{
	uint64_t bytes = TR_MAP_BYTES, most = tr_memory_space() / 8;

	while (bytes < config->ledger_limit * 2 + least)
		bytes *= 2;
	if (bytes > UINT64_C(4) << 30)
		bytes = UINT64_C(4) << 30;
	while (bytes > most && bytes / 2 >= least)
		bytes /= 2;
	return bytes;
}

static int map_ledger(const char *dir, const struct tr_config *config)
{
	uint64_t least = fixed_bytes(config) + TR_MAP_LEAST;
	uint64_t bytes = map_bytes(config, least);
	bool in_file = !is_too_large(least);
	int fd = -1;
	void *base = NULL;

	if (dir[0] && !in_file)
		return TARE_EFULL;
	if (in_file) {
		fd = create_file(dir, tr_ledger->id, ".tare", tr_ledger->path,
				 sizeof(tr_ledger->path));
		if (fd < 0)
			return errno == EEXIST ? TARE_EINVAL : TARE_EIO;
	}
	while (in_file && is_too_large(bytes) && bytes / 2 >= least)
		bytes /= 2;
	if (in_file && is_too_large(bytes))
		bytes = least & ~(uint64_t)(TR_PAGE - 1);
	while (!(base = map_file(fd, bytes, NULL)) && bytes / 2 >= least)
		bytes /= 2; /* try with less */
	if (fd >= 0)
		(void)close(fd);
	if (!base)
		return TARE_ENOMEM;
	/* A child does not use the pages of its parent's threads. */
	tr_ledger->base = base;
	tr_ledger->map_bytes = bytes;
	tr_ledger->header = base;
	return 0;
}

static void forget(void)
{
	if (tr_ledger->base && tr_ledger->reserve_fd >= 0)
		(void)close(tr_ledger->reserve_fd);
	tr_ledger->reserve_fd = -1;
	if (tr_ledger->base)
		(void)munmap(tr_ledger->base, tr_ledger->map_bytes);
	if (tr_ledger->path[0])
		(void)unlink(tr_ledger->path);
	tr_ledger->base = NULL;
	tr_ledger->header = NULL;
	tr_ledger->path[0] = '\0';
}

/*
 * Kernels without MADV_POPULATE_WRITE need the file's descriptor to reserve
 * space. There we keep one, far above the numbers that programs use.
 */
static int find_reserve_fd(void)
{
	int fd, high;

	if (tr_memory_reserve(tr_ledger->base, TR_PAGE) != TARE_EINVAL ||
	    !tr_ledger->path[0])
		return -1;
	fd = tr_file_open(tr_ledger->path, O_RDWR | O_NOFOLLOW, 0);
	if (fd < 0)
		return -1;
	high = fcntl(fd, F_DUPFD_CLOEXEC, 900);
	if (high < 0)
		return fd;
	(void)close(fd);
	return high;
}

static int fill_ledger(const char *dir, const struct tr_config *config,
		       const struct tr_identity *self)
{
	struct tr_header *header = tr_ledger->header;

	tr_ledger->reserve_fd = -1;
	tr_ledger->reserve_fd = find_reserve_fd();
	if (tr_memory_reserve(header, 2 * TR_PAGE) &&
	    (tr_ledger->reserve_fd < 0 ||
	     reserve_file(tr_ledger->reserve_fd, 2 * TR_PAGE)))
		return TARE_EFULL;
	fill_header(header, choose_limit(config, dir), self);
	place_regions(header, tr_ledger->map_bytes, config);
	fill_metadata(config);
	tr_ledger->window_limit = config->window_bytes ?
					  config->window_bytes :
					  header->limit_bytes / 4;
	tr_ledger->rings_limit = config->keep_bytes ? config->keep_bytes :
						      header->limit_bytes / 4;
	if (tr_sites_init())
		return TARE_EFULL;
	return parent_base ? tr_sites_copy(parent_base) : 0;
}

static int open_in(const char *dir, const struct tr_config *config,
		   bool control_only)
{
	struct tr_identity self;
	int err = TARE_EINVAL;

	tr_identity_self(&self);
	for (int attempt = 0; attempt < 8 && err == TARE_EINVAL; attempt++) {
		if (!tr_ledger->control)
			name_run(tr_ledger->id, sizeof(tr_ledger->id),
				 self.pid, attempt);
		err = control_only ? 0 : map_ledger(dir, config);
	}
	if (!err && !control_only)
		err = fill_ledger(dir, config, &self);
	/* After standby, the control page already exists. */
	if (!err && !tr_ledger->control)
		err = open_control(dir, &self);
	if (err) {
		forget();
		return err;
	}
	tr_ledger->anonymous = !dir[0];
	if (!control_only) {
		if (parent_base)
			(void)munmap(parent_base, parent_bytes);
		parent_base = tr_ledger->base;
		parent_bytes = tr_ledger->map_bytes;
	}
	return 0;
}

int tr_ledger_open(const struct tr_config *config, bool control_only)
{
	int saved = errno; /* a child's first probe comes here */
	char dir[400];
	int err = tr_dir_live(config->dir, dir, sizeof(dir));

	if (!err)
		err = open_in(dir, config, control_only);
	/* No place for a file: measure in memory, for our own report. */
	if (err)
		err = open_in("", config, control_only);
	errno = saved;
	return err;
}

/* Bytes of the file up to its last page in use. */
static uint64_t used_bytes(void)
{
	const struct tr_region *arena = &tr_ledger->region[TR_REGION_ARENA];

	return arena->off + TR_LOAD(arena->used);
}

/* Moves the baseline of the last clear together with the ledger. */
static void put_baseline_away(const char *ledger)
{
	char from[520], to[520];
	struct stat st;

	(void)snprintf(from, sizeof(from), "%.*s.base",
		       (int)strlen(tr_ledger->path) - 5, tr_ledger->path);
	(void)snprintf(to, sizeof(to), "%.*s.base", (int)strlen(ledger) - 5,
		       ledger);
	if (stat(from, &st))
		return;
	if (tr_file_copy_sparse(from, to, (uint64_t)st.st_size,
				tr_sums_write) == 0)
		(void)unlink(from);
}

static void put_away(const struct tr_config *config)
{
	char dir[400], to[512];

	if (tr_dir_runs(config->dir, dir, sizeof(dir)))
		return;
	if ((size_t)snprintf(to, sizeof(to), "%s/%s.tare", dir,
			     tr_ledger->id) >= sizeof(to))
		return;
	if (tr_file_copy_sparse(tr_ledger->path, to,
				used_bytes(), tr_sums_write))
		return; /* stays where it is; a later start moves it */
	put_baseline_away(to);
	(void)unlink(tr_ledger->path);
	memcpy(tr_ledger->path, to, strlen(to) + 1);
}

void tr_ledger_seal(void)
{
	struct tr_header *header = tr_ledger->header;

	if (!header)
		return;
	tr_anchor_take(&header->end, tr_ledger->counter_clock);
	TR_PUBLISH(header->state, TR_STATE_FINISHED);
}

int tr_ledger_finish(const struct tr_config *config)
{
	/* In standby there is only a control page. */
	if (tr_ledger->header && !tr_ledger->anonymous)
		put_away(config);
	if (tr_ledger->control_path[0])
		(void)unlink(tr_ledger->control_path);
	return tr_ledger->header ? 0 : TARE_EOFF;
}
