@_exported public import PrefetchItemFormat
@_exported public import PrefetchStorageAreas
@_exported public import PrefetchVolumeCapacity

// The types of these modules are part of this module's interface: keys, destinations, areas, encodings.
// Without the re-export every client would have to import each of them by name.
@_exported public import enum PrefetchFileSystem.FileProtection
@_exported public import struct PrefetchFileSystem.FileSystemError
