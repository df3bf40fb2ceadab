#include "ring.h"

#include <stdio.h>
#include <string.h>

int main(void)
{
	unsigned char memory[8], out[8];
	struct ring r;
	ring_init(&r, memory, sizeof memory);
	if (ring_write(&r, "abc", 3) != 3 || ring_used(&r) != 3)
		return puts("write"), 1;
	if (ring_read(&r, out, 8) != 3 || memcmp(out, "abc", 3) != 0)
		return puts("read"), 1;
	puts("ok");
	return 0;
}
