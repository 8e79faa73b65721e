internal import Engine
internal import Model
internal import Negotiation

/// What is asked of transports without a socket, by their ids.
extension RoomState {
  mutating func handle(_ request: StandaloneRequest, of name: StandaloneName) {
    do throws(StandaloneError) {
      let place = try find(name)
      switch request {
      case .look: reply(.done)
      case .change(let precondition, let credentials): try change(place, precondition, credentials)
      case .close:
        reply(.done)
        end(place, reason: .left)
      }
    } catch { reply(.standaloneRefused(error)) }
  }

  /// One's own is found at once; whether there is another's of that id costs a look at all, which is paid for.
  private mutating func find(_ name: StandaloneName) throws(StandaloneError) -> TransportPlace {
    if let member = member(of: name.identity),
      let place = places(of: member).first(where: { self[$0].isNamed(name) })
    {
      return place
    }
    guard spend(of: name.identity, { $0.requests.take(now: $1) }) else { throw .tooOften }
    let isAnothers = members.contains { $0.transports.contains { $0.isNamed(name) } }
    throw isAnothers ? .foreign : .unknown
  }

  private mutating func change(
    _ place: TransportPlace, _ precondition: StandalonePrecondition, _ credentials: ICECredentials?
  ) throws(StandaloneError) {
    guard spend(place.member, { $0.requests.take(now: $1) }) else { throw .tooOften }
    switch precondition {
    case .none: throw .preconditionMissing
    case .any: break
    case .tags(let tags):
      guard let tag = self[place].standalone?.tag, tags.contains(tag) else { throw .preconditionFailed }
    }
    guard let credentials, let known = self[place].negotiator?.remote?.credentials else {
      return reply(.changed(.noted))
    }
    if credentials == known {
      // With `*` it is a restart whose answer was lost, and which is asked for once more (RFC 9725 §4.3.3).
      guard case .any = precondition else { return reply(.changed(.noted)) }
      return prepare(at: place) { .restart(credentials, on: $0) }
    }
    guard credentials.ufrag != known.ufrag, credentials.password != known.password else {
      throw .credentials
    }
    prepare(at: place) { .restart(credentials, on: $0) }
  }

  /// ICE begins again, and all that was agreed on besides stays. With the credentials that are in force nothing begins: the answer is the
  /// one that they had.
  mutating func restart(_ remote: ICECredentials, _ local: LocalTransport, at place: TransportPlace) {
    guard let peer = self[place].peer, var negotiator = self[place].negotiator,
      var standalone = self[place].standalone
    else { return reply(.standaloneRefused(.unknown)) }
    let isKnown = negotiator.remote?.credentials == remote
    guard isKnown || negotiator.restartICE(remote: remote, local: local.credentials),
      let fragment = negotiator.fragment(local, group: standalone.group, options: standalone.options)
    else { return reply(.standaloneRefused(.unknown)) }
    guard !isKnown else { return reply(.changed(.restarted(tag: standalone.tag, fragment))) }
    standalone.tag = Standalone.newTag(&random)
    self[place].negotiator = negotiator
    self[place].standalone = standalone
    emit(.post(.restartICE(peer, local: local.credentials, remote: remote)))
    log("ICE restarts", of: members[place.member])
    reply(.changed(.restarted(tag: standalone.tag, fragment)))
  }
}

extension Transport {
  fileprivate func isNamed(_ name: StandaloneName) -> Bool {
    role == name.role && standalone?.id == name.id
  }
}
