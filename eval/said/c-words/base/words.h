/* Returns the number of words of a text. */
int words(const char *text);
