internal import FileSystem
internal import StorageInventory
internal import SystemPackage

extension CommandFailure {
    init(_ error: InventoryError) {
        let code: ExitCode =
            switch error {
            case .missing, .notAFolder: .notFound
            case .unreadable(let path, let errno):
                ExitCode(FileSystemError("open", path: path, errno: errno))
            }
        self.init(code, error.description)
    }

    init(_ error: AppSettingsError) {
        let code: ExitCode =
            switch error {
            case .unreadable(let path, let errno):
                errno == .noSuchFileOrDirectory
                    ? .notFound : ExitCode(FileSystemError("open", path: path, errno: errno))
            case .noPropertyList: .damaged
            }
        self.init(code, error.description)
    }
}
