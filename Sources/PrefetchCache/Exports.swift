// The types of these modules are part of this one's interface: keys, destinations, areas, encodings.
// Without the re-export every user would have to import all of them by name.
@_exported public import ItemFormat
@_exported public import StorageAreas
@_exported public import VolumeCapacity
