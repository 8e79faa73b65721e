internal import AccessTokens
internal import Model
internal import Rooms
internal import Signalling

/// A session that waits until a host of the room lets it in: its client hears `waiting`, and then `joined` or the end.
extension SignallingConnection {
  struct Wait {
    let place: any RoomWaiter
    /// Who pays for what is said meanwhile.
    let identity: String
    var hasLeft = false
    /// It was let in, and its session begins.
    var coming: Task<Void, Never>?
  }

  func wait(at place: any RoomWaiter, _ token: AccessToken, _ id: RequestID?) {
    waiting = Wait(place: place, identity: token.identity ?? "")
    let content = ServerMessage.Content.waiting(
      ServerMessage.Waiting(until: place.until.text, pingInterval: terms.pingInterval))
    socket.send(ServerMessage(content, id: id).json)
    Task { await self.follow(place, token, id) }
  }

  private func follow(_ place: any RoomWaiter, _ token: AccessToken, _ id: RequestID?) async {
    do throws(JoinError) {
      let participant = try await place.outcome()
      // It was let in as its socket went: it has heard nothing of that, and can't come back to it.
      guard !isOver else { return await participant.leave(reason: .connectionLost) }
      // From `joined` on its client speaks to the session, which may take a moment longer until it listens.
      let coming = Task { await self.begin(participant, token, id) }
      waiting?.coming = coming
      await coming.value
      waiting = nil
      if isOver, let (session, line) = served {
        await session.hungUp(line, inGoodOrder: socket.heardClose)
      }
    } catch { end(error, id) }
  }

  private func end(_ error: JoinError, _ id: RequestID?) {
    waiting = nil
    guard !isOver else { return }
    guard case .waitingEnded(let reason) = error else { return refuse(error, id) }
    socket.send(ServerMessage(.closed(reason)).json)
    socket.close(SignallingCloseCode(reason))
    isOver = true
  }

  /// Nothing of what it could ask of a room is done.
  func hear(_ message: ClientMessage) {
    switch message.content {
    case .ping: socket.send(ServerMessage(.pong, id: message.id).json)
    case .leave:
      waiting?.hasLeft = true
      socket.send(ServerMessage(.closed(.left), id: message.id).json)
      socket.close(.left)
      isOver = true
    case .auth, .resume: fail(.authRepeated, "already waiting", id: message.id)
    // Neither is answered in a session, where no one asks for that.
    case .unknown where message.id == nil, .candidate where message.id == nil: break
    default:
      fail(.admissionRequired, "a host has to let you in first", id: message.id)
    }
  }
}
