#pragma once

#include <stddef.h>

// The floor: exactly the system calls and liblz4 calls that each job needs, with no books kept. No
// reservation, no catalog, no footer, no comparison of keys. Nothing that does the same job can be
// faster by more than noise, so a figure is best read as a multiple of its floor.
//
// Every function returns 0 or an errno. A short read or write is EIO, content that does not decode or
// does not match its checksum is EBADMSG. After a failure files may be left behind: a benchmark that
// fails is over.
//
// "Identity" stands for content that does not compress: it is stored as it is, without a checksum.

/// The buffers and the LZ4 contexts that the calls below reuse. For one thread at a time.
typedef struct floor_context floor_context;

/// A context for content of at most `max_content` bytes, or NULL.
floor_context *floor_context_create(size_t max_content);
void floor_context_destroy(floor_context *context);

/// Compresses into one LZ4 frame with content size and content checksum; openat (new), write, close,
/// renameat.
int floor_store(floor_context *context, int incoming_fd, const char *temp_name, int items_fd,
                const char *name, const void *content, size_t length);
int floor_store_identity(floor_context *context, int incoming_fd, const char *temp_name,
                         int items_fd, const char *name, const void *content, size_t length);

/// openat, read, close; decompresses and verifies the content checksum. The buffer must hold at least 64 KiB, an LZ4 block, so
/// that liblz4 decodes into it and not into one of its own first.
int floor_read(floor_context *context, int items_fd, const char *name, void *buffer,
               size_t capacity, size_t *length);
int floor_read_identity(floor_context *context, int items_fd, const char *name, void *buffer,
                        size_t capacity, size_t *length);

/// A promotion of what was read: writes content to a new file in `staging_fd`, fsync; renames it, exclusively, to its final name, fsync of that folder.
int floor_publish(int staging_fd, const char *temp_name, int documents_fd, const char *final_name,
                  const void *content, size_t length);

/// The same of content that is a file of its own already, as what does not compress is: fsync, rename,
/// fsync of the folder.
int floor_publish_file(int items_fd, const char *name, int documents_fd, const char *final_name);
