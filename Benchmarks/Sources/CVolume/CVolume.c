#include "CVolume.h"

#include <errno.h>

#if defined(__linux__)

#include <linux/fs.h>
#include <sys/ioctl.h>

int volume_spread_folders(int folder_fd) {
    int flags = 0;
    if (ioctl(folder_fd, FS_IOC_GETFLAGS, &flags) != 0) return errno;
    flags |= FS_TOPDIR_FL;
    return ioctl(folder_fd, FS_IOC_SETFLAGS, &flags) != 0 ? errno : 0;
}

#else

int volume_spread_folders(int folder_fd) {
    (void)folder_fd;
    return ENOTSUP;
}

#endif
