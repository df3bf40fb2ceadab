#ifndef RING_H
#define RING_H

#include <stddef.h>

/* A ring buffer of bytes over memory of the caller's. */
struct ring {
	unsigned char *data;
	size_t size;
	size_t head; /* bytes written so far */
	size_t tail; /* bytes read so far */
};

void ring_init(struct ring *r, void *memory, size_t size);

/* How many bytes can be read. */
size_t ring_used(const struct ring *r);

/* Write up to n bytes; returns how many fit. */
size_t ring_write(struct ring *r, const void *from, size_t n);

/* Read up to n bytes; returns how many there were. */
size_t ring_read(struct ring *r, void *to, size_t n);

#endif
