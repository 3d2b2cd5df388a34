/* SPDX-License-Identifier: Apache-2.0 */
#include "codec.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

/* libjpeg passes its error manager to every callback: it must be first. */
struct trouble {
	struct jpeg_error_mgr manager;
	jmp_buf jump;
	char text[JMSG_LENGTH_MAX]; /* of the first message, or empty */
};

struct decoding {
	struct jpeg_decompress_struct info;
	struct trouble trouble;
	struct image image;
	struct fault *fault;
};

struct encoding {
	struct jpeg_compress_struct info;
	struct trouble trouble;
	unsigned char *bytes; /* libjpeg's, by malloc */
	unsigned long len;
};

static void keep_text(j_common_ptr info)
{
	struct trouble *trouble = (struct trouble *)info->err;

	if (!trouble->text[0])
		info->err->format_message(info, trouble->text);
}

static void on_error(j_common_ptr info)
{
	struct trouble *trouble = (struct trouble *)info->err;

	keep_text(info);
	longjmp(trouble->jump, 1);
}

/* Level -1 is a warning: the file is damaged. Others are for tracing. */
static void on_message(j_common_ptr info, int level)
{
	if (level >= 0)
		return;
	info->err->num_warnings++;
	keep_text(info);
}

static struct jpeg_error_mgr *trouble_init(struct trouble *trouble)
{
	struct jpeg_error_mgr *manager = jpeg_std_error(&trouble->manager);

	trouble->text[0] = '\0';
	manager->error_exit = on_error;
	manager->emit_message = on_message;
	return manager;
}

/* Everything that must survive the jump is in `work`, not on this stack. */
static int decode(struct decoding *work, const unsigned char *bytes,
		  size_t len)
{
	struct jpeg_decompress_struct *info = &work->info;

	if (setjmp(work->trouble.jump))
		return fault_set(work->fault, "broken JPEG: %s",
				 work->trouble.text);

	jpeg_create_decompress(info);
	jpeg_mem_src(info, bytes, len);
	(void)jpeg_read_header(info, TRUE);
	info->out_color_space = JCS_RGB;
	(void)jpeg_start_decompress(info);
	if (image_new(&work->image, (int)info->output_width,
		      (int)info->output_height, work->fault) != 0)
		return -1;
	while (info->output_scanline < info->output_height) {
		JSAMPROW row = work->image.rgb + (size_t)info->output_scanline *
				info->output_width * 3;

		(void)jpeg_read_scanlines(info, &row, 1);
	}
	(void)jpeg_finish_decompress(info);
	if (work->trouble.manager.num_warnings > 0)
		return fault_set(work->fault, "broken JPEG: %s",
				 work->trouble.text);
	return 0;
}

int codec_decode(const unsigned char *bytes, size_t len,
		 struct image *ret_image, struct fault *fault)
{
	struct decoding work = { .fault = fault };
	int err;

	work.info.err = trouble_init(&work.trouble);
	err = decode(&work, bytes, len);
	jpeg_destroy_decompress(&work.info);
	if (err)
		image_free(&work.image);
	else
		*ret_image = work.image;
	return err;
}

static int encode(struct encoding *work, const struct image *image,
		  int quality)
{
	struct jpeg_compress_struct *info = &work->info;

	if (setjmp(work->trouble.jump))
		return -1;

	jpeg_create_compress(info);
	jpeg_mem_dest(info, &work->bytes, &work->len);
	info->image_width = (JDIMENSION)image->width;
	info->image_height = (JDIMENSION)image->height;
	info->input_components = 3;
	info->in_color_space = JCS_RGB;
	jpeg_set_defaults(info);
	jpeg_set_quality(info, quality, TRUE);
	jpeg_start_compress(info, TRUE);
	while (info->next_scanline < info->image_height) {
		JSAMPROW row = image->rgb + (size_t)info->next_scanline *
				info->image_width * 3;

		(void)jpeg_write_scanlines(info, &row, 1);
	}
	jpeg_finish_compress(info);
	return 0;
}

int codec_encode(const struct image *image, int quality,
		 unsigned char **ret_bytes, size_t *ret_len,
		 struct fault *fault)
{
	struct encoding work = { .len = 0 };
	int err;

	work.info.err = trouble_init(&work.trouble);
	err = encode(&work, image, quality);
	jpeg_destroy_compress(&work.info);
	if (err) {
		free(work.bytes);
		return fault_set(fault, "cannot encode: %s", work.trouble.text);
	}
	*ret_bytes = work.bytes;
	*ret_len = work.len;
	return 0;
}
