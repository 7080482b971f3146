// Loads libcurl with the first call of one of its functions. `cachectl` downloads in few of its commands, and the library
// with the thirty that it needs takes a quarter of the time in which the others start.
//
// Linked into the program, these functions take the place of those of the library, which it then no longer names.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void *loaded(const char *name) {
    // Loading a library again returns the one that is there.
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_GLOBAL);
    void *function = library ? dlsym(library, name) : NULL;
    if (function) return function;
    fprintf(stderr, "cachectl: error: downloads need libcurl, which cannot be loaded (%s); install it\n", dlerror());
    _Exit(69);
}

// Arguments and results are integers and pointers, at most six, and variadic functions take them in the same registers as
// others do: so on x86-64 and 64-bit ARM under Linux.
typedef intptr_t Word;
#define LAZY(name)                                                                                                     \
    Word name(Word a, Word b, Word c, Word d, Word e, Word f) {                                                        \
        static _Atomic(void *) known;                                                                                  \
        void *function = known;                                                                                        \
        if (!function) known = function = loaded(#name);                                                               \
        return ((Word(*)(Word, ...))function)(a, b, c, d, e, f);                                                       \
    }

// Those that PrefetchDownloading and FoundationNetworking call.
LAZY(curl_easy_cleanup)
LAZY(curl_easy_getinfo)
LAZY(curl_easy_init)
LAZY(curl_easy_pause)
LAZY(curl_easy_setopt)
LAZY(curl_easy_strerror)
LAZY(curl_free)
LAZY(curl_global_init)
LAZY(curl_multi_add_handle)
LAZY(curl_multi_assign)
LAZY(curl_multi_cleanup)
LAZY(curl_multi_info_read)
LAZY(curl_multi_init)
LAZY(curl_multi_perform)
LAZY(curl_multi_poll)
LAZY(curl_multi_remove_handle)
LAZY(curl_multi_setopt)
LAZY(curl_multi_socket_action)
LAZY(curl_multi_wakeup)
LAZY(curl_slist_append)
LAZY(curl_slist_free_all)
LAZY(curl_url)
LAZY(curl_url_get)
LAZY(curl_url_set)
LAZY(curl_version)
LAZY(curl_version_info)
