#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CPrefetchPlatform.h"

#include <stddef.h>

#define TEXT(token) #token
#define EXPANDED_TEXT(macro) TEXT(macro)

const char *cplatform_commit(void) {
#if defined(PREFETCHCACHE_COMMIT)
    return EXPANDED_TEXT(PREFETCHCACHE_COMMIT);
#else
    return NULL;
#endif
}

#if defined(__linux__)

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#endif
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

const unsigned int cplatform_rename_noreplace = RENAME_NOREPLACE;
const unsigned int cplatform_rename_exchange = RENAME_EXCHANGE;

int cplatform_renameat2(int old_directory, const char *old_name, int new_directory,
                        const char *new_name, unsigned int flags) {
    return renameat2(old_directory, old_name, new_directory, new_name, flags);
}

int cplatform_clone(int fd, int directory, const char *name, mode_t permissions) {
    int copy = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, permissions);
    if (copy < 0) return -1;
    int result = ioctl(copy, FICLONE, fd);
    int error = errno;
    close(copy);
    if (result == 0) return 0;
    unlinkat(directory, name, 0);
    errno = error;
    return -1;
}

int cplatform_is_being_written(int fd) {
    // Whoever opens the file for writing before the lease is gone sends a signal; this one is ignored by default.
    if (fcntl(fd, F_SETSIG, SIGURG) != 0) return -1;
    if (fcntl(fd, F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN ? 1 : -1;
    fcntl(fd, F_SETLEASE, F_UNLCK);
    return 0;
}

int cplatform_set_byte_lock(int fd, int64_t start, int64_t length, int mode) {
    struct flock lock = {
        .l_type = mode == 2 ? F_WRLCK : mode == 1 ? F_RDLCK : F_UNLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
    return fcntl(fd, F_OFD_SETLK, &lock);
}

void cplatform_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

// A hook of Swift's runtime (Concurrency.h), for programs that bring their own executor.
extern void *swift_task_enqueueGlobal_hook;

static void (*run_job)(void *job);

__attribute__((swiftcall)) static void enqueue(void *job, void *original) {
    (void)original;
    run_job(job);
}

void cplatform_run_jobs(void (*run)(void *job)) {
    run_job = run;
    swift_task_enqueueGlobal_hook = (void *)enqueue;
}

int cplatform_allocate(int fd, off_t length) { return fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, length); }

int cplatform_sync_volume(int fd) { return syncfs(fd); }

int cplatform_start_writing(int fd) { return sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE); }

int cplatform_tells_what_is_cached(int fd) {
    struct statfs volume;
    if (fstatfs(fd, &volume) != 0) return 0;
    switch ((unsigned)volume.f_type) {
    case EXT4_SUPER_MAGIC: case XFS_SUPER_MAGIC: case BTRFS_SUPER_MAGIC: case F2FS_SUPER_MAGIC: return 1;
    default: return 0;
    }
}

ssize_t cplatform_read_if_cached(int directory, const char *name, void *buffer, size_t length) {
#if defined(RESOLVE_CACHED)
    struct open_how how = {
        .flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOATIME | O_CLOEXEC,
        .resolve = RESOLVE_CACHED | RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    int fd = (int)syscall(SYS_openat2, directory, name, &how, sizeof how);
    if (fd < 0) {
        // A kernel before 5.6, a sandbox that filters system calls, or files of another owner: it will be so again.
        if (errno == ENOSYS || errno == EPERM) errno = ENOTSUP;
        return -1;
    }
    ssize_t count = -1;
    // Half as long as `statx`. Whatever is not a file has no length, another one, or cannot be read like this.
    off_t size = lseek(fd, 0, SEEK_END);
    errno = EAGAIN;
    if (size >= 0 && (uint64_t)size <= length) {
        struct iovec part = {.iov_base = buffer, .iov_len = length};
        count = preadv2(fd, &part, 1, 0, RWF_NOWAIT);
        struct stat status;
        if (count >= 0 && count != size) {
            // The beginning alone must not be taken for the whole file.
            count = -1;
            errno = EAGAIN;
        } else if (count < 0 && errno == EOPNOTSUPP && fstat(fd, &status) == 0) {
            // A folder says so, too.
            errno = S_ISREG(status.st_mode) ? EOPNOTSUPP : EAGAIN;
        }
    }
    int error = errno;
    close(fd);
    errno = error;
    return count;
#else
    // The headers of a kernel before 5.12.
    (void)directory, (void)name, (void)buffer, (void)length;
    errno = ENOTSUP;
    return -1;
#endif
}

ssize_t cplatform_fgetxattr(int fd, const char *name, void *value, size_t size) {
    return fgetxattr(fd, name, value, size);
}

int cplatform_fsetxattr(int fd, const char *name, const void *value, size_t size) {
    return fsetxattr(fd, name, value, size, 0);
}

int cplatform_fremovexattr(int fd, const char *name) { return fremovexattr(fd, name); }

int cplatform_birth_time(int fd, int64_t *nanoseconds) {
    struct statx status;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &status) != 0) {
        // ENOSYS: a kernel before 4.11. EPERM: a sandbox that filters system calls it does not know.
        return errno == ENOSYS || errno == EPERM ? 0 : -1;
    }
    if ((status.stx_mask & STATX_BTIME) == 0) return 0;
    *nanoseconds = (int64_t)status.stx_btime.tv_sec * 1000000000 + status.stx_btime.tv_nsec;
    return 1;
}

