// What is called of the module `os`: the lock of ArgumentParser.

@_exported public import Darwin
