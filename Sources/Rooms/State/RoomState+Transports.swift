internal import AccessTokens
internal import Engine
internal import Model
internal import Negotiation

/// Where a transport is, until a member or a transport goes.
struct TransportPlace: Equatable {
  let member: Int
  let transport: Int

  init(_ member: Int, _ transport: Int) {
    self.member = member
    self.transport = transport
  }
}

/// The ways on which participants' media comes and goes.
extension RoomState {
  subscript(place: TransportPlace) -> Transport {
    get { members[place.member].transports[place.transport] }
    // In place: what its slots know is large.
    _modify { yield &members[place.member].transports[place.transport] }
  }

  /// All transports of everybody but one.
  func places(except member: Int) -> [TransportPlace] {
    members.indices.filter { $0 != member }.flatMap(places(of:))
  }

  /// Those that may show what a member publishes: all of the others', and such of its own as ask for it by name.
  func places(showing owner: Int) -> [TransportPlace] {
    places(except: owner)
      + places(of: owner).filter { self[$0].standalone.map { !$0.selection.isAll } ?? false }
  }

  func places(of member: Int) -> [TransportPlace] {
    members[member].transports.indices.map { TransportPlace(member, $0) }
  }

  func place(of transport: TransportID, of member: Int) -> TransportPlace? {
    members[member].transports.firstIndex { $0.id == transport }.map { TransportPlace(member, $0) }
  }

  /// Of a transport that the member's handle has opened; what has no socket is out of its reach.
  func handlePlace(of transport: TransportID, of member: Int) -> TransportPlace? {
    place(of: transport, of: member).flatMap { self[$0].standalone == nil ? $0 : nil }
  }

  /// Where a peer's events and samples belong.
  func owner(of peer: PeerKey) -> TransportPlace? {
    for member in members.indices {
      for transport in members[member].transports.indices
      where members[member].transports[transport].peer == peer {
        return TransportPlace(member, transport)
      }
    }
    return nil
  }

  // MARK: - Opening

  mutating func openTransport(_ role: TransportRole, of id: ParticipantID) {
    guard let index = member(id) else { return reply(.refused(.gone)) }
    guard members[index].transports.count < Transport.limit else {
      return reply(.refused(.limit(Transport.limit)))
    }
    guard spend(index, { $0.requests.take(now: $1) }) else { return reply(.refused(.tooOften)) }
    let transport = makeTransport(role, for: members[index])
    members[index].add(transport)
    reply(.opened(transport.id))
  }

  /// A transport that knows what there is to be shown.
  func makeTransport(_ role: TransportRole, for member: Member) -> Transport {
    var transport = Transport(id: TransportID(number: member.transportsOpened + 1), role: role)
    fill(&transport, of: member)
    return transport
  }

  func fill(_ transport: inout Transport, of member: Member) {
    guard transport.role.subscribes, member.grants(on: transport).canSubscribe else { return }
    transport.slots.add(tracks(for: transport, of: member.id), now: now)
  }

  // MARK: - Ending

  /// It goes with all that it publishes, and nothing more comes on it. A session that has no socket goes with its last.
  mutating func closeTransport(_ transport: TransportID, of id: ParticipantID) {
    reply(.done)
    guard let member = member(id), let place = handlePlace(of: transport, of: member) else { return }
    end(place, reason: .left)
  }

  /// - Parameter reason: of the participant's, if nothing else is left of it.
  mutating func end(_ place: TransportPlace, reason: LeaveReason) {
    let isLast = members[place.member].transports.count == 1
    if isLast, !members[place.member].presence.isAttended { return end(place.member, reason: reason) }
    close(place)
  }

  mutating func close(_ place: TransportPlace) {
    unpublish(place) { _ in true }
    endPeer(of: place)
    members[place.member].transports.remove(at: place.transport)
    noteMediaEnded(of: place.member)
  }

  private mutating func noteMediaEnded(of member: Int) {
    if members[member].isWithoutMedia {
      members[member].presence.mediaEnded()
      emit(.media(of: members[member].identity, stay: members[member].stay.id, .gone))
    }
    presenceChanged()
  }

  mutating func endPeer(of place: TransportPlace) {
    if let peer = self[place].peer {
      // Who has no other way to learn of it hears it from the transport itself (RFC 9725 §4.2).
      emit(.post(self[place].standalone == nil ? .close(peer) : .dismiss(peer)))
    }
    if let reserved = self[place].reserved { emit(.release(reserved)) }
    self[place].peer = nil
    self[place].reserved = nil
  }

  /// Every section has been stopped: the far end has no transport any more (RFC 9143 §7.5.3), and neither have we.
  /// What it offers next begins another one.
  mutating func endMedia(of place: TransportPlace) {
    guard self[place].peer != nil else { return }
    unpublish(place) { _ in true }
    // Its place is given back when the media plane says that it is gone.
    endPeer(of: place)
    self[place].negotiator?.endTransport()
    self[place].withdrawn = [:]
    self[place].announced = [:]
    self[place].requested = SlotCount()
    noteMediaEnded(of: place.member)
  }
}
