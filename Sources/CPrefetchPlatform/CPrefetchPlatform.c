#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CPrefetchPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__)
#include <linux/fs.h>
#include <linux/magic.h>
#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#endif
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#else
#include <sys/clonefile.h>
#endif

#define TEXT(token) #token
#define EXPANDED_TEXT(macro) TEXT(macro)

const char *cplatform_commit(void) {
#if defined(PREFETCHCACHE_COMMIT)
    return EXPANDED_TEXT(PREFETCHCACHE_COMMIT);
#else
    return NULL;
#endif
}

const int cplatform_seek_hole = SEEK_HOLE, cplatform_seek_data = SEEK_DATA;
const long cplatform_utime_omit = UTIME_OMIT;

/// Anybody can give a file a time before 1677 or after 2262.
static int64_t nanoseconds(struct timespec time) {
    int64_t all;
    if (__builtin_mul_overflow((int64_t)time.tv_sec, 1000000000, &all) ||
        __builtin_add_overflow(all, (int64_t)time.tv_nsec, &all))
        return time.tv_sec < 0 ? INT64_MIN : INT64_MAX;
    return all;
}

int cplatform_status_of(int directory, const char *name, cplatform_question question, cplatform_status *status) {
#if defined(__linux__)
    static const unsigned masks[] = {0, STATX_INO, STATX_SIZE | STATX_NLINK, STATX_BTIME};
    struct statx part;
    int flags = name ? AT_SYMLINK_NOFOLLOW : AT_EMPTY_PATH;
    if (masks[question] != 0 && statx(directory, name ? name : "", flags, masks[question], &part) == 0) {
        *status = (cplatform_status){
            .inode = part.stx_ino, .length = (int64_t)part.stx_size, .links = part.stx_nlink,
            .born = part.stx_btime.tv_sec * 1000000000 + part.stx_btime.tv_nsec,
            .has_birth = (part.stx_mask & STATX_BTIME) != 0};
        return 0;
    }
    // ENOSYS: a kernel before 4.11. EPERM: a sandbox that filters system calls it does not know.
    if (masks[question] != 0 && errno != ENOSYS && errno != EPERM) return -1;
#else
    (void)question;
#endif
    struct stat all;
    if ((name ? fstatat(directory, name, &all, AT_SYMLINK_NOFOLLOW) : fstat(directory, &all)) != 0) return -1;
    *status = (cplatform_status){
        .device = (uint64_t)all.st_dev, .inode = all.st_ino, .links = all.st_nlink, .length = all.st_size,
        .allocated = (int64_t)all.st_blocks * 512, .mode = all.st_mode, .owner = all.st_uid};
#if defined(__linux__)
    status->modified = nanoseconds(all.st_mtim);
    status->changed = nanoseconds(all.st_ctim);
    status->accessed = nanoseconds(all.st_atim);
#else
    status->modified = nanoseconds(all.st_mtimespec);
    status->changed = nanoseconds(all.st_ctimespec);
    status->accessed = nanoseconds(all.st_atimespec);
    status->born = nanoseconds(all.st_birthtimespec);
    status->has_birth = true;
    status->is_dataless = (all.st_flags & SF_DATALESS) != 0;
#endif
    return 0;
}

int cplatform_lock_byte(int fd, off_t position) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = position, .l_len = 1};
    int result = fcntl(fd, F_OFD_SETLK, &lock);
    if (result == 0 || errno != EBADF) return result;
    lock.l_type = F_RDLCK;
    return fcntl(fd, F_OFD_SETLK, &lock);
}

int cplatform_unlock_bytes(int fd) {
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_SETLK, &lock);
}

/// What a thread is started with.
typedef struct {
    char name[16];
    void (*run)(void *context);
    void *context;
} thread_start;

static void *run_thread(void *argument) {
    thread_start start = *(thread_start *)argument;
    free(argument);
#if defined(__linux__)
    pthread_setname_np(pthread_self(), start.name);
#else
    pthread_setname_np(start.name);
#endif
    start.run(start.context);
    return NULL;
}

int cplatform_start_thread(const char *name, void (*run)(void *context), void *context) {
    thread_start *start = malloc(sizeof *start);
    if (start == NULL) return ENOMEM;
    *start = (thread_start){.run = run, .context = context};
    strncpy(start->name, name, sizeof start->name - 1);
    pthread_t thread;
    int error = pthread_create(&thread, NULL, run_thread, start);
    if (error != 0) {
        free(start);
        return error;
    }
    pthread_detach(thread);
    return 0;
}

