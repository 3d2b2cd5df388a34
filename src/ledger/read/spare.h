/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of images, shared by image.c and spare.c. */
#ifndef TR_LEDGER_READ_SPARE_H
#define TR_LEDGER_READ_SPARE_H

#include "ledger/layout.h"

/* Memory for `bytes` of that file: its previous content, or zeros. */
char *tr_spare_map(const struct tr_file_key *key, uint64_t bytes,
		   uint64_t *ret_bytes);
/* Returns the memory. key->file 0: of no file, not to be kept. */
void tr_spare_unmap(char *base, uint64_t bytes,
		    const struct tr_file_key *key);

#endif