int cplatform_inode(int directory, const char *name, uint64_t *inode) {
    struct statx status;
    if (statx(directory, name, AT_SYMLINK_NOFOLLOW, STATX_INO, &status) == 0) {
        *inode = status.stx_ino;
        return 0;
    }
    // As above.
    if (errno != ENOSYS && errno != EPERM) return -1;
    struct stat all;
    if (fstatat(directory, name, &all, AT_SYMLINK_NOFOLLOW) != 0) return -1;
    *inode = all.st_ino;
    return 0;
}

int cplatform_length_and_links(int fd, int64_t *length, uint64_t *links) {
    struct statx status;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_SIZE | STATX_NLINK, &status) == 0) {
        *length = (int64_t)status.stx_size;
        *links = status.stx_nlink;
        return 0;
    }
    // As above.
    if (errno != ENOSYS && errno != EPERM) return -1;
    struct stat all;
    if (fstat(fd, &all) != 0) return -1;
    *length = all.st_size;
    *links = all.st_nlink;
    return 0;
}

const int cplatform_o_noatime = O_NOATIME;

int cplatform_open_without_access_time(const char *path, int flags, int mode) {
    if ((flags & O_ACCMODE) == O_RDONLY) {
        int fd = open(path, flags | O_NOATIME, mode);
        // That is permitted only to the owner.
        if (fd >= 0 || errno != EPERM) return fd;
    }
    return open(path, flags, mode);
}

int cplatform_change_owner(int fd, uid_t owner, gid_t group) {
    struct stat status;
    if (fstat(fd, &status) == 0 && status.st_uid == owner && status.st_gid == group) return 0;
    return fchown(fd, owner, group);
}

const int cplatform_seek_hole = SEEK_HOLE;
const int cplatform_seek_data = SEEK_DATA;

int cplatform_punch_hole(int fd, off_t offset, off_t length) {
    return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length);
}

ssize_t cplatform_flistxattr(int fd, void *names, size_t size) { return flistxattr(fd, names, size); }

int cplatform_set_access_time(int fd, int64_t seconds, int64_t nanoseconds) {
    struct timespec times[2] = {
        {.tv_sec = seconds, .tv_nsec = nanoseconds},
        {.tv_nsec = UTIME_OMIT},
    };
    return futimens(fd, times);
}

int cplatform_get_no_dump(int fd) {
    int flags = 0;
    if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) return -1;
    return (flags & FS_NODUMP_FL) != 0;
}

int cplatform_set_no_dump(int fd, int enabled) {
    int flags = 0;
    if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) return -1;
    int wanted = enabled ? (flags | FS_NODUMP_FL) : (flags & ~FS_NODUMP_FL);
    return wanted == flags ? 0 : ioctl(fd, FS_IOC_SETFLAGS, &wanted);
}

#endif
