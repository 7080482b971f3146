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

// Renaming, cloning
VALUE(RENAME_EXCL, 4);
VALUE(RENAME_SWAP, 2);
VALUE(CLONE_NOFOLLOW, 1);
VALUE(CLONE_NOOWNERCOPY, 2);

// Control of descriptors
VALUE(F_PREALLOCATE, 42);
VALUE(F_ALLOCATEALL, 4);
VALUE(F_PEOFPOSMODE, 3);
VALUE(F_GETPATH, 50);
VALUE(F_FULLFSYNC, 51);
VALUE(F_BARRIERFSYNC, 85);
VALUE(F_GETPROTECTIONCLASS, 63);
VALUE(F_SETPROTECTIONCLASS, 64);
VALUE(F_OFD_SETLK, 90);
SIZE(fstore_t, 32);
FIELD(fstore_t, fst_flags, unsigned int);
FIELD(fstore_t, fst_posmode, int);
FIELD(fstore_t, fst_offset, off_t);
FIELD(fstore_t, fst_length, off_t);
FIELD(fstore_t, fst_bytesalloc, off_t);

// Opening and looking up
VALUE(AT_FDCWD, -2);
VALUE(AT_EACCESS, 0x10);
VALUE(AT_SYMLINK_NOFOLLOW, 0x20);
VALUE(AT_REMOVEDIR, 0x80);
VALUE(O_NONBLOCK, 0x4);
VALUE(O_NOFOLLOW, 0x100);
VALUE(O_CREAT, 0x200);
VALUE(O_EXCL, 0x800);
VALUE(O_DIRECTORY, 0x100000);
VALUE(O_CLOEXEC, 0x1000000);
VALUE(SEEK_HOLE, 3);
// The buffer of F_GETPATH.
VALUE(MAXPATHLEN, 1024);
VALUE(PATH_MAX, MAXPATHLEN);
VALUE(NAME_MAX, 255);
VALUE(RLIMIT_NOFILE, 8);
FIELD(struct rlimit, rlim_cur, rlim_t);
SIZE(rlim_t, 8);

// Locks
VALUE(LOCK_SH, 1);
VALUE(LOCK_EX, 2);
VALUE(LOCK_NB, 4);
VALUE(LOCK_UN, 8);

// Attributes of files
VALUE(UF_NODUMP, 0x1);
VALUE(SF_DATALESS, 0x40000000);
VALUE(UTIME_OMIT, -2);
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
VALUE(DT_UNKNOWN, 0);
VALUE(DT_DIR, 4);
VALUE(DT_REG, 8);
VALUE(DT_LNK, 10);

// Volumes: `statvfs` has too few bits for the blocks of a large one, `statfs` has not.
SIZE(fsblkcnt_t, 4);
FIELD(struct statvfs, f_frsize, unsigned long);
FIELD(struct statvfs, f_blocks, fsblkcnt_t);
FIELD(struct statfs, f_bsize, uint32_t);
FIELD(struct statfs, f_blocks, uint64_t);
FIELD(struct statfs, f_bavail, uint64_t);

// Errors
VALUE(EDEADLK, 11);
VALUE(EAGAIN, 35);
VALUE(EWOULDBLOCK, EAGAIN);
VALUE(ENOTSUP, 45);
VALUE(ELOOP, 62);
VALUE(EDQUOT, 69);
VALUE(ESTALE, 70);
VALUE(ECANCELED, 89);
VALUE(ENOATTR, 93);
VALUE(EOPNOTSUPP, 102);

// Terminals, whose requests the overlay repeats.
VALUE(TIOCGWINSZ, 0x40087468);
VALUE(TIOCSWINSZ, 0x80087467);
SIZE(struct winsize, 8);
FIELD(struct winsize, ws_col, unsigned short);
FIELD(struct termios, c_lflag, tcflag_t);
_Static_assert(__builtin_types_compatible_p(tcflag_t, unsigned long), "tcflag_t is no unsigned long");
