/* Names by which newer compilers call three functions that every libtsan watches under
   their ordinary names. */
#include <string.h>

void *__tsan_memcpy(void *to, const void *from, size_t size) { return memcpy(to, from, size); }

void *__tsan_memmove(void *to, const void *from, size_t size) { return memmove(to, from, size); }

void *__tsan_memset(void *to, int byte, size_t size) { return memset(to, byte, size); }
