// Loads libcurl and libcrypto with the first call of one of their functions. `cachectl` downloads in few of its commands,
// and with the thirty libraries that they need they take a quarter of the time in which the others start.
//
// Linked into the program, these functions take the place of those of the library, which it then no longer names.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void *loaded(const char *file, const char *name) {
    // Loading a library again returns the one that is there.
    void *library = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
    void *function = library ? dlsym(library, name) : NULL;
    if (function) return function;
    fprintf(stderr, "cachectl: error: downloads need %s, which cannot be loaded (%s); install libcurl\n", file, dlerror());
    _Exit(69);
}

// Arguments and results are integers and pointers, at most six, and variadic functions take them in the same registers as
// others do: so on x86-64 and 64-bit ARM under Linux.
typedef intptr_t Word;
#define LAZY(file, name)                                                                                               \
    Word name(Word a, Word b, Word c, Word d, Word e, Word f) {                                                        \
        static _Atomic(void *) known;                                                                                  \
        void *function = known;                                                                                        \
        if (!function) known = function = loaded(file, #name);                                                         \
        return ((Word(*)(Word, ...))function)(a, b, c, d, e, f);                                                       \
    }

#define CURL(name) LAZY("libcurl.so.4", name)
#define CRYPTO(name) LAZY("libcrypto.so.3", name)

// Those that PrefetchDownloading and FoundationNetworking call.
CURL(curl_easy_cleanup)
CURL(curl_easy_getinfo)
CURL(curl_easy_init)
CURL(curl_easy_pause)
CURL(curl_easy_setopt)
CURL(curl_easy_strerror)
CURL(curl_free)
CURL(curl_global_init)
CURL(curl_multi_add_handle)
CURL(curl_multi_assign)
CURL(curl_multi_cleanup)
CURL(curl_multi_info_read)
CURL(curl_multi_init)
CURL(curl_multi_perform)
CURL(curl_multi_poll)
CURL(curl_multi_remove_handle)
CURL(curl_multi_setopt)
CURL(curl_multi_socket_action)
CURL(curl_multi_wakeup)
CURL(curl_slist_append)
CURL(curl_slist_free_all)
CURL(curl_url)
CURL(curl_url_get)
CURL(curl_url_set)
CURL(curl_version)
CURL(curl_version_info)
CRYPTO(EVP_DigestFinal_ex)
CRYPTO(EVP_DigestInit_ex)
CRYPTO(EVP_DigestUpdate)
CRYPTO(EVP_MD_CTX_free)
CRYPTO(EVP_MD_CTX_new)
CRYPTO(EVP_sha256)
