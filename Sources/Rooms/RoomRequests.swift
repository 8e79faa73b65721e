/// Where requests to a room go.
protocol RoomRequests: Sendable {
  func handle(_ input: RoomInput) async -> RoomReply
}
