#include <stdio.h>
#include "words.h"

int main(int argc, char **argv)
{
	printf("%d\n", argc > 1 ? words(argv[1]) : 0);
	return 0;
}
