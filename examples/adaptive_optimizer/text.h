/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text: a caption generated from a seed, and its tokens as features.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stdint.h>

#define TEXT_SIZE 512
#define TEXT_FEATURES 32

/* Words in lower case, separated by spaces. */
void text_make(uint64_t seed, char text[TEXT_SIZE]);

/*
 * Splits at non-letters, hashes each word to a feature, and counts: the share
 * of each feature. Returns the number of words.
 */
unsigned text_tokenise(const char *text, float features[TEXT_FEATURES]);

#endif
