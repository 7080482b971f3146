// What the Darwin branches, the stubs and the overlay of Darwin assume of Apple's headers. Compiled for every platform.

#include <stddef.h>
#include <sys/types.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/clonefile.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/stdio.h>
#include <sys/time.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define VALUE(name, value) _Static_assert((name) == (value), #name " is not " #value)
#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "a " #type " has not " #bytes " bytes")
#define FIELD(structure, field, type)                                                                              \
    _Static_assert(__builtin_types_compatible_p(__typeof__(((structure *)0)->field), type),                        \
                   #structure "." #field " is no " #type)

// Constants that are called by their names alone, whatever their values.
_Static_assert(
    sizeof((const long[]){
        RENAME_EXCL, RENAME_SWAP, CLONE_NOOWNERCOPY, F_PREALLOCATE, F_ALLOCATEALL, F_PEOFPOSMODE, F_GETPATH, F_FULLFSYNC,
        F_BARRIERFSYNC, F_GETPROTECTIONCLASS, F_SETPROTECTIONCLASS, F_OFD_SETLK, AT_FDCWD, AT_EACCESS, AT_SYMLINK_NOFOLLOW,
        AT_REMOVEDIR, O_NONBLOCK, O_NOFOLLOW, O_CREAT, O_EXCL, O_DIRECTORY, O_CLOEXEC, SEEK_HOLE, RLIMIT_NOFILE, LOCK_SH,
        LOCK_EX, LOCK_NB, LOCK_UN, UF_NODUMP, SF_DATALESS, UTIME_OMIT, DT_UNKNOWN, DT_DIR, DT_REG, DT_LNK, EAGAIN, ENOTSUP,
        ELOOP, EDQUOT, ESTALE, ECANCELED, ENOATTR, EOPNOTSUPP}) > 0,
    "all are there");

// Control of descriptors
SIZE(fstore_t, 32);
FIELD(fstore_t, fst_flags, unsigned int);
FIELD(fstore_t, fst_posmode, int);
FIELD(fstore_t, fst_offset, off_t);
FIELD(fstore_t, fst_length, off_t);
FIELD(fstore_t, fst_bytesalloc, off_t);

// The buffer of F_GETPATH.
VALUE(MAXPATHLEN, 1024);
FIELD(struct rlimit, rlim_cur, rlim_t);
SIZE(rlim_t, 8);

// Attributes of files
SIZE(off_t, 8);
SIZE(ino_t, 8);
SIZE(dev_t, 4);
SIZE(mode_t, 2);
SIZE(nlink_t, 2);
SIZE(blkcnt_t, 8);
SIZE(uid_t, 4);
FIELD(struct stat, st_mode, mode_t);
FIELD(struct stat, st_ino, ino_t);
FIELD(struct stat, st_nlink, nlink_t);
FIELD(struct stat, st_size, off_t);
FIELD(struct stat, st_blocks, blkcnt_t);
FIELD(struct stat, st_flags, unsigned int);
FIELD(struct stat, st_atimespec, struct timespec);
FIELD(struct stat, st_mtimespec, struct timespec);
FIELD(struct stat, st_birthtimespec, struct timespec);

// A time of watchOS (arm64_32) has 32 bits.
FIELD(struct timespec, tv_sec, time_t);
FIELD(struct timespec, tv_nsec, long);
_Static_assert(__builtin_types_compatible_p(time_t, long), "time_t is no long");
#if !__LP64__
SIZE(time_t, 4);
#else
SIZE(time_t, 8);
SIZE(struct stat, 144);
#endif

// The kinds of files, which the overlay repeats.
VALUE(S_IFMT, 0170000);
VALUE(S_IFIFO, 0010000);
VALUE(S_IFCHR, 0020000);
VALUE(S_IFDIR, 0040000);
VALUE(S_IFBLK, 0060000);
VALUE(S_IFREG, 0100000);
VALUE(S_IFLNK, 0120000);
VALUE(S_IFSOCK, 0140000);

// Entries of folders
FIELD(struct dirent, d_type, __uint8_t);
FIELD(struct dirent, d_name, char[1024]);
VALUE(offsetof(struct dirent, d_name), 21);

// Volumes: `statvfs` has too few bits for the blocks of a large one, `statfs` has not.
SIZE(fsblkcnt_t, 4);
FIELD(struct statvfs, f_frsize, unsigned long);
FIELD(struct statvfs, f_blocks, fsblkcnt_t);
FIELD(struct statfs, f_bsize, uint32_t);
FIELD(struct statfs, f_blocks, uint64_t);
FIELD(struct statfs, f_bavail, uint64_t);

// Terminals, whose requests the overlay repeats.
VALUE(TIOCGWINSZ, 0x40087468);
VALUE(TIOCSWINSZ, 0x80087467);
SIZE(struct winsize, 8);
FIELD(struct winsize, ws_col, unsigned short);
FIELD(struct termios, c_lflag, tcflag_t);
_Static_assert(__builtin_types_compatible_p(tcflag_t, unsigned long), "tcflag_t is no unsigned long");
