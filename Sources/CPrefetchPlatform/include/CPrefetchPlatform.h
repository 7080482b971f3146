#pragma once

/// The commit that this was built from, if whoever built it has said so.
const char *cplatform_commit(void);

// System calls and flags that Swift's Glibc overlay does not expose: those behind _GNU_SOURCE,
// in headers outside the overlay's module map, or in function-like macros.

#if defined(__linux__)

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// `renameat2` flags: fail when the target exists; swap the two names atomically.
extern const unsigned int cplatform_rename_noreplace;
extern const unsigned int cplatform_rename_exchange;

int cplatform_renameat2(int old_directory, const char *old_name, int new_directory,
                        const char *new_name, unsigned int flags);

/// Creates a file that shares the blocks of another one (`FICLONE`). Returns 0, or -1 with errno and without a new file.
int cplatform_clone(int fd, int directory, const char *name, mode_t permissions);

/// Allocates `length` bytes from the start of a file without changing its length (`fallocate`).
/// Returns 0, or -1 with errno.
int cplatform_allocate(int fd, off_t length);

/// Writes all that is pending on the volume of a file (`syncfs`). Returns 0, or -1 with errno.
int cplatform_sync_volume(int fd);

/// Has what is pending of a file written, without waiting (`sync_file_range`). Returns 0, or -1 with errno.
int cplatform_start_writing(int fd);

ssize_t cplatform_fgetxattr(int fd, const char *name, void *value, size_t size);
int cplatform_fsetxattr(int fd, const char *name, const void *value, size_t size);
int cplatform_fremovexattr(int fd, const char *name);

/// The creation time of a file, in nanoseconds since 1970. Returns 1 when it is known, 0 when not,
/// -1 with errno.
int cplatform_birth_time(int fd, int64_t *nanoseconds);

/// The inode of a name in a folder, without following a link and without a look at its times. Returns 0, or -1 with
/// errno.
int cplatform_inode(int directory, const char *name, uint64_t *inode);

/// The length and the number of hard links of a file, without a look at its times. Returns 0, or -1 with errno.
int cplatform_length_and_links(int fd, int64_t *length, uint64_t *links);

/// Returns 1 when somebody has the file open for writing, 0 when not, -1 with errno.
int cplatform_is_being_written(int fd);

/// Locks or unlocks a range of bytes of a file for its open file description, without waiting (`F_OFD_SETLK`); a length of
/// 0 is all that follows. Returns 0, or -1 with errno.
int cplatform_set_byte_lock(int fd, int64_t start, int64_t length, int mode);

/// Names the calling thread; at most 15 bytes.
void cplatform_name_thread(const char *name);

/// Has `run` run all tasks without an executor of their own, instead of Dispatch. To be called before the first task.
void cplatform_run_jobs(void (*run)(void *job));

/// Returns 1 when a file or folder is on a file system that opens what it has in memory without asking anybody, and tells
/// what that is (ext4, XFS, btrfs, F2FS); otherwise 0.
int cplatform_tells_what_is_cached(int fd);

/// Reads a whole file of at most `length` bytes if neither its name nor its content has to be fetched from a device
/// (`openat2` with `RESOLVE_CACHED`, `preadv2` with `RWF_NOWAIT`). Returns the number of bytes, or -1 with errno: EAGAIN when
/// something has to be fetched, the file is longer or it is no regular file; ENOTSUP where that is not possible at all.
ssize_t cplatform_read_if_cached(int directory, const char *name, void *buffer, size_t length);

/// The flag of `open` that leaves the access time unchanged (`O_NOATIME`).
extern const int cplatform_o_noatime;

/// As `open`, but leaves the access time of what is opened only to read, where that is permitted.
int cplatform_open_without_access_time(const char *path, int flags, int mode);

/// As `fchown`, but leaves a file alone that has this owner and group: `fchown` alone changes its times.
int cplatform_change_owner(int fd, uid_t owner, gid_t group);

/// How `lseek` finds the first hole (`SEEK_HOLE`).
extern const int cplatform_seek_hole;

/// How `lseek` finds the next data (`SEEK_DATA`).
extern const int cplatform_seek_data;

/// Makes a range of a file a hole. Returns 0, or -1 with errno.
int cplatform_punch_hole(int fd, off_t offset, off_t length);

/// The names of the extended attributes, each with a NUL. Returns the length of all, or -1 with errno.
ssize_t cplatform_flistxattr(int fd, void *names, size_t size);

/// Sets only the access time of a file: seconds since 1970, and less than 10^9 nanoseconds more. Returns 0, or -1 with
/// errno.
int cplatform_set_access_time(int fd, int64_t seconds, int64_t nanoseconds);

/// Sets or clears the inode's "no dump" attribute (`chattr +d`). Returns 0, or -1 with errno.
int cplatform_set_no_dump(int fd, int enabled);

/// Returns 1 when the inode carries the "no dump" attribute, 0 when not, -1 with errno.
int cplatform_get_no_dump(int fd);

#endif
