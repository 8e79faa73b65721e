internal import HTTPServer
internal import Rooms

/// `/v1/rooms/{room}/participants/{identity}/flight`
extension RESTDoor {
  @Sendable func showFlight(_ call: RESTCall) async throws(RESTProblem) -> HTTPResponse {
    let file = try await ask { () async throws(AdministrationError) in
      try await rooms.flight(of: call.identity, in: call.room)
    }
    var response = HTTPResponse(status: 200, type: "application/vnd.tcpdump.pcap", body: file)
    response.headers.add("content-disposition", "attachment; filename=\"flight.pcapng\"")
    response.headers.add("cache-control", "no-store")
    return response
  }
}
