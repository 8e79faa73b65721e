internal import AccessTokens
internal import Engine
internal import HTTPServer
internal import Model
internal import Rooms

/// `/v1/rooms/{room}/participants/{identity}/tracks/{track}/thumbnail`
extension RESTDoor {
  @Sendable func showThumbnail(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    let found = try await ask { () async throws(AdministrationError) in
      try await rooms.thumbnail(
        of: call.parameters["track"] ?? "", by: call.identity, in: call.room, for: call.holder)
    }
    // It may have been waited for: what the token allowed then it may not allow any more.
    do throws(AccessTokenRefusal) { try call.permission.ask() } catch { throw RESTProblem(error) }
    guard let picture = ThumbnailPicture(found) else {
      throw RESTProblem(.noThumbnail("its key frame is not one that a decoder could begin with"))
    }
    var response = HTTPResponse(status: 200, type: "application/octet-stream", body: picture.bytes)
    response.headers.add("roost-codec", picture.codec)
    if let size = found.size, size.pixels > 0 {
      response.headers.add("roost-width", String(size.width))
      response.headers.add("roost-height", String(size.height))
    }
    response.headers.add("roost-time", rooms.wallTime(at: found.arrival).text)
    response.headers.add("cache-control", "no-store")
    return response
  }
}
