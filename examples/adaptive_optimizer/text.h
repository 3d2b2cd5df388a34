/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text: a caption that follows from a seed, and its tokens as features.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stdint.h>

#define TEXT_SIZE 512
#define TEXT_FEATURES 32

/* Words of small letters, separated by spaces. */
void text_make(uint64_t seed, char text[TEXT_SIZE]);

/*
 * Splits at what is no letter, gives each word a number by its hash, and
 * counts the numbers: the share of each. Returns how many words there are.
 */
unsigned text_tokenise(const char *text, float features[TEXT_FEATURES]);

#endif
