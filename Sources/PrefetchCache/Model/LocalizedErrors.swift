public import FileSystem
public import ItemFormat
public import StorageAreas

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// `localizedDescription` is what many apps log: without these conformances it would be "The operation couldn't be
// completed" and a number. The texts are for developers and in English; an app shows its users its own.

extension CacheError: LocalizedError {
    public var errorDescription: String? { description }
}

extension FileSystemError: LocalizedError {
    public var errorDescription: String? { description }
}

extension StorageAreasError: LocalizedError {
    public var errorDescription: String? { description }
}

extension ItemFormatError: LocalizedError {
    public var errorDescription: String? { description }
}

extension ItemKeyError: LocalizedError {
    public var errorDescription: String? { description }
}

extension FolderPathError: LocalizedError {
    public var errorDescription: String? { description }
}

extension FileNameError: LocalizedError {
    public var errorDescription: String? { description }
}
