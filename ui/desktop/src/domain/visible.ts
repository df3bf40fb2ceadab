/**
 * Words as they are, for the parts of base. The shell, which people trust, makes
 * visible there what would not be seen; a desktop may show what it likes.
 */
export const visible = (text: string): string => text;