#if defined(__linux__)

const int cplatform_o_noatime = O_NOATIME;

int cplatform_rename(
    int old_directory, const char *old_name, int new_directory, const char *new_name, cplatform_rename_mode mode) {
    static const unsigned flags[] = {0, RENAME_NOREPLACE, RENAME_EXCHANGE};
    return renameat2(old_directory, old_name, new_directory, new_name, flags[mode]);
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

int cplatform_synchronize(int fd) { return fsync(fd); }

int cplatform_sync_volume(int fd) { return syncfs(fd); }

int cplatform_start_writing(int fd) { return sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE); }

int cplatform_allocate(int fd, off_t length) { return fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, length); }

int cplatform_punch_hole(int fd, off_t offset, off_t length) {
    return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length);
}

int cplatform_is_being_written(int fd) {
    // Whoever opens the file for writing before the lease is gone sends a signal; this one is ignored by default.
    if (fcntl(fd, F_SETSIG, SIGURG) != 0) return -1;
    if (fcntl(fd, F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN ? 1 : -1;
    fcntl(fd, F_SETLEASE, F_UNLCK);
    return 0;
}

int cplatform_get_no_dump(int fd) {
    int flags = 0;
    if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) return -1;
    return (flags & FS_NODUMP_FL) != 0;
}

int cplatform_set_no_dump(int fd, bool enabled) {
    int flags = 0;
    if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) return -1;
    int wanted = enabled ? (flags | FS_NODUMP_FL) : (flags & ~FS_NODUMP_FL);
    return wanted == flags ? 0 : ioctl(fd, FS_IOC_SETFLAGS, &wanted);
}

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

#else

int cplatform_rename(
    int old_directory, const char *old_name, int new_directory, const char *new_name, cplatform_rename_mode mode) {
    if (mode == cplatform_replacing) return renameat(old_directory, old_name, new_directory, new_name);
    unsigned flags = mode == cplatform_exclusive ? RENAME_EXCL : RENAME_SWAP;
    return renameatx_np(old_directory, old_name, new_directory, new_name, flags);
}

int cplatform_clone(int fd, int directory, const char *name, mode_t permissions) {
    if (fclonefileat(fd, directory, name, CLONE_NOOWNERCOPY) != 0) return -1;
    // A clone has the permissions of its original.
    if (fchmodat(directory, name, permissions, AT_SYMLINK_NOFOLLOW) == 0) return 0;
    int error = errno;
    unlinkat(directory, name, 0);
    errno = error;
    return -1;
}

// `fsync` does not flush the drive's cache, `F_FULLFSYNC` does. File systems that do not support it return ENOTSUP, ENOTTY or
// EINVAL; `fsync` is used for these.
int cplatform_synchronize(int fd) {
    if (fcntl(fd, F_FULLFSYNC) == 0) return 0;
    return errno == ENOTSUP || errno == ENOTTY || errno == EINVAL ? fsync(fd) : -1;
}

// `F_FULLFSYNC` on any file commits the current APFS transaction.
int cplatform_sync_volume(int fd) { return cplatform_synchronize(fd); }

// Unlike on Linux, the requested length is added to the length already allocated.
int cplatform_allocate(int fd, off_t length) {
    struct stat status;
    if (fstat(fd, &status) != 0) return -1;
    off_t missing = length - status.st_blocks * 512;
    if (missing <= 0) return 0;
    fstore_t request = {.fst_flags = F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE, .fst_length = missing};
    return fcntl(fd, F_PREALLOCATE, &request);
}

int cplatform_punch_hole(int fd, off_t offset, off_t length) {
    fpunchhole_t hole = {.fp_offset = offset, .fp_length = length};
    return fcntl(fd, F_PUNCHHOLE, &hole);
}

int cplatform_get_no_dump(int fd) {
    struct stat status;
    if (fstat(fd, &status) != 0) return -1;
    return (status.st_flags & UF_NODUMP) != 0;
}

int cplatform_set_no_dump(int fd, bool enabled) {
    struct stat status;
    if (fstat(fd, &status) != 0) return -1;
    return fchflags(fd, enabled ? status.st_flags | UF_NODUMP : status.st_flags & ~(unsigned)UF_NODUMP);
}

#endif
