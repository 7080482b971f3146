#pragma once

/// Asks the volume to put the sub-folders of a folder far from each other (`chattr +T` on ext4), and
/// with them the files in them. Returns 0, or an errno where there is no such mark.
int volume_spread_folders(int folder_fd);
