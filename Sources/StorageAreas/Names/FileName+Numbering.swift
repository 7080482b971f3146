extension FileName {
    /// The name with a number before its extension, for when the plain one is taken:
    /// `film.mp4` becomes `film (2).mp4`. The stem is shortened if the number does not fit.
    public func numbered(_ number: Int) -> FileName {
        var parts = NameParts(string)
        parts.number = " (\(number))"
        return FileName(checked: parts.joined(limit: Self.maximumLength))
    }
}
