import HTTPTestServer
import Testing

/// The tests that need nginx, one after the other: what they watch is a process in the middle of its work.
@Suite(
    .serialized, .enabled(if: Nginx.program != nil, "nginx is missing; '.ci/setup --servers' installs it."))
enum ServerTests {}
