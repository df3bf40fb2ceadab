#include <assert.h>
#include "words.h"

int main(void)
{
	assert(words("") == 0);
	assert(words("one two ") == 2);
	return 0;
}
