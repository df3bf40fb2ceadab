#include "../ring.h"

#include <stdio.h>
#include <string.h>

int main(void)
{
	unsigned char memory[7], next = 0, expect = 0, buf[16];
	struct ring r;
	ring_init(&r, memory, sizeof memory);
	if (ring_write(&r, "abcdefghij", 10) != 7 || ring_used(&r) != 7)
		return puts("a full ring does not hold 7 bytes"), 1;
	if (ring_write(&r, "x", 1) != 0)
		return puts("a full ring takes more"), 1;
	if (ring_read(&r, buf, 16) != 7 || memcmp(buf, "abcdefg", 7) != 0)
		return puts("what is read of a full ring"), 1;
	if (ring_read(&r, buf, 16) != 0)
		return puts("an empty ring has something"), 1;
	for (int i = 0; i < 2000; i++) {
		size_t n = i * 7 % 5 + 1, m = i * 3 % 6;
		for (size_t k = 0; k < n; k++)
			buf[k] = next + k;
		next += ring_write(&r, buf, n);
		m = ring_read(&r, buf, m);
		for (size_t k = 0; k < m; k++)
			if (buf[k] != (unsigned char)expect++)
				return printf("round %d: a byte is wrong\n", i), 1;
	}
	puts("ok");
	return 0;
}
