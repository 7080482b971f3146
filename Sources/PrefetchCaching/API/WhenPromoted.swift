/// What to do when content is stored whose key was already opened, so that its file belongs to the user.
public enum WhenPromoted: Hashable, Sendable {
    /// Store nothing: the content is refused with ``Refusal/alreadyPromoted``.
    case leave
    /// Cache the content, and forget the record of the first open at the moment it is complete. The file stays where it is;
    /// when the key is opened again, the new version is placed next to it under the next free name.
    case storeAgain
    /// Put the content in the place of the file, or of the folder of a bundle, if the user has not changed it: in one step, so
    /// that one of the two versions is there at every moment, complete and durable. A file that was changed, moved or
    /// deleted, that was there before, or that another key was promoted to, is left, and the content refused.
    ///
    /// The content goes straight to the destination, whatever its intent; if that is opportunistic, only while the volume is
    /// not under pressure. What a program has open stays readable by it.
    case replaceIfUnmodified
}
