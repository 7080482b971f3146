#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// The commit that this was built from, if whoever built it has said so.
const char *cplatform_commit(void);

// What differs between Linux and Apple's platforms, and what Swift's overlays do not expose: what is behind _GNU_SOURCE,
// in headers outside their module maps, or in function-like macros. A call that fails returns -1 with errno.

/// What `stat` says of a file; times are in nanoseconds since 1970, clamped to 64 bits.
typedef struct {
    uint64_t device, inode, links;
    int64_t length, allocated, modified, changed, accessed, born;
    uint32_t mode, owner;
    /// Whether the file system keeps the time at which the file was made.
    bool has_birth;
    /// Whether the content is in the cloud alone.
    bool is_dataless;
} cplatform_status;

/// What is asked of a file. All but the first can be answered without a look at its times.
typedef enum {
    cplatform_all,
    cplatform_inode,
    cplatform_length_and_links,
    cplatform_birth,
} cplatform_question;

/// Asks about a name in a folder, without following a link, or without a name about an open file. More may be answered.
int cplatform_status_of(int directory, const char *name, cplatform_question question, cplatform_status *status);

/// What happens to a file that has the new name already.
typedef enum { cplatform_replacing, cplatform_exclusive, cplatform_exchanging } cplatform_rename_mode;

int cplatform_rename(
    int old_directory, const char *old_name, int new_directory, const char *new_name, cplatform_rename_mode mode);

/// Creates a file that shares the blocks of another one. There is none after a failure.
int cplatform_clone(int fd, int directory, const char *name, mode_t permissions);

/// Makes the content of a file durable.
int cplatform_synchronize(int fd);

/// Writes all that is pending on the volume of a file.
int cplatform_sync_volume(int fd);

/// Allocates `length` bytes from the start of a file without changing its length.
int cplatform_allocate(int fd, off_t length);

/// Makes a range of a file a hole.
int cplatform_punch_hole(int fd, off_t offset, off_t length);

/// Locks a byte of a file for its open file description, without waiting; shared, if it is open for reading only.
int cplatform_lock_byte(int fd, off_t position);

/// Releases all locks on bytes of a file.
int cplatform_unlock_bytes(int fd);

/// Sets or clears the inode's "no dump" flag.
int cplatform_set_no_dump(int fd, bool enabled);

/// Returns 1 when the inode has the "no dump" flag, otherwise 0.
int cplatform_get_no_dump(int fd);

/// Runs a function on a new thread, which has the name, of at most 15 bytes, and ends with the function.
///
/// Returns 0, or the number of an error: there is no thread then.
int cplatform_start_thread(const char *name, void (*run)(void *context), void *context);

/// How `lseek` finds the first hole, and the next data.
extern const int cplatform_seek_hole, cplatform_seek_data;

/// The nanoseconds of a time that `futimens` leaves as it is.
extern const long cplatform_utime_omit;

#if defined(__linux__)

#include <sys/xattr.h>

/// The flag of `open` that leaves the access time unchanged.
extern const int cplatform_o_noatime;

/// Has what is pending of a file written, without waiting (`sync_file_range`).
int cplatform_start_writing(int fd);

/// Returns 1 when somebody has the file open for writing, otherwise 0.
int cplatform_is_being_written(int fd);

/// Has `run` run all tasks without an executor of their own, instead of Dispatch. To be called before the first task.
void cplatform_run_jobs(void (*run)(void *job));

/// Returns 1 when a file or folder is on a file system that opens what it has in memory without asking anybody, and tells
/// what that is (ext4, XFS, btrfs, F2FS); otherwise 0.
int cplatform_tells_what_is_cached(int fd);

/// Reads a whole file of at most `length` bytes if neither its name nor its content has to be fetched from a device
/// (`openat2` with `RESOLVE_CACHED`, `preadv2` with `RWF_NOWAIT`). Returns the number of bytes, or -1 with errno: EAGAIN when
/// something has to be fetched, the file is longer or it is no regular file; ENOTSUP where that is not possible at all.
ssize_t cplatform_read_if_cached(int directory, const char *name, void *buffer, size_t length);

/// As `open`, but leaves the access time of what is opened only to read, where that is permitted.
int cplatform_open_without_access_time(const char *path, int flags, int mode);

/// As `fchown`, but leaves a file alone that has this owner and group: `fchown` alone changes its times.
int cplatform_change_owner(int fd, uid_t owner, gid_t group);

#endif
