/// Where requests to a room go.
protocol RoomRequests: Sendable {
  func handle(_ input: RoomInput) async -> RoomReply
  /// What a participant asks of it; it may wait until others have heard of what was asked before.
  func ask(_ request: ParticipantRequest, of id: ParticipantID) async -> RoomReply
}
