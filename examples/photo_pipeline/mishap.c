/* SPDX-License-Identifier: Apache-2.0 */
#include "mishap.h"

uint64_t mishap_mix(uint64_t seed, uint64_t number)
{
	uint64_t x = (seed + number) * 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

enum mishap mishap_of(uint64_t seed, uint64_t photo_id)
{
	static const enum mishap broken[] = { MISHAP_CUT, MISHAP_TABLES,
					      MISHAP_NO_JPEG };
	static const struct {
		unsigned percent;
		enum mishap mishap;
	} parts[] = {
		{ MISHAP_NO_EXIF_PCT, MISHAP_NO_EXIF },
		{ MISHAP_DAMAGED_EXIF_PCT, MISHAP_DAMAGED_EXIF },
		{ MISHAP_BUSY_ONCE_PCT, MISHAP_BUSY_ONCE },
		{ MISHAP_BUSY_PCT, MISHAP_BUSY },
	};
	uint64_t mixed = mishap_mix(seed, photo_id);
	unsigned drawn = (unsigned)(mixed % 100), below = MISHAP_BROKEN_PCT;

	if (drawn < below)
		return broken[mixed / 100 % 3];
	for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		below += parts[i].percent;
		if (drawn < below)
			return parts[i].mishap;
	}
	return MISHAP_NONE;
}
