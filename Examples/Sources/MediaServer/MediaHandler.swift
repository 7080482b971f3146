import FlyingFox
import Foundation

/// Answers with a file, or with the requested part of it.
struct MediaHandler: HTTPHandler {
    let traffic: Traffic

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        let path = request.path
        let range = request.headers[.range]
        guard let file = traffic.file(at: path) else {
            _ = traffic.begin(path, range: range, status: HTTPStatusCode.notFound.code, announced: 0)
            return HTTPResponse(statusCode: .notFound)
        }
        let handler = FileHTTPHandler(path: file, contentType: "application/octet-stream")
        var response = try await handler.handleRequest(request)
        guard case .httpBody(let body) = response.payload else { return response }
        let length = body.count ?? 0
        let number = traffic.begin(path, range: range, status: response.statusCode.code, announced: length)
        guard length > 0 else { return response }
        let counted = CountedBody(
            body: body, mishap: traffic.takeMishap(at: path),
            note: { [traffic] in traffic.note(sent: $0, of: number) })
        response.payload = .httpBody(HTTPBodySequence(from: counted, count: length))
        return response
    }
}
