#include "ring.h"

#include <string.h>

void ring_init(struct ring *r, void *memory, size_t size)
{
	r->data = memory;
	r->size = size;
	r->head = r->tail = 0;
}

size_t ring_used(const struct ring *r)
{
	return r->head - r->tail;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t ring_write(struct ring *r, const void *from, size_t n)
{
	size_t at = r->head % r->size;
	n = smaller(n, r->size - ring_used(r));
	size_t first = smaller(n, r->size - at);
	memcpy(r->data + at, from, first);
	memcpy(r->data, (const unsigned char *)from + first, n - first);
	r->head += n;
	return n;
}

size_t ring_read(struct ring *r, void *to, size_t n)
{
	size_t at = r->tail % r->size;
	n = smaller(n, ring_used(r));
	size_t first = smaller(n, r->size - at);
	memcpy(to, r->data + at, first);
	memcpy((unsigned char *)to + first, r->data, n - first);
	r->tail += n;
	return n;
}
