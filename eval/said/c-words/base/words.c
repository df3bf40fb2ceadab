#include "words.h"

/* Counts the words of a text: what stands between blanks. */
int words(const char *text)
{
	int n = 0, in = 0;
	for (; *text; text++) {
		if (*text == ' ') {
			n += in;
			in = 0;
		} else {
			in = 1;
		}
	}
	return n;
}
